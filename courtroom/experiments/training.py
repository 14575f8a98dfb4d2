"""Training: each arm that learns teaches a memory of its own, which is named when it has; tests see it frozen under that name. A
store has one memory. It is kept under a name before the first arm trains, and brought back after each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from courtroom.engine.changes import changed, value_at
from courtroom.engine.procedure import Learns, Procedure
from courtroom.engine.setup import Setup
from courtroom.experiments.spec import Experiment
from courtroom.knowledge.snapshots import NOTHING

if TYPE_CHECKING:
    from courtroom.hearings import Hearings

PLACE = "before"


class Training:
    """The training of one experiment. `setups`: of its arms that are procedures, by their places."""

    def __init__(self, experiment: Experiment, setups: Mapping[int, Setup], house: Hearings) -> None:
        self._experiment, self._setups, self._house = experiment, setups, house
        self._learns = {place: _learns(experiment, place, house.procedures) for place in setups}

    @property
    def arms(self) -> tuple[int, ...]:
        """The places of the arms that learn, in the order in which they do."""
        if self._experiment.teaches is None:
            return ()
        return tuple(
            place for place, learns in sorted(self._learns.items()) if learns and learns.can(self._setups[place])
        )

    def snapshot(self, arm: int) -> str:
        """The name under which an arm's memory is kept when it has learned."""
        return self._named(_of_arm(arm))

    def trains(self, arm: int) -> Setup:
        """The setup of a run that teaches: it sees the memory as it is by then."""
        learns = self._learns[arm]
        assert learns is not None, "only arms that learn have such runs"
        return changed(self._setups[arm], {learns.on: True, learns.sees: ""})

    def tests(self, arm: int) -> Setup:
        """The setup of a run that is tested, with the name of the frozen memory that it sees. An arm that does not learn sees the
        memory of the arm that it names, or the snapshot that it names, else the memory as it was before the training."""
        setup, learns = self._setups[arm], self._learns[arm]
        if learns is None or not self.arms:
            return setup
        if arm in self.arms:
            return changed(setup, {learns.on: False, learns.sees: self.snapshot(arm)})
        if other := self._experiment.arms[arm].memory_of:
            place = next(place for place, one in enumerate(self._experiment.arms) if one.name == other)
            return changed(setup, {learns.sees: self.snapshot(place)})
        return setup if value_at(setup, learns.sees) else changed(setup, {learns.sees: self._named(PLACE)})

    def rehearses(self, arm: int) -> Setup:
        """The setup in which an estimate rehearses a tested run: what an arm will have learned has no name yet."""
        setup, learns = self._setups[arm], self._learns[arm]
        return changed(setup, {learns.on: False}) if learns and arm in self.arms else setup

    def begin(self, arm: int) -> None:
        """Bring the memory to where an arm's training begins: the snapshot that the arm names, else nothing learned yet. Within a transaction of the caller's."""
        knowledge, learns = self._house.knowledge, self._learns[arm]
        assert learns is not None, "only arms that learn are trained"
        before = self._named(PLACE)
        if before not in self._names():
            knowledge.snapshot(before)
        knowledge.restore(str(value_at(self._setups[arm], learns.sees) or NOTHING))

    def end(self, arm: int) -> None:
        """Name what an arm has learned, and bring the memory back to what it was before; both or neither."""
        with self._house.store.together():
            self._house.knowledge.snapshot(self.snapshot(arm))
            self._house.knowledge.restore(self._named(PLACE))

    def ended(self, arm: int) -> bool:
        return self.snapshot(arm) in self._names()

    @staticmethod
    def kept_by(experiment: Experiment) -> tuple[str, ...]:
        """All names under which an experiment keeps a memory, whether or not it got so far."""
        return tuple(_named(experiment, what) for what in (PLACE, *map(_of_arm, range(len(experiment.arms)))))

    def _names(self) -> set[str]:
        return {kept.name for kept in self._house.knowledge.snapshots.all()}

    def _named(self, what: str) -> str:
        return _named(self._experiment, what)


def _of_arm(arm: int) -> str:
    return f"arm-{arm + 1}"


def _named(experiment: Experiment, what: str) -> str:
    return f"{experiment.name[:40]}-{experiment.digest[:8]}-{what}"


def _learns(experiment: Experiment, place: int, procedures: Mapping[str, Procedure]) -> Learns | None:
    return procedures[experiment.arms[place].procedure].learns
