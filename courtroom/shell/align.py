"""Training data from a shell: `align`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from courtroom.errors import CourtroomError
from courtroom.shell.house import opened
from courtroom.shell.options import Json, setup_with
from courtroom.shell.output import print_result, result, write


def align(
    to: Annotated[Path, typer.Option(help="A folder for sft.jsonl, dpo.jsonl and adapter.json.")],
    runs_: Annotated[
        list[str] | None, typer.Argument(help="Runs with a known judgment; all that are done by default.")
    ] = None,
    model: Annotated[str | None, typer.Option(help="The model that reflects and corrects.")] = None,
    json_: Json = False,
) -> None:
    """Build training data for an expert from recorded runs with a known judgment."""
    with opened() as house:
        procedure, source = house.teaching[0]
        parts = house.read(source, runs_)
        if not parts:
            raise CourtroomError(source.none)
        run = house.new_run(procedure.name, source.batch(parts), setup_with(procedure.setup(), None, model), 0)
        house.runner.go(run)
        house.runner.wait(run)
        record = house.record(run)
        for export in procedure.exports:
            write(to / export.file, export.write(record, house.answers))
        summary = result(house, run)
    print_result(summary, json_)
    raise typer.Exit(1 if summary["status"] == "failed" else 0)
