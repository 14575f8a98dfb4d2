"""A dataset's figures: categories, outcomes, lengths, and by how much the winners on record are ahead."""

from collections.abc import Mapping, Sequence

import plotly.graph_objects as go

from courtroom.datasets.statistics import ALL, LENGTHS, SplitCounts, Statistics
from courtroom.figures.layout import NEUTRAL, framed, plain, short, tone
from courtroom.language import _

MOST_BARS = 20
"""Of categories or outcomes, so many have a bar; the others share one."""
OTHERS = "all others"


def draw_categories(statistics: Statistics, theme: str = "light") -> go.Figure:
    return _bars(statistics, "categories", theme)


def draw_outcomes(statistics: Statistics, theme: str = "light") -> go.Figure:
    return _bars(statistics, "outcomes", theme)


def draw_lengths(statistics: Statistics, theme: str = "light") -> go.Figure:
    """Rows by length in characters, a colour a split."""
    bounds = [f"{bound:,}" for bound in LENGTHS]
    names = [
        _("below {bound}", bound=bounds[0]),
        *(_("{low} to {high}", low=low, high=high) for low, high in zip(bounds, bounds[1:], strict=False)),
        _("{bound} and more", bound=bounds[-1]),
    ]
    values = {split: counts.lengths for split, counts in _drawn(statistics).items()}
    used = [place for place in range(len(names)) if any(found[place] for found in values.values())]
    place = slice(min(used, default=0), max(used, default=0) + 1)
    figure = _columns(names[place], {split: found[place] for split, found in values.items()}, theme)
    figure.update_xaxes(title_text=_("characters"), type="category")
    return _finished(figure, theme, 340)


def draw_margins(statistics: Statistics, theme: str = "light") -> go.Figure:
    """Rows by the margin on record, a colour a split."""
    names = list(statistics.counts[ALL].margins)
    values = {split: [counts.margins.get(name, 0) for name in names] for split, counts in _drawn(statistics).items()}
    figure = _columns(names, values, theme)
    figure.update_xaxes(title_text=_("margin of the winner on record"), type="category")
    return _finished(figure, theme, 320)


def draw_numbers(statistics: Statistics, name: str, theme: str = "light") -> go.Figure:
    """Rows by one of the other numbers that are counted, a colour a split."""
    names = list(statistics.counts[ALL].classes[name])
    values = {split: list(counts.classes[name].values()) for split, counts in _drawn(statistics).items()}
    figure = _columns(names, values, theme)
    figure.update_xaxes(title_text=plain(name), type="category")
    return _finished(figure, theme, 320)


def _drawn(statistics: Statistics) -> Mapping[str, SplitCounts]:
    """The splits, and what is in none; where there are no splits, all rows."""
    splits = {split: counts for split, counts in statistics.counts.items() if split != ALL}
    return splits or {ALL: statistics.counts[ALL]}


def _bars(statistics: Statistics, field: str, theme: str) -> go.Figure:
    whole: dict[str, int] = getattr(statistics.counts[ALL], field)
    names = list(whole)[:MOST_BARS]
    figure = go.Figure()
    for number, (split, counts) in enumerate(_drawn(statistics).items()):
        numbers: dict[str, int] = getattr(counts, field)
        rest = sum(count for name, count in numbers.items() if name not in names)
        values = [numbers.get(name, 0) for name in names] + ([rest] if len(whole) > MOST_BARS else [])
        shown = [plain(short(name, 40)) for name in names] + ([_(OTHERS)] if len(whole) > MOST_BARS else [])
        figure.add_bar(
            y=shown,
            x=values,
            name=plain(split),
            orientation="h",
            marker={"color": _colour(split, number, theme)},
            hovertemplate="%{y}: %{x}<extra>" + plain(split) + "</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.3)
    figure.update_yaxes(autorange="reversed", type="category")
    figure.update_xaxes(title_text=_("rows"))
    return _finished(figure, theme, 150 + 26 * min(len(whole), MOST_BARS + 1))


def _columns(names: Sequence[str], values: Mapping[str, Sequence[int]], theme: str) -> go.Figure:
    figure = go.Figure()
    for number, (split, found) in enumerate(values.items()):
        figure.add_bar(
            x=list(names),
            y=list(found),
            name=plain(split),
            marker={"color": _colour(split, number, theme)},
            hovertemplate="%{x}: %{y}<extra>" + plain(split) + "</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.2)
    figure.update_yaxes(title_text=_("rows"))
    return figure


def _finished(figure: go.Figure, theme: str, height: int) -> go.Figure:
    """The frame, with the splits' names above the bars in the order in which they are stacked."""
    framed(figure, theme, height)
    return figure.update_layout(legend={"y": 1.02, "yanchor": "bottom", "traceorder": "normal"}, margin={"t": 48})


def _colour(split: str, number: int, theme: str) -> str:
    return NEUTRAL[theme] if split == ALL else tone(number, theme)
