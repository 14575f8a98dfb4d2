"""What a cell came to: an outcome with what it took, from a run's record or from a prediction made elsewhere."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any, Literal

from pydantic import Field, JsonValue

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.datasets.records import Damaged, Reading
from courtroom.datasets.source import SourceFile, parts
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.claims import not_in_file
from courtroom.knowledge.search import Search
from courtroom.models.narrow import folded
from courtroom.models.script import ScriptedMembers
from courtroom.strict import Strict
from courtroom.text.files import cell_text
from courtroom.text.table import TableRow

State = Literal["waiting", "done", "failed"]
"""How a cell stands; `waiting` also while its run is under way."""
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
    scripted: tuple[str, ...] = Field(default=(), exclude_if=lambda members: not members)
    """Ids of the members who were scripted."""
    held: str = Field(default="", exclude_if=lambda side: not side)
    """What the setup's script votes for, also where nobody has it; empty where the setup has none."""
    confidence: dict[str, int] = Field(default_factory=dict, exclude_if=lambda sure: not sure)
    """How sure each member is of that vote, 0 to 100, where it was asked."""
    rests_on: tuple[str, ...] = Field(default=(), exclude_if=lambda pieces: not pieces)
    """Names of the pieces of the case on which some of these votes rest, where that was asked."""
    models: tuple[str, ...] = Field(default=(), exclude_if=lambda models: not models)
    """The models of those who voted."""
    statements: int = Field(default=0, exclude_if=lambda statements: not statements)
    """What was said with votes, in all ballots."""
    not_in_case: int = Field(default=0, exclude_if=lambda statements: not statements)
    """Of the statements, those in which a rule finds what the case does not hold."""
    looked_up: tuple[str, ...] | None = None
    """Ids of the earlier cases that the run found first, in the order of their rank; None where it looked none up."""
    raw: str | None = None
    """The answer as it was given, of a prediction made elsewhere."""
    rounds: int = 0
    calls: int = 0
    asked: int = 0
    """Calls really made: the others' answers were on record."""
    stood_in: int = Field(default=0, exclude_if=lambda calls: not calls)
    """Calls that a stand-in answered."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    """Tokens used: of every answer, also of one that was on record."""
    cost: float | None = None
    """US dollars that the answers used; None where it is not known."""
    paid_tokens: int | None = None
    """Of the tokens used, those of calls really made, and of calls that failed; None where it is the same."""
    paid_cost: float | None = None
    """US dollars really paid; None where it is not known, or where `paid_tokens` is None."""
    estimated: bool = Field(default=False, exclude_if=lambda estimated: not estimated)
    """Whether a provider did not count tokens of these, so that they and the dollars are about so much."""
    latency_s: float = 0.0
    """Time that the calls took, added up; of an answer on record, the time that it took when it was given."""
    assessed_s: float = 0.0
    """Of this, an assessor's calls, which are no part of the work."""
    wall_s: float = 0.0

    @property
    def cast(self) -> int:
        """Return how many votes were cast."""
        return sum(self.counts.values())

    def share(self, choice: str) -> float | None:
        """Return the share of the votes cast that are for a choice; None where nobody voted."""
        return self.counts.get(choice, 0) / self.cast if self.cast else None


def of_record(record: Record, answers: AnswerStore) -> Outcome:
    """Return what a run that is done came to, with what its answers used up whoever paid for them."""
    used = answers.of(record.run).used(key for call in record.calls for key in call.keys)
    verdict = record.run.verdict
    assert verdict is not None
    last = list(record.ballots.values())[-1] if record.ballots else {}
    found = (
        tuple(hit.id for hit in one.hits)
        for one in record.retrievals
        if isinstance(one.query, Search) and one.query.collection in EARLIER
    )
    looked_up = next(found, None)  # by its first search among earlier cases: a second instance searches again
    setup, options = record.setup, [option.name for option in record.case.choices]
    script: ScriptedMembers = getattr(setup, "script", ScriptedMembers())
    return Outcome(
        scripted=tuple(member.id for member in record.everybody if member.spec.script),
        held=script.holds(options) if script != ScriptedMembers() and options else "",
        outcome=verdict.outcome,
        counts=verdict.counts,
        first=next((tally.counts for tally in record.tallies.values()), {}),
        details=verdict.details,
        votes={member: vote.choice for member, vote in last.items()},
        confidence={member: vote.confidence for member, vote in last.items() if vote.confidence is not None},
        rests_on=tuple(sorted({piece for vote in last.values() for piece in vote.rests_on})),
        models=tuple(sorted({member.spec.id for member in record.members if member.id in last})),
        statements=sum(bool(vote.reasons) for vote in record.of(Voted)),
        not_in_case=len({claim.vote.path for claim in not_in_file(record, answers.of(record.run))}),
        looked_up=looked_up,
        rounds=len(record.tallies),
        calls=len(record.calls),
        asked=record.asked,
        stood_in=sum(call.instead_of != "" and call.value is not None for call in record.calls),
        prompt_tokens=used.prompt,
        completion_tokens=used.completion,
        cost=used.cost,
        paid_tokens=sum(record.tokens),
        paid_cost=record.cost,
        estimated=used.estimated or record.spent.estimated,
        latency_s=sum(call.latency_s for call in record.calls),
        assessed_s=record.assessed_s,
        wall_s=record.run.wall_s,
    )


def of_text(case: Case, answer: str, **took: Any) -> Outcome:
    """A prediction made elsewhere: a label, a side, a choice, a summary, or JSON as a procedure's details have it. What
    can't be read as an answer is kept as it was given; measures take it for none, except for those that read raw
    answers. `took`: `cost`, `latency_s` and the like, where they are known."""
    try:
        loaded = json.loads(answer)
    except ValueError:
        loaded = None
    given = loaded if isinstance(loaded, dict) else {}
    read = partial(Outcome, raw=answer, **took)
    if isinstance(case, Dispute):
        counted = all(isinstance(given.get(side), int) for side in SIDES)
        counts = {side: given[side] for side in SIDES} if counted else {}
        side = max(SIDES, key=counts.__getitem__) if counts else same(answer, SIDES)
        return read(outcome=side or "", counts=counts)
    if isinstance(case, LabelledTask):
        label = same(answer, case.labels)
        results = [{"id": case.items[0].id, "label": label}] if label else []
        return read(outcome=label or "", details={"results": results})
    if isinstance(case, Document):
        return read(outcome="A summary", details={"summary": answer})
    if not isinstance(case, CriminalCase):
        return read(outcome=answer[:80])
    ranked = given.get("ranking") if given else loaded  # ids, the most relevant first
    if isinstance(ranked, list) and all(isinstance(one, str | int) for one in ranked):
        return read(outcome="A ranking", looked_up=tuple(map(str, ranked)))
    details = given if {"judgment", "choice", "amount"} & given.keys() or not given else {"judgment": given}
    return read(outcome=answer[:80], details=details)


def same(answer: str, choices: Sequence[str]) -> str | None:
    """The choice that is meant: case, quotation marks, hyphens and full stops do not matter."""
    return next((choice for choice in choices if folded(choice) == folded(answer)), None)


CASE, ITEM = ("case", "id", "row"), "item"
"""A case by its id in the dataset, or by its place in the file of this name that the dataset was imported from."""
MODEL, ANSWER = ("model", "arm"), ("prediction", "answer", "output", "label")
TOOK = {"cost": float, "latency_s": float, "prompt_tokens": int, "completion_tokens": int}
"""What a line may say beside the answer."""


@dataclass(frozen=True)
class Prediction:
    """One line of a file: a case's id, whose answer it is, the answer, and what it took where that is known."""

    case: str
    model: str
    answer: str
    took: Mapping[str, float]

    def outcome(self, case: Case) -> Outcome:
        """Read the answer for its case."""
        tokens = self.took.keys() & {"prompt_tokens", "completion_tokens"}
        return of_text(case, self.answer, **self.took, calls=1 if tokens else 0)


def read_predictions(path: Path) -> Iterator[Prediction]:
    """Read all lines of a file that has a field for the case and one for the answer; of a folder, those of its JSON
    files.

    Where a line has `item`, a place from 0, the case is the row of that place from the file of the same name, as an
    import names it: `TASK.jsonl` and item 7 are `TASK-7`. So it is with the answers that LawBench publishes, an object
    by places in `MODEL/TASK.json`. Raises `CourtroomError`: a line can't be read; the sentence names it."""
    for part in parts(path):
        if path.is_dir() and part.ending not in (".json", ".jsonl"):
            continue
        try:
            for record in Reading(part, renamed=(ITEM, *CASE, *MODEL, *ANSWER)).records():
                if _is_published(record.cells):
                    model = PurePath(part.name).parent.name
                    for place, one in record.cells.items():
                        yield Prediction(f"{part.stem}-{place}", model, str(one["prediction"]), {})
                else:
                    yield _prediction(record, part)
        except Damaged as error:
            raise CourtroomError(f"{part.name}: {error}") from error


def _is_published(value: Any) -> bool:
    """Whether answers stand in LawBench's form: by their places."""
    each = value.values() if isinstance(value, dict) else ()
    return bool(each) and all(isinstance(one, dict) and "prediction" in one for one in each)


def _prediction(record: TableRow, part: SourceFile) -> Prediction:
    line = record.cells
    if record.fault:
        raise CourtroomError(f"{record.place}: {record.fault}")
    if not isinstance(line, dict):
        raise CourtroomError(f"{record.place}: it holds no fields. Write one object a line.")
    if part.ending in (".csv", ".tsv"):
        line = {name: cell_text(cell) for name, cell in line.items()}
    place = line.get(ITEM)
    case = f"{part.stem}-{place}" if place not in (None, "") else _field(line, CASE)
    # An empty text is an answer: an abstention.
    answer = next((line[name] for name in ANSWER if line.get(name) is not None), None)
    if case is None or answer is None:
        missing, names = ("case", (*CASE, ITEM)) if case is None else ("answer", ANSWER)
        raise CourtroomError(f"{record.place}: the {missing} is missing. Name the field {' or '.join(names)}.")
    try:
        took = {name: read(line[name]) for name, read in TOOK.items() if line.get(name) not in (None, "")}
    except (TypeError, ValueError) as error:
        raise CourtroomError(f"{record.place}: {error}.") from error
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
    return Prediction(str(case), str(_field(line, MODEL) or ""), text, took)


def models_in(path: Path) -> list[str]:
    """Whose answers a file holds, in their order; one empty name where it does not say."""
    return list(dict.fromkeys(one.model for one in read_predictions(path)))


Answers = Mapping[str, Sequence[Prediction]]
"""Predictions by case; several answers to one case are its repeats."""


def answers_of(path: Path, model: str) -> Answers:
    """One model's answers by case; without a name, of the only model. Raises `CourtroomError`: the file has no such
    model, or several where none is named."""
    found: dict[str, dict[str, list[Prediction]]] = {}
    for one in read_predictions(path):
        found.setdefault(one.model, {}).setdefault(one.case, []).append(one)
    if not model and len(found) == 1:
        return next(iter(found.values()))
    if model not in found:
        raise CourtroomError(
            f"{path.name} has no answers of “{model}”. It has those of: {', '.join(found) or 'nobody'}."
        )
    return found[model]


def digest(answers: Answers) -> str:
    """SHA-256 of all answers: what is pinned of a file that may change."""
    every = ((case, place, one) for case, several in answers.items() for place, one in enumerate(several))
    lines = sorted(json.dumps([case, place, one.answer, dict(one.took)], sort_keys=True) for case, place, one in every)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _field(line: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((line[name] for name in names if line.get(name) not in (None, "")), None)
