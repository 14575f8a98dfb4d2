"""How sure members are of their votes, ballot by ballot, and whether they are as sure as they are right."""

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from courtroom.declarations.parts import Choice
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.figures.layout import INK, LINE, NEUTRAL, UNNAMED, framed, plain, tone
from courtroom.language import _, translated

HIGHEST = 100


def draw_sureness(record: Record, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """Draw a line for each member from ballot to ballot. Of two choices one is drawn upwards and the other downwards, so that who
    is surest stands farthest from the middle."""
    sign = {choice.name: -1 if len(choices) == 2 and place else 1 for place, choice in enumerate(choices)}
    ballots = [plain(translated(record.ballot_name(ballot))) for ballot in record.ballots]
    figure = go.Figure()

    def height(vote: Voted | None) -> int | None:
        return sign[vote.choice] * vote.confidence if vote and vote.choice and vote.confidence is not None else None

    for member in (one.id for one in record.everybody):
        heights = [height(votes.get(member)) for votes in record.ballots.values()]
        if any(one is not None for one in heights):
            figure.add_scatter(x=ballots, y=heights, mode="lines", line_color=LINE[theme], line_width=1.5, **UNNAMED)
    given = [
        (ballot, vote)
        for ballot, votes in zip(ballots, record.ballots.values(), strict=True)
        for vote in votes.values()
        if height(vote) is not None
    ]
    for choice in choices:
        mine = [(ballot, vote) for ballot, vote in given if vote.choice == choice.name]
        figure.add_scatter(
            x=[ballot for ballot, _ in mine],
            y=[height(vote) for _, vote in mine],
            mode="markers",
            name=plain(translated(choice.title)),
            hovertext=[f"{plain(record.name_of(vote.member))}: {vote.confidence}" for _, vote in mine],
            hoverinfo="text",
            marker={"size": 12, "symbol": choice.symbol, "color": tone(choice.tone, theme)},
            marker_line={"width": [3 if vote.changed else 1 for _, vote in mine], "color": INK[theme]},
        )
    low = -HIGHEST if -1 in sign.values() else 0
    marks = list(range(low, HIGHEST + 1, 50))
    figure.update_yaxes(range=[low * 1.08, HIGHEST * 1.08], tickvals=marks, ticktext=[str(abs(mark)) for mark in marks])
    if low:
        figure.add_hline(y=0, line={"color": NEUTRAL[theme], "width": 1})
    return framed(figure, theme, 420)


MIN_MARK_PX, MAX_MARK_PX = 8, 26


def draw_reliability(bins: Mapping[str, pd.DataFrame], theme: str = "light") -> go.Figure:
    """Draw the share of votes that are right against how sure members were, a line for each name; a larger mark has more
    votes. On the dashed line they would be as sure as they are right.

    Args:
        bins: see `reliability`.
    """
    most = max((mine["n"].max() for mine in bins.values()), default=1)
    even = {"color": NEUTRAL[theme], "dash": "dash", "width": 1}
    figure = go.Figure()
    figure.add_scatter(x=[0, 1], y=[0, 1], mode="lines", line=even, **UNNAMED)
    for number, (name, mine) in enumerate(bins.items()):
        sizes = MIN_MARK_PX + (MAX_MARK_PX - MIN_MARK_PX) * (mine["n"] / most) ** 0.5
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
