"""From an experiment to its cells: case by arm by repeat, with the id of each run. All is tried before anything is
asked, and what it will take is estimated by rehearsing some of them.

Each arm that learns teaches a memory of its own first, and tests see it frozen under the name that it has then. The
store's own memory is kept under a name before the first arm trains: it is what arms see that do not learn.
"""

from __future__ import annotations

import hashlib
import logging
import random
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.datasets import Row
from courtroom.datasets.samples import bring_sample
from courtroom.datasets.selection import VERSION_MARK, Preparation
from courtroom.declarations.changes import changed, value_at
from courtroom.declarations.setup import Setup
from courtroom.engine.procedure import Procedure, refuse_names
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.experiments.measures import measures_of, wanted
from courtroom.experiments.outcome import Answers, Outcome, answers_of, digest, of_record
from courtroom.experiments.spec import Arm, Cases, Experiment
from courtroom.knowledge.lessons import NOTHING
from courtroom.models.request import Reply
from courtroom.models.spec import OFFLINE
from courtroom.strict import Strict

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

log = logging.getLogger(__name__)

Phase = Literal["train", "test"]


class Cell(Strict):
    """One case under one arm, once."""

    number: int
    """Its place: the first case under every arm, then the next, so that arms can be compared early."""
    arm: int
    row: str
    """The case's id in its dataset."""
    repeat: int
    seed: int
    run: str
    """Empty where there is none to make: for predictions, and for the run that forks are compared with."""
    phase: Phase = "test"


def cells(
    experiment: Experiment,
    tested: Sequence[str],
    trained: Sequence[str] = (),
    answered: Mapping[int, Mapping[str, int]] | None = None,
    learning: Collection[int] = (),
) -> Iterator[Cell]:
    """Every cell, those that train first: all of one arm, then all of the next.

    Args:
        tested: ids of the cases, in their order.
        trained: ids of the cases to learn from, in their order.
        answered: how many answers predictions made elsewhere have to each case, by the arm's place: so many repeats.
        learning: the places of the arms that learn.
    """
    given, numbers = answered or {}, count()
    own = map(experiment.repeats_of, range(len(experiment.arms)))
    most = max([*own, *(many for arm in given.values() for many in arm.values())])

    def cell(place: int, row: str, repeat: int, phase: Phase) -> Cell:
        run = "" if experiment.arms[place].predictions else run_id(experiment, place, row, repeat, phase)
        seed = experiment.seed(place, repeat)
        return Cell(number=next(numbers), arm=place, row=row, repeat=repeat, seed=seed, run=run, phase=phase)

    for place in sorted(learning):
        yield from (cell(place, row, 0, "train") for row in trained)
    for repeat in range(most):
        for row in tested:
            for place, arm in enumerate(experiment.arms):
                if repeat < (given.get(place, {}).get(row, 0) if arm.predictions else experiment.repeats_of(place)):
                    yield cell(place, row, repeat, "test")


def run_id(experiment: Experiment, arm: int, row: str, repeat: int, phase: Phase = "test") -> str:
    """The id of a cell's run: made of what it is, so that no cell is ever run twice."""
    what = "\n".join((experiment.digest, experiment.arms[arm].name, row, str(repeat), phase))
    return f"cell-{hashlib.sha256(what.encode()).hexdigest()[:16]}"


def parent_of(experiment: Experiment, house: Courthouse) -> Record | None:
    """Return the finished run whose forks the arms are; None where the cases are a dataset's. See `finished`."""
    run = experiment.dataset.run
    return finished(run, house) if run else None


def finished(run: str, house: Courthouse) -> Record:
    """Return a run to be compared with its forks. Raises `CourtroomError`: it is not there, or has no verdict yet."""
    record = house.record(run)
    if record.run.verdict is None:
        raise CourtroomError("This run has no verdict yet. Run it to its end first, then ask what would change it.")
    return record


def rows_of(house: Courthouse, cases: Cases) -> Iterator[Row]:
    """The rows that an experiment takes of its dataset, in their order; the case of a run is the only one."""
    if cases.run:
        case = house.record(cases.run).case
        return iter([Row(id=case.id, case=case)])
    return house.datasets.rows(cases.name, cases.version, cases)


def pinned(experiment: Experiment, given: Mapping[int, Answers], house: Courthouse) -> tuple[Experiment, str]:
    """Write out the dataset's version and the digests of predictions; return also the kind of the cases."""
    if parent := parent_of(experiment, house):
        return experiment, parent.case.kind
    for name in (experiment.dataset.name, experiment.knowledge.dataset):
        if bring_sample(house.datasets, house.library, name):
            log.info("%s: the bundled cases %s were taken in as a dataset", experiment.name, name)
    info = house.datasets.info(experiment.dataset.name, experiment.dataset.version)
    known = {row for _, row in house.datasets.columns(info.name, info.version, ("id",))} if given else set()
    arms = list(experiment.arms)
    for place, told in given.items():  # where the file lies is no part of what it says
        exact = {"digest": digest(told), "unknown": len(told.keys() - known)}
        arms[place] = arms[place].model_copy(update={**exact, "predictions": Path(arms[place].predictions).name})
    dataset = experiment.dataset.model_copy(
        update={"version": info.version, **_pinned_labels(experiment.dataset, house)}
    )
    rules = experiment.knowledge.model_copy(update=_pinned_labels(experiment.knowledge, house))
    if rules.dataset:
        rules = rules.model_copy(update={"version": house.datasets.info(rules.dataset, rules.version).version})
    return experiment.model_copy(update={"dataset": dataset, "knowledge": rules, "arms": tuple(arms)}), info.kind


def _pinned_labels(prepared: Preparation, house: Courthouse) -> dict[str, str]:
    """Name the version of the dataset whose labels are wanted."""
    name, _, version = prepared.labels_of.partition(VERSION_MARK)
    return {"labels_of": f"{name}{VERSION_MARK}{house.datasets.info(name, version or None).version}"} if name else {}


def answers(experiment: Experiment) -> dict[int, Answers]:
    """The predictions of the arms that have any, by the arm's place."""
    arms = enumerate(experiment.arms)
    return {place: answers_of(Path(arm.predictions), arm.model) for place, arm in arms if arm.predictions}


def check(experiment: Experiment, kind: str, house: Courthouse) -> dict[int, Setup]:
    """Try what can be tried before a case is read; the setups of the arms, by their places. Raises `CourtroomError`: a
    procedure is unknown or takes another kind of case, a setup does not fit, a measure is unknown."""
    if not measures_of(kind) and not experiment.dataset.run:
        raise CourtroomError(f"Cases of the kind “{kind}” have no outcome to measure. Choose another dataset.")
    wanted(kind, experiment.measures)
    return setups_of(experiment, kind, house)


def check_names(experiment: Experiment, setups: Mapping[int, Setup], house: Courthouse) -> None:
    """Try the arms' setups by the first case. Raises `CourtroomError`: one names a role or member that is not there."""
    parent, first = parent_of(experiment, house), next(rows_of(house, experiment.dataset), None)
    if first is None:
        return  # whoever plans the cells says so
    for place, setup in setups.items():
        arm = experiment.arms[place]
        procedure = house.procedures[arm.procedure]
        try:
            complete, _ = procedure.prepare(first.case, setup, next(iter(experiment.seeds), 0))
            refuse_names(procedure.unknown_names(complete, parent.setup if parent else None))
        except CourtroomError as error:
            raise CourtroomError(f"{arm.name}: {error}") from error


def setups_of(experiment: Experiment, kind: str, house: Courthouse) -> dict[int, Setup]:
    """The setups of the arms that are procedures, by their places; see `setup_of`."""
    parent = parent_of(experiment, house)
    arms = enumerate(experiment.arms)
    return {place: setup_of(arm, house.procedures, kind, parent) for place, arm in arms if arm.procedure}


def setup_of(arm: Arm, procedures: Mapping[str, Procedure], kind: str, parent: Record | None = None) -> Setup:
    """The setup of an arm: the procedure's own, or that of the run whose fork it is, with the arm's changes. Raises
    `CourtroomError`: its procedure is unknown or takes another kind of case, or a value does not fit."""
    try:
        chosen = procedures[arm.procedure]
    except CourtroomError as error:
        raise CourtroomError(f"{arm.name}: {error}") from error
    if kind not in chosen.kinds:
        fitting = [one.name for one in procedures.values() if kind in one.kinds]
        raise CourtroomError(
            f"{arm.name}: {chosen.title} hears cases of the kind “{'”, “'.join(chosen.kinds)}”; "
            f"the dataset has the kind “{kind}”. "
            f"Choose a procedure that takes it: {', '.join(fitting) or 'there is none'}."
        )
    if parent and arm.procedure != parent.run.procedure:
        raise CourtroomError(f"{arm.name}: a fork has the procedure of its run: {parent.run.procedure}.")
    given = {"model.id": arm.model} if arm.model else {}
    try:
        setup = changed(parent.setup if parent else chosen.setup(), {**given, **arm.set})
    except ValidationError as error:
        raise CourtroomError(f"{arm.name}: {' '.join(explain(error))}") from error
    except CourtroomError as error:
        raise CourtroomError(f"{arm.name}: {error}") from error
    if refused := setup.model_problems():
        raise CourtroomError(f"{arm.name}: {' '.join(refused)}")
    return setup


def planned(
    experiment: Experiment, house: Courthouse, given: Mapping[int, Answers], learning: Sequence[int] = ()
) -> Iterator[tuple[Cell, Outcome | None]]:
    """Every cell; a prediction made elsewhere with its outcome, and no cell where it has no answer to a case.
    `learning`: the places of the arms that are trained. Raises `CourtroomError`: there is no case, no arm learns, an
    arm's predictions are of none of the cases, or a case is both trained on and tested."""
    if parent := parent_of(experiment, house):
        for cell in cells(experiment, [parent.case.id]):
            if repeats_parent(experiment.arms[cell.arm], cell.seed, parent):
                yield cell.model_copy(update={"run": ""}), of_record(parent, house.answers)
            else:
                yield cell, None
        return
    cases: dict[str, Case] = {}
    tested: list[str] = []
    for row in rows_of(house, experiment.dataset):
        tested.append(row.id)
        if given:
            cases[row.id] = row.case
    if not tested:
        raise CourtroomError(
            f"The dataset “{experiment.dataset.name}” has no case in what was chosen of it. Choose more."
        )
    for place, answered in given.items():
        if not answered.keys() & cases.keys():
            arm = experiment.arms[place]
            raise CourtroomError(
                f"{arm.name}: none of the {len(answered):,} predictions is of a case of the dataset "
                f"“{experiment.dataset.name}”. Its cases have ids such as {', '.join(tested[:3])}."
            )
    teaches = experiment.teaches
    trained = [row.id for row in rows_of(house, teaches)] if teaches else []
    if trained and not learning:
        raise CourtroomError("No arm learns. Choose a procedure with a memory, or leave out knowledge.train.")
    taught = {experiment.arms[place].name for place in learning}
    if unlearned := next((arm for arm in experiment.arms if arm.memory_of and arm.memory_of not in taught), None):
        raise CourtroomError(
            f"{unlearned.name}: the arm “{unlearned.memory_of}”, whose memory it is to see, does not learn."
        )
    same = teaches is not None and teaches.name == experiment.dataset.name
    if same and (both := {*tested} & {*trained}) and not experiment.knowledge.test_on_trained:
        raise CourtroomError(
            f"{len(both)} cases are both trained on and tested, such as {sorted(both)[0]}. "
            "Choose splits that share none, or set knowledge.test_on_trained = true."
        )
    many = {place: {row: len(several) for row, several in answered.items()} for place, answered in given.items()}
    for cell in cells(experiment, tested, trained, many, learning):
        yield cell, None if cell.run else given[cell.arm][cell.row][cell.repeat].outcome(cases[cell.row])


def repeats_parent(arm: Arm, seed: int, parent: Record | None) -> bool:
    """Whether a fork would be the run over again. Nobody knows who answered in an imported one, so it is heard here."""
    return (
        parent is not None
        and not parent.run.is_unverified
        and not (arm.set or arm.changes_case or arm.model)
        and seed == parent.run.seed
    )


PLACE = "before"


class Training:
    """The training of one experiment. `setups`: of its arms that are procedures, by their places."""

    def __init__(self, experiment: Experiment, setups: Mapping[int, Setup], house: Courthouse) -> None:
        self._experiment, self._setups, self._house = experiment, setups, house
        self._learns = {place: house.procedures[experiment.arms[place].procedure].learns for place in setups}

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
        """The setup of a run that teaches: it sees its arm's memory as it is by then."""
        learns = self._learns[arm]
        assert learns is not None, "only arms that learn have such runs"
        return changed(self._setups[arm], {learns.on: True, learns.sees: self.snapshot(arm)})

    def tests(self, arm: int) -> Setup:
        """Return the setup of a run that is tested, with the name of the frozen memory that it sees.

        An arm that does not learn sees the memory of the arm that it names, or the snapshot that it names, else the
        memory as it was before the training.
        """
        setup, learns = self._setups[arm], self._learns[arm]
        if learns is None or not self.arms:
            return setup
        if arm in self.arms:
            return changed(setup, {learns.on: False, learns.sees: self.snapshot(arm)})
        if other := self._experiment.arms[arm].memory_of:
            place = next(place for place, one in enumerate(self._experiment.arms) if one.name == other)
            return changed(setup, {learns.sees: self.snapshot(place)})
        return setup if value_at(setup, learns.sees) else changed(setup, {learns.sees: self._named(PLACE)})

    def rehearses(self, arm: int, phase: Phase) -> Setup:
        """The setup in which an estimate rehearses a run: an arm's memory is not made yet, so it sees what is there."""
        setup, learns = self._setups[arm], self._learns[arm]
        return changed(setup, {learns.on: phase == "train"}) if learns and arm in self.arms else setup

    def begin(self, arm: int) -> None:
        """Make an arm's memory as its training begins: as the snapshot that the arm names, else with nothing learned
        yet. Within a transaction of the caller's."""
        knowledge, learns = self._house.knowledge, self._learns[arm]
        assert learns is not None, "only arms that learn are trained"
        before = self._named(PLACE)
        if before not in self._names():
            knowledge.snapshot(before)
        knowledge.make_memory(self.snapshot(arm), str(value_at(self._setups[arm], learns.sees) or NOTHING))

    def end(self, arm: int) -> None:
        """Name what an arm has learned; it learns no more."""
        name = self.snapshot(arm)
        self._house.knowledge.with_memory(name).snapshot(name)

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


REHEARSED_CASES = 12
"""Cases that are rehearsed under every arm and repeat, and in training; the others are taken to be like them."""


SECONDS_A_CALL = 4.0
"""What a call of a language model is taken to last."""
SECONDS_A_CELL = 0.03
"""What a cell takes beside its calls: each is put on record."""


@dataclass(frozen=True)
class ArmEstimate:
    """What one arm will take, its training included."""

    arm: str
    cells: int
    training: int
    """Those of the cells that only teach."""
    calls: int
    """Calls asked anew."""
    tokens: int
    money: float | None
    """US dollars; None where a price is not known."""
    seconds: float
    """Were it run alone."""


@dataclass(frozen=True)
class ExperimentEstimate:
    """What all arms will take."""

    cells: int
    training: int
    """Those of the cells that only teach."""
    rehearsed: int
    """Cells that were rehearsed; the others are taken to be like them."""
    calls: int
    shared: int
    """Calls that are not asked because another cell asks the same, or the answer is on record."""
    tokens: int
    money: float | None
    seconds: float
    """With calls of language models at `SECONDS_A_CALL`, and the offline model as fast as in the rehearsal."""
    arms: tuple[ArmEstimate, ...]


@dataclass
class _Taken:
    """What was rehearsed of one arm in one phase, and by how much more there will be."""

    more: float
    cells: int
    asked: int = 0
    shared: int = 0
    tokens: int = 0
    money: float | None = 0.0
    lasted: list[float] = field(default_factory=list)

    @property
    def seconds(self) -> float:
        """What all of its cells last. By the median: what is loaded once is no part of each."""
        return median(self.lasted or [0.0]) * self.cells


def estimate(
    experiment: Experiment, kind: str, house: Courthouse, progress: Callable[[int, int], None]
) -> ExperimentEstimate:
    """Estimate what it takes; no language model is asked, and nothing is put on record.

    An arm that learns is rehearsed with the memory as it is now: what it will have learned is not known yet.

    Args:
        progress: is called with how many cells are rehearsed, and of how many.
    """
    setups, parent = check(experiment, kind, house), parent_of(experiment, house)
    check_names(experiment, setups, house)
    training = Training(experiment, setups, house)
    of: dict[Phase, dict[int, Setup]] = {
        "train": {place: training.rehearses(place, "train") for place in training.arms},
        "test": {place: training.rehearses(place, "test") for place in setups},
    }
    cases: dict[Phase, Cases] = {"train": experiment.teaches or experiment.dataset, "test": experiment.dataset}
    tests = {place: experiment.repeats_of(place) for place in setups}
    repeats: dict[Phase, dict[int, int]] = {"train": dict.fromkeys(of["train"], 1), "test": tests}
    known: dict[str, Reply] = {}
    taken: dict[tuple[int, Phase], _Taken] = {}
    chosen = {phase: _chosen(cases[phase], house) for phase in of if of[phase]}
    total = sum(len(rows) * sum(repeats[phase].values()) for phase, (rows, _) in chosen.items())
    done = 0
    for phase, (rows, many) in chosen.items():
        more = many / len(rows) if rows else 0.0
        taken |= {(place, phase): _Taken(more, many * repeats[phase][place]) for place in of[phase]}
        places = [(place, repeat) for place, many in repeats[phase].items() for repeat in range(many)]
        for row, (place, repeat) in product(rows, places):
            progress(done, total)
            arm, one, seed = experiment.arms[place], taken[place, phase], experiment.seed(place, repeat)
            done += 1
            if repeats_parent(arm, seed, parent):
                continue
            began = time.perf_counter()
            case, setup = arm.heard(row.case), of[phase][place]
            found = house.estimate(arm.procedure, case, setup, seed, experiment.dataset.run or None, known)
            # As many calls are under way as the model's limit and the experiment's allow.
            together = min(experiment.at_once, setup.model.concurrency)
            online = 0 if experiment.batch else sum(load.calls for load in found.loads if load.model != OFFLINE)
            one.lasted.append(SECONDS_A_CELL + time.perf_counter() - began + online * SECONDS_A_CALL / together)
            one.asked += found.calls - found.on_record
            one.shared += found.on_record
            one.tokens += sum(load.prompt_tokens + load.completion_tokens for load in found.loads)
            price = house.price(found, by_batch=experiment.batch)
            one.money = None if price is None or one.money is None else one.money + price
    progress(total, total)
    arms = tuple(_arm(experiment.arms[place].name, place, taken) for place in setups)
    prices = [arm.money for arm in arms]
    return ExperimentEstimate(
        **{one: sum(getattr(arm, one) for arm in arms) for one in ("cells", "training", "calls", "tokens", "seconds")},
        rehearsed=total,
        shared=round(sum(one.shared * one.more for one in taken.values())),
        money=None if None in prices else sum(price for price in prices if price is not None),
        arms=arms,
    )


def _arm(name: str, place: int, taken: dict[tuple[int, Phase], _Taken]) -> ArmEstimate:
    both = [one for (of, _), one in taken.items() if of == place]
    prices = [None if one.money is None else one.money * one.more for one in both]
    return ArmEstimate(
        name,
        sum(one.cells for one in both),
        taken[place, "train"].cells if (place, "train") in taken else 0,
        round(sum(one.asked * one.more for one in both)),
        round(sum(one.tokens * one.more for one in both)),
        None if None in prices else sum(price for price in prices if price is not None),
        sum(one.seconds for one in both),
    )


def _chosen(cases: Cases, house: Courthouse) -> tuple[list[Row], int]:
    """The rows that are rehearsed, and how many there are in all."""
    ids = [row.id for row in rows_of(house, cases)]
    some = set(ids if len(ids) <= REHEARSED_CASES else random.Random(0).sample(ids, REHEARSED_CASES))
    return [row for row in rows_of(house, cases) if row.id in some], len(ids)
