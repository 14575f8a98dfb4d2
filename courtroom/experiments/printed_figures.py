"""Figures for print, as SVG and PDF, without a browser: each arm with its interval, curves where there is an axis."""

import io
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from courtroom.evaluation.intervals import Interval
from courtroom.experiments.measures import Measure
from courtroom.experiments.results import LEARNING, ExperimentResults
from courtroom.experiments.spec import Arm
from courtroom.experiments.table import ALL

LETTERS = ("DejaVu Sans", "Noto Sans CJK SC", "Noto Sans SC", "Source Han Sans SC", "WenQuanYi Zen Hei", "SimHei")
"""Fonts, in this order, of those that the machine has: the later ones have Chinese characters."""
MARKERS = "osD^vP*X"
MIN_CURVE_PLACES = 3
_DRAWING = Lock()
"""Matplotlib's settings are of the whole process."""

Point = tuple[float, Interval]


@dataclass(frozen=True)
class PrintedFigure:
    """One figure, before it is drawn."""

    name: str
    caption: str
    measure: Measure
    series: dict[str, list[Point]]
    """By the arm's name: places on the axis with values."""
    ticks: tuple[str, ...] = ()
    """Names of the places 0, 1, ...; without any, places are numbers."""
    axis: str = ""
    """What the places are; empty where they are arms, one above the other."""


def figures_of(found: ExperimentResults) -> Iterator[PrintedFigure]:
    """Give each measure of all arms by group, then over a setting that arms differ in, the first also over features."""
    table = found.table
    axis = axis_of(found.kept.experiment.arms)
    for group in table.groups:
        of = "" if group == ALL else f", {group}"
        for measure in table.measures:
            lines = [line for line in table.lines if line.group == group and measure.name in line.values]
            values = {line.arm: line.values[measure.name] for line in lines}
            if not values:
                continue
            name, caption = _slug(f"{measure.name}-{group}" if of else measure.name), f"{measure.title}{of}"
            rows = {arm: [(float(place), one)] for place, (arm, one) in enumerate(values.items())}
            yield PrintedFigure(name, f"{caption}, with 95 % intervals over cases.", measure, rows, tuple(values))
            if axis:
                path, curves = axis
                drawn: dict[str, list[Point]] = {}
                for label, places in curves.items():
                    if points := [(at, values[arm]) for at, arm in places if arm in values]:
                        drawn[label] = points
                told = f"{caption} by {path}, with 95 % intervals over cases."
                yield PrintedFigure(f"{name}-by-{_slug(path)}", told, measure, drawn, axis=path)
    features = [one.name for one in found.features() if one.order] + ([LEARNING] if found.trained else [])
    for feature in features if table.measures else ():
        one = found.breakdown(feature, table.measures[0])
        over: dict[str, list[Point]] = {}
        for point in one.points:  # each arm's in the order of the classes
            over.setdefault(point.arm, []).append((float(one.labels.index(point.label)), point.value))
        if over:
            name, told = f"{_slug(one.measure.name)}-by-{feature}", f"{one.measure.title} by {one.title.lower()}"
            caption = f"{told}, with 95 % intervals over cases."
            yield PrintedFigure(name, caption, one.measure, over, one.labels, one.title)


def axis_of(arms: Sequence[Arm]) -> tuple[str, dict[str, list[tuple[float, str]]]] | None:
    """The setting in which arms differ by numbers: its path, and for each curve the places with their arms. Arms of one
    curve differ in nothing else. None where no setting has three numbers or more."""
    for path in dict.fromkeys(path for arm in arms for path in arm.set):
        curves: dict[str, list[tuple[float, str]]] = {}
        for arm in arms:
            value = arm.set.get(path)
            if isinstance(value, int | float) and not isinstance(value, bool):
                rest = {name: one for name, one in arm.set.items() if name != path}
                label = ", ".join(filter(None, [arm.procedure, arm.model, *(f"{n} {v}" for n, v in rest.items())]))
                curves.setdefault(label, []).append((float(value), arm.name))
        several = {label: sorted(of) for label, of in curves.items() if len({at for at, _ in of}) >= MIN_CURVE_PLACES}
        if several:
            return path, several
    return None


def drawn(figure: PrintedFigure) -> tuple[dict[str, bytes], bool]:
    """The figure by the ending of its file (svg, pdf), and whether fonts lack some of its letters."""
    from matplotlib import font_manager, rc_context, style  # slow to import
    from matplotlib.figure import Figure

    have = {font.name for font in font_manager.fontManager.ttflist}
    settings = {
        **style.library["petroff10"],
        "font.family": [name for name in LETTERS if name in have],
        "pdf.fonttype": 42,  # fonts that publishers take
        "svg.hashsalt": figure.name,
        "text.parse_math": False,
    }
    files = {}
    with _DRAWING, rc_context(settings), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        upright = not figure.axis
        size = (6.4, 1.0 + 0.32 * len(figure.series)) if upright else (6.4, 4.0)
        paper = Figure(figsize=size, layout="constrained")
        _plot(paper.add_subplot(), figure, upright)
        for ending, dated in (("svg", "Date"), ("pdf", "CreationDate")):
            file = io.BytesIO()
            paper.savefig(file, format=ending, metadata={dated: None})
            files[ending] = file.getvalue()
    return files, any("Glyph" in str(one.message) for one in told)


def _plot(axes: Any, figure: PrintedFigure, upright: bool) -> None:
    scale = 100.0 if figure.measure.percent else 1.0
    title = figure.measure.title + (" (%)" if figure.measure.percent else "")
    for number, (label, points) in enumerate(figure.series.items()):
        values = [scale * one.value for _, one in points]
        ends = [(one.low, one.high) if one.known else (one.value, one.value) for _, one in points]
        low = [max(0.0, value - scale * end[0]) for value, end in zip(values, ends, strict=True)]
        high = [max(0.0, scale * end[1] - value) for value, end in zip(values, ends, strict=True)]
        looks = {"capsize": 2, "linewidth": 1.2, "marker": "o" if upright else MARKERS[number % len(MARKERS)]}
        places = [at for at, _ in points]
        if upright:
            axes.errorbar(values, places, xerr=[low, high], color="C0", linestyle="none", **looks)
        else:
            axes.errorbar(places, values, yerr=[low, high], label=label, **looks)
    ticks = range(len(figure.ticks))
    if upright:
        axes.set_yticks(ticks, figure.ticks)
        axes.set_ylim(len(figure.ticks) - 0.5, -0.5)
        axes.set_xlabel(title)
    else:
        if figure.ticks:
            axes.set_xticks(ticks, figure.ticks)
        axes.set_xlabel(figure.axis)
        axes.set_ylabel(title)
        axes.legend(fontsize="small", frameon=False)
    axes.spines[["top", "right"]].set_visible(False)


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-").lower() or "figure"
