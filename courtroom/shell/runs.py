"""Runs from a shell: `run`, `resume`, `show`, `runs` and `export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from courtroom.cases.case import Case
from courtroom.cases.files import read_upload
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import changed
from courtroom.engine.knobs import seating
from courtroom.errors import CourtroomError, Unreadable
from courtroom.shell.drive import drive
from courtroom.shell.house import opened
from courtroom.shell.options import Json, Model, Set, Until, setup_with
from courtroom.shell.output import print_result, result, tell_unreadable, write


def run(
    case: Annotated[str, typer.Argument(help="A case's id, or a file.")],
    procedure: Annotated[
        str | None, typer.Option(help="Which procedure; default: the first that takes cases of its kind.")
    ] = None,
    model: Model = None,
    seed: Annotated[int, typer.Option(help="What all chance depends on.")] = 0,
    set_: Set = None,
    panel: Annotated[str | None, typer.Option(help="A saved panel whose persons are the jurors.")] = None,
    until: Until = None,
    json_: Json = False,
) -> None:
    """Hear a case."""
    with opened() as house:
        heard = _case(house, case)
        if procedure is not None and procedure not in house.procedures:
            raise CourtroomError(f"There is no procedure “{procedure}”. Known: {', '.join(house.procedures)}.")
        chosen = house.hearing(heard.kind) if procedure is None else house.procedures[procedure]
        persons = [] if panel is None else [one.model_dump(mode="json") for one in house.panels.load(panel)]
        begun = changed(chosen.setup(), seating(chosen.setup, persons)) if persons else chosen.setup()
        setup = setup_with(begun, set_, model)
        drive(house, house.new_run(chosen.name, heard, setup, seed), until, json_)


def resume(run: str, until: Until = None, json_: Json = False) -> None:
    """Go on with a run that is paused, failed or was interrupted."""
    with opened() as house:
        house.store.run(run)
        drive(house, run, until, json_)


def show(run: str, json_: Json = False) -> None:
    """How a run stands."""
    with opened() as house:
        print_result(result(house, run), json_)


def runs() -> None:
    """All runs, a line each, the id first, oldest first."""
    with opened() as house:
        for row in house.store.each():
            if isinstance(row, Unreadable):
                tell_unreadable([row])
                continue
            outcome = row.verdict.outcome if row.verdict else ""
            print(f"{row.id}\t{row.status}\t{row.procedure}\t{row.case_id}\t{outcome}")


def export(run: str, to: Annotated[Path, typer.Option(help="FILE.json or FILE.html")]) -> None:
    """Write a run as JSON, or as one HTML report that opens without the app."""
    from courtroom import report  # slow to import: only to write one

    with opened() as house:
        record = house.record(run)
        if to.suffix == ".json":
            _, text = house.files.export(run)
        elif to.suffix == ".html":
            beside = house.beside.of(run)
            procedure, sure = house.procedures[record.run.procedure], house.experiments.repeats.sentence(run)
            text = report.as_html(record, procedure, house.answers, house.media, beside, sure=sure)
        else:
            raise CourtroomError("--to needs a file name that ends in .json or .html.")
        write(to, text)
        print(to)


def import_run(file: Annotated[Path, typer.Argument(help="A run that was exported as JSON.")]) -> None:
    """Take in a run that another Courtroom has exported, to be read and forked; a file that was changed is refused."""
    with opened() as house:
        try:
            data = file.read_bytes()
        except OSError as error:
            raise CourtroomError(f"{file} can't be read: {error.strerror}. Check the path.") from error
        print(house.files.take_in(data))


def _case(house: Courthouse, name: str) -> Case:
    path = Path(name)
    if path.exists() and (path.is_dir() or path.suffix in (".json", ".jsonl", ".zip")):
        (package, *more) = read_upload(path.name, path)
        if more:
            raise CourtroomError(f"{name} holds {1 + len(more)} cases; give a file with one.")
        return house.library.add(package)
    return house.library.case(name)
