"""An experiment's figures from a shell: drawn into a file, or printed as numbers."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from courtroom.errors import CourtroomError
from courtroom.shell.house import opened
from courtroom.shell.options import Json
from courtroom.shell.output import write

if TYPE_CHECKING:
    from courtroom.experiments.measures import Measure
    from courtroom.experiments.results import ExperimentResults

WHOLE = ("values", "frontier", "matrix")
"""Figures that need no classes."""
FORMS = (".html", ".json", ".csv")


def figure(
    name: Annotated[str, typer.Argument(help="The experiment's id, or its name for the newest of that name.")],
    what: Annotated[
        str,
        typer.Argument(
            help="values, frontier, matrix; or by category, difficulty, rounds, real-votes, votes, share; or learning."
        ),
    ],
    measure: Annotated[str, typer.Option(help="Which measure; by default the table's first.")] = "",
    group: Annotated[str, typer.Option(help="Only cases of this group of the table.")] = "",
    to: Annotated[
        Path | None, typer.Option(help="FILE.html (opens in a browser), .json (Plotly) or .csv (numbers).")
    ] = None,
    theme: Annotated[Literal["light", "dark"], typer.Option(help="Colours of the figure.")] = "light",
    json_: Json = False,
) -> None:
    """Draw one of an experiment's figures into a file. Without --to, print its numbers."""
    from courtroom.experiments.table import ALL
    from courtroom.figures.breakdown import draw_breakdown
    from courtroom.figures.experiment import draw_frontier, draw_matrix, draw_values

    with opened() as house:
        found = house.experiments.results(name)
    chosen, among = _measure(found, measure), group or _first(found)
    if what in WHOLE:
        groups = [found.groups[arm, among] for arm in found.arms if (arm, among) in found.groups]
        rows: list[dict[str, str | float]] = [
            {"arm": line.arm, chosen.title: one.value, "from": one.low, "to": one.high, "cases": line.cases}
            for line in found.table.lines
            if line.group == among and (one := line.values.get(chosen.name))
        ]
        if what == "matrix":
            if chosen.each is None:
                raise CourtroomError(f"{chosen.title} has no value for each case. Choose another with --measure.")
            rows = [
                {"arm": one.arm, "case": case, chosen.title: value}
                for one in groups
                for case, value in zip(one.by_case, one.values(chosen, list(one.by_case)), strict=True)
                if value is not None
            ]
            drawn = draw_matrix(groups, chosen, theme)
        else:
            drawn = (draw_values if what == "values" else draw_frontier)(found.table, among, chosen, theme)
            spent = found.table.spent
            for row in rows:
                took = spent[str(row["arm"])]
                row |= {"tokens": took.tokens, **({} if took.cost is None else {"US$": took.cost})}
    else:
        broken = found.breakdown(what, chosen, group or ALL)
        rows, drawn = broken.rows(), draw_breakdown(broken, theme)
    if to is None:
        print(json.dumps(rows, ensure_ascii=False) if json_ else _lines(rows, "\t"), end="\n" if json_ else "")
    elif to.suffix == ".html":
        write(to, drawn.to_html(include_plotlyjs=True))
    elif to.suffix == ".json":
        write(to, drawn.to_json())
    elif to.suffix == ".csv":
        write(to, _lines(rows, ","))
    else:
        raise CourtroomError(f"--to needs a file name that ends in {', '.join(FORMS)}.")
    if to is not None:
        print(to)


def _measure(found: ExperimentResults, name: str) -> Measure:
    known = {measure.name: measure for measure in found.measures}
    if not known or (name and name not in known):
        raise CourtroomError(f"The table has no measure “{name}”. It has: {', '.join(known) or 'none'}.")
    return known[name] if name else next(iter(known.values()))


def _first(found: ExperimentResults) -> str:
    if not found.table.groups:
        raise CourtroomError("No cell is done yet. Start the experiment with `courtroom experiment resume`.")
    return found.table.groups[0]


def _lines(rows: list[dict[str, str | float]], between: str) -> str:
    """A line of names and a line for each row."""
    file = io.StringIO()
    writer = csv.DictWriter(file, list(rows[0]) if rows else [], delimiter=between, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()
