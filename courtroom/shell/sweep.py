"""What-if sweeps from a shell: `courtroom sweep RUN --vary KEY=V1,V2 --drop WORD`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from concurrent.futures import wait
from typing import Annotated, Any

import typer

from courtroom.courthouse import Courthouse
from courtroom.engine.changes import read_values
from courtroom.shell.house import opened
from courtroom.shell.options import Json
from courtroom.shell.output import LOOK_S
from courtroom.sweeps.plan import (
    Axis,
    SweepPlan,
    grid,
    left_out,
    singly,
    values,
)
from courtroom.sweeps.results import Result, results


def sweep(
    run: Annotated[str, typer.Argument(help="A finished run, or a sweep's id to go on with it.")],
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
        if run.startswith("sweep-"):
            name, wanted = run, house.sweeps.store.sweep(run).plan
        else:
            name, wanted = "", _plan(house, run, vary or [], drop or [], propose, cross, seeds)
        if estimate:
            found = house.sweeps.estimate(wanted, lambda done, total: _report(f"Rehearsed {done} of {total}"))
            text = f"{found.runs} runs: {found.ask} calls would be asked, {found.serve} are served from the record."
            takes = {"variants": len(wanted.variants), "runs": found.runs, "ask": found.ask, "serve": found.serve}
            print(json.dumps(takes) if json_ else text)
            return
        name = name or house.sweeps.start(wanted)
        house.sweeps.go(name)
        _follow(house, name)
        summary = result(house, name)
    if json_:
        print(json.dumps(summary, ensure_ascii=False))
    else:
        _print(summary)
    raise typer.Exit(0 if summary["status"] == "done" else 1)


def result(house: Courthouse, name: str) -> dict[str, Any]:
    """A sweep's result as plain data."""
    row, cells = house.sweeps.store.sweep(name), house.sweeps.store.cells(name)
    found = results(row.plan, cells)
    return {
        "sweep": name,
        "base": row.base,
        "status": row.status,
        "reason": row.reason,
        "decided": found.decided,
        "runs": dict(Counter(cell.status for cell in cells)),
        "seeds": list(row.plan.seeds),
        "variants": [_line(one) for one in found.rows],
        "influential": [one.name for one in found.influential("member", "evidence")][:5],
    }


def _line(one: Result) -> dict[str, Any]:
    shares = {name: [round(n, 4) for n in (s.value, s.low, s.high)] for name, s in one.shares.items()}
    return {
        "variant": one.name,
        "kind": one.kind,
        "done": one.done,
        "outcome": one.outcome,
        "shares": shares,
        "votes": None if one.votes is None else round(one.votes, 4),
        "swing": None if one.swing is None else round(one.swing, 4),
        "flips": one.flips,
        "pairs": one.pairs,
        "runs": list(one.runs),
    }


def _plan(
    house: Courthouse, run: str, vary: list[str], drop: list[str], budget: int | None, cross: bool, seeds: int
) -> SweepPlan:
    base = house.sweeps.base(run)
    procedure = house.procedures[base.run.procedure]
    wanted = list(range(base.run.seed, base.run.seed + seeds))
    axes: list[Axis] = []
    for text in vary:
        path, equals, given = text.partition("=")
        if not equals or not given:
            raise typer.BadParameter(f"--vary {text}: write KEY=V1,V2,...")
        if path.strip() == "seed":
            wanted = [_seed(value) for value in read_values(given)]
        else:
            axes.append(values(path.strip(), read_values(given)))
    offered = left_out(procedure, base.setup, base.case, base.run.seed) if drop else {}
    for what in dict.fromkeys(drop):
        if what not in offered:
            known = f"'{what}' is not one of {', '.join(offered)}" if offered else "nothing can be left out here"
            raise typer.BadParameter(f"--drop {what}: {known}.")
        axes.append(offered[what])
    if budget is not None:
        proposed = house.sweeps.propose(run, budget, lambda done, total: _report(f"Rehearsed {done} of {total}"))
        axes.append(tuple(variant for variant, _ in proposed))
    return house.sweeps.plan(run, grid(*axes) if cross else singly(*axes), wanted)


def _seed(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise typer.BadParameter(f"--vary seed: {value} is no seed; seeds are whole numbers from 0 on.")
    return value


def _follow(house: Courthouse, name: str) -> None:
    """Report progress on stderr until the sweep is done, paused or cancelled; Ctrl-C pauses it."""
    _report(name)
    text = -1
    settled = house.sweeps.settled(name)
    try:
        while True:
            over = settled.done()
            row = house.sweeps.store.sweep(name)
            cells = house.sweeps.store.cells(name)
            done = sum(cell.status == "done" for cell in cells)
            if done != text:
                _report(f"{done} of {len(cells)} runs are done")
                text = done
            if over:
                settled.result()
                _report(f"{row.status}. {row.reason}".strip())
                return
            wait([settled], timeout=LOOK_S)
    except KeyboardInterrupt:
        house.sweeps.pause(name)
    house.sweeps.wait(name)


def _report(text: str) -> None:
    print(text, file=sys.stderr)


def _print(summary: dict[str, Any]) -> None:
    print(f"{summary['sweep']}  {summary['status']}  {summary['reason']}".rstrip())
    for line in summary["variants"]:
        swing = "" if line["swing"] is None else f"{line['swing']:+.0%}"
        flips = f"{line['flips']} of {line['pairs']} flipped" if line["pairs"] else ""
        print(f"{line['outcome'] or '-':12}  {swing:>6}  {flips:16}  {line['variant']}")
    if summary["influential"]:
        print(f"Most influential: {'; '.join(summary['influential'])}")
