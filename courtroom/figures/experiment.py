"""What an experiment, a what-if or a comparison with juries of people has shown, and what is in a dataset, drawn."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from textwrap import wrap

import pandas as pd
import plotly.graph_objects as go

from courtroom.datasets.statistics import ALL, LENGTHS, SplitCounts, Statistics
from courtroom.declarations.parts import Choice
from courtroom.evaluation.intervals import Interval
from courtroom.evaluation.yardstick import Yardstick, wilson
from courtroom.experiments.breakdown import Breakdown
from courtroom.experiments.measures import Measure
from courtroom.experiments.table import ArmGroup, Pair, ResultTable
from courtroom.experiments.what_if import Result, WhatIf
from courtroom.figures.layout import INK, LINE, NEUTRAL, UNNAMED, framed, listed, plain, spread, tone
from courtroom.language import _
from courtroom.text.words import short

ROW_HEIGHT_PX = 34
MAX_TITLE_CHARACTERS = 22
"""Of a line of an axis' title, so that a phone has room for it."""
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross")


def _told(one: Interval) -> str:
    """An interval as a hover text has it."""
    if not one.known:
        return _("no interval")
    return _("95 % interval {low} to {high}", low=f"{one.low:.3f}", high=f"{one.high:.3f}")


def _measured(figure: go.Figure, measure: Measure, axis: str) -> None:
    """Have an axis show a measure's values."""
    tickformat = ".0%" if measure.percent else None
    figure.update_layout({f"{axis}axis": {"title": {"text": plain(measure.title)}, "tickformat": tickformat}})


def draw_values(table: ResultTable, group: str, measure: Measure, theme: str = "light") -> go.Figure:
    """A measure of every arm, with 95 % intervals over cases."""
    lines = [line for arm in table.arms if (line := table.line(arm, group)) and measure.name in line.values]
    values = [line.values[measure.name] for line in lines]
    figure = go.Figure().add_scatter(
        **spread("x", values, NEUTRAL[theme], 1.5),
        y=[plain(line.arm) for line in lines],
        mode="markers",
        marker={"size": 11, "color": tone(0, theme)},
        customdata=[_told(one) for one in values],
        hovertemplate="%{y}<br>%{x:.3f}, %{customdata}<extra></extra>",
    )
    _measured(figure, measure, "x")
    return listed(figure, theme, 110 + ROW_HEIGHT_PX * max(1, len(lines)))


def draw_matrix(groups: Sequence[ArmGroup], measure: Measure, theme: str = "light") -> go.Figure:
    """Draw arms against cases, from wrong to right, the hardest cases first; a mark's `customdata` is arm and case."""
    means = pd.DataFrame({group.arm: group.known(measure) for group in groups}, dtype=float).mean(axis=1)
    cases = sorted({case for group in groups for case in group.by_case})
    cases.sort(key=means.reindex(cases).fillna(2.0).to_dict().__getitem__)
    figure, scale = go.Figure(), [[0, tone(1, theme)], [1, tone(0, theme)]]
    for group in groups:
        known = group.known(measure)
        shown = [(case, known[case]) for case in cases if case in known]
        colours = {"color": [value for _, value in shown], "colorscale": scale, "cmin": 0, "cmax": 1}
        symbols = ["circle" if value >= 1 else "x" if value <= 0 else "diamond" for _, value in shown]
        figure.add_scatter(
            x=[cases.index(case) for case, _ in shown],
            y=[plain(group.arm)] * len(shown),
            mode="markers",
            name=plain(group.arm),
            marker={**colours, "symbol": symbols, "size": 12, "line": {"width": 0.5, "color": LINE[theme]}},
            customdata=[[group.arm, case] for case, _ in shown],
            text=[f"{plain(case)}: {value:.2f}" for case, value in shown],
            hovertemplate="%{y}<br>%{text}<extra></extra>",
        )
    figure.update_xaxes(title_text=_("cases, the hardest first"), showticklabels=False)
    return listed(figure, theme, 130 + ROW_HEIGHT_PX * max(1, len(groups)))


def draw_frontier(table: ResultTable, group: str, measure: Measure, theme: str = "light") -> go.Figure:
    """Draw a measure against what a case costs, a mark for each arm; the line joins those that no other beats for less.
    In US dollars where every arm's price is known and something was paid, else in tokens; in calls where none were
    counted, as by the offline model. What predictions made elsewhere took is not known, so they are left out."""
    paid = [spent.cost for spent in table.spent.values()]
    in_money = None not in paid and any(paid)
    in_tokens = any(spent.tokens for spent in table.spent.values())
    points = []
    for number, arm in enumerate(table.arms):
        line, spent = table.line(arm, group), table.spent[arm]
        if line and measure.name in line.values and spent.done and (spent.calls or spent.cost is not None):
            took = (spent.cost or 0.0) if in_money else spent.tokens if in_tokens else spent.calls
            points.append((took / spent.done, line.values[measure.name], arm, number))
    most = max((cost for cost, *_ in points), default=0.0) or 1.0
    figure = go.Figure()
    front = frontier([(cost, one.value if measure.better == "higher" else -one.value) for cost, one, _, _ in points])
    x, y = [points[place][0] for place in front], [points[place][1].value for place in front]
    figure.add_scatter(x=x, y=y, mode="lines", line={"color": NEUTRAL[theme], "dash": "dot", "shape": "hv"}, **UNNAMED)
    for cost, one, arm, number in points:
        figure.add_scatter(
            x=[cost],
            **spread("y", [one], tone(number, theme)),
            mode="markers",
            name=plain(arm),
            marker={"size": 13, "color": tone(number, theme), "symbol": SYMBOLS[number % len(SYMBOLS)]},
            hovertemplate=f"{plain(arm)}<br>%{{y:.3f}} for %{{x:.4g}} a case<extra></extra>",
        )
    title = _("US$ a case") if in_money else _("tokens a case") if in_tokens else _("calls a case")
    figure.update_xaxes(title_text=title, range=[-0.03 * most, 1.06 * most])
    _measured(figure, measure, "y")
    return framed(figure, theme, 420)


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """Find the points (cost, value) that no other beats for no more, the cheapest first."""
    order = sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1]))
    found: list[int] = []
    for place in order:
        if not found or points[place][1] > points[found[-1]][1]:
            found.append(place)
    return found


MAX_CLASS_CHARACTERS = 24


def draw_breakdown(breakdown: Breakdown, theme: str = "light") -> go.Figure:
    """Draw a measure of every arm in every class, with 95 % intervals over cases; n is that of the arm with most."""
    figure = go.Figure()
    for number, arm in enumerate(dict.fromkeys(point.arm for point in breakdown.points)):
        shown = [point for point in breakdown.points if point.arm == arm]
        colour = tone(number, theme)
        figure.add_scatter(
            x=[breakdown.labels.index(point.label) for point in shown],
            **spread("y", [point.value for point in shown], colour),
            mode="lines+markers" if breakdown.ordered else "markers",
            name=plain(arm),
            line={"color": colour, "width": 1.5},
            marker={"size": 10, "color": colour, "symbol": SYMBOLS[number % len(SYMBOLS)]},
            customdata=[[plain(point.label), _told(point.value), point.cells] for point in shown],
            hovertemplate="%{customdata[0]}: %{y:.3f}, %{customdata[1]}, %{customdata[2]} cells<extra>"
            + plain(arm)
            + "</extra>",
        )
    points, many = breakdown.points, len(breakdown.labels)
    cases = {label: max((one.cases for one in points if one.label == label), default=0) for label in breakdown.labels}
    names = [f"{plain(short(label, MAX_CLASS_CHARACTERS))}<br>n = {number:,}" for label, number in cases.items()]
    figure.update_xaxes(title_text=plain(breakdown.title), tickvals=list(range(many)), ticktext=names)
    figure.update_xaxes(range=[-0.5, many - 0.5], automargin=True, showgrid=False, zeroline=False)
    _measured(figure, breakdown.measure, "y")
    figure.update_layout(scattermode="group", scattergap=0.6, showlegend=True)
    return framed(figure, theme, 440)


VARIANT_HEIGHT_PX = 30
MAX_SWINGS = 25
MAX_VARIANT_CHARACTERS = 44


def draw_shares(what_if: WhatIf, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """How often each variant ended as the base did, with 95 % intervals over its seeds."""
    rows = [row for row in what_if.rows if row.done]
    shares = [row.shares[what_if.decided] for row in rows]
    decided = _choice(what_if.decided, choices)
    figure = go.Figure().add_scatter(
        **spread("x", shares, NEUTRAL[theme], 1.5),
        y=_names(rows),
        mode="markers",
        marker={"size": 11, "color": tone(decided.tone, theme), "symbol": decided.symbol},
        customdata=[[plain(row.name), row.done, one.low, one.high] for row, one in zip(rows, shares, strict=True)],
        hovertemplate="%{customdata[0]}<br>%{x:.0%} of %{customdata[1]} runs, "
        "95 % interval %{customdata[2]:.0%} to %{customdata[3]:.0%}<extra></extra>",
    )
    title = _("runs that end with: {outcome}", outcome=plain(short(decided.title, MAX_VARIANT_CHARACTERS)))
    figure.update_xaxes(range=[-0.03, 1.03], tickformat=".0%", title_text=title)
    return _listed(figure, rows, theme)


def draw_swings(what_if: WhatIf, choices: Sequence[Choice], theme: str = "light") -> go.Figure:
    """Draw a tornado, how far each change moved the support for what the base decided; without those that did not."""
    moved = [row for row in what_if.rows[1:] if row.swing or row.flips]
    rows = sorted(moved, key=lambda row: (-abs(row.swing or 0.0), row.name))[:MAX_SWINGS]
    decided, far_off = _choice(what_if.decided, choices), [100 * (row.swing or 0.0) for row in rows]
    flips = [_(" · {flips} of {pairs} flipped", flips=row.flips, pairs=row.pairs) if row.flips else "" for row in rows]
    colours = [tone(decided.tone if swing >= 0 else None, theme) for swing in far_off]
    marker = {"color": colours, "pattern": {"shape": ["" if swing >= 0 else "/" for swing in far_off]}}
    told = [f"{swing:+.0f}{flip}" for swing, flip in zip(far_off, flips, strict=True)]
    figure = go.Figure(_bars(rows, far_off, marker, told, [plain(row.name) for row in rows], "%{x:+.1f}"))
    figure.update_traces(textposition="outside", cliponaxis=False, textfont={"color": INK[theme]})
    far = max(map(abs, far_off), default=0.0) * 1.5 or 10
    outcome = plain(short(decided.title, MAX_VARIANT_CHARACTERS))
    title = _("change of the support for: {outcome} (percentage points)", outcome=outcome)
    figure.update_xaxes(range=[-far, far], tickformat="+.0f", title_text=title)
    return _listed(figure, rows, theme)


def draw_flips(what_if: WhatIf, theme: str = "light") -> go.Figure:
    """Under how many seeds each change turned the verdict; changes that never did are left out."""
    rows = sorted((row for row in what_if.rows[1:] if row.flips), key=lambda row: -row.flips / row.pairs)
    told = [_("{flips} of {pairs}", flips=row.flips, pairs=row.pairs) for row in rows]
    names = [plain(f"{row.name}: {row.outcome}") for row in rows]
    figure = go.Figure(_bars(rows, [row.flips / row.pairs for row in rows], {"color": tone(1, theme)}, told, names))
    figure.update_xaxes(range=[0, 1.03], tickformat=".0%", title_text=_("seeds under which the verdict is another one"))
    return _listed(figure, rows, theme)


def _bars(
    rows: Sequence[Result], values: list[float], marker: object, told: list[str], names: list[str], value: str = ""
) -> go.Bar:
    """A bar for each variant. `told`: what stands on it; `names`, and the `value` in this form: what is pointed out."""
    hover = "<br>".join(filter(None, ("%{customdata}", value))) + "<extra></extra>"
    return go.Bar(
        x=values, y=_names(rows), orientation="h", marker=marker, text=told, customdata=names, hovertemplate=hover
    )


def draw_mirror(found: Sequence[Pair], theme: str = "light") -> go.Figure:
    """How much more each change moved than hearing the same again, with 95 % intervals; filled where it holds."""
    figure = go.Figure()
    for place, measure in enumerate(dict.fromkeys(pair.measure for pair in found)):
        mine = [pair for pair in found if pair.measure is measure]
        symbols = [SYMBOLS[place] if pair.holds else f"{SYMBOLS[place]}-open" for pair in mine]
        figure.add_scatter(
            **spread("x", [pair.difference for pair in mine], tone(place, theme), 1.5),
            y=[plain(short(pair.a, MAX_VARIANT_CHARACTERS)) for pair in mine],
            orientation="h",
            mode="markers",
            name=plain(measure.title),
            marker={"size": 11, "color": tone(place, theme), "symbol": symbols},
            customdata=[[pair.of_a, pair.of_b, pair.corrected] for pair in mine],
            hovertemplate="%{x:+.1%}: %{customdata[0]:.1%} · %{customdata[1]:.1%} · p %{customdata[2]:.3f}<extra></extra>",
        )
    figure.update_layout(scattermode="group", scattergap=0.4)
    title = _("more than the same heard again (filled: it holds)")
    figure.update_xaxes(tickformat="+.0%", title_text="<br>".join(wrap(title, MAX_TITLE_CHARACTERS)))
    listed(figure, theme, 230 + 2 * ROW_HEIGHT_PX * max(1, len({pair.a for pair in found})))
    # Below each other: a phone has no room for them side by side.
    legend = {"orientation": "v", "y": 1.02, "yanchor": "bottom"}
    return figure.update_layout(showlegend=True, legend=legend, margin={"t": 90})


def _listed(figure: go.Figure, rows: Sequence[Result], theme: str) -> go.Figure:
    names = [plain(short(row.name, MAX_VARIANT_CHARACTERS)) for row in rows]
    figure.update_layout(bargap=0.35)
    height = 110 + VARIANT_HEIGHT_PX * max(1, len(rows))
    return listed(figure, theme, height, tickmode="array", tickvals=_names(rows), ticktext=names)


def _names(rows: Sequence[Result]) -> list[str]:
    return [f"{number} {plain(row.name)}" for number, row in enumerate(rows)]


def _choice(outcome: str, choices: Sequence[Choice]) -> Choice:
    """What was decided for, as it is drawn; a verdict in words is no choice of its procedure."""
    return next((choice for choice in choices if choice.name == outcome), Choice(outcome, outcome, 0, "circle", ""))


def draw_yardstick(found: Yardstick, theme: str = "light") -> go.Figure:
    """Draw verdicts for the side with the burden of proof by its first votes, with Wilson's 95 % intervals."""
    figure = go.Figure()
    sizes = sorted(found.curve["size"].unique())
    for number, size in enumerate(sizes):
        for whose, wins, n in ((_("people"), "people_wins", "people_n"), (_("these runs"), "wins", "n")):
            known = found.curve.loc[(found.curve["size"] == size) & (found.curve[n] > 0), ["votes", wins, n]]
            shares = [*map(wilson, known[wins], known[n])]
            of_people = n == "people_n"
            colour = NEUTRAL[theme] if of_people else tone(number, theme)
            told = zip(known["votes"], known[n], shares, strict=True)
            figure.add_scatter(
                x=known["votes"] / size,
                **spread("y", shares, colour),
                mode="lines+markers",
                name=f"{whose}, {size}" if len(sizes) > 1 else whose,
                line={"color": colour, "width": 2, "dash": "dot" if of_people else "solid"},
                marker={"size": 9, "color": colour, "symbol": "square" if of_people else "circle"},
                customdata=[[votes, size, many, one.low, one.high] for votes, many, one in told],
                hovertemplate="%{customdata[0]} / %{customdata[1]}: %{y:.0%} "
                "(%{customdata[3]:.0%} – %{customdata[4]:.0%}), n = %{customdata[2]}",
            )
    size = sizes[-1] if sizes else 12
    ticks = {"tickvals": [votes / size for votes in range(size + 1)], "ticktext": [*map(str, range(size + 1))]}
    title = _("first votes for the side that has to prove its case")
    figure.update_xaxes(title_text=title, range=[-0.04, 1.04], **ticks)
    figure.update_yaxes(title_text=_("verdicts for it"), tickformat=".0%", range=[-0.04, 1.04])
    return framed(figure, theme, 460)


MAX_BARS = 20
"""Of categories or outcomes, so many have a bar; the others share one."""
OTHERS = "all others"
LISTED = ("categories", "outcomes")


def draw_rows(statistics: Statistics, what: str, theme: str = "light") -> go.Figure:
    """Draw how many rows each class has, a colour a split. `what`: of `LISTED`, `lengths`, `margins`, or a number."""
    whole = statistics.counts[ALL]
    splits = {split: counts for split, counts in statistics.counts.items() if split != ALL} or {ALL: whole}
    rows = pd.DataFrame({split: pd.Series(_classes(counts, what), dtype=int) for split, counts in splits.items()})
    rows = rows.reindex([*_classes(whole, what)]).fillna(0).astype(int)
    if what == "lengths":
        used = rows.index[rows.any(axis=1)]
        rows = rows.loc[used[0] : used[-1]] if len(used) else rows[:1]
    names = [plain(short(name, 40)) if what in LISTED else name for name in rows.index]
    if what in LISTED and len(rows) > MAX_BARS:
        names = [*names[:MAX_BARS], _(OTHERS)]
        rows = pd.concat([rows[:MAX_BARS], rows[MAX_BARS:].sum().to_frame().T])
    figure = go.Figure()
    for number, split in enumerate(rows):
        counts = rows[split].tolist()
        figure.add_bar(
            x=counts if what in LISTED else names,
            y=names if what in LISTED else counts,
            name=plain(split),
            orientation="h" if what in LISTED else "v",
            marker={"color": NEUTRAL[theme] if split == ALL else tone(number, theme)},
            hovertemplate=("%{y}: %{x}" if what in LISTED else "%{x}: %{y}") + f"<extra>{plain(split)}</extra>",
        )
    figure.update_layout(barmode="stack", bargap=0.3 if what in LISTED else 0.2)
    if what in LISTED:
        figure.update_yaxes(autorange="reversed", type="category")
        figure.update_xaxes(title_text=_("rows"))
    else:
        titles = {"lengths": _("characters"), "margins": _("margin of the winner on record")}
        figure.update_xaxes(title_text=titles.get(what) or plain(what), type="category")
        figure.update_yaxes(title_text=_("rows"))
    framed(figure, theme, 150 + 26 * len(rows) if what in LISTED else 340 if what == "lengths" else 320)
    # The splits' names stand above the bars in the order in which they are stacked.
    return figure.update_layout(legend={"y": 1.02, "yanchor": "bottom", "traceorder": "normal"}, margin={"t": 48})


def _classes(counts: SplitCounts, what: str) -> Mapping[str, int]:
    """Rows by class, in the order of the classes."""
    if what == "lengths":
        bounds = [f"{bound:,}" for bound in LENGTHS]
        between = [_("{low} to {high}", low=low, high=high) for low, high in pairwise(bounds)]
        names = [_("below {bound}", bound=bounds[0]), *between, _("{bound} and more", bound=bounds[-1])]
        return dict(zip(names, counts.lengths, strict=True))
    known: Mapping[str, int] = getattr(counts, what) if what in (*LISTED, "margins") else counts.classes[what]
    return known
