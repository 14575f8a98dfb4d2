"""Who follows whom, votes of several runs, and the memory, drawn: colour and shape show the choice."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

import networkx as nx
import plotly.graph_objects as go

from courtroom.declarations.blocks import Edge, Graph, Node
from courtroom.declarations.parts import Choice
from courtroom.evaluation.comparison import BallotComparison
from courtroom.figures.layout import INK, LINE, NEUTRAL, UNNAMED, framed, plain, tone
from courtroom.knowledge.lessons import Taught
from courtroom.knowledge.memory import Standard
from courtroom.language import _

TIP = 0.82
"""Where an edge has its arrow, as a share of its length: clear of the node that it points to."""


def draw_graph(graph: Graph, choices: Sequence[Choice], theme: str = "light", height: int = 520) -> go.Figure:
    """The graph as a figure; nodes stay where they are from round to round.

    A click on a node gives its member id as `customdata`; on an arrow, both ids with a blank between.
    """
    at = _places(
        tuple(node.id for node in graph.nodes),
        tuple(dict.fromkeys((edge.source, edge.target) for edge in graph.edges)),
    )
    labels = {node.id: node.label for node in graph.nodes}
    figure = go.Figure()
    for strong in (False, True):
        lines = [edge for edge in graph.edges if edge.strong == strong]
        xs, ys, sizes = [], [], []
        for edge in lines:
            (x0, y0), (x1, y1) = at[edge.source], at[edge.target]
            xs += [x0, x0 + (x1 - x0) * TIP, x1, None]
            ys += [y0, y0 + (y1 - y0) * TIP, y1, None]
            sizes += [0, (12 if strong else 9) if graph.directed else 0, 0, 0]
        colour, width = (INK[theme], 2.5) if strong else (LINE[theme], 1)
        # Arrows are marks of the line itself: an annotation each takes seconds to draw and to write down.
        figure.add_scatter(
            x=xs,
            y=ys,
            mode="lines+markers",
            line={"color": colour, "width": width},
            marker={
                "symbol": "arrow",
                "angleref": "previous",
                "size": sizes,
                "color": INK[theme] if strong else NEUTRAL[theme],
            },
            unselected={"marker": {"opacity": 1}},
            **UNNAMED,
        )
    arrows = graph.edges if graph.directed else ()
    figure.add_scatter(
        x=[at[edge.source][0] + (at[edge.target][0] - at[edge.source][0]) * TIP for edge in arrows],
        y=[at[edge.source][1] + (at[edge.target][1] - at[edge.source][1]) * TIP for edge in arrows],
        mode="markers",
        marker={"size": 14, "opacity": 0},
        customdata=[f"{edge.source} {edge.target}" for edge in arrows],
        hovertext=[f"{plain(labels[edge.source])} → {plain(labels[edge.target])}" for edge in arrows],
        hoverinfo="text",
        showlegend=False,
        unselected={"marker": {"opacity": 0}},
    )
    named = {choice.name: choice for choice in choices}
    for choice in (*choices, None):
        nodes = [node for node in graph.nodes if (named.get(node.choice) if node.choice else None) == choice]
        if not nodes:
            continue
        colour = tone(choice.tone, theme) if choice else NEUTRAL[theme]
        figure.add_scatter(
            x=[at[node.id][0] for node in nodes],
            y=[at[node.id][1] for node in nodes],
            mode="markers+text",
            name=plain(choice.title) if choice else _("No vote"),
            showlegend=any(node.choice for node in graph.nodes),
            text=[plain(" ".join(node.label.split()[:1])) for node in nodes],
            textposition="bottom center",
            textfont={"size": 12, "color": INK[theme]},
            customdata=[node.id for node in nodes],
            hovertext=[
                "<br>".join(
                    map(plain, filter(None, (node.label, choice.title if choice else _("no vote"), node.detail)))
                )
                for node in nodes
            ],
            hoverinfo="text",
            marker={
                "symbol": choice.symbol if choice else "diamond-open",
                "size": [18 + 22 * node.size for node in nodes],
                "color": colour,
                "line": {"width": [4 if n.changed else 1 for n in nodes], "color": INK[theme]},
            },
            unselected={"marker": {"opacity": 1}, "textfont": {"color": INK[theme]}},  # nothing fades at a click
        )
    figure.update_xaxes(visible=False, range=[-1.25, 1.25])
    figure.update_yaxes(visible=False, range=[-1.25, 1.25])
    return framed(figure, theme, height)


@lru_cache(maxsize=64)
def _places(nodes: tuple[str, ...], edges: tuple[tuple[str, str], ...]) -> dict[str, tuple[float, float]]:
    """Positions depend on nodes and edges alone, not on votes."""
    if not nodes:
        return {}
    graph = nx.Graph()
    graph.add_nodes_from(nodes)
    graph.add_edges_from(edges)
    start = nx.circular_layout(graph)
    placed = nx.spring_layout(graph, pos=start, k=2.2 / max(1, len(nodes)) ** 0.5, iterations=80, seed=7)
    spread = [max((abs(float(at[axis])) for at in placed.values()), default=1.0) or 1.0 for axis in (0, 1)]
    return {node: (float(x) / spread[0], float(y) / spread[1]) for node, (x, y) in placed.items()}


def draw_votes_beside(
    ballots: Sequence[BallotComparison], runs: Sequence[str], choices: Sequence[Choice], theme: str = "light"
) -> go.Figure:
    """Draw a bar a run in each ballot, as shares of those who voted. `runs`: what each run is called."""
    bars = [
        (ballot, place)
        for ballot in ballots
        for place in range(len(runs))
        if any(m.votes[place] for m in ballot.members)
    ]
    where = [[plain(ballot.name) for ballot, _ in bars], [runs[place] for _, place in bars]]
    figure = go.Figure()
    for choice in (*choices, None):
        counts = [
            [
                vote.choice == (choice.name if choice else None)
                for member in ballot.members
                if (vote := member.votes[place])
            ]
            for ballot, place in bars
        ]
        if choice is None and not any(map(any, counts)):
            continue
        title = plain(choice.title) if choice else _("Abstained")
        figure.add_bar(
            y=where,
            x=[sum(given) / len(given) for given in counts],
            name=f"{plain(choice.mark)} {title}" if choice else title,
            orientation="h",
            marker={"color": tone(choice.tone if choice else None, theme)},
            text=[f"{title} {sum(given)}" if any(given) else "" for given in counts],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": "#FFFFFF" if theme == "light" else "#12161F"},
            hovertemplate="%{y}: %{text}, %{x:.0%}<extra></extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.25, legend_traceorder="normal")
    figure.update_yaxes(autorange="reversed", tickfont={"color": INK[theme]}, dividercolor="rgba(0,0,0,0)")
    figure.update_xaxes(tickformat=".0%", range=[0, 1])
    framed(figure, theme, 110 + 34 * len(bars))
    return figure.update_layout(margin={"t": 48}, legend={"yanchor": "bottom", "y": 1})


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
    known = [standard for standard in standards if standard.id in graph]
    labels = {standard.id: "; ".join(sorted(standard.gold.charges)) or "no charge" for standard in known}
    kinds = [
        Choice(label, label, number, SYMBOLS[number // 6 % len(SYMBOLS)], "")
        for number, label in enumerate(sorted({*labels.values()}))
    ]
    nodes = tuple(Node(one.id, "", labels[one.id], 0, detail=one.title or one.id) for one in known)
    edges = tuple(Edge(one, other) for one, other in graph.edges)
    return draw_graph(Graph(nodes, edges, directed=False), kinds, theme, 460)
