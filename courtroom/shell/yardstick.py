"""The human yardstick from a shell: `courtroom yardstick EXPERIMENT`."""

import json
from pathlib import Path
from typing import Annotated

import typer

from courtroom.errors import CourtroomError
from courtroom.shell.options import Json, opened, write

MOST = 10_000
"""Runs of a procedure that are read."""


def yardstick(
    experiment: Annotated[
        str, typer.Argument(help="The id of an experiment or a what-if, or an experiment's name.")
    ] = "",
    arm: Annotated[str, typer.Option(help="Only this arm; by default all arms together.")] = "",
    procedure: Annotated[
        str, typer.Option(help="In place of an experiment: all finished runs of this procedure.")
    ] = "",
    to: Annotated[Path | None, typer.Option(help="The curve as FILE.html, which opens in a browser.")] = None,
    json_: Json = False,
) -> None:
    """Hold runs in which a jury votes against juries of people: does it move from the first ballot to the verdict as they do? And how many voices has it?"""
    from courtroom.evaluation.run_list import RunFilter, RunList
    from courtroom.evaluation.yardstick import of_runs
    from courtroom.figures.yardstick import draw_yardstick

    if bool(experiment) == bool(procedure):
        raise CourtroomError("Name either an experiment or, with --procedure, a procedure.")
    with opened() as house:
        if procedure:
            runs = RunList(house.database).runs(RunFilter(status="done", procedure=procedure), MOST)
        else:
            runs = house.experiments.runs(experiment, arm)
        found = of_runs(runs, house.record, house.procedures)
    if not found.lines:
        raise CourtroomError("Nobody has voted in these runs. Run some in which members vote first.")
    if to is not None:
        write(to, draw_yardstick(found).to_html(include_plotlyjs=True))
    if json_:
        print(json.dumps(found.as_data(), ensure_ascii=False))
        return
    print("\n".join(found.sentences))
    print("first ballot\truns\tproven\tpeople\tproven")
    for point in found.curve:
        mine, theirs = (one and f"{one.value:.0%}" for one in (point.interval(), point.interval(of_people=True)))
        print(f"{point.votes} of {point.size}\t{point.n}\t{mine or '-'}\t{point.people_n}\t{theirs or '-'}")
    print("\nmeasure\tvalue\t95 % interval\tn\tpeople\tn\tp\tsource")
    for line in found.lines:
        form = ".1%" if line.percent else ".2f"
        people = "-" if line.people is None else f"{line.people:{form}}"
        p = "-" if line.p is None else f"{line.p:.2g}"
        ends = "-" if line.low is None else f"{line.low:{form}} to {line.high:{form}}"
        print(
            f"{line.title}\t{line.value:{form}}\t{ends}\t{line.n}\t{people}\t{line.people_n or '-'}\t{p}\t{line.source}"
        )
