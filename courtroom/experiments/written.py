"""An experiment as text: its table in Markdown and LaTeX, with intervals and marks, and a line a cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import ALPHA
from courtroom.experiments import table as tables
from courtroom.experiments.measures import CaseResult, Measure
from courtroom.experiments.table import Pair, ResultTable
from courtroom.text.files import write_csv

if TYPE_CHECKING:
    import pandas as pd

    from courtroom.experiments.results import ExperimentResults


_SIGNS = {"~": "asciitilde", "^": "asciicircum", "\\": "backslash", "<": "less", ">": "greater", "|": "bar"}
_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: rf"\text{name}{{}}" for sign, name in _SIGNS.items()}
_ESCAPED = re.compile("[" + re.escape("".join(_LATEX)) + "]")


@dataclass(frozen=True)
class PrintedCell:
    """A value of a table as it is printed."""

    text: str
    best: bool = False
    """Whether no other arm has a better one."""
    beats: int = 0
    """Than how many other arms this one is shown to be better."""
    below: bool = False
    """Whether it is worse than a guess on the same cases."""


@dataclass(frozen=True)
class PrintedLine:
    """A line of a table as page, Markdown and LaTeX print it: of an arm, or of a guess."""

    name: str
    cells: tuple[PrintedCell, ...]
    took: tuple[str, str, str] = ("", "", "")
    """Cases, tokens and US dollars a case."""
    guess: bool = False


def lines_of(table: ResultTable, pairs: Sequence[Pair], group: str) -> list[PrintedLine]:
    """Return the lines of a group of cases: its arms, then its guesses."""
    beats = Counter((pair.measure.name, pair.better) for pair in pairs if pair.holds and pair.group == group)
    arms = [line for line in table.lines if line.group == group]
    best = {}
    for measure in table.measures:
        values = [one.value for line in arms if (one := line.values.get(measure.name))]
        best[measure.name] = (max if measure.better == "higher" else min)(values, default=None)
    lines = []
    for line in arms:
        cells = []
        for measure in table.measures:
            value, many = line.values.get(measure.name), line.counts.get(measure.name, line.cases)
            text = tables.printed(value, measure, "" if many == line.cases else f"n = {many:,}")
            is_best = value is not None and value.value == best[measure.name]
            cells.append(PrintedCell(text, is_best, beats[measure.name, line.arm], table.below(line, measure)))
        took = (f"{line.cases:,}", *table.spent[line.arm].a_case)
        lines.append(PrintedLine(line.arm, tuple(cells), took))
    for guess in (one for one in table.guesses if one.group == group):
        known = [(guess.values.get(one.name), one) for one in table.measures]
        texts = (tables.number(interval.value, one) if interval else "" for interval, one in known)
        lines.append(PrintedLine(guess.arm, tuple(map(PrintedCell, texts)), guess=True))
    return lines


def markdown(found: ExperimentResults) -> str:
    """Return the table with 95 % intervals, and beneath it what holds, in sentences."""
    table, pairs = found.table, found.pairs
    notes = explained(table, pairs, found.notes)
    if any(table.below(line, measure) for line in table.lines for measure in table.measures):
        notes.append("A ↓ marks a value below that of a guess on the same cases.")
    with_repeats = table.groups == (tables.ALL,) and any(one.repeats or one.before for one in found.steady.values())
    said = [*tables.summary(pairs, found.overall), *map(tables.sentence, pairs)]
    shown = {"groups": _groups(table, pairs), "measures": table.measures, "steady": with_repeats and found.steady}
    return rendered("table.md.j2", **shown, notes=notes, said=said)


def latex(table: ResultTable, pairs: Sequence[Pair] = (), title: str = "", left_out: Sequence[str] = ()) -> str:
    """Return a `table` (packages booktabs and graphicx) for each group, with 95 % intervals; the best value is bold."""
    notes = [*explained(table, pairs, left_out), "The best value of each column is bold."]
    groups = _groups(table, pairs)
    return rendered("table.tex.j2", groups=groups, measures=table.measures, notes=notes, title=title or "Results")


def _groups(table: ResultTable, pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Cut the table into its groups, as templates print them."""
    named = ((group, "" if group == tables.ALL else group) for group in table.groups)
    return [{"name": name, "lines": lines_of(table, pairs, group)} for group, name in named]


def explained(table: ResultTable, pairs: Sequence[Pair], left_out: Sequence[str]) -> list[str]:
    """What stands beneath a table: what its values and marks are, and what it leaves out."""
    notes = [
        "Values are followed by their 95 % intervals over cases, and by n where not all cases have a value.",
        *tables.without_interval(table),
        *left_out,
    ]
    if any(pair.holds for pair in pairs):
        notes.append(
            "A number after > says than how many other arms this one is shown to be better: p below "
            f"{ALPHA} by {' or '.join(tests_of(pairs))}, with Holm's correction over all pairs of a measure."
        )
    return notes


def tests_of(pairs: Sequence[Pair]) -> list[str]:
    """The tests by which pairs were compared, each once."""
    return list(dict.fromkeys(tables.TESTS.get(pair.tested.test, pair.tested.test) for pair in pairs))


def rendered(template: str, **given: object) -> str:
    """Render a file for a paper. Its signs are << >> and <% %>, as LaTeX and Markdown have braces of their own."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # slow to import

    made = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates"), undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, variable_start_string="<<", variable_end_string=">>", block_start_string="<%",
        block_end_string="%>", keep_trailing_newline=True,
    )  # fmt: skip
    made.filters["tex"] = lambda text: _ESCAPED.sub(lambda found: _LATEX[found[0]], text)
    # Names from outside change nothing in the Markdown around them.
    made.filters["inert"] = lambda text: re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text.replace("\n", " "))
    return made.get_template(template).render(given)


TOOK = (
    *("calls", "asked", "prompt_tokens", "completion_tokens", "cost", "paid_tokens", "paid_cost"),
    *("latency_s", "wall_s", "rounds"),
)
FORMS = (".csv", ".parquet", ".jsonl", ".md", ".tex")


def file_of(frame: pd.DataFrame, ending: str) -> str | bytes:
    """Return a frame as what is in a .csv, .parquet or .jsonl. Raises `CourtroomError`: the ending is none of these."""
    forms: dict[str, Callable[[], str | bytes]] = {
        ".csv": partial(csv_of, frame),
        ".parquet": partial(frame.to_parquet, index=False),
        ".jsonl": partial(frame.to_json, orient="records", lines=True, force_ascii=False),
    }
    if ending not in forms:
        raise CourtroomError(f"--to needs a file name that ends in {', '.join(FORMS)}.")
    return forms[ending]()


def csv_of(frame: pd.DataFrame) -> str:
    return write_csv(frame.columns, frame.itertuples(index=False, name=None))


def line_of(row: CaseResult, measures: Sequence[Measure]) -> dict[str, Any]:
    """Make a line of a cell: arm, case, run, state, outcome, gold, own measures, votes by choice, and what it took."""
    outcome = row.outcome if row.state == "done" else None
    line: dict[str, Any] = {"arm": row.arm, "case": row.row, "category": row.category, "repeat": row.repeat}
    line |= {"run": row.run, "state": row.state, "reason": row.reason}
    line |= {"outcome": outcome.outcome if outcome else None, "gold": row.case.real_outcome()}
    for measure in measures:
        if measure.each is not None:
            line[measure.name] = measure.each(row) if outcome else None
    votes = {f"votes_{choice}": many for choice, many in outcome.counts.items()} if outcome else {}
    return line | votes | {name: getattr(outcome, name) if outcome else None for name in TOOK}
