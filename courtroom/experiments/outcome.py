"""What a cell came to: an outcome with what it took, from a run's record or from a prediction made elsewhere."""

import json
from collections.abc import Sequence
from typing import Any

from pydantic import Field, JsonValue

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.document import Document
from courtroom.cases.labelled import LabelledTask
from courtroom.engine.record import Record
from courtroom.knowledge.search import Search
from courtroom.models.narrow import folded
from courtroom.strict import Strict

EARLIER = ("cases", "precedents")
"""Collections of the knowledge base that hold earlier cases."""


class Outcome(Strict):
    """What was decided, and what it took. Nothing of what is really right is in it."""

    outcome: str = ""
    """In a word; empty where nothing was decided."""
    counts: dict[str, int] = Field(default_factory=dict)
    """Votes by choice."""
    first: dict[str, int] = Field(default_factory=dict)
    """Votes by choice in the first ballot; empty where there was none."""
    details: dict[str, JsonValue] = Field(default_factory=dict)
    """As the procedure puts them into its verdict."""
    votes: dict[str, str | None] = Field(default_factory=dict)
    """What each member chose in the last ballot; None is an abstention."""
    looked_up: tuple[str, ...] | None = None
    """Ids of the earlier cases that the run found first, in the order of their rank; None where it looked none up."""
    raw: str | None = None
    """The answer as it was given, of a prediction made elsewhere."""
    rounds: int = 0
    calls: int = 0
    asked: int = 0
    """Calls really made: the others' answers were on record."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None where it is not known."""
    latency_s: float = 0.0
    """Time that the calls took, added up; of an answer on record, the time that it took when it was given."""
    assessed_s: float = 0.0
    """Of this, an assessor's calls, which are no part of the work."""
    wall_s: float = 0.0


def of_record(record: Record) -> Outcome:
    verdict = record.run.verdict
    assert verdict is not None
    last = list(record.ballots.values())[-1] if record.ballots else {}
    prompt, completion = record.tokens
    return Outcome(
        outcome=verdict.outcome,
        counts=verdict.counts,
        first=next((tally.counts for tally in record.tallies.values()), {}),
        details=verdict.details,
        votes={member: vote.choice for member, vote in last.items()},
        looked_up=_looked_up(record),
        rounds=len(record.tallies),
        calls=len(record.calls),
        asked=record.asked,
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=record.cost,
        latency_s=sum(call.latency_s for call in record.calls),
        assessed_s=record.assessed_s,
        wall_s=record.run.wall_s,
    )


def of_text(case: Case, answer: str, **took: Any) -> Outcome:
    """A prediction made elsewhere: a label, a side, a choice, a summary, or JSON as a procedure's details have it.

    What can't be read as an answer is kept as it was given; measures take it for none, except for those that read raw answers.

    Args:
        took: `cost`, `latency_s` and the like, where they are known.
    """
    loaded = _loaded(answer)
    given = loaded if isinstance(loaded, dict) else {}
    read = Outcome(raw=answer, **took)
    if isinstance(case, Dispute):
        counted = all(isinstance(given.get(side), int) for side in SIDES)
        counts = {side: given[side] for side in SIDES} if counted else {}
        side = max(SIDES, key=counts.__getitem__) if counts else same(answer, SIDES)
        return read.model_copy(update={"outcome": side or "", "counts": counts})
    if isinstance(case, LabelledTask):
        label = same(answer, case.labels)
        results = [{"id": case.items[0].id, "label": label}] if label else []
        return read.model_copy(update={"outcome": label or "", "details": {"results": results}})
    if isinstance(case, Document):
        return read.model_copy(update={"outcome": "A summary", "details": {"summary": answer}})
    if isinstance(case, CriminalCase) and (ranked := _ranking(given.get("ranking") if given else loaded)) is not None:
        return read.model_copy(update={"outcome": "A ranking", "looked_up": ranked})
    if isinstance(case, CriminalCase) and given:
        details = given if {"judgment", "choice", "amount"} & given.keys() else {"judgment": given}
        return read.model_copy(update={"outcome": answer[:80], "details": details})
    return read.model_copy(update={"outcome": answer[:80]})


def same(answer: str, choices: Sequence[str]) -> str | None:
    """The choice that is meant: case, quotation marks, hyphens and full stops do not matter."""
    return next((choice for choice in choices if folded(choice) == folded(answer)), None)


def _looked_up(record: Record) -> tuple[str, ...] | None:
    """By its first search among earlier cases: a second instance searches again."""
    for one in record.retrievals:
        if isinstance(one.query, Search) and one.query.collection in EARLIER:
            return tuple(hit.id for hit in one.hits)
    return None


def _ranking(found: Any) -> tuple[str, ...] | None:
    """A list of ids, the most relevant first; None where it is none."""
    if not isinstance(found, list) or not all(isinstance(one, str | int) for one in found):
        return None
    return tuple(map(str, found))


def _loaded(answer: str) -> Any:
    try:
        return json.loads(answer)
    except ValueError:
        return None
