"""The same engine from a shell: `courtroom` or `python -m courtroom`. Progress on stderr, the result on stdout."""

from __future__ import annotations

import json
import logging
import re
import sqlite3
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import check
from courtroom.cases.drafts import DraftBatch
from courtroom.cases.files import explain, read_upload
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import changed, read_value
from courtroom.engine.control import Control
from courtroom.engine.interventions import Change, Deed, read_deeds
from courtroom.engine.procedure import StageKind
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError, StoreError
from courtroom.evaluation import comparison
from courtroom.settings import from_environment
from courtroom.shell import app as shell_app
from courtroom.shell import knowledge as shell_knowledge
from courtroom.shell import procedures as shell_procedures
from courtroom.shell import sweep as shell_sweep
from courtroom.shell import upkeep as shell_store
from courtroom.shell.compare import lines
from courtroom.shell.output import answered, follow, print_result, result, tell_unreadable
from courtroom.store.file import explained

app = typer.Typer(
    help=__doc__, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None
)
app.add_typer(shell_knowledge.app, name="knowledge")
app.command("app", context_settings=shell_app.PASSED_ON)(shell_app.open_app)
app.command("sweep")(shell_sweep.sweep)
app.command("doctor")(shell_store.doctor)
app.command("backup")(shell_store.backup)
app.callback()(shell_procedures.options)
app.command("procedures")(shell_procedures.procedures)
app.command("new-procedure")(shell_procedures.new_procedure)
cases_app = typer.Typer(help="List the cases, or check one.", invoke_without_command=True)
app.add_typer(cases_app, name="cases")

Json = Annotated[bool, typer.Option("--json", help="Print the result as one JSON object.")]


@cases_app.callback()
def cases(context: typer.Context) -> None:
    """All cases, a line each, the id first."""
    if context.invoked_subcommand is None:
        house = Courthouse()
        for case in house.library.cases():
            print(f"{case.id}\t{case.kind}\t{case.language}\t{case.title}")
        tell_unreadable(house.library.unreadable())
        house.close()


@cases_app.command("check")
def check_case(path: Path) -> None:
    """Check a case file (.json, .jsonl, .zip) or a folder with a case.json; exit code 1 where there are errors."""
    try:
        packages = read_upload(path.name, path)
    except CourtroomError as error:
        print(f"{path.name}\terror\t\t{error}")
        raise typer.Exit(1) from error
    wrong = False
    for package in packages:
        findings = check(package.case, package.files)
        wrong = wrong or any(finding.severity == "error" for finding in findings)
        for finding in findings:
            print(f"{package.case.id}\t{finding.severity}\t{finding.field}\t{finding.message}")
        for remark in package.remarks:
            print(f"{package.case.id}\tremark\t{remark}")
        if not findings:
            print(f"{package.case.id}\tok")
    raise typer.Exit(1 if wrong else 0)


@app.command()
def run(
    case: Annotated[str, typer.Argument(help="A case's id, or a file.")],
    procedure: Annotated[str, typer.Option(help="Which procedure hears it.")] = "cyberjurors",
    model: Annotated[str | None, typer.Option(help="`offline`, or any LiteLLM model id.")] = None,
    seed: Annotated[int, typer.Option(help="What all chance depends on.")] = 0,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, e.g. rounds=2, model.timeout_s=5.")
    ] = None,
    until: Annotated[str | None, typer.Option(help="Pause after this stage.")] = None,
    json_: Json = False,
) -> None:
    """Hear a case."""
    house = Courthouse()
    heard = _case(house, case)
    if procedure not in house.procedures:
        raise CourtroomError(f"There is no procedure “{procedure}”. Known: {', '.join(house.procedures)}.")
    setup = _setup(house.procedures[procedure].setup, model, set_ or [])
    _drive(house, house.new_run(procedure, heard, setup, seed), until, json_)


@app.command()
def resume(
    run: str, until: Annotated[str | None, typer.Option(help="Pause after this stage.")] = None, json_: Json = False
) -> None:
    """Go on with a run that is paused, failed or was interrupted."""
    house = Courthouse()
    house.store.run(run)
    _drive(house, run, until, json_)


@app.command()
def fork(
    run: Annotated[str, typer.Argument(help="The run to fork.")],
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="KEY=VALUE, e.g. jury.5.traits='[\"blunt\"]'.")
    ] = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="Stage from which changes hold; default: from the beginning.")
    ] = None,
    intervene: Annotated[
        Path | None, typer.Option(help="Interventions as JSON: objects with `kind` overrule, change, evidence or note.")
    ] = None,
    who: Annotated[str, typer.Option(help="Who intervenes.")] = "somebody",
    seed: Annotated[int | None, typer.Option(help="Another seed asks all that depends on chance anew.")] = None,
    estimate: Annotated[bool, typer.Option(help="Ask nothing; say how many calls the fork would take.")] = False,
    json_: Json = False,
) -> None:
    """Run a case again with something changed; what is not touched by it is served from the record."""
    house = Courthouse()
    parent = house.record(run)
    deeds = _deeds(intervene)
    setup = parent.setup if from_ else _changed(parent.setup, set_ or [])
    if from_:
        deeds += [Change(key=key, value=value) for key, value in _pairs(set_ or []).items()]
    planned = house.steer.planned(parent, deeds, who, from_)
    if not estimate:
        _drive(house, house.fork(run, setup, seed, interventions=planned), None, json_)
    wanted = parent.run.seed if seed is None else seed
    found = house.estimate(parent.run.procedure, parent.case, setup, wanted, run, interventions=planned)
    house.close()
    ask = found.calls - found.on_record
    summary = {"calls": found.calls, "ask": ask, "serve": found.on_record, "anew": dict(found.anew)}
    why = f" Anew: {', '.join(f'{title} {number}' for title, number in found.anew.items())}." if found.anew else ""
    told = f"{ask} calls would be asked, {found.on_record} are served from the record.{why}"
    print(json.dumps(summary) if json_ else told)


def _deeds(path: Path | None) -> list[Deed]:
    if path is None:
        return []
    if not path.is_file():
        raise CourtroomError(f"--intervene {path}: there is no such file.")
    try:
        return read_deeds(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise CourtroomError(f"--intervene {path}: {' '.join(explain(error))}") from error


@app.command()
def show(run: str, json_: Json = False) -> None:
    """How a run stands."""
    house = Courthouse()
    print_result(result(house.record(run)), json_)
    house.close()


@app.command()
def compare(
    runs_: Annotated[list[str], typer.Argument(metavar="RUN RUN [RUN RUN]", help="Two to four runs.")],
    json_: Json = False,
) -> None:
    """Put runs beside each other: what was put in, votes, answers, what was looked up."""
    house = Courthouse()
    found = comparison.compare([house.record(run) for run in comparison.checked(runs_)])
    house.close()
    print(found.model_dump_json() if json_ else "\n".join(lines(found)))


@app.command()
def runs() -> None:
    """All runs, a line each, the id first, oldest first."""
    house = Courthouse()
    for row in house.store.runs():
        outcome = row.verdict.outcome if row.verdict else ""
        print(f"{row.id}\t{row.status}\t{row.procedure}\t{row.case_id}\t{outcome}")
    tell_unreadable(house.store.unreadable())
    house.close()


@app.command()
def export(run: str, to: Annotated[Path, typer.Option(help="FILE.json or FILE.html")]) -> None:
    """Write a run as JSON, or as one HTML report that opens without the app."""
    from courtroom import report

    house = Courthouse()
    record = house.record(run)
    if to.suffix == ".json":
        text = report.as_json(record, house.answers)
    elif to.suffix == ".html":
        text = report.as_html(record, house.procedures[record.run.procedure], house.answers, house.media)
    else:
        raise CourtroomError("--to needs a file name that ends in .json or .html.")
    _write(to, text)
    print(to)
    house.close()


@app.command()
def align(
    to: Annotated[Path, typer.Option(help="A folder for sft.jsonl and dpo.jsonl.")],
    runs_: Annotated[list[str] | None, typer.Argument(help="VERDICT runs; all that are done by default.")] = None,
    model: Annotated[str | None, typer.Option(help="The model that reflects and corrects.")] = None,
    json_: Json = False,
) -> None:
    """Build training data for an expert from recorded VERDICT runs with a known judgment."""
    from courtroom.procedures.verdict.alignment import first_drafts

    house = Courthouse()
    done = [row.id for row in house.store.runs() if row.procedure == "verdict" and row.status == "done"]
    drafts = tuple(first_drafts(house.record(run) for run in runs_ or done))
    if not drafts:
        raise CourtroomError("There is no VERDICT run with a first draft and a known judgment. Hear some cases first.")
    procedure = house.procedures["alignment"]
    batch = DraftBatch(id="drafts", title=f"Training data from {len(drafts)} first drafts", drafts=drafts)
    run = house.new_run("alignment", batch, _setup(procedure.setup, model, []), 0)
    house.runner.go(run)
    house.runner.wait(run)
    record = house.record(run)
    for export in procedure.exports:
        _write(to / export.file, export.write(record, house.answers))
    summary = result(record)
    house.close()
    print_result(summary, json_)
    raise typer.Exit(1 if summary["status"] == "failed" else 0)


def _case(house: Courthouse, name: str) -> Case:
    path = Path(name)
    if path.exists() and (path.is_dir() or path.suffix in (".json", ".jsonl", ".zip")):
        (package, *more) = read_upload(path.name, path)
        if more:
            raise CourtroomError(f"{name} holds {1 + len(more)} cases; give a file with one.")
        return house.library.add(package)
    return house.library.case(name)


def _setup(kind: type[Setup], model: str | None, changes: list[str]) -> Setup:
    return _changed(kind(), [*([f"model.id={json.dumps(model)}"] if model else []), *changes])


def _pairs(changes: list[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for change in changes:
        key, equals, text = change.partition("=")
        if not equals:
            raise CourtroomError(f"--set {change}: write KEY=VALUE.")
        values[key.strip()] = read_value(text)
    return values


def _changed(setup: Setup, changes: list[str]) -> Setup:
    try:
        return changed(setup, _pairs(changes))
    except ValidationError as error:
        raise CourtroomError(" ".join(explain(error))) from error


def _drive(house: Courthouse, run: str, until: str | None, json_: bool) -> None:
    kinds = house.procedures[house.store.run(run).procedure].stages
    stage = _stage(kinds, until) if until else None
    before = answered(house.record(run))
    try:
        house.runner.go(run, Control(stage=stage))
        follow(house, run)
    except KeyboardInterrupt:
        house.runner.stop(run)
    summary = result(house.record(run), before)
    house.close()
    print_result(summary, json_)
    raise typer.Exit(1 if summary["status"] == "failed" else 0)


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CourtroomError(f"{path} can't be written: {error.strerror}. Name another with --to.") from error


def _stage(kinds: Sequence[StageKind], wanted: str) -> str:
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


def main() -> None:
    """Run a command; an error that a user may see is one sentence on stderr."""
    try:
        app()
    except StoreError as error:
        print(error, file=sys.stderr)
        sys.exit(1)
    except CourtroomError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except sqlite3.Error as error:
        logging.getLogger(__name__).exception("the store failed")
        print(explained(error, from_environment().database), file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
