"""How sure members are of their votes, ballot by ballot, and whether they are as sure as they are right."""

from collections.abc import Mapping, Sequence

import pandas as pd
import plotly.graph_objects as go

from courtroom.declarations.parts import Choice
from courtroom.engine.record import Record
from courtroom.figures.layout import INK, LINE, NEUTRAL, UNNAMED, framed, plain, tone
from courtroom.language import _

HIGHEST = 100


def draw_sureness(record: Record, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """Draw a line for each member from ballot to ballot. Of two choices one is drawn upwards and the other downwards, so that who
    is surest stands farthest from the middle."""
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
        heights = mine.set_index("ballot")["height"].reindex([*names])  # a line is broken where nothing was said
        figure.add_scatter(
            x=[*names.values()], y=heights, mode="lines", line_color=LINE[theme], line_width=1.5, **UNNAMED
        )
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
