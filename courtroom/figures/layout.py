"""What all figures have in common."""

from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from courtroom.evaluation.intervals import Interval
from courtroom.language import translated

LIGHT = ("#0072B2", "#B85000", "#00795A", "#A84F82", "#8A6D00", "#5B5EA6")
DARK = ("#56B4E9", "#F0893B", "#2FC79A", "#E3A3C7", "#E0C341", "#9EA1E8")
NEUTRAL = {"light": "#8A8F98", "dark": "#9AA0AA"}
INK = {"light": "#1F2430", "dark": "#E8EAF0"}
UNNAMED: dict[str, Any] = {"hoverinfo": "skip", "showlegend": False}
"""Of lines that are neither named nor pointed at."""
LINE = {"light": "#D5D9E0", "dark": "#3A4150"}


def tone(index: int | None, theme: str = "light") -> str:
    """The colour of a choice by its tone; None is an abstention. `theme`: `light` or `dark`."""
    if index is None:
        return NEUTRAL[theme]
    colours = DARK if theme == "dark" else LIGHT
    return colours[index % len(colours)]


def plain(text: str) -> str:
    """Translate a text for a figure, and keep Plotly from reading links, styles and templates in it."""
    return translated(text).replace("&", "&amp;").replace("<", "&lt;").replace("%{", "%&#123;")


def spread(axis: str, values: Sequence[Interval], colour: str, thickness: float = 1.0) -> dict[str, Any]:
    """Values of a trace along an axis, with bars for their intervals."""
    array, arrayminus = [one.high - one.value for one in values], [one.value - one.low for one in values]
    bars = {"type": "data", "array": array, "arrayminus": arrayminus, "color": colour, "thickness": thickness}
    return {axis: [one.value for one in values], f"error_{axis}": bars}


def framed(figure: go.Figure, theme: str, height: int) -> go.Figure:
    clear = "rgba(0,0,0,0)"
    figure.update_layout(height=height, paper_bgcolor=clear, plot_bgcolor=clear, hoverlabel={"font": {"size": 13}})
    figure.update_layout(margin={"l": 12, "r": 12, "t": 24, "b": 12}, font={"color": INK[theme], "size": 14})
    figure.update_layout(legend={"orientation": "h", "y": 1.08, "x": 0})
    figure.update_xaxes(gridcolor=LINE[theme], zerolinecolor=LINE[theme])
    return figure.update_yaxes(gridcolor=LINE[theme], zerolinecolor=LINE[theme])


def listed(figure: go.Figure, theme: str, height: int, **axis: Any) -> go.Figure:
    """Have names stand at the left, the first on top, and frame the figure. `axis`: more of the names' axis."""
    figure.update_layout(showlegend=False)
    figure.update_yaxes(autorange="reversed", type="category", tickfont={"color": INK[theme]}, automargin=True, **axis)
    return framed(figure, theme, height)
