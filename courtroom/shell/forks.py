"""Forks from a shell: `fork`, and `compare` to see what came of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from courtroom.cases.explain import explain
from courtroom.engine.interventions import Action, ChangeSetup, read_actions
from courtroom.engine.rehearsal import Estimate
from courtroom.errors import CourtroomError
from courtroom.evaluation import comparison
from courtroom.shell.compare_lines import lines
from courtroom.shell.drive import drive
from courtroom.shell.house import opened
from courtroom.shell.options import Json, Set, pairs, setup_with


def fork(
    run: Annotated[str, typer.Argument(help="The run to fork.")],
    set_: Set = None,
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
    with opened() as house:
        parent = house.record(run)
        actions = _actions(intervene)
        setup = parent.setup if from_ else setup_with(parent.setup, set_)
        if from_:
            actions += [ChangeSetup(key=key, value=value) for key, value in pairs(set_).items()]
        planned = house.interventions.planned(parent, actions, who, from_)
        if not estimate:
            drive(house, house.fork(run, setup, seed, interventions=planned), None, json_)
        wanted = parent.run.seed if seed is None else seed
        found = house.estimate(parent.run.procedure, parent.case, setup, wanted, run, interventions=planned)
    _report(found, json_)


def compare(
    runs_: Annotated[list[str], typer.Argument(metavar="RUN RUN [RUN RUN]", help="Two to four runs.")],
    json_: Json = False,
) -> None:
    """Put runs beside each other: what was put in, votes, answers, what was looked up."""
    with opened() as house:
        found = comparison.compare([house.record(run) for run in comparison.checked(runs_)])
    print(found.model_dump_json() if json_ else "\n".join(lines(found)))


def _report(found: Estimate, as_json: bool) -> None:
    ask = found.calls - found.on_record
    if as_json:
        print(json.dumps({"calls": found.calls, "ask": ask, "serve": found.on_record, "anew": dict(found.anew)}))
        return
    why = f" Anew: {', '.join(f'{title} {number}' for title, number in found.anew.items())}." if found.anew else ""
    print(f"{ask} calls would be asked, {found.on_record} are served from the record.{why}")


def _actions(path: Path | None) -> list[Action]:
    if path is None:
        return []
    if not path.is_file():
        raise CourtroomError(f"--intervene {path}: there is no such file.")
    try:
        return read_actions(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise CourtroomError(f"--intervene {path}: {' '.join(explain(error))}") from error
