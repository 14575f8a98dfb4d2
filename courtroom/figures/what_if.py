"""What a what-if has shown, drawn: shares with intervals, swings, flips."""

from collections.abc import Sequence

import plotly.graph_objects as go

from courtroom.engine.procedure import Choice
from courtroom.experiments.what_if import Result, WhatIf
from courtroom.figures.layout import INK, NEUTRAL, error_bars, framed, plain, short, tone
from courtroom.language import _

ROW = 30
MOST_SWINGS = 25
"""Pixels of height for a variant."""
LONGEST = 44
"""Characters of a variant's name that fit beside its bar."""


def draw_shares(what_if: WhatIf, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """How often each variant ended as the base did, with 95 % intervals over its seeds."""
    rows = [row for row in what_if.rows if row.done]
    shares = [row.shares[what_if.decided] for row in rows]
    figure = go.Figure(
        go.Scatter(
            x=[share.value for share in shares],
            y=_names(rows),
            mode="markers",
            marker={
                "size": 11,
                "color": _colour(what_if.decided, choices, theme),
                "symbol": _symbol(what_if.decided, choices),
            },
            error_x=error_bars(shares, NEUTRAL[theme], 1.5),
            customdata=[
                [plain(row.name), row.done, share.low, share.high] for row, share in zip(rows, shares, strict=True)
            ],
            hovertemplate="%{customdata[0]}<br>%{x:.0%} of %{customdata[1]} runs, "
            "95 % interval %{customdata[2]:.0%} to %{customdata[3]:.0%}<extra></extra>",
        )
    )
    figure.update_xaxes(
        range=[-0.03, 1.03],
        tickformat=".0%",
        title_text=_("runs that end with: {outcome}", outcome=_title(what_if.decided, choices)),
    )
    return _listed(figure, rows, theme)


def draw_swings(what_if: WhatIf, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """A tornado: how far each change moved the support for what the base decided, the farthest on top. Changes that moved and turned nothing are left out."""
    moved = [row for row in what_if.rows[1:] if row.swing or row.flips]
    rows = sorted(moved, key=lambda row: (-abs(row.swing or 0.0), row.name))[:MOST_SWINGS]
    against = tone(None, theme)
    figure = go.Figure(
        go.Bar(
            x=[100 * (row.swing or 0.0) for row in rows],
            y=_names(rows),
            orientation="h",
            marker={
                "color": [
                    _colour(what_if.decided, choices, theme) if (row.swing or 0) >= 0 else against for row in rows
                ],
                "pattern": {"shape": ["" if (row.swing or 0) >= 0 else "/" for row in rows]},
            },
            text=[
                f"{100 * (row.swing or 0.0):+.0f}"
                + (_(" · {flips} of {pairs} flipped", flips=row.flips, pairs=row.pairs) if row.flips else "")
                for row in rows
            ],
            textposition="outside",
            cliponaxis=False,
            textfont={"color": INK[theme]},
            customdata=[plain(row.name) for row in rows],
            hovertemplate="%{customdata}<br>%{x:+.1f}<extra></extra>",
        )
    )
    far = max((abs(100 * (row.swing or 0.0)) for row in rows), default=0.0) * 1.5 or 10
    figure.update_xaxes(
        range=[-far, far],
        tickformat="+.0f",
        title_text=_(
            "change of the support for: {outcome} (percentage points)", outcome=_title(what_if.decided, choices)
        ),
    )
    return _listed(figure, rows, theme)


def draw_flips(what_if: WhatIf, theme: str = "light") -> go.Figure:
    """Under how many seeds each change turned the verdict; changes that never did are left out."""
    rows = sorted((row for row in what_if.rows[1:] if row.flips), key=lambda row: -row.flips / row.pairs)
    figure = go.Figure(
        go.Bar(
            x=[row.flips / row.pairs for row in rows],
            y=_names(rows),
            orientation="h",
            marker={"color": tone(1, theme)},
            text=[_("{flips} of {pairs}", flips=row.flips, pairs=row.pairs) for row in rows],
            textposition="auto",
            customdata=[plain(f"{row.name}: {row.outcome}") for row in rows],
            hovertemplate="%{customdata}<extra></extra>",
        )
    )
    figure.update_xaxes(range=[0, 1.03], tickformat=".0%", title_text=_("seeds under which the verdict is another one"))
    return _listed(figure, rows, theme)


def _listed(figure: go.Figure, rows: Sequence[Result], theme: str) -> go.Figure:
    figure.update_layout(bargap=0.35, showlegend=False)
    figure.update_yaxes(
        autorange="reversed",
        type="category",
        tickmode="array",
        tickvals=_names(rows),
        ticktext=[plain(short(row.name, LONGEST)) for row in rows],
        tickfont={"color": INK[theme]},
        automargin=True,
    )
    return framed(figure, theme, 110 + ROW * max(1, len(rows)))


def _names(rows: Sequence[Result]) -> list[str]:
    return [f"{number} {plain(row.name)}" for number, row in enumerate(rows)]


def _title(outcome: str, choices: Sequence[Choice]) -> str:
    title = next((choice.title for choice in choices if choice.name == outcome), outcome)
    return plain(short(title, LONGEST))


def _colour(outcome: str, choices: Sequence[Choice], theme: str) -> str:
    return tone(next((choice.tone for choice in choices if choice.name == outcome), 0), theme)


def _symbol(outcome: str, choices: Sequence[Choice]) -> str:
    return next((choice.symbol for choice in choices if choice.name == outcome), "circle")
