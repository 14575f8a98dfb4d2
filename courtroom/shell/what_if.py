"""What would have changed, from a shell: `courtroom what-if RUN --vary KEY=V1,V2 --drop WORD`."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

from courtroom.courthouse import Courthouse
from courtroom.engine.changes import read_values
from courtroom.shell.experiment import follow, print_estimate, progress
from courtroom.shell.options import Json, opened

if TYPE_CHECKING:
    from courtroom.experiments.spec import Experiment
    from courtroom.experiments.what_if import Axis, Result


def what_if(
    run: Annotated[str, typer.Argument(help="A finished run, or the id of a what-if to go on with it.")],
    vary: Annotated[
        list[str] | None, typer.Option(help="KEY=V1,V2,... as in --set; values with commas as JSON.")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help="Leave each of these out in turn: a role in the plural, `evidence`, the key of a list of rules."
        ),
    ] = None,
    propose: Annotated[
        int | None, typer.Option(help="What would change the verdict? Single changes within this budget of calls.")
    ] = None,
    cross: Annotated[bool, typer.Option("--grid", help="Every combination, not one change at a time.")] = False,
    seeds: Annotated[int, typer.Option(min=1, max=1000, help="How many seeds, from the run's own on.")] = 1,
    estimate: Annotated[bool, typer.Option(help="Ask nothing; say how many calls it would take.")] = False,
    json_: Json = False,
) -> None:
    """Ask what would have changed: many variants of one run; what they share is asked once."""
    with opened() as house:
        if run.startswith("what-if-"):
            kept = house.experiments.store.experiment(run)
            name, experiment = kept.id, kept.experiment
        else:
            name, experiment = "", _experiment(house, run, vary or [], drop or [], propose, cross, seeds)
        if estimate:
            print_estimate(house.experiments.estimate(experiment, progress), json_)
            return
        name = name or house.experiments.begin(experiment)
        if not house.experiments.try_again(name):
            house.experiments.go(name)
        follow(house, name)
        summary = result(house, name)
    if json_:
        print(json.dumps(summary, ensure_ascii=False))
    else:
        _print(summary)
    raise typer.Exit(0 if summary["status"] == "done" and not summary["cells"].get("failed") else 1)


def result(house: Courthouse, name: str) -> dict[str, Any]:
    from courtroom.experiments.what_if import results

    kept, cells = house.experiments.store.experiment(name), list(house.experiments.store.cells(name))
    found = results(kept.experiment, cells)
    return {
        "experiment": kept.id,
        "run": kept.experiment.dataset.run,
        "status": kept.status,
        "reason": kept.reason,
        "decided": found.decided,
        "cells": dict(Counter(cell.state for cell in cells)),
        "seeds": list(kept.experiment.seeds),
        "variants": [_line(row) for row in found.rows],
        "influential": [row.name for row in found.influential("member", "evidence")][:5],
    }


def _line(row: Result) -> dict[str, Any]:
    shares = {name: [round(n, 4) for n in (s.value, s.low, s.high)] for name, s in row.shares.items()}
    return {
        "variant": row.name,
        "kind": row.kind,
        "done": row.done,
        "outcome": row.outcome,
        "shares": shares,
        "votes": None if row.votes is None else round(row.votes, 4),
        "swing": None if row.swing is None else round(row.swing, 4),
        "flips": row.flips,
        "pairs": row.pairs,
        "runs": list(row.runs),
    }


def _experiment(
    house: Courthouse, run: str, vary: list[str], drop: list[str], budget: int | None, cross: bool, many: int
) -> Experiment:
    from courtroom.experiments.plan import finished  # slow to import
    from courtroom.experiments.what_if import grid, left_out, singly, values

    what_ifs = house.experiments.what_ifs
    base = finished(run, house)
    procedure = house.procedures[base.run.procedure]
    seeds = list(range(base.run.seed, base.run.seed + many))
    axes: list[Axis] = []
    for text in vary:
        path, equals, given = text.partition("=")
        if not equals or not given:
            raise typer.BadParameter(f"--vary {text}: write KEY=V1,V2,...")
        if path.strip() == "seed":
            seeds = [_seed(value) for value in read_values(given)]
        else:
            axes.append(values(procedure.setup, path.strip(), read_values(given)))
    offered = left_out(procedure, base.setup, base.case, base.run.seed) if drop else {}
    for what in dict.fromkeys(drop):
        if what not in offered:
            known = f"'{what}' is not one of {', '.join(offered)}" if offered else "nothing can be left out here"
            raise typer.BadParameter(f"--drop {what}: {known}.")
        axes.append(offered[what])
    if budget is not None:
        proposed = what_ifs.propose(run, budget, progress)
        axes.append(tuple(variant for variant, _ in proposed))
    return what_ifs.experiment(run, grid(*axes) if cross else singly(*axes), seeds)


def _seed(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise typer.BadParameter(f"--vary seed: {value} is no seed; seeds are whole numbers from 0 on.")
    return value


def _print(summary: dict[str, Any]) -> None:
    print(f"{summary['experiment']}  {summary['status']}  {summary['reason']}".rstrip())
    for line in summary["variants"]:
        swing = "" if line["swing"] is None else f"{line['swing']:+.0%}"
        flips = f"{line['flips']} of {line['pairs']} flipped" if line["pairs"] else ""
        print(f"{line['outcome'] or '-':12}  {swing:>6}  {flips:16}  {line['variant']}")
    if summary["influential"]:
        print(f"Most influential: {'; '.join(summary['influential'])}")
