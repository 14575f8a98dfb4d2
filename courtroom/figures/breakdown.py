"""Results by category, difficulty, rounds and votes, and a memory's learning curve."""

from __future__ import annotations

import plotly.graph_objects as go

from courtroom.experiments.breakdown import Breakdown
from courtroom.figures.experiment import SYMBOLS
from courtroom.figures.layout import framed
from courtroom.figures.palette import tone
from courtroom.figures.plain import plain

MOST_CHARACTERS = 24
"""Of a class's name below the axis."""


def draw_breakdown(found: Breakdown, theme: str = "light") -> go.Figure:
    """A measure of every arm in every class, with 95 % intervals over cases; a line joins classes whose order means something.

    Below the name of a class stands how many cases it has, of the arm that has most.
    """
    figure = go.Figure()
    for number, arm in enumerate(dict.fromkeys(point.arm for point in found.points)):
        mine = {point.label: point for point in found.points if point.arm == arm}
        shown = [mine[label] for label in found.labels if label in mine]
        figure.add_scatter(
            x=[found.labels.index(point.label) for point in shown],
            y=[point.value.value for point in shown],
            mode="lines+markers" if found.ordered else "markers",
            name=plain(arm),
            line={"color": tone(number, theme), "width": 1.5},
            marker={"size": 10, "color": tone(number, theme), "symbol": SYMBOLS[number % len(SYMBOLS)]},
            error_y={
                "type": "data",
                "array": [point.value.high - point.value.value for point in shown],
                "arrayminus": [point.value.value - point.value.low for point in shown],
                "color": tone(number, theme),
                "thickness": 1,
            },
            customdata=[[plain(point.label), point.value.low, point.value.high, point.cells] for point in shown],
            hovertemplate="%{customdata[0]}: %{y:.3f}, 95 % interval %{customdata[1]:.3f} to %{customdata[2]:.3f}, "
            "%{customdata[3]} cells<extra>" + plain(arm) + "</extra>",
        )
    cases = {label: max((one.cases for one in found.points if one.label == label), default=0) for label in found.labels}
    figure.update_xaxes(
        title_text=plain(found.title),
        tickvals=list(range(len(found.labels))),
        ticktext=[f"{plain(_short(label))}<br>n = {cases[label]:,}" for label in found.labels],
        range=[-0.5, len(found.labels) - 0.5],
        automargin=True,
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(title_text=plain(found.measure.title), tickformat=".0%" if found.measure.percent else None)
    figure.update_layout(scattermode="group", scattergap=0.6, showlegend=True)
    return framed(figure, theme, 440)


def _short(label: str) -> str:
    return label if len(label) <= MOST_CHARACTERS else f"{label[: MOST_CHARACTERS - 1]}…"
