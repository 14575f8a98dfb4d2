"""The table of an experiment as text: Markdown and LaTeX, with intervals and marks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from courtroom.evaluation.bootstrap import Interval
from courtroom.experiments.comparison import Overall, Pair
from courtroom.experiments.measures import Measure
from courtroom.experiments.table import ALL, ResultTable
from courtroom.experiments.words import number, sentence, summary

MARK = "*"
_LATEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
          "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}  # fmt: skip
_ESCAPED = re.compile("[" + re.escape("".join(_LATEX)) + "]")


def marks(pairs: Sequence[Pair]) -> Mapping[tuple[str, str, str], int]:
    """By measure, group and arm: how many other arms it is shown to be better than."""
    found: dict[tuple[str, str, str], int] = {}
    for pair in pairs:
        if pair.holds:
            ahead = pair.difference.value > 0 if pair.measure.better == "higher" else pair.difference.value < 0
            key = (pair.measure.name, pair.group, pair.a if ahead else pair.b)
            found[key] = found.get(key, 0) + 1
    return found


def cells_of(table: ResultTable, group: str, arm: str) -> list[str]:
    """The values of a line as they are printed, one for each measure."""
    line = table.line(arm, group)
    return [_value(line.values.get(measure.name) if line else None, measure) for measure in table.measures]


def markdown(
    table: ResultTable, pairs: Sequence[Pair] = (), overall: Sequence[Overall] = (), left_out: Sequence[str] = ()
) -> str:
    """The table with 95 % intervals, and beneath it what holds, in sentences."""
    better = marks(pairs)
    heads = ["Arm", *(f"{measure.title} {_arrow(measure)}" for measure in table.measures), "Cases", "Tokens", "US$"]
    lines: list[str] = []
    for group in table.groups:
        lines += [*(["", f"**{_inert(group)}**", ""] if group != ALL else []), _row(heads), _row(["---"] * len(heads))]
        for arm in table.arms:
            if (line := table.line(arm, group)) is None:
                continue
            values = [
                text + (f" >{more}" if (more := better.get((measure.name, group, arm), 0)) else "")
                for text, measure in zip(cells_of(table, group, arm), table.measures, strict=True)
            ]
            spent = table.spent[arm]
            took = [f"{spent.tokens:,}" if spent.calls else "–", "–" if spent.cost is None else f"{spent.cost:.4g}"]
            lines.append(_row([_inert(arm), *values, f"{line.cases:,}", *took]))
    notes = ["Values are followed by their 95 % intervals over cases.", *left_out]
    if better:
        notes.append("A number after > says than how many other arms this one is shown to be better.")
    said = [*summary(pairs, overall), *(sentence(pair) for pair in pairs)]
    return "\n".join([*lines, "", " ".join(notes), *(["", *(f"- {_inert(one)}" for one in said)] if said else []), ""])


def latex(table: ResultTable, pairs: Sequence[Pair] = ()) -> str:
    """A `tabular` (package booktabs) for each group; the best value is bold, a star marks one better than another arm's."""
    better = marks(pairs)
    found = []
    for group in table.groups:
        best = best_of(table, group)
        heads = " & ".join(
            [
                "Arm",
                *(
                    _tex(f"{m.title}") + (r" $\uparrow$" if m.better == "higher" else r" $\downarrow$")
                    for m in table.measures
                ),
            ]
        )
        lines = [
            f"% {group}",
            rf"\begin{{tabular}}{{l{'r' * len(table.measures)}}}",
            r"\toprule",
            heads + r" \\",
            r"\midrule",
        ]
        for arm in table.arms:
            if (line := table.line(arm, group)) is None:
                continue
            values = []
            for measure in table.measures:
                interval = line.values.get(measure.name)
                text = "--" if interval is None else _tex(number(interval.value, measure))
                if interval is not None and interval.value == best[measure.name]:
                    text = rf"\textbf{{{text}}}"
                values.append(text + ("$^{*}$" if better.get((measure.name, group, arm)) else ""))
            lines.append(" & ".join([_tex(arm), *values]) + r" \\")
        found.append("\n".join([*lines, r"\bottomrule", r"\end{tabular}"]))
    return "\n\n".join(found) + "\n"


def best_of(table: ResultTable, group: str) -> Mapping[str, float | None]:
    """The best value of each measure, by its name; None where no arm has one."""
    return {measure.name: _best(table, group, measure) for measure in table.measures}


def _best(table: ResultTable, group: str, measure: Measure) -> float | None:
    values = [
        line.values[measure.name].value
        for line in table.lines
        if line.group == group and measure.name in line.values
    ]  # fmt: skip
    return (max if measure.better == "higher" else min)(values, default=None)


def _value(interval: Interval | None, measure: Measure) -> str:
    if interval is None:
        return "–"
    low, high = number(interval.low, measure), number(interval.high, measure)
    return f"{number(interval.value, measure)} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"


def _arrow(measure: Measure) -> str:
    return "↑" if measure.better == "higher" else "↓"


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def _inert(text: str) -> str:
    """Names from outside, so that they change nothing in the Markdown around them."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text.replace("\n", " "))


def _tex(text: str) -> str:
    return _ESCAPED.sub(lambda found: _LATEX[found[0]], text)
