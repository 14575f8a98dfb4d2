"""A directive's confidence over its life."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import plotly.graph_objects as go

from courtroom.figures.layout import framed
from courtroom.figures.palette import tone
from courtroom.knowledge.lessons import Taught
from courtroom.language import _


def draw_confidence(directive: str, life: Sequence[Taught], theme: str = "light", height: int = 260) -> go.Figure:
    """Confidence after each step of learning that touched the directive; 0 where it was merged or pruned."""
    points = [
        (taught.at, taught.phase, float((change.after or {}).get("confidence", 0.0)))
        for taught in life
        if taught.undone is None
        for change in taught.changes
        if change.id == directive
    ]
    figure = go.Figure(
        go.Scatter(
            x=list(range(1, len(points) + 1)),
            y=[value for _, _, value in points],
            mode="lines+markers",
            line={"color": tone(0, theme), "shape": "hv"},
            hovertext=[f"{phase}, {datetime.fromtimestamp(at):%Y-%m-%d %H:%M}" for at, phase, _ in points],
            hoverinfo="text+y",
        )
    )
    figure.update_yaxes(range=[0, 1.05], title=_("Confidence"))
    figure.update_xaxes(title=_("Step"), dtick=1)
    return framed(figure, theme, height)
