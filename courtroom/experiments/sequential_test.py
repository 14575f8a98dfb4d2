"""How sure is this verdict? Repeats of one run with other seeds, until a sequential test ends or the budget does."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any

from courtroom.access import Access, needs
from courtroom.engine.events import Verdict
from courtroom.engine.record import Record
from courtroom.engine.run import Run
from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import CONFIDENCE, ERROR, LEAST, UNSURE, Series, bound_of, series
from courtroom.models.spec import PERSON
from courtroom.strict import Strict

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

MAX_REPEATS = 40
"""Repeats that are made at most, if nobody says otherwise. 18 show it where all are the same, 27 where one is not."""
UNDECIDED = ("document", "precedents")
"""Kinds of case that a run makes something of, but decides nothing in which a repeat could agree."""
TEST = (
    f"Wald's sequential test of {LEAST:.0%} or more against {UNSURE:.0%} or less, each error about {ERROR:.0%} at most"
).replace("%", " %")


class SequentialTest(Strict):
    """What the repeats of a run show so far."""

    run: str
    outcome: str
    found: Series
    outcomes: Mapping[str, int]
    """How many of the repeats that were looked at came to each outcome."""
    repeats: tuple[str, ...]
    """Their runs."""
    reason: str = ""
    """Why no further repeat was made although the test has not ended."""
    failed: bool = False
    """Whether that is because a repeat failed."""

    @property
    def sentence(self) -> str:
        of = self.found.of
        came = f"{self.found.same} of {of} repeat{'s' * (of != 1)} with other seeds came to the same outcome"
        if self.found.state == "open":
            return (
                "How sure is this verdict? It is not decided whether the outcome is the same with at least "
                f"{_percent(LEAST)}: {came}."
            )
        bound, confidence = _percent(bound_of(self.found), 1), _percent(CONFIDENCE)
        return (
            f"How sure is this verdict? It is shown at {confidence} that at "
            f"{'least' if self.found.state == 'shown' else 'most'} {bound} of repeats come to the same outcome: "
            f"{came} ({TEST})."
        )


def _percent(share: float, digits: int = 0) -> str:
    return f"{share:.{digits}%}".replace("%", " %")


class Repeats:
    """Makes and reads the repeats of runs: each is a fork with another seed, with a record of its own."""

    def __init__(self, house: Courthouse) -> None:
        self._house = house

    def found(self, run: str) -> SequentialTest | None:
        """Read what is on record of a run's repeats; None where none is done. Raises `NoSuchRun`: there is no run."""
        base = self._house.store.run(run)
        done = self._done(run)
        return _tested(base, done) if base.verdict and done else None

    def sentence(self, run: str) -> str:
        found = self.found(run)
        return found.sentence if found else ""

    @needs(Access.RUN)
    def go(
        self,
        run: str,
        budget: float | None = None,
        most: int = MAX_REPEATS,
        progress: Callable[[SequentialTest], None] = lambda found: None,
    ) -> SequentialTest:
        """Make repeats until the test ends, the budget does, or there are enough. What is on record counts and is not
        made again.

        As many are made at once as the test needs at the least, so that none is made in vain. Raises `CourtroomError`:
        the run can't be repeated, or a budget is given and the price of a model is not known.

        Args:
            budget: US dollars for all repeats of this run together, earlier ones included.
            most: repeats at most, earlier ones included.
            progress: is called after each repeat or several.
        """
        base = self._repeatable(run)
        dearest = self._price(base, len(self._done(run)) + 1) if budget is not None else 0.0
        while True:
            done = self._done(run)
            found = _tested(base.run, done)
            progress(found)
            if (number := min(found.found.fewest, most - found.found.of)) < 1:
                enough = f"There are {found.found.of} repeats, and {most} are wanted at most."
                return found.model_copy(update={"reason": enough if found.found.state == "open" else ""})
            if budget is not None:
                costs = [self._house.record(row.id).cost or 0.0 for row in done]
                dearest = max(dearest, *costs, 0.0)
                if dearest:
                    number = min(number, int((budget - sum(costs)) / dearest + 1e-9))
                if number < 1:
                    why = (
                        f"The budget of US$ {budget:.4g} has no room for another repeat, "
                        f"which takes about US$ {dearest:.4g}."
                    )
                    return found.model_copy(update={"reason": why})
            if why := self._drive(base, range(len(done) + 1, len(done) + number + 1)):
                done = self._done(run)
                failed = self._house.store.status(repeat_id(run, len(done) + 1)) == "failed"
                return _tested(base.run, done).model_copy(update={"reason": why, "failed": failed})

    def _drive(self, base: Record, numbers: range) -> str:
        """Drive these repeats to their ends; why one of them did not come to a verdict, or empty."""
        runner = self._house.runner
        made = [
            self._house.fork(base.run.id, base.setup, base.run.seed + number, run=repeat_id(base.run.id, number))
            for number in numbers
        ]
        try:
            for one in made:
                runner.go(one)
            for one in made:
                runner.wait(one)
        except KeyboardInterrupt:
            for one in made:
                runner.stop(one)
            return "Stopped. Run the command again to go on; nothing is lost."
        for row in map(self._house.store.run, made):
            if row.status != "done":
                why = f"The repeat {row.id} is {row.status}. {row.reason} Run the command again to go on with it."
                return why.replace("  ", " ")
        return ""

    def _repeatable(self, run: str) -> Record:
        base = self._house.record(run)
        if base.run.verdict is None or base.run.status != "done":
            raise CourtroomError("The run has no verdict yet. Have it run to its end first.")
        if base.case.kind in UNDECIDED:
            raise CourtroomError(
                f"A run on a case of the kind “{base.case.kind}” decides nothing "
                "that a repeat could decide in the same way."
            )
        if any(member.spec.id == PERSON for member in base.members):
            raise CourtroomError(
                "A person has a seat in this run, who would have to answer in each repeat. Repeat runs without persons."
            )
        return base

    def _price(self, base: Record, number: int) -> float:
        """US dollars that a repeat is estimated to take."""
        run = base.run
        price = self._house.price(self._house.estimate(run.procedure, base.case, base.setup, run.seed + number, run.id))
        if price is None:
            raise CourtroomError(
                "What a repeat costs is not known, as the price of a model is not. Leave the budget out."
            )
        return price

    def _done(self, run: str) -> list[Run]:
        """The repeats that are done, up to the first that is not; what was imported is none."""
        store, repeats = self._house.store, (repeat_id(run, number) for number in count(1))
        done = map(store.run, takewhile(lambda one: store.status(one) == "done", repeats))
        return list(takewhile(lambda row: not row.imported, done))


def repeat_id(run: str, number: int) -> str:
    """The id of a run's repeat, counted from 1, so that no repeat is made twice."""
    return f"repeat-{hashlib.sha256(f'{run}/{number}'.encode()).hexdigest()[:16]}"


def decision(verdict: Verdict) -> tuple[Any, ...]:
    """What must be the same: the outcome, and the label of each text where several were judged."""
    texts = verdict.details.get("results") or ()
    return verdict.outcome, *((text.get("id"), text.get("label")) for text in texts if isinstance(text, Mapping))


def _tested(base: Run, repeats: Sequence[Run]) -> SequentialTest:
    assert base.verdict is not None
    verdicts = [row.verdict for row in repeats if row.verdict is not None]
    found = series(decision(verdict) == decision(base.verdict) for verdict in verdicts)
    return SequentialTest(
        run=base.id,
        outcome=base.verdict.outcome,
        found=found,
        outcomes=Counter(verdict.outcome for verdict in verdicts[: found.of]),
        repeats=tuple(row.id for row in repeats[: found.of]),
    )
