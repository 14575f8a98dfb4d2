"""Would it come out today? Recorded calls of an experiment are asked again, each twice.

What they come to is held against the record, and against each other: a model that draws its words differs from itself
too. Only where the record is further off than that has something changed.
"""

from __future__ import annotations

import json
import math
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from statistics import fmean
from typing import TYPE_CHECKING, Any

import numpy as np

from courtroom.engine.budget import Spent
from courtroom.engine.events import Called, Voted
from courtroom.engine.record import Record
from courtroom.engine.services import Asked
from courtroom.errors import CourtroomError
from courtroom.evaluation.intervals import CaseSums, of_difference, of_measure
from courtroom.experiments.measures.measure import quotient
from courtroom.language import N_
from courtroom.models.schema import schema_of
from courtroom.models.spec import NO_SERVER
from courtroom.questions.asides import Cost, cost
from courtroom.questions.beside import ask_beside, replay
from courtroom.strict import Strict

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse
    from courtroom.experiments.store import StoredExperiment

USUAL_CALLS, MAX_CALLS = 50, 1_000
KINDS = (N_("Answers"), N_("Decisions"), N_("Votes"))
"""An answer word for word; its choices, numbers and yes or no alone; what the member's vote followed from."""
OFFLINE_ONLY = (
    "These answers are of the offline model, which is no language model, or of persons: nothing can be asked again. "
    "The offline model answers by formulas, so the same experiment comes out the same."
)
Ends = tuple[float, float, float]
"""A share with its 95 % interval over cases."""


class Share(Strict):
    """How often one kind of thing is the same, over the calls that have it."""

    kind: str
    calls: int
    cases: int
    same: Ends
    """Today's answers and the record."""
    spread: Ends
    """The two answers of today: the model's own spread."""
    further: Ends
    """The spread's share less the record's: above 0 where today's are further from the record than from each other."""

    @property
    def sentences(self) -> list[str]:
        same, spread, points = (
            f"{100 * of[0]:.1f}{unit} ({100 * of[1]:.1f} to {100 * of[2]:.1f})"
            for of, unit in ((self.same, " %"), (self.spread, " %"), (self.further, " points"))
        )
        return [
            f"{self.kind}: {same} are the same as on record. Asked twice today, {spread} are the same; "
            f"{self.calls:,} calls, {self.cases:,} cases.",
            f"{self.kind}: {'this is a change' if self.further[1] > 0 else 'no change is shown'}. "
            f"Today's are further from the record than from each other by {points}.",
        ]


class Canary(Strict):
    """What came of asking again, with the versions that the models' providers stated."""

    at: datetime
    wanted: int
    """Recorded calls that were drawn; `asked` of them twice, and `changed` can't be put as they were."""
    asked: int
    changed: int
    shares: tuple[Share, ...]
    then: tuple[str, ...]
    now: tuple[str, ...]
    cost: Cost
    stopped: str = ""
    """Why not all were asked."""

    @property
    def lines(self) -> list[str]:
        told = [f"{self.at:%Y-%m-%d}: {self.asked:,} of {self.wanted:,} calls were asked again, each twice."]
        if self.changed:
            told += [f"{self.changed:,} can't be put as they were: prompts or the model's address have changed since."]
        now, then = (", ".join(names) or "–" for names in (self.now, self.then))
        same = f"The models call themselves {now}, as on record."
        told.append(same if now == then else f"The models call themselves {now}; on record they did {then}.")
        return [*told, *(line for one in self.shares for line in one.sentences), *filter(None, [self.stopped])]


@dataclass(frozen=True)
class Question:
    """A recorded call that is put again."""

    case: str
    record: Record
    call: Called
    asked: Asked[Any]

    def seen(self, value: Mapping[str, Any]) -> dict[str, object]:
        """An answer by kind; of the kinds that it has."""
        fields = json.loads(schema_of(self.asked.task.form))["properties"]
        place = self.call.stage, self.call.member
        votes = {one.choice for one in self.record.of(Voted) if (one.stage, one.member) == place} - {None}
        given = (self.call.value or {}).items()
        voted = [value.get(name) for name, one in given if isinstance(one, str) and one in votes]
        chosen = {name: one for name, one in value.items() if name in fields and _is_choice(fields[name])}
        found = (value, chosen or None, voted[0] if voted else None)
        return {kind: one for kind, one in zip(KINDS, found, strict=True) if one is not None}


def ask_again(
    house: Courthouse, kept: StoredExperiment, calls: int, money: float | None, keys: Mapping[str, str]
) -> Canary:
    """Ask a sample of recorded calls again, each twice, as far as the budget goes; see `Experiments.canary`."""
    if not 1 <= calls <= MAX_CALLS:
        raise CourtroomError(f"A canary asks 1 to {MAX_CALLS:,} calls again, not {calls:,}. Choose another number.")
    store, experiment, at = house.experiments.store, kept.experiment, datetime.now(UTC)
    done = store.cells(kept.id, "done", phase="test")
    cells = [(cell.arm, cell.row, run) for cell in done if (run := cell.run or experiment.dataset.run)]
    took, budget = [*store.took(kept.id).values(), *(one.cost for one in experiment.canaries)], experiment.budget
    all_ = Cost.sum_of(took)
    spent = Spent(all_.calls, all_.tokens, sum(one.money or 0.0 for one in took))
    if money is not None:
        budget = budget.model_copy(update={"money": min(spent.money + money, budget.money or math.inf)})
    # The day and how many there were name the samples: after an interruption only what has no answer yet is asked.
    first = 1_000 * at.date().toordinal() + 2 * len(experiment.canaries)
    drawn = list(islice(_drawn(house, cells, calls, random.Random(first)), calls))
    if not drawn:
        raise CourtroomError(OFFLINE_ONLY)
    put = [
        Question(case, record, call, asked)  # what can't be put as it was any more is left out
        for case, record, call in drawn
        if (asked := replay(house, record).get(call.path))
    ]

    def again(asked: Asked[Any], sample: int) -> Asked[Any]:  # another seed draws a sample of its own
        setup, path = asked.setup.model_copy(update={"budget": budget}), f"{asked.path}/canary/{sample}"
        return replace(asked, setup=setup, prompts=asked.prompts.fresh, seed=asked.seed + sample, path=path)

    ask = partial(ask_beside, house.runner)
    under_way = [ask(one.record, [again(one.asked, first + n) for n in (0, 1)], keys, {}, spent) for one in put]
    ended = [one.result() for one in under_way]
    now = [called for found in ended for called in found.calls if called]
    compared: list[tuple[Question, list[dict[str, object]]]] = []
    for one, found in zip(put, ended, strict=True):
        values = [called.value or {} for called in found.calls if called]
        if len(values) == len(found.calls):
            compared.append((one, [one.seen(value) for value in (one.call.value or {}, *values)]))
    shares = [
        _share(kind, [(one.case, [by.get(kind) for by in seen]) for one, seen in compared if kind in seen[0]])
        for kind in KINDS
    ]
    return Canary(
        at=at,
        wanted=len(drawn),
        asked=len(compared),
        changed=len(drawn) - len(put),
        shares=tuple(one for one in shares if one),
        then=_versions(house, [one.call for one, _ in compared]),
        now=_versions(house, now),
        cost=cost(now),
        stopped=next((found.stopped for found in ended if found.stopped), ""),
    )


def _drawn(
    house: Courthouse, cells: Sequence[tuple[int, str, str]], calls: int, chance: random.Random
) -> Iterator[tuple[str, Record, Called]]:
    """Recorded calls of language models, from as many cells as can be."""
    cells, each = chance.sample(cells, len(cells)), -(-calls // max(1, len(cells)))
    offline: set[int] = set()
    for arm, case, run in cells:
        if arm in offline:
            continue
        record = house.record(run)
        fit = [one for one in record.calls if one.keys and one.value and one.model not in NO_SERVER]
        if not fit:
            offline.add(arm)
        yield from ((case, record, one) for one in chance.sample(fit, min(each, len(fit))))


def _is_choice(field: Mapping[str, Any]) -> bool:
    """Whether a field of an answer is a choice, a number, or yes or no, or several of these; by its schema."""
    part = field.get("items", field)
    plain = ("boolean", "integer", "number")
    return any("enum" in one or one.get("type") in plain for one in (part, *part.get("anyOf", ())))


def _share(kind: str, seen: Sequence[tuple[str, list[object]]]) -> Share | None:
    """From each call's case, what it came to then and twice today; None where there is no such call."""
    if not seen:
        return None
    by_case: dict[str, list[tuple[float, float]]] = {}
    for case, (then, one, other) in seen:
        as_then, alike = fmean((then == one, then == other)), float(one is not None and one == other)
        by_case.setdefault(case, []).append((as_then, alike))
    weights = np.array([float(len(calls)) for calls in by_case.values()])
    shares = (np.array([[fmean(call[n] for call in calls), 1.0] for calls in by_case.values()]) for n in (0, 1))
    same, spread = (CaseSums(sums, weights, False, lambda sums: quotient(*sums.T)) for sums in shares)
    known = {"same": of_measure(same, (0.0, 1.0), ratio=True), "spread": of_measure(spread, (0.0, 1.0), ratio=True)}
    known["further"] = of_difference(spread, same, (0.0, 1.0), ratio=True)
    ends = {name: (one.value, one.low, one.high) for name, one in known.items()}
    return Share(kind=kind, calls=len(seen), cases=len(by_case), **ends)


def _versions(house: Courthouse, calls: Iterable[Called]) -> tuple[str, ...]:
    """What the providers of these calls' models stated, each once."""
    replies = [house.answers.reply(call.keys[-1]) for call in calls if call.keys]
    return tuple(sorted({f"{one.model} {one.fingerprint}".strip() for one in replies if one} - {""}))
