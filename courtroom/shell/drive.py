"""How a command drives a run to its end, or to a stage, and reports its result."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import typer

from courtroom.courthouse import Courthouse
from courtroom.engine.control import Control
from courtroom.engine.procedure import StageKind
from courtroom.errors import CourtroomError
from courtroom.shell.output import follow, print_result, result


def drive(house: Courthouse, run: str, until: str | None, as_json: bool) -> None:
    """Go on with a run, report its progress, print its result. Ctrl-C pauses it.

    Raises:
        CourtroomError: there is no stage `until`.
        typer.Exit: always; code 1 if the run failed, else 0.
    """
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
    """A stage as the engine knows it: a title alone means the kind, as stages are named while running.

    Raises:
        CourtroomError: no kind of stage has such a name.
    """
    for kind in kinds:
        if wanted.casefold() == kind.title.casefold():
            return kind.name
        if any(
            re.fullmatch(rf"{re.escape(name)}([ -]\d+)?", wanted, re.IGNORECASE) for name in (kind.name, kind.title)
        ):
            return wanted
    known = ", ".join(kind.title for kind in kinds)
    raise CourtroomError(f"--until: there is no stage “{wanted}”. Stages are: {known}.")
