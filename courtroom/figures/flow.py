"""How votes flow from ballot to ballot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

import plotly.graph_objects as go

from courtroom.engine.procedure import Choice
from courtroom.engine.record import Record
from courtroom.figures.layout import framed
from courtroom.figures.palette import tone
from courtroom.figures.plain import plain
from courtroom.language import _


def draw_flow(record: Record, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """A Sankey diagram: a column a ballot, a band for those who went the same way."""
    ballots = list(record.ballots)
    options: list[str | None] = [*(choice.name for choice in choices), None]
    titles: dict[str | None, str] = {choice.name: choice.title for choice in choices}
    colours: dict[str | None, str] = {choice.name: tone(choice.tone, theme) for choice in choices}
    titles[None], colours[None] = _("Abstained"), tone(None, theme)
    nodes = [(ballot, option) for ballot in ballots for option in options]
    place = {node: number for number, node in enumerate(nodes)}
    flows: Counter[tuple[int, int]] = Counter()
    for one, other in pairwise(ballots):
        for member, vote in record.ballots[one].items():
            if after := record.ballots[other].get(member):
                flows[place[one, vote.choice], place[other, after.choice]] += 1
    used = sorted({number for pair in flows for number in pair})
    index = {number: position for position, number in enumerate(used)}
    figure = go.Figure(
        go.Sankey(
            node={
                "label": [plain(f"{record.ballot_name(nodes[n][0])}: {titles[nodes[n][1]]}") for n in used],
                "color": [colours[nodes[n][1]] for n in used],
                "pad": 22,
                "thickness": 18,
            },
            link={
                "source": [index[a] for a, _ in flows],
                "target": [index[b] for _, b in flows],
                "value": list(flows.values()),
                "color": [_faint(colours[nodes[a][1]]) for a, _ in flows],
            },
        )
    )
    return framed(figure, theme, 320)


def _faint(colour: str) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.35)"
