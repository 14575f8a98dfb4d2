"""Runs from a shell: `run`, `resume`, `show`, `runs` and `export`."""

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from courtroom.cases.files import read_upload
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import changed
from courtroom.engine.knobs import seating
from courtroom.engine.procedure import StageKind
from courtroom.engine.run import Control
from courtroom.errors import CourtroomError, Unreadable
from courtroom.language import speaking
from courtroom.shell.options import (
    Json,
    Model,
    Set,
    Until,
    follow,
    opened,
    print_result,
    read_bytes,
    result,
    setup_with,
    tell_unreadable,
    write,
)


def drive(house: Courthouse, run: str, until: str | None, as_json: bool) -> None:
    """Go on with a run, report its progress, print its result and exit: with 1 if the run failed, else 0. Ctrl-C pauses it."""
    kinds = house.procedures[house.store.run(run).procedure].stages
    stage = stage_named(kinds, until) if until else None
    record = house.record(run)
    for warning in record.setup.warnings():
        print(f"Warning: {warning}", file=sys.stderr)
    before = record.paid
    try:
        house.runner.go(run, Control(stage=stage))
        follow(house, run)
    except KeyboardInterrupt:
        house.runner.stop(run)
    summary = result(house, run, before)
    print_result(summary, as_json)
    raise typer.Exit(1 if summary["status"] == "failed" else 0)


def stage_named(kinds: Sequence[StageKind], wanted: str) -> str:
    """A stage as the engine knows it: a title alone means the kind, as stages are named while running."""
    for kind in kinds:
        if wanted.casefold() == kind.title.casefold():
            return kind.name
        if any(
            re.fullmatch(rf"{re.escape(name)}([ -]\d+)?", wanted, re.IGNORECASE) for name in (kind.name, kind.title)
        ):
            return wanted
    known = ", ".join(kind.title for kind in kinds)
    raise CourtroomError(f"--until: there is no stage “{wanted}”. Stages are: {known}.")


def run(
    case: Annotated[str, Argument(help="A case's id, or a file.")],
    procedure: Annotated[
        str | None, Option(help="Which procedure; default: the first that takes cases of its kind.")
    ] = None,
    model: Model = None,
    seed: Annotated[int, Option(help="What all chance depends on.")] = 0,
    set_: Set = None,
    panel: Annotated[str | None, Option(help="A saved panel whose persons are the jurors.")] = None,
    until: Until = None,
    json_: Json = False,
) -> None:
    """Hear a case."""
    with opened() as house:
        path = Path(case)
        if path.exists() and (path.is_dir() or path.suffix in (".json", ".jsonl", ".zip")):
            (package, *more) = read_upload(path.name, path)
            if more:
                raise CourtroomError(f"{case} holds {1 + len(more)} cases; give a file with one.")
            heard = house.library.add(package)
        else:
            heard = house.library.case(case)
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
        summary = result(house, run)
        print_result({**summary, "worth": found} if (found := house.worth(run)) else summary, json_)


def runs() -> None:
    """All runs, a line each, the id first, oldest first."""
    with opened() as house:
        for row in house.store.each():
            if isinstance(row, Unreadable):
                tell_unreadable([row])
                continue
            outcome = row.verdict.outcome if row.verdict else ""
            print(f"{row.id}\t{row.status}\t{row.procedure}\t{row.case_id}\t{outcome}")


def export(run: str, to: Annotated[Path, Option(help="FILE.json or FILE.html")]) -> None:
    """Write a run as JSON, or as one HTML report that opens without the app."""
    from courtroom import report  # slow to import: only to write one

    with opened() as house:
        record = house.record(run)
        if to.suffix == ".json":
            _, text = house.files.export(run)
        elif to.suffix == ".html":
            beside = house.beside.of(run)
            procedure = house.procedures[record.run.procedure]
            sure = " ".join(filter(None, (house.experiments.repeats.sentence(run), house.worth(run))))
            text = report.as_html(record, procedure, house.answers, house.media, beside, sure=sure)
        else:
            raise CourtroomError("--to needs a file name that ends in .json or .html.")
        write(to, text)
        print(to)


def film(
    run: str,
    to: Annotated[Path | None, Option(help="FILE.mp4, FILE.gif, or FILE.png for one picture.")] = None,
    shape: Annotated[Literal["wide", "tall"], Option(help="16:9 or 9:16.")] = "wide",
    theme: Annotated[Literal["light", "dark"], Option(help="Dark type on a light ground, or light on dark.")] = "light",
    language: Annotated[Literal["en", "zh"], Option(help="Of everything but what members say.")] = "en",
    seconds: Annotated[float, Option(min=20, max=60, help="About how long it is.")] = 45,
    leave_out: Annotated[list[int] | None, Option(help="The number of a moment in the storyboard.")] = None,
) -> None:
    """Draw a film of a run; without a file, its storyboard: the moments that it shows, with their numbers."""
    from courtroom import film as films  # slow to import: only to draw one

    def drawn(share: float) -> None:
        print(f"{share:.0%} drawn", end="\n" if share >= 1 else "\r", file=sys.stderr, flush=True)

    with opened() as house, speaking(language):
        record = house.record(run)
        told = films.scene_to_film(record, house.procedures[record.run.procedure])
        left_out = set(leave_out or ())
        shots = [
            shot.model_copy(update={"kept": False}) if number in left_out else shot
            for number, shot in enumerate(films.storyboard(told, seconds))
        ]
        if to is None:
            for number, shot in enumerate(shots):
                if shot.kept:
                    print(f"{number}\t{shot.seconds:.1f} s\t{shot.head}\t{shot.caption}")
            print(f"{films.length(shots):.0f} s", file=sys.stderr)
        elif to.suffix == ".png":
            films.poster(told, shots, shape=shape, theme=theme).save(to)
        else:
            films.film(told, shots, to, shape=shape, theme=theme, progress=drawn)
    if to:
        print(to)


def import_run(file: Annotated[Path, Argument(help="A run that was exported as JSON.")]) -> None:
    """Take in a run that another Courtroom has exported, to be read and forked; a file that was changed is refused."""
    with opened() as house:
        print(house.files.take_in(read_bytes(file)))
