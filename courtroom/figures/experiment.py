"""What an experiment has shown, drawn: values with intervals, right and wrong by arm and case, accuracy against money."""

from collections.abc import Sequence

import plotly.graph_objects as go

from courtroom.evaluation.intervals import Interval
from courtroom.experiments.breakdown import Breakdown
from courtroom.experiments.measures import Measure
from courtroom.experiments.table import ArmGroup, CellRow, ResultTable
from courtroom.figures.layout import INK, LINE, NEUTRAL, error_bars, framed, plain, short, tone
from courtroom.language import _

ROW = 34
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "x", "star", "hexagon", "cross")


def _told(one: Interval) -> str:
    """An interval as a hover text has it."""
    if not one.known:
        return _("no interval")
    return _("95 % interval {low} to {high}", low=f"{one.low:.3f}", high=f"{one.high:.3f}")


def draw_values(table: ResultTable, group: str, measure: Measure, theme: str = "light") -> go.Figure:
    """A measure of every arm, with 95 % intervals over cases."""
    lines = [
        (line.arm, line.values[measure.name])
        for arm in table.arms
        if (line := table.line(arm, group)) and measure.name in line.values
    ]
    figure = go.Figure(
        go.Scatter(
            x=[one.value for _, one in lines],
            y=[plain(arm) for arm, _ in lines],
            mode="markers",
            marker={"size": 11, "color": tone(0, theme)},
            error_x=error_bars([one for _, one in lines], NEUTRAL[theme], 1.5),
            customdata=[_told(one) for _, one in lines],
            hovertemplate="%{y}<br>%{x:.3f}, %{customdata}<extra></extra>",
        )
    )
    figure.update_yaxes(autorange="reversed", type="category", tickfont={"color": INK[theme]}, automargin=True)
    figure.update_xaxes(title_text=plain(measure.title), tickformat=".0%" if measure.percent else None)
    figure.update_layout(showlegend=False)
    return framed(figure, theme, 110 + ROW * max(1, len(lines)))


def matrix_cases(groups: Sequence[ArmGroup], measure: Measure) -> list[str]:
    """The cases of the matrix: those that fewest arms have right first, so that hard cases stand together."""
    cases = sorted({case for group in groups for case in group.by_case})
    known = {
        group.arm: dict(zip(group.by_case, group.values(measure, list(group.by_case)), strict=True)) for group in groups
    }

    def mean(case: str) -> float:
        values = [value for arm in known.values() if (value := arm.get(case)) is not None]
        return sum(values) / len(values) if values else 2.0

    return sorted(cases, key=mean)


def draw_matrix(groups: Sequence[ArmGroup], measure: Measure, theme: str = "light") -> go.Figure:
    """Arms against cases: what each arm reached on each case, from wrong to right. A cell's `customdata` is arm and case."""
    cases = matrix_cases(groups, measure)
    figure = go.Figure()
    for group in groups:
        known = [case for case in cases if case in group.by_case]
        values = group.values(measure, known)
        shown = [(case, value) for case, value in zip(known, values, strict=True) if value is not None]
        figure.add_scatter(
            x=[cases.index(case) for case, _ in shown],
            y=[plain(group.arm)] * len(shown),
            mode="markers",
            name=plain(group.arm),
            marker={
                "size": 12,
                "color": [value for _, value in shown],
                "colorscale": [[0, tone(1, theme)], [1, tone(0, theme)]],
                "cmin": 0,
                "cmax": 1,
                "symbol": ["circle" if value >= 1 else "x" if value <= 0 else "diamond" for _, value in shown],
                "line": {"width": 0.5, "color": LINE[theme]},
            },
            customdata=[[group.arm, case] for case, _ in shown],
            text=[f"{plain(case)}: {value:.2f}" for case, value in shown],
            hovertemplate="%{y}<br>%{text}<extra></extra>",
        )
    figure.update_yaxes(autorange="reversed", type="category", tickfont={"color": INK[theme]}, automargin=True)
    figure.update_xaxes(title_text=_("cases, the hardest first"), showticklabels=False)
    figure.update_layout(showlegend=False)
    return framed(figure, theme, 130 + ROW * max(1, len(groups)))


def draw_frontier(table: ResultTable, group: str, measure: Measure, theme: str = "light") -> go.Figure:
    """A measure against what a case costs, a mark for each arm; the line joins those that no other arm beats for less.

    In US dollars where every arm's price is known and something was paid, else in tokens; in calls where no tokens were
    counted, as by the offline model. What predictions made elsewhere took is not known, so they are left out.
    """
    paid = [spent.cost for spent in table.spent.values()]
    in_money = None not in paid and any(paid)
    in_tokens = any(spent.tokens for spent in table.spent.values())
    points = []
    for number, arm in enumerate(table.arms):
        line, spent = table.line(arm, group), table.spent[arm]
        if (
            line is None
            or measure.name not in line.values
            or not spent.done
            or not (spent.calls or spent.cost is not None)
        ):
            continue
        took = (spent.cost or 0.0) if in_money else spent.tokens if in_tokens else spent.calls
        cost = took / spent.done
        points.append((cost, line.values[measure.name], arm, number))
    most = max((cost for cost, *_ in points), default=0.0) or 1.0
    figure = go.Figure()
    front = frontier([(cost, one.value if measure.better == "higher" else -one.value) for cost, one, _, _ in points])
    figure.add_scatter(
        x=[points[place][0] for place in front],
        y=[points[place][1].value for place in front],
        mode="lines",
        line={"color": NEUTRAL[theme], "dash": "dot", "shape": "hv"},
        hoverinfo="skip",
        showlegend=False,
    )
    for cost, one, arm, number in points:
        figure.add_scatter(
            x=[cost],
            y=[one.value],
            mode="markers",
            name=plain(arm),
            marker={"size": 13, "color": tone(number, theme), "symbol": SYMBOLS[number % len(SYMBOLS)]},
            error_y=error_bars([one], tone(number, theme)),
            hovertemplate=f"{plain(arm)}<br>%{{y:.3f}} for %{{x:.4g}} a case<extra></extra>",
        )
    figure.update_xaxes(
        title_text=_("US$ a case") if in_money else _("tokens a case") if in_tokens else _("calls a case"),
        range=[-0.03 * most, 1.06 * most],
    )
    figure.update_yaxes(title_text=plain(measure.title), tickformat=".0%" if measure.percent else None)
    return framed(figure, theme, 420)


def frontier(points: Sequence[tuple[float, float]]) -> list[int]:
    """Places of the points (cost, value) that no other one beats: none is at least as good for no more, the cheapest first."""
    order = sorted(range(len(points)), key=lambda place: (points[place][0], -points[place][1]))
    found: list[int] = []
    for place in order:
        if not found or points[place][1] > points[found[-1]][1]:
            found.append(place)
    return found


def run_of(rows: Sequence[CellRow], arm: str, case: str) -> str:
    """The run behind a mark of the matrix; empty for a prediction made elsewhere."""
    return next((row.run for row in rows if (row.arm, row.row) == (arm, case)), "")


MOST_CHARACTERS = 24
"""Of a class's name below the axis."""


def draw_breakdown(breakdown: Breakdown, theme: str = "light") -> go.Figure:
    """A measure of every arm in every class, with 95 % intervals over cases; a line joins classes whose order means something.
    Below the name of a class stands how many cases it has, of the arm that has most."""
    figure = go.Figure()
    for number, arm in enumerate(dict.fromkeys(point.arm for point in breakdown.points)):
        mine = {point.label: point for point in breakdown.points if point.arm == arm}
        shown = [mine[label] for label in breakdown.labels if label in mine]
        figure.add_scatter(
            x=[breakdown.labels.index(point.label) for point in shown],
            y=[point.value.value for point in shown],
            mode="lines+markers" if breakdown.ordered else "markers",
            name=plain(arm),
            line={"color": tone(number, theme), "width": 1.5},
            marker={"size": 10, "color": tone(number, theme), "symbol": SYMBOLS[number % len(SYMBOLS)]},
            error_y=error_bars([point.value for point in shown], tone(number, theme)),
            customdata=[[plain(point.label), _told(point.value), point.cells] for point in shown],
            hovertemplate="%{customdata[0]}: %{y:.3f}, %{customdata[1]}, %{customdata[2]} cells<extra>"
            + plain(arm)
            + "</extra>",
        )
    cases = {
        label: max((one.cases for one in breakdown.points if one.label == label), default=0)
        for label in breakdown.labels
    }
    figure.update_xaxes(
        title_text=plain(breakdown.title),
        tickvals=list(range(len(breakdown.labels))),
        ticktext=[f"{plain(short(label, MOST_CHARACTERS))}<br>n = {cases[label]:,}" for label in breakdown.labels],
        range=[-0.5, len(breakdown.labels) - 0.5],
        automargin=True,
        showgrid=False,
        zeroline=False,
    )
    figure.update_yaxes(
        title_text=plain(breakdown.measure.title), tickformat=".0%" if breakdown.measure.percent else None
    )
    figure.update_layout(scattermode="group", scattergap=0.6, showlegend=True)
    return framed(figure, theme, 440)
