"""Votes per ballot of several runs, bar under bar."""

from collections.abc import Sequence

import plotly.graph_objects as go

from courtroom.engine.procedure import Choice
from courtroom.evaluation.comparison import BallotComparison
from courtroom.figures.layout import INK, framed, plain, tone
from courtroom.language import _


def draw_votes_beside(
    ballots: Sequence[BallotComparison], runs: Sequence[str], choices: Sequence[Choice], theme: str = "light"
) -> go.Figure:
    """One bar a run in each ballot that it came to, as shares of those who had a vote in it. `runs`: what each run is called."""
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
