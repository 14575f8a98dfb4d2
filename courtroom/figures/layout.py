"""What all figures have in common."""

from __future__ import annotations

import plotly.graph_objects as go

from courtroom.figures.palette import INK, LINE


def framed(figure: go.Figure, theme: str, height: int, title: str = "") -> go.Figure:
    """Our margins, type and colours on a transparent ground."""
    figure.update_layout(
        height=height,
        margin={"l": 12, "r": 12, "t": 44 if title else 24, "b": 12},
        title={"text": title, "font": {"size": 16}} if title else None,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        font={"color": INK[theme], "size": 14},
        legend={"orientation": "h", "y": 1.08, "x": 0},
        hoverlabel={"font": {"size": 13}},
    )
    figure.update_xaxes(gridcolor=LINE[theme], zerolinecolor=LINE[theme])
    figure.update_yaxes(gridcolor=LINE[theme], zerolinecolor=LINE[theme])
    return figure
