"""Who follows whom, votes and how sure members are of them, and the memory, drawn: colour and shape show the choice."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache

import networkx as nx
import pandas as pd
import plotly.graph_objects as go

from courtroom.declarations.blocks import Edge, Graph, Node
from courtroom.declarations.parts import Choice
from courtroom.engine.record import Record
from courtroom.evaluation.comparison import BallotComparison
from courtroom.figures.layout import INK, LINE, NEUTRAL, UNNAMED, framed, plain, tone
from courtroom.knowledge.lessons import Taught
from courtroom.knowledge.memory import Standard
from courtroom.language import _
from courtroom.models.beside import HIGHEST_CONFIDENCE

TIP = 0.82
"""Where an edge has its arrow, as a share of its length: clear of the node that it points to."""


def draw_graph(graph: Graph, choices: Sequence[Choice], theme: str = "light", height: int = 520) -> go.Figure:
    """Draw a graph, whose nodes stay where they are from round to round. A click on a node gives its member id as
    `customdata`; on an arrow, both ids with a blank between."""
    joined = dict.fromkeys((edge.source, edge.target) for edge in graph.edges)
    at = _places(tuple(node.id for node in graph.nodes), tuple(joined))
    labels = {node.id: node.label for node in graph.nodes}

    def along(edge: Edge, axis: int) -> tuple[float | None, ...]:
        start, end = at[edge.source][axis], at[edge.target][axis]
        return start, start + (end - start) * TIP, end, None

    figure, arrow = go.Figure(), {"symbol": "arrow", "angleref": "previous"}
    for strong in (False, True):
        lines = [edge for edge in graph.edges if edge.strong == strong]
        colour, width = (INK[theme], 2.5) if strong else (LINE[theme], 1)
        size = (12 if strong else 9) if graph.directed else 0
        # Arrows are marks of the line itself: an annotation each takes seconds to draw and to write down.
        figure.add_scatter(
            x=[x for edge in lines for x in along(edge, 0)],
            y=[y for edge in lines for y in along(edge, 1)],
            mode="lines+markers",
            line={"color": colour, "width": width},
            marker={**arrow, "size": [0, size, 0, 0] * len(lines), "color": (INK if strong else NEUTRAL)[theme]},
            unselected={"marker": {"opacity": 1}},
            **UNNAMED,
        )
    arrows = graph.edges if graph.directed else ()
    figure.add_scatter(
        x=[along(edge, 0)[1] for edge in arrows],
        y=[along(edge, 1)[1] for edge in arrows],
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
        vote = choice.title if choice else _("no vote")
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
            hovertext=["<br>".join(map(plain, filter(None, (one.label, vote, one.detail)))) for one in nodes],
            hoverinfo="text",
            marker={
                "symbol": choice.symbol if choice else "diamond-open",
                "size": [18 + 22 * node.size for node in nodes],
                "color": tone(choice.tone if choice else None, theme),
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
        (plain(ballot.name), run, votes)
        for ballot in ballots
        for place, run in enumerate(runs)
        if (votes := [vote.choice for member in ballot.members if (vote := member.votes[place])])
    ]
    figure = go.Figure()
    for choice in (*choices, None):
        counts = [votes.count(choice.name if choice else None) for _ballot, _run, votes in bars]
        if choice is None and not any(counts):
            continue
        title = plain(choice.title) if choice else _("Abstained")
        figure.add_bar(
            y=[[bar[place] for bar in bars] for place in (0, 1)],
            x=[count / len(bar[2]) for count, bar in zip(counts, bars, strict=True)],
            name=f"{plain(choice.mark)} {title}" if choice else title,
            orientation="h",
            marker={"color": tone(choice.tone if choice else None, theme)},
            text=[f"{title} {count}" if count else "" for count in counts],
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
    standing = ((taught, change) for taught in life if taught.undone is None for change in taught.changes)
    points = [(taught, change.after or {}) for taught, change in standing if change.id == directive]
    x, y = list(range(1, len(points) + 1)), [float(after.get("confidence", 0.0)) for _taught, after in points]
    told = [f"{one.phase}, {datetime.fromtimestamp(one.at):%Y-%m-%d %H:%M}" for one, _after in points]
    line = {"color": tone(0, theme), "shape": "hv"}
    figure = go.Figure().add_scatter(x=x, y=y, mode="lines+markers", line=line, hovertext=told, hoverinfo="text+y")
    figure.update_yaxes(range=[0, 1.05], title=_("Confidence"))
    figure.update_xaxes(title=_("Step"), dtick=1)
    return framed(figure, theme, 260)


SYMBOLS = ("circle", "square", "diamond", "cross", "triangle-up", "star")


def draw_standards(graph: nx.Graph, standards: Sequence[Standard], theme: str = "light") -> go.Figure:
    """Standards as nodes, coloured and shaped by their labels; links as lines."""
    known = [standard for standard in standards if standard.id in graph]
    labels = {standard.id: "; ".join(sorted(standard.gold.charges)) or "no charge" for standard in known}
    named = enumerate(sorted({*labels.values()}))
    kinds = [Choice(name, name, number, SYMBOLS[number // 6 % len(SYMBOLS)], "") for number, name in named]
    nodes = tuple(Node(one.id, "", labels[one.id], 0, detail=one.title or one.id) for one in known)
    edges = tuple(Edge(one, other) for one, other in graph.edges)
    return draw_graph(Graph(nodes, edges, directed=False), kinds, theme, 460)


def draw_sureness(record: Record, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """Draw a line for each member from ballot to ballot; of two choices one is drawn downwards, away from the other."""
    sign = {choice.name: -1 if len(choices) == 2 and place else 1 for place, choice in enumerate(choices)}
    rows = [
        (vote.member, ballot, vote.choice, sign[vote.choice] * vote.confidence, vote.changed)
        for ballot, votes in record.ballots.items()
        for vote in votes.values()
        if vote.choice in sign and vote.confidence is not None
    ]
    given = pd.DataFrame(rows, columns=["member", "ballot", "choice", "height", "changed"])
    names = {ballot: plain(record.ballot_name(ballot)) for ballot in record.ballots}
    figure = go.Figure()
    for _who, mine in given.groupby("member"):
        y = mine.set_index("ballot")["height"].reindex([*names])  # a line is broken where nothing was said
        figure.add_scatter(x=[*names.values()], y=y, mode="lines", line_color=LINE[theme], line_width=1.5, **UNNAMED)
    for choice in choices:
        mine = given[given["choice"] == choice.name]
        who = mine["member"].map(record.name_of)
        figure.add_scatter(
            x=mine["ballot"].map(names),
            y=mine["height"],
            mode="markers",
            name=plain(choice.title),
            hovertext=[f"{plain(name)}: {abs(height)}" for name, height in zip(who, mine["height"], strict=True)],
            hoverinfo="text",
            marker={"size": 12, "symbol": choice.symbol, "color": tone(choice.tone, theme)},
            marker_line={"width": 1 + 2 * mine["changed"], "color": INK[theme]},
        )
    low, high = -HIGHEST_CONFIDENCE if -1 in sign.values() else 0, HIGHEST_CONFIDENCE
    marks = list(range(low, high + 1, 50))
    figure.update_yaxes(range=[low * 1.08, high * 1.08], tickvals=marks, ticktext=[str(abs(mark)) for mark in marks])
    if low:
        figure.add_hline(y=0, line={"color": NEUTRAL[theme], "width": 1})
    return framed(figure, theme, 420)


def draw_reliability(bins: Mapping[str, pd.DataFrame], theme: str = "light") -> go.Figure:
    """Draw the share of right votes by how sure members were; larger marks have more. `bins`: see `reliability`."""
    most = max((mine["n"].max() for mine in bins.values()), default=1)
    even = {"color": NEUTRAL[theme], "dash": "dash", "width": 1}
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=even, **UNNAMED)
    for number, (name, mine) in enumerate(bins.items()):
        sizes = 8 + 18 * (mine["n"] / most) ** 0.5
        figure.add_scatter(
            x=mine["probability"],
            y=mine["right"],
            mode="lines+markers",
            name=plain(name),
            line={"color": tone(number, theme), "width": 1.5},
            marker={"size": sizes, "symbol": number},
            customdata=mine["n"],
            hovertemplate="%{x:.0%}: %{y:.0%}, n = %{customdata}<extra>" + plain(name) + "</extra>",
        )
    figure.update_xaxes(title_text=_("how sure"), tickformat=".0%", range=[-0.03, 1.03])
    figure.update_yaxes(title_text=_("right"), tickformat=".0%", range=[-0.05, 1.05])
    return framed(figure, theme, 420)
