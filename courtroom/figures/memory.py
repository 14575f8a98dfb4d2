"""The memory, drawn: a directive's confidence over its life, and the archive of standards as a graph."""

from collections.abc import Sequence
from datetime import datetime

import networkx as nx
import plotly.graph_objects as go

from courtroom.figures.layout import INK, LINE, framed, plain, tone
from courtroom.knowledge.lessons import Taught
from courtroom.knowledge.memory import Standard
from courtroom.language import _


def draw_confidence(directive: str, life: Sequence[Taught], theme: str = "light") -> go.Figure:
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
    return framed(figure, theme, 260)


SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "star")


def draw_standards(graph: nx.Graph, standards: Sequence[Standard], theme: str = "light") -> go.Figure:
    """Standards as nodes, coloured and shaped by their labels; links as lines."""
    groups: dict[str, list[Standard]] = {}
    for standard in standards:
        groups.setdefault("; ".join(sorted(standard.gold.charges)) or "no charge", []).append(standard)
    at = nx.spring_layout(graph, seed=7, k=1.6 / max(1, len(graph)) ** 0.5) if len(graph) else {}
    figure = go.Figure()
    xs: list[float | None] = []
    ys: list[float | None] = []
    for one, other in graph.edges:
        xs += [at[one][0], at[other][0], None]
        ys += [at[one][1], at[other][1], None]
    figure.add_scatter(
        x=xs, y=ys, mode="lines", line={"color": LINE[theme], "width": 1}, hoverinfo="skip", showlegend=False
    )
    for number, (label, group) in enumerate(sorted(groups.items())):
        known = [standard for standard in group if standard.id in at]
        figure.add_scatter(
            x=[at[standard.id][0] for standard in known],
            y=[at[standard.id][1] for standard in known],
            mode="markers",
            name=plain(label),
            customdata=[standard.id for standard in known],
            hovertext=[f"{plain(standard.title or standard.id)}<br>{plain(label)}" for standard in known],
            hoverinfo="text",
            marker={
                "size": 14,
                "symbol": SYMBOLS[number // 6 % len(SYMBOLS)],
                "color": tone(number, theme),
                "line": {"width": 1, "color": INK[theme]},
            },
        )
    figure.update_xaxes(visible=False)
    figure.update_yaxes(visible=False)
    return framed(figure, theme, 460)
