"""Who follows whom as one drawing that needs no program."""

from __future__ import annotations

import math
from collections.abc import Sequence

from markupsafe import Markup

from courtroom.engine.blocks import Graph
from courtroom.engine.procedure import Choice
from courtroom.figures.palette import tone

WIDTH, HEIGHT = 860, 560


def graph_svg(graph: Graph, choices: Sequence[Choice]) -> Markup:
    """Members around an ellipse, an arrow for each follow, strong ones thick; names and marks are shown as text."""
    known = {choice.name: choice for choice in choices}
    count = max(1, len(graph.nodes))
    places = {
        node.id: (
            WIDTH / 2 + 340 * math.sin(2 * math.pi * n / count),
            HEIGHT / 2 - 220 * math.cos(2 * math.pi * n / count),
        )
        for n, node in enumerate(graph.nodes)
    }
    lines = [
        _arrow(places[edge.source], places[edge.target], strong=edge.strong)
        for edge in sorted(graph.edges, key=lambda edge: edge.strong)
        if edge.source in places and edge.target in places
    ]
    nodes = []
    for node in graph.nodes:
        x, y = places[node.id]
        choice = known.get(node.choice or "")
        nodes.append(
            Markup(
                '<g><title>{}</title><circle cx="{:.0f}" cy="{:.0f}" r="{:.0f}" fill="{}"{}/>'
                '<text x="{:.0f}" y="{:.0f}" text-anchor="middle">{} {}</text></g>'
            ).format(
                node.detail,
                *(x, y, 8 + 10 * node.size, tone(choice.tone if choice else None)),
                Markup(' stroke="currentColor" stroke-width="3"') if node.changed else "",
                *(x, y + 34, choice.mark if choice else "", node.label),
            )
        )
    return Markup('<svg class="graph" viewBox="0 0 {} {}" role="img">{}{}</svg>').format(
        WIDTH, HEIGHT, Markup("").join(lines), Markup("").join(nodes)
    )


def _arrow(start: tuple[float, float], end: tuple[float, float], *, strong: bool) -> Markup:
    length = math.dist(start, end) or 1.0
    dx, dy = (end[0] - start[0]) / length, (end[1] - start[1]) / length
    x, y = end[0] - 22 * dx, end[1] - 22 * dy
    return Markup(
        '<path d="M{:.0f} {:.0f}L{:.0f} {:.0f}M{:.0f} {:.0f}L{:.0f} {:.0f}L{:.0f} {:.0f}" fill="none" '
        'stroke="currentColor" stroke-width="{}" opacity="{}"/>'
    ).format(
        *(start[0] + 22 * dx, start[1] + 22 * dy, x, y),
        *(x - 8 * dx + 4 * dy, y - 8 * dy - 4 * dx, x, y, x - 8 * dx - 4 * dy, y - 8 * dy + 4 * dx),
        2.4 if strong else 0.9,
        0.95 if strong else 0.45,
    )
