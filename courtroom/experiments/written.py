"""An experiment as text: its table in Markdown and LaTeX, with intervals and marks, and a line a cell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from courtroom.errors import CourtroomError
from courtroom.experiments import table as tables
from courtroom.experiments.measures import Measure
from courtroom.text.files import replacing, write_csv

if TYPE_CHECKING:
    import pandas as pd


_SIGNS = {"~": "asciitilde", "^": "asciicircum", "\\": "backslash", "<": "less", ">": "greater", "|": "bar"}
_LATEX = {sign: f"\\{sign}" for sign in "&%$#_{}"} | {sign: rf"\text{name}{{}}" for sign, name in _SIGNS.items()}
_ESCAPED = re.compile("[" + re.escape("".join(_LATEX)) + "]")


def marks(pairs: Sequence[tables.Pair]) -> Mapping[tuple[str, str, str], int]:
    """By measure, group and arm: how many other arms it is shown to be better than."""
    return Counter((pair.measure.name, pair.group, pair.better) for pair in pairs if pair.holds)


def cells_of(table: tables.ResultTable, group: str, arm: str) -> list[str]:
    """The values of a line as they are printed, one for each measure."""
    line = table.line(arm, group)
    if line is None:
        return ["–"] * len(table.measures)
    counts = [line.counts.get(measure.name, line.cases) for measure in table.measures]
    told = ["" if many == line.cases else f"n = {many:,}" for many in counts]
    return [tables.printed(line.values.get(one.name), one, n) for one, n in zip(table.measures, told, strict=True)]


def guessed(table: tables.ResultTable, guess: tables.Guess) -> list[str]:
    """The values of a guess as they are printed, one for each measure; empty where it has none."""
    return [tables.number(guess.values[one.name], one) if one.name in guess.values else "" for one in table.measures]


def markdown(
    table: tables.ResultTable,
    pairs: Sequence[tables.Pair] = (),
    overall: Sequence[tables.Overall] = (),
    left_out: Sequence[str] = (),
) -> str:
    """Return the table with 95 % intervals, and beneath it what holds, in sentences."""
    notes = explained(table, pairs, left_out)
    if any(table.below(line, measure) for line in table.lines for measure in table.measures):
        notes.append("A ↓ marks a value below that of a guess on the same cases.")
    return rendered(
        "table.md.j2",
        groups=_groups(table, pairs),
        measures=table.measures,
        repeats=table.over_repeats if table.groups == (tables.ALL,) else {},
        notes=notes,
        said=[*tables.summary(pairs, overall), *(tables.sentence(pair) for pair in pairs)],
    )


def latex(
    table: tables.ResultTable, pairs: Sequence[tables.Pair] = (), title: str = "", left_out: Sequence[str] = ()
) -> str:
    """Return a `table` (packages booktabs and graphicx) for each group, with 95 % intervals; the best value is bold."""
    notes = [*explained(table, pairs, left_out), "The best value of each column is bold."]
    groups = _groups(table, pairs)
    return rendered("table.tex.j2", groups=groups, measures=table.measures, notes=notes, title=title or "Results")


def _groups(table: tables.ResultTable, pairs: Sequence[tables.Pair]) -> list[dict[str, Any]]:
    """Cut the table into its groups, each with the lines of its arms and of guesses, as templates print them."""
    better = marks(pairs)
    groups = []
    for group in table.groups:
        best, lines = best_of(table, group), []
        for line in filter(None, (table.line(arm, group) for arm in table.arms)):
            cells = [
                {
                    "text": text,
                    "best": (one := line.values.get(measure.name)) is not None and one.value == best[measure.name],
                    "beats": better.get((measure.name, group, line.arm), 0),
                    "below": table.below(line, measure),
                }
                for text, measure in zip(cells_of(table, group, line.arm), table.measures, strict=True)
            ]
            spent = table.spent[line.arm]
            took = (f"{line.cases:,}", spent.tokens_a_case, spent.cost_a_case)
            lines.append({"name": line.arm, "cells": cells, "took": took, "guess": False})
        for guess in table.guesses:
            if guess.group == group:
                cells = [{"text": text, "best": False, "beats": 0, "below": False} for text in guessed(table, guess)]
                lines.append({"name": guess.name, "cells": cells, "took": ("", "", ""), "guess": True})
        groups.append({"name": "" if group == tables.ALL else group, "lines": lines})
    return groups


def explained(table: tables.ResultTable, pairs: Sequence[tables.Pair], left_out: Sequence[str]) -> list[str]:
    """What stands beneath a table: what its values and marks are, and what it leaves out."""
    notes = [
        "Values are followed by their 95 % intervals over cases, and by n where not all cases have a value.",
        *tables.without_interval(table),
        *left_out,
    ]
    if any(pair.holds for pair in pairs):
        notes.append(
            "A number after > says than how many other arms this one is shown to be better: p below "
            f"{tables.ALPHA} by {' or '.join(tests_of(pairs))}, with Holm's correction over all pairs of a measure."
        )
    return notes


def tests_of(pairs: Sequence[tables.Pair]) -> list[str]:
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
    made.filters.update(tex=lambda text: _ESCAPED.sub(lambda found: _LATEX[found[0]], text), inert=_inert)
    return made.get_template(template).render(given)


def best_of(table: tables.ResultTable, group: str) -> Mapping[str, float | None]:
    """The best value of each measure, by its name; None where no arm has one."""
    found = {}
    for measure in table.measures:
        intervals = (line.values.get(measure.name) for line in table.lines if line.group == group)
        values = [one.value for one in intervals if one]
        found[measure.name] = (max if measure.better == "higher" else min)(values, default=None)
    return found


def _inert(text: str) -> str:
    """Names from outside, so that they change nothing in the Markdown around them."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text.replace("\n", " "))


TOOK = (
    *("calls", "asked", "prompt_tokens", "completion_tokens", "cost", "paid_tokens", "paid_cost"),
    *("latency_s", "wall_s", "rounds"),
)
FORMS = (".csv", ".parquet", ".jsonl", ".md", ".tex")


def frame_of(rows: Sequence[tables.CellRow], measures: Sequence[Measure]) -> pd.DataFrame:
    """Make a line a cell: arm, case, run, state, outcome, gold, own measures, votes by choice, and what it took."""
    import pandas as pd  # slow to import

    return pd.DataFrame([_line(row, measures) for row in rows])


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as its file's ending says: .csv, .parquet or .jsonl. Raises `CourtroomError`: the ending is none of
    these, or the file can't be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            if path.suffix == ".csv":
                part.write_text(csv_of(frame), encoding="utf-8", newline="")
            elif path.suffix == ".parquet":
                frame.to_parquet(part, index=False)
            elif path.suffix == ".jsonl":
                frame.to_json(part, orient="records", lines=True, force_ascii=False)
            else:
                raise CourtroomError(f"--to needs a file name that ends in {', '.join(FORMS)}.")
    except OSError as error:
        raise CourtroomError(f"{path} can't be written: {error.strerror}. Name another with --to.") from error


def csv_of(frame: pd.DataFrame) -> str:
    return write_csv(frame.columns, frame.itertuples(index=False, name=None))


def _line(row: tables.CellRow, measures: Sequence[Measure]) -> dict[str, Any]:
    outcome, scored = row.outcome, row.scored
    line: dict[str, Any] = {
        "arm": row.arm,
        "case": row.row,
        "category": row.category,
        "repeat": row.repeat,
        "run": row.run,
        "state": row.state,
        "reason": row.reason,
        "outcome": outcome.outcome if outcome else None,
        "gold": row.case.real_outcome(),
    }
    for measure in measures:
        if measure.each is not None:
            line[measure.name] = measure.each(scored) if scored else None
    votes = {f"votes_{choice}": many for choice, many in outcome.counts.items()} if outcome else {}
    return line | votes | {name: getattr(outcome, name) if outcome else None for name in TOOK}
