"""What a cell came to: an outcome with what it took, from a run's record or from a prediction made elsewhere."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, JsonValue

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.engine.record import Record
from courtroom.errors import CaseError, CourtroomError
from courtroom.knowledge.search import Search
from courtroom.models.narrow import folded
from courtroom.strict import Strict
from courtroom.text.encoding import in_utf8
from courtroom.text.files import cell_text, json_records
from courtroom.text.table import dialect_of, read_table

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
    stood_in: int = Field(default=0, exclude_if=lambda calls: not calls)
    """Calls that a stand-in answered."""
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
    found = (
        tuple(hit.id for hit in one.hits)
        for one in record.retrievals
        if isinstance(one.query, Search) and one.query.collection in EARLIER
    )
    looked_up = next(found, None)  # by its first search among earlier cases: a second instance searches again
    return Outcome(
        outcome=verdict.outcome,
        counts=verdict.counts,
        first=next((tally.counts for tally in record.tallies.values()), {}),
        details=verdict.details,
        votes={member: vote.choice for member, vote in last.items()},
        looked_up=looked_up,
        rounds=len(record.tallies),
        calls=len(record.calls),
        asked=record.asked,
        stood_in=sum(call.instead_of != "" and call.value is not None for call in record.calls),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cost=record.cost,
        latency_s=sum(call.latency_s for call in record.calls),
        assessed_s=record.assessed_s,
        wall_s=record.run.wall_s,
    )


def of_text(case: Case, answer: str, **took: Any) -> Outcome:
    """A prediction made elsewhere: a label, a side, a choice, a summary, or JSON as a procedure's details have it. What can't be
    read as an answer is kept as it was given; measures take it for none, except for those that read raw answers. `took`: `cost`,
    `latency_s` and the like, where they are known."""
    try:
        loaded = json.loads(answer)
    except ValueError:
        loaded = None
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
    ranked = given.get("ranking") if given else loaded  # ids, the most relevant first
    if (
        isinstance(case, CriminalCase)
        and isinstance(ranked, list)
        and all(isinstance(one, str | int) for one in ranked)
    ):
        return read.model_copy(update={"outcome": "A ranking", "looked_up": tuple(map(str, ranked))})
    if isinstance(case, CriminalCase) and given:
        details = given if {"judgment", "choice", "amount"} & given.keys() else {"judgment": given}
        return read.model_copy(update={"outcome": answer[:80], "details": details})
    return read.model_copy(update={"outcome": answer[:80]})


def same(answer: str, choices: Sequence[str]) -> str | None:
    """The choice that is meant: case, quotation marks, hyphens and full stops do not matter."""
    return next((choice for choice in choices if folded(choice) == folded(answer)), None)


CASE, ITEM = ("case", "id", "row"), "item"
"""A case by its id in the dataset, or by its place in the file of this name that the dataset was imported from."""
MODEL, ANSWER = ("model", "arm"), ("prediction", "answer", "output", "label")
TOOK = {"cost": float, "latency_s": float, "prompt_tokens": int, "completion_tokens": int}
"""What a line may say beside the answer."""
FORMS = (".jsonl", ".json", ".csv", ".tsv")


class Prediction:
    """One line: a case's id, whose answer it is, the answer, and what it took where that is known."""

    def __init__(self, case: str, model: str, answer: str, took: Mapping[str, float]) -> None:
        self.case, self.model, self.answer, self.took = case, model, answer, took

    def outcome(self, case: Case) -> Outcome:
        """The answer, read for its case."""
        tokens = self.took.keys() & {"prompt_tokens", "completion_tokens"}
        return of_text(case, self.answer, **self.took, calls=1 if tokens else 0)


def read_predictions(path: Path) -> Iterator[Prediction]:
    """All lines of a file: JSON lines, a JSON list, CSV or TSV, with a column for the case and one for the answer. Of a folder,
    those of all its files of JSON lines. Where a line has `item`, a place from 0, the case is the row of that place from the file
    of the same name, as an import names it: `TASK.jsonl` and item 7 are `TASK-7`. Raises `CourtroomError`: a line can't be read;
    the sentence names it."""
    if path.is_dir():
        files = sorted(path.glob("*.jsonl"))
        if not files:
            raise CourtroomError(f"{path} has no files of JSON lines (.jsonl). Give a folder that has some, or a file.")
        for file in files:
            yield from read_predictions(file)
        return
    for at, line in _lines(path):
        if isinstance(line, CaseError):
            raise CourtroomError(f"{path.name}, {at}: {line}")
        if not isinstance(line, dict):
            raise CourtroomError(f"{path.name}, {at}: it holds no fields. Write one object a line.")
        place = line.get(ITEM)
        case = f"{path.stem}-{place}" if place not in (None, "") else _field(line, CASE)
        # An empty text is an answer: an abstention.
        answer = next((line[name] for name in ANSWER if line.get(name) is not None), None)
        if case is None or answer is None:
            missing, names = ("case", (*CASE, ITEM)) if case is None else ("answer", ANSWER)
            raise CourtroomError(f"{path.name}, {at}: the {missing} is missing. Name the field {' or '.join(names)}.")
        try:
            took = {name: read(line[name]) for name, read in TOOK.items() if line.get(name) not in (None, "")}
        except (TypeError, ValueError) as error:
            raise CourtroomError(f"{path.name}, {at}: {error}.") from error
        text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        yield Prediction(str(case), str(_field(line, MODEL) or ""), text, took)


def models_in(path: Path) -> list[str]:
    """Whose answers a file holds, in their order; one empty name where it does not say."""
    return list(dict.fromkeys(one.model for one in read_predictions(path)))


Answers = Mapping[str, Sequence[Prediction]]
"""Predictions by case; several answers to one case are its repeats."""


def answers_of(path: Path, model: str) -> Answers:
    """One model's answers by case; without a name, of the only model. Raises `CourtroomError`: the file has no such model, or several where none is named."""
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
    every = ((case, number, one) for case, several in answers.items() for number, one in enumerate(several))
    lines = sorted(
        json.dumps([case, number, one.answer, dict(one.took)], sort_keys=True) for case, number, one in every
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _lines(path: Path) -> Iterator[tuple[str, Any]]:
    if not path.exists():
        raise CourtroomError(f"{path} can't be read: it is not there. Check the path.")
    if path.suffix not in FORMS:
        raise CourtroomError(f"{path.name} can't be read as predictions. Give a file that ends in {', '.join(FORMS)}.")
    try:
        with path.open("rb") as raw:
            file, _ = in_utf8(raw)
            if path.suffix in (".csv", ".tsv"):
                known = {ITEM, *CASE, *MODEL, *ANSWER}
                for row in read_table(file, dialect_of(file.peek(1).decode(errors="replace"), known)).rows:
                    yield row.place, CaseError(row.fault) if row.fault else _texts(row.cells)
            else:
                yield from json_records(file.read())
    except OSError as error:
        raise CourtroomError(f"{path} can't be read: {error}.") from error
    except CaseError as error:
        raise CourtroomError(f"{path.name}: {error}") from error


def _texts(cells: Mapping[str, str]) -> dict[str, str]:
    return {name: cell_text(cell) for name, cell in cells.items()}


def _field(line: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((line[name] for name in names if line.get(name) not in (None, "")), None)
