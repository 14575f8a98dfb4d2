"""The table of an experiment as text: Markdown and LaTeX, with intervals and marks. And the checklist of a bundle:
GUIDE-LLM (doi:10.1038/s41562-026-02492-7), filled in from the record as far as that goes, its items described in our own words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from courtroom.errors import CourtroomError
from courtroom.experiments import table as tables
from courtroom.experiments.measures import Measure
from courtroom.text.files import replacing, write_csv

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Settings:
    """Arms that were asked in the same way."""

    who: str
    """Which model answered, in words."""
    procedure: str
    sampling: str
    answered: tuple[str, ...]
    """How the model named itself."""
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Plan:
    """Arms that ran equally often."""

    repeats: int
    seeds: tuple[int, ...]
    arms: tuple[str, ...]


@dataclass(frozen=True)
class Facts:
    """All that the texts of a bundle say of how the experiment was done."""

    experiment: dict[str, str]
    dataset: dict[str, Any]
    arms: tuple[str, ...]
    settings: tuple[Settings, ...]
    plan: tuple[Plan, ...]
    cells: dict[str, int]
    took: dict[str, Any]
    statistics: dict[str, Any]
    hypotheses: dict[str, Any]
    interventions: int
    """What persons did to the runs that were looked at: the first and the last of each arm."""
    retrievals: int
    """What was looked up in these."""
    prompts: dict[str, Any]
    software: dict[str, str]
    dates: dict[str, str]
    command: str


@dataclass(frozen=True)
class Item:
    """One item of the checklist."""

    id: str
    asks: str
    answer: str = ""
    """Empty where the record does not say."""
    still: str = ""
    """What only the authors can add."""


def checklist(facts: Facts) -> list[Item]:
    """All items: fourteen that are always reported, and those that are optional."""
    took, cells, asked = facts.took, facts.cells, [one for one in facts.settings if one.procedure]
    procedures = ", ".join(sorted({one.procedure for one in asked}))
    models = "; ".join(dict.fromkeys(one.who for one in facts.settings))
    named = "; ".join(dict.fromkeys(name for one in facts.settings for name in one.answered))
    sampling = "; ".join(dict.fromkeys(one.sampling for one in facts.settings if one.sampling))
    runs = "; ".join(
        f"{one.repeats} for each case, seeds {', '.join(map(str, one.seeds)) or 'none'}" for one in facts.plan
    )
    dollars = "the price is not known" if took["dollars"] is None else f"US$ {took['dollars']:.4g}"
    spent = f"{took['calls']:,} calls, {took['tokens']:,} tokens, {dollars}, {took['seconds']:,} seconds of calls"
    memory = f"Arms learned from the split “{facts.dataset['train']}” before the test; the memory was frozen then."
    persons = (
        f"{facts.interventions} interventions by persons in the runs looked at, the first and the last of each arm."
    )
    looked = f"Look-ups in the runs looked at: {facts.retrievals}."
    steps = f"Members of a deliberation, asked one by one ({procedures})." if procedures else ""
    return [
        Item("A.1", "What models were used for", steps or f"Their predictions were compared: {models}.",
             "any other use in the study, such as writing."),
        Item("A.2", "How far persons took part", f"Cells ran by program. {persons}" if asked else ""),
        Item("B.1", "Which models, in which version, when, from where",
             f"{models}. Named itself: {named or 'nothing'}. From {facts.dates['begun']} to {facts.dates['last'] or 'unknown'}.",
             "size and link of each language model."),
        Item("B.2", "How they were reached, and whether calls share a conversation",
             f"By LiteLLM or in the program, through Courtroom {facts.software['courtroom']}; each call stands alone." if asked else ""),
        Item("B.3", "Settings that change answers", f"{sampling or 'None that a language model takes'}. Runs: {runs}." if asked else ""),
        Item("B.4", "What was added to the model", f"{steps} {looked}" if asked else "", "any fine-tuning of the models."),
        Item("B.5", "Whether a session remembered earlier ones",
             (memory if facts.dataset["train"] else "No: no tested case leaves anything behind.") if asked else ""),
        Item("C.1", "The exact prompts", f"In the folder prompts/, as they stand in Courtroom {facts.software['courtroom']}; edits in experiment.toml. Hash {facts.prompts['hash']}." if asked else ""),
        Item("C.2", "Instructions for the whole system", "In prompts/, the files whose names begin with _system." if asked else ""),
        Item("D.1", "Personal or sensitive data, and how they were kept safe"),
        Item("E.1", "Whether persons checked the answers"),
        Item("E.2", "What was done to answers before they were counted",
             f"Each is read by a schema, asked again where it does not fit, then counted as an abstention. "
             f"Of {cells['all']:,} cells, {cells['failed']:,} failed and {cells['waiting']:,} are waiting." if asked else ""),
        Item("F.1", "Whether code is shared", f"All to run it again is here: {facts.command}.", "where this bundle is published."),
        Item("G.1", "Funding and interests"),
        Item("Optional 1", "Why these models"),
        Item("Optional 2", "Why these prompts"),
        Item("Optional 3", "Comparison with other methods or models", f"table.md compares {len(facts.arms):,} arms."),
        Item("Optional 4", "Whether models may have seen the data in training"),
        Item("Optional 5", "Bias that may change what is concluded"),
        Item("Optional 6", "What was said in full",
             f"On record; courtroom experiment inspect {facts.experiment['name']} --to FOLDER writes it." if asked else ""),
        Item("Optional 7", "What the research means for people"),
        Item("Optional 8", "What it took to compute", f"{spent}." if asked else "", "the machines that answered."),
    ]  # fmt: skip


_LATEX = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
          "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}  # fmt: skip
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
    """The table with 95 % intervals, and beneath it what holds, in sentences."""
    better = marks(pairs)
    repeats = table.over_repeats if table.groups == (tables.ALL,) else {}
    more_heads = ["P over repeats", "T against the arm above"] if repeats else []
    heads = ["Arm", *(f"{measure.title} {_arrow(measure)}" for measure in table.measures), *more_heads]
    heads += ["Cases", "Tokens", "US$"]
    lines: list[str] = []
    for group in table.groups:
        lines += [
            *(["", f"**{_inert(group)}**", ""] if group != tables.ALL else []),
            _row(heads),
            _row(["---"] * len(heads)),
        ]
        for arm in table.arms:
            if (line := table.line(arm, group)) is None:
                continue
            values = [
                text
                + (f" >{more}" if (more := better.get((measure.name, group, arm), 0)) else "")
                + (" ↓" if table.below(line, measure) else "")
                for text, measure in zip(cells_of(table, group, arm), table.measures, strict=True)
            ]
            spent = table.spent[arm]
            took = [f"{spent.tokens:,}" if spent.calls else "–", "–" if spent.cost is None else f"{spent.cost:.4g}"]
            told = repeats.get(arm, ("–", "–")) if repeats else ()
            lines.append(_row([_inert(arm), *values, *told, f"{line.cases:,}", *took]))
        lines += [
            _row([guess.name, *guessed(table, guess), *[""] * (3 + len(more_heads))])
            for guess in table.guesses
            if guess.group == group
        ]
    notes = explained(table, pairs, left_out)
    if any(table.below(line, measure) for line in table.lines for measure in table.measures):
        notes.append("A ↓ marks a value below that of a guess on the same cases.")
    said = [*tables.summary(pairs, overall), *(tables.sentence(pair) for pair in pairs)]
    return "\n".join([*lines, "", " ".join(notes), *(["", *(f"- {_inert(one)}" for one in said)] if said else []), ""])


def latex(
    table: tables.ResultTable, pairs: Sequence[tables.Pair] = (), title: str = "", left_out: Sequence[str] = ()
) -> str:
    """A `table` (packages booktabs and graphicx) for each group, with 95 % intervals; the best value is bold. Beneath it stands what its marks mean."""
    better = marks(pairs)
    groups = []
    for group in table.groups:
        best, lines = best_of(table, group), []
        for arm in table.arms:
            if (line := table.line(arm, group)) is None:
                continue
            cells = [
                {
                    "text": text,
                    "best": (one := line.values.get(measure.name)) is not None and one.value == best[measure.name],
                    "beats": better.get((measure.name, group, arm), 0),
                }
                for text, measure in zip(cells_of(table, group, arm), table.measures, strict=True)
            ]
            lines.append({"arm": arm, "cells": cells, "cases": f"{line.cases:,}"})
        for guess in table.guesses:
            if guess.group == group:
                cells = [{"text": text, "best": False, "beats": 0} for text in guessed(table, guess)]
                lines.append({"arm": guess.name, "cells": cells, "cases": ""})
        groups.append({"name": "" if group == tables.ALL else group, "lines": lines})
    notes = [*explained(table, pairs, left_out), "The best value of each column is bold."]
    return rendered("table.tex.j2", groups=groups, measures=table.measures, notes=notes, title=title or "Results")


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
    """A file for a paper from its template. Its signs are << >> and <% %>, as LaTeX and Markdown have braces of their own."""
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
    return {measure.name: _best(table, group, measure) for measure in table.measures}


def _best(table: tables.ResultTable, group: str, measure: Measure) -> float | None:
    values = [
        line.values[measure.name].value
        for line in table.lines
        if line.group == group and measure.name in line.values
    ]  # fmt: skip
    return (max if measure.better == "higher" else min)(values, default=None)


def _arrow(measure: Measure) -> str:
    return "↑" if measure.better == "higher" else "↓"


def _row(values: Sequence[str]) -> str:
    return f"| {' | '.join(values)} |"


def _inert(text: str) -> str:
    """Names from outside, so that they change nothing in the Markdown around them."""
    return re.sub(r"([\\`*_\[\]<>|])", r"\\\1", text.replace("\n", " "))


TOOK = ("calls", "asked", "prompt_tokens", "completion_tokens", "cost", "latency_s", "wall_s", "rounds")
FORMS = (".csv", ".parquet", ".jsonl", ".md", ".tex")


def frame_of(rows: Sequence[tables.CellRow], measures: Sequence[Measure]) -> pd.DataFrame:
    """A line a cell: arm, case, repeat, run, how it stands, outcome, gold, each case's own measures, votes by choice, and what it took."""
    import pandas as pd  # slow to import

    return pd.DataFrame([_line(row, measures) for row in rows])


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as its file's ending says: .csv, .parquet or .jsonl. Raises `CourtroomError`: the ending is none of these, or the file can't be written."""
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
