"""A comparison as a few lines to read in a shell."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from courtroom.evaluation.comparison import APART, BallotComparison, Comparison, RunFacts

LETTERS = "ABCD"
WIDTH = 80


def lines(comparison: Comparison) -> Iterator[str]:
    """Runs by letter, what was put in, votes, and how much of the answers and look-ups is the same."""
    letters = LETTERS[: len(comparison.runs)]
    for letter, run in zip(letters, comparison.runs, strict=True):
        yield f"{letter}  {_described(run)}"
    for kind, difference in comparison.differences.all():
        where = difference.path if difference.path == kind else f"{kind} {difference.path}"
        yield f"{where}: {_values(letters, difference.values)}"
    if not any(comparison.differences.all()):
        yield "All runs were given the same."
    for ballot in comparison.ballots:
        yield _ballot(letters, ballot)
    states = Counter[str](answer.state for answer in comparison.answers)
    text = ", ".join(f"{states[state]} {state}" for state in ("same", *APART, "not yet") if states[state])
    yield f"answers: {text or 'none'}" + (f"; from {comparison.parts_at} on" if comparison.parts_at else "")
    found = [all(one.runs) for look_up in comparison.look_ups for one in look_up.found]
    yield f"looked up: {sum(found)} in common, {len(found) - sum(found)} not"


def _described(run: RunFacts) -> str:
    facts = [run.run, run.procedure, run.case, f"seed {run.seed}", run.status]
    facts += [f"fork of {run.parent}"] if run.parent else []
    facts += [f"verdict {run.verdict.outcome}"] if run.verdict else []
    cost = "price unknown" if run.cost is None else f"US$ {run.cost:g}"
    tokens = run.prompt_tokens + run.completion_tokens
    return ", ".join([*facts, f"{run.asked} asked", f"{run.recorded} from the record", f"{tokens} tokens", cost])


def _ballot(letters: str, ballot: BallotComparison) -> str:
    tallies = [tally and ", ".join(f"{name} {n}" for name, n in tally.counts.items()) for tally in ballot.tallies]
    apart = [row.member for row in ballot.members if row.differs]
    return f"{ballot.name}: {_values(letters, tallies)}" + (f"; apart: {', '.join(apart)}" if apart else "")


def _values(letters: str, values: tuple[Any, ...] | list[Any]) -> str:
    return " | ".join(f"{letter} {_short(value)}" for letter, value in zip(letters, values, strict=True))


def _short(value: Any) -> str:
    text = "-" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."
