"""Votes per ballot as stacked bars."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from courtroom.engine.procedure import Choice
from courtroom.engine.record import Record
from courtroom.figures.layout import framed
from courtroom.figures.palette import INK, tone
from courtroom.figures.plain import plain
from courtroom.language import _


def draw_votes(record: Record, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """One bar a ballot, a colour and a word a choice, abstentions last."""
    ballots = list(record.ballots)
    names = [plain(record.ballot_name(ballot)) for ballot in ballots]
    figure = go.Figure()
    for choice in (*choices, None):
        counts = [
            sum(v.choice == (choice.name if choice else None) for v in record.ballots[b].values()) for b in ballots
        ]
        if choice is None and not any(counts):
            continue
        title = plain(choice.title) if choice else _("Abstained")
        figure.add_bar(
            y=names,
            x=counts,
            name=f"{plain(choice.mark)} {title}" if choice else title,
            orientation="h",
            marker={"color": tone(choice.tone if choice else None, theme)},
            text=[f"{title} {count}" if count else "" for count in counts],
            textposition="inside",
            insidetextanchor="middle",
            textfont={"color": "#FFFFFF" if theme == "light" else "#12161F"},
            hovertemplate="%{y}: %{x}<extra>" + title + "</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.35, legend_traceorder="normal")
    figure.update_yaxes(autorange="reversed", tickfont={"color": INK[theme]})
    figure.update_xaxes(title_text=_("votes"), dtick=max(1, len(record.members) // 8))
    return framed(figure, theme, 130 + 56 * len(ballots))
