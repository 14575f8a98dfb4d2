"""From an experiment to its cells: case by arm by repeat, with the id of each run. All is tried before anything is
asked, and what it will take is estimated by rehearsing some of them.

Each arm that learns teaches a memory of its own first, and tests see it frozen under the name that it has then. The
store's own memory is kept under a name before the first arm trains: it is what arms see that do not learn.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import count, product
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.datasets import Row
from courtroom.datasets.samples import bring_sample
from courtroom.datasets.selection import VERSION_MARK, Preparation
from courtroom.declarations.changes import changed, value_at
from courtroom.declarations.setup import Setup
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.record import Record
from courtroom.engine.run import CELL, Run
from courtroom.errors import CourtroomError
from courtroom.experiments.measures import measures_of, wanted
from courtroom.experiments.outcome import Answers, Outcome, State, answers_of, digest, of_record
from courtroom.experiments.spec import Arm, Cases, Experiment
from courtroom.knowledge.lessons import NOTHING
from courtroom.models.request import Reply
from courtroom.models.spec import OFFLINE
from courtroom.strict import Strict

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

log = logging.getLogger(__name__)

Phase = Literal["train", "test"]
IMPORTED = (
    "The run {run} of this cell was imported from a file, so that it counts for nothing. "
    "Delete it, then try the cell again."
)


class CellPostponed(CourtroomError):
    """A cell can't be driven for a reason that is none of its own: it goes on waiting."""


class Cell(Strict):
    """One case under one arm, once, and how it stands."""

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
    state: State = "waiting"
    reason: str = ""
    outcome: Outcome | None = None


Finish = Callable[[Cell, Mapping[str, str]], Awaitable[None]]
"""Brings a cell to its end, with the keys that a person typed."""


def cells(
    experiment: Experiment,
    tested: Sequence[str],
    trained: Sequence[str] = (),
    answered: Mapping[int, Answers] | None = None,
    learning: Collection[int] = (),
) -> Iterator[Cell]:
    """Every cell, those that train first: all of one arm, then all of the next.

    Args:
        tested: ids of the cases, in their order.
        trained: ids of the cases to learn from, in their order.
        answered: predictions made elsewhere, by the arm's place: as many repeats as answers to each case.
        learning: the places of the arms that learn.
    """
    given, numbers = answered or {}, count()
    own = map(experiment.repeats_of, range(len(experiment.arms)))
    most = max([*own, *(len(several) for of_arm in given.values() for several in of_arm.values())])

    def cell(place: int, row: str, repeat: int, phase: Phase) -> Cell:
        arm, run = experiment.arms[place], ""
        if not arm.predictions:  # the id is made of what the cell is, so that none is ever run twice
            what = "\n".join((experiment.digest, arm.name, row, str(repeat), phase))
            run = f"cell-{hashlib.sha256(what.encode()).hexdigest()[:16]}"
        seed = experiment.seed(place, repeat)
        return Cell(number=next(numbers), arm=place, row=row, repeat=repeat, seed=seed, run=run, phase=phase)

    for place in sorted(learning):
        yield from (cell(place, row, 0, "train") for row in trained)
    for repeat in range(most):
        for row in tested:
            for place, arm in enumerate(experiment.arms):
                many = len(given[place].get(row, ())) if arm.predictions else experiment.repeats_of(place)
                if repeat < many:
                    yield cell(place, row, repeat, "test")


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
    if run := experiment.dataset.run:
        return experiment, finished(run, house).case.kind
    for name in (experiment.dataset.name, experiment.knowledge.dataset):
        if bring_sample(house.datasets, house.library, name):
            log.info("%s: the bundled cases %s were taken in as a dataset", experiment.name, name)
    info = house.datasets.info(experiment.dataset.name, experiment.dataset.version)
    known = {row for _, row in house.datasets.columns(info.name, info.version, ("id",))} if given else set()
    arms = list(experiment.arms)
    for place, told in given.items():  # where the file lies is no part of what it says
        exact = {"digest": digest(told), "unknown": len(told.keys() - known)}
        arms[place] = arms[place].model_copy(update={**exact, "predictions": Path(arms[place].predictions).name})
    of_dataset = {"version": info.version, **_pinned_labels(experiment.dataset, house)}
    rules = experiment.knowledge.model_copy(update=_pinned_labels(experiment.knowledge, house))
    if rules.dataset:
        rules = rules.model_copy(update={"version": house.datasets.info(rules.dataset, rules.version).version})
    exactly = {"dataset": experiment.dataset.model_copy(update=of_dataset), "knowledge": rules, "arms": tuple(arms)}
    return experiment.model_copy(update=exactly), info.kind


def _pinned_labels(prepared: Preparation, house: Courthouse) -> dict[str, str]:
    """Name the version of the dataset whose labels are wanted."""
    name, _, version = prepared.labels_of.partition(VERSION_MARK)
    return {"labels_of": f"{name}{VERSION_MARK}{house.datasets.info(name, version or None).version}"} if name else {}


@contextmanager
def _named(arm: Arm) -> Iterator[None]:
    """Have what is raised name the arm."""
    try:
        yield
    except ValidationError as error:
        raise CourtroomError(f"{arm.name}: {' '.join(explain(error))}") from error
    except CourtroomError as error:
        raise CourtroomError(f"{arm.name}: {error}") from error


BEFORE = "before"


class Plan:
    """An experiment as it is carried out: its arms' setups, its cells, and the memories that arms teach and see.
    `answers`: predictions made elsewhere, by the arm's place. Raises `CourtroomError`: a procedure is unknown or takes
    another kind of case, or a setup does not fit."""

    def __init__(
        self, experiment: Experiment, kind: str, house: Courthouse, answers: Mapping[int, Answers] | None = None
    ) -> None:
        self.experiment, self.kind, self.house, self._answers = experiment, kind, house, answers or {}
        run = experiment.dataset.run
        self._parent = finished(run, house) if run else None
        """The run whose forks the arms are; None where the cases are a dataset's."""
        self.setups = {place: self._setup(arm) for place, arm in enumerate(experiment.arms) if arm.procedure}
        """Of the arms that are procedures, by their places."""
        learns = {place: house.procedures[experiment.arms[place].procedure].learns for place in self.setups}
        self._learns = {place: how for place, how in learns.items() if how}
        taught = self._learns.items() if experiment.teaches else ()
        self.learning = tuple(place for place, how in taught if how.can(self.setups[place]))
        """The places of the arms that learn, in the order in which they do."""

    @classmethod
    def of(cls, experiment: Experiment, house: Courthouse) -> Plan:
        """Plan an experiment that is not on record; its dataset's version and its predictions are written out. Raises
        `CourtroomError`: it does not fit the dataset, a procedure or the predictions, or a measure is unknown."""
        arms = enumerate(experiment.arms)
        answers = {place: answers_of(Path(arm.predictions), arm.model) for place, arm in arms if arm.predictions}
        plan = cls(*pinned(experiment, answers, house), house, answers)
        plan.check()
        return plan

    def _setup(self, arm: Arm) -> Setup:
        """Return the procedure's own setup, or that of the run whose fork it is, with the arm's changes."""
        with _named(arm):
            chosen = self.house.procedures[arm.procedure]
        if self.kind not in chosen.kinds:
            fitting = [one.name for one in self.house.procedures.values() if self.kind in one.kinds]
            raise CourtroomError(
                f"{arm.name}: {chosen.title} hears cases of the kind “{'”, “'.join(chosen.kinds)}”; "
                f"the dataset has the kind “{self.kind}”. "
                f"Choose a procedure that takes it: {', '.join(fitting) or 'there is none'}."
            )
        if self._parent and arm.procedure != self._parent.run.procedure:
            raise CourtroomError(f"{arm.name}: a fork has the procedure of its run: {self._parent.run.procedure}.")
        given = {"model.id": arm.model} if arm.model else {}
        with _named(arm):
            setup = changed(self._parent.setup if self._parent else chosen.setup(), {**given, **arm.set})
            if refused := setup.model_problems():
                raise CourtroomError(" ".join(refused))
        return setup

    def check(self) -> None:
        """Try the measures, and the arms' setups by the first case. Raises `CourtroomError`: there is no such measure,
        or a setup names a role or member that is not there."""
        if not measures_of(self.kind) and not self.experiment.dataset.run:
            raise CourtroomError(f"Cases of the kind “{self.kind}” have no outcome to measure. Choose another dataset.")
        wanted(self.kind, self.experiment.measures)
        first = next(rows_of(self.house, self.experiment.dataset), None)
        if first is None:
            return  # whoever plans the cells says so
        for place, setup in self.setups.items():
            arm = self.experiment.arms[place]
            with _named(arm):
                procedure = self.house.procedures[arm.procedure]
                complete, _ = procedure.prepare(first.case, setup, next(iter(self.experiment.seeds), 0))
                unknown = procedure.unknown_names(complete, self._parent.setup if self._parent else None)
                if unknown:
                    raise CourtroomError(" ".join(unknown.values()))

    def cells(self) -> Iterator[Cell]:
        """Every cell; a prediction made elsewhere with its outcome, and no cell where it has no answer to a case.
        Raises `CourtroomError`: there is no case, no arm learns, an arm's predictions are of none of the cases, or a
        case is both trained on and tested."""
        experiment, given, house = self.experiment, self._answers, self.house
        if self._parent:
            for cell in cells(experiment, [self._parent.case.id]):
                if self.repeats_parent(cell.arm, cell.seed):
                    came = {"run": "", "state": "done", "outcome": of_record(self._parent, house.answers)}
                    cell = cell.model_copy(update=came)
                yield cell
            return
        cases = {row.id: row.case if given else None for row in rows_of(house, experiment.dataset)}
        tested, name = [*cases], experiment.dataset.name
        if not cases:
            raise CourtroomError(f"The dataset “{name}” has no case in what was chosen of it. Choose more.")
        for place, answered in given.items():
            if not answered.keys() & cases.keys():
                raise CourtroomError(
                    f"{experiment.arms[place].name}: none of the {len(answered):,} predictions is of a case of the "
                    f"dataset “{name}”. Its cases have ids such as {', '.join(tested[:3])}."
                )
        teaches = experiment.teaches
        trained = [row.id for row in rows_of(house, teaches)] if teaches else []
        if trained and not self.learning:
            raise CourtroomError("No arm learns. Choose a procedure with a memory, or leave out knowledge.train.")
        taught = {"", *(experiment.arms[place].name for place in self.learning)}
        if unlearned := next((arm for arm in experiment.arms if arm.memory_of not in taught), None):
            raise CourtroomError(
                f"{unlearned.name}: the arm “{unlearned.memory_of}”, whose memory it is to see, does not learn."
            )
        same = teaches is not None and teaches.name == name
        if same and (both := cases.keys() & {*trained}) and not experiment.knowledge.test_on_trained:
            raise CourtroomError(
                f"{len(both)} cases are both trained on and tested, such as {min(both)}. "
                "Choose splits that share none, or set knowledge.test_on_trained = true."
            )
        for cell in cells(experiment, tested, trained, given, self.learning):
            if (case := cases.get(cell.row)) and not cell.run:
                told = given[cell.arm][cell.row][cell.repeat].outcome(case)
                cell = cell.model_copy(update={"state": "done", "outcome": told})
            yield cell

    def repeats_parent(self, arm: int, seed: int) -> bool:
        """Whether a fork would be the run over again. Nobody knows who answered in an imported one: it is heard here."""
        own, parent = self.experiment.arms[arm], self._parent
        if parent is None or parent.run.is_unverified:
            return False
        return not (own.set or own.changes_case or own.model) and seed == parent.run.seed

    def memory(self, arm: int) -> str:
        """Return the name of an arm's memory, and of the snapshot that is kept of it when it has learned."""
        return _memory_name(self.experiment, f"arm-{arm + 1}")

    def trains(self, arm: int) -> Setup:
        """Return the setup of a run that teaches: it sees its arm's memory as it is by then."""
        learns = self._learns[arm]
        return changed(self.setups[arm], {learns.on: True, learns.sees: self.memory(arm)})

    @cached_property
    def _tested(self) -> Mapping[int, Setup]:
        """Setups of the runs that are tested, by the arm's place, with the name of the frozen memory that each sees.

        An arm that does not learn sees the memory of the arm that it names, or the snapshot that it names, else the
        memory as it was before the training.
        """
        found, arms = dict(self.setups), self.experiment.arms
        names = [one.name for one in arms]
        for arm, learns in self._learns.items() if self.learning else ():
            if arm in self.learning:
                found[arm] = changed(self.setups[arm], {learns.on: False, learns.sees: self.memory(arm)})
            elif arms[arm].memory_of:
                found[arm] = changed(self.setups[arm], {learns.sees: self.memory(names.index(arms[arm].memory_of))})
            elif not value_at(self.setups[arm], learns.sees):
                found[arm] = changed(self.setups[arm], {learns.sees: _memory_name(self.experiment, BEFORE)})
        return found

    def rehearses(self, arm: int, phase: Phase) -> Setup:
        """Return the setup in which a run is rehearsed: a memory is not made yet, so it sees what is there."""
        setup, learns = self.setups[arm], self._learns.get(arm)
        return changed(setup, {learns.on: phase == "train"}) if learns and arm in self.learning else setup

    def begin_training(self, arm: int) -> None:
        """Make an arm's memory: as the snapshot that the arm names, else with nothing learned yet. Within a transaction
        of the caller's."""
        knowledge, learns, before = self.house.knowledge, self._learns[arm], _memory_name(self.experiment, BEFORE)
        if not self._is_kept(before):
            knowledge.snapshots.take(before)
        knowledge.make_memory(self.memory(arm), str(value_at(self.setups[arm], learns.sees) or NOTHING))

    def end_training(self, arm: int) -> None:
        """Name what an arm has learned, where that is not done yet; it learns no more."""
        if not self._is_kept(name := self.memory(arm)):
            self.house.knowledge.with_memory(name).snapshots.take(name)

    def _is_kept(self, snapshot: str) -> bool:
        return any(kept.name == snapshot for kept in self.house.knowledge.snapshots.all())

    # --- one cell, in this process --------------------------------------------------------------------------

    async def finish(self, cell: Cell, keys: Mapping[str, str]) -> None:
        """Bring the run of a cell to its end; called on the loop. The run of a cell that teaches is on record already.
        `keys`: what the person typed who has it run; see `Runner.go`. Raises `CourtroomError`: it can't be brought to
        its end."""
        await asyncio.to_thread(self._begin, cell, keys)
        await self.house.runner.settled(cell.run)

    def result(self, cell: Cell) -> tuple[Record | None, Outcome | None]:
        """Read the run of a cell, and what it came to where it is done; nothing where it was halted before it was made.
        Raises `CourtroomError`: it can't be read, or was made elsewhere."""
        try:
            record = self.house.runner.record(cell.run)
        except NoSuchRun:
            return None, None
        _refuse_imported(record.run)
        return record, of_record(record, self.house.answers) if record.run.status == "done" else None

    def row(self, cell: Cell) -> Row:
        """Read the row of a cell: of the experiment's dataset, or of the one from which it learns."""
        cases = (cell.phase == "train" and self.experiment.teaches) or self.experiment.dataset
        return next(rows_of(self.house, cases.only([cell.row])))

    def halt(self, runs: Iterable[str]) -> None:
        """Stop those of the runs that this process drives."""
        for run in runs:
            if self.house.runner.drives(run):
                self.house.runner.stop(run)

    def _begin(self, cell: Cell, keys: Mapping[str, str]) -> None:
        """Put the run of a cell on record where it is not, and have it go on."""
        status = self.house.store.status(cell.run)
        if status != "deleted":
            _refuse_imported(self.house.store.run(cell.run))
        else:
            arm, setup = self.experiment.arms[cell.arm], self._tested[cell.arm]
            case = arm.heard(self.row(cell).case)
            if parent := self.experiment.dataset.run:
                self.house.fork(parent, setup, cell.seed, case, cell.run)
            else:
                self.house.new_run(arm.procedure, case, setup, cell.seed, cell.run, CELL)
        if status != "done":
            self.house.runner.drive(cell.run, keys, by_batch=self.experiment.batch)


def _refuse_imported(run: Run) -> None:
    """Refuse a run that was made elsewhere: it says what whoever wrote it wants."""
    if run.imported:
        raise CourtroomError(IMPORTED.format(run=run.id))


def memories_of(experiment: Experiment) -> list[str]:
    """Return all names under which an experiment keeps a memory, whether or not it got so far."""
    arms = (f"arm-{place}" for place in range(1, len(experiment.arms) + 1))
    return [_memory_name(experiment, what) for what in (BEFORE, *arms)]


def _memory_name(experiment: Experiment, what: str) -> str:
    return f"{experiment.name[:40]}-{experiment.digest[:8]}-{what}"


Progress = Callable[[int, int], None]
"""Is called with how many of something are done, and of how many."""
REHEARSED_CASES = 12
"""Cases that are rehearsed under every arm and repeat, and in training; the others are taken to be like them."""
SECONDS_A_CALL = 4.0
"""What a call of a language model is taken to last."""
SECONDS_A_CELL = 0.03
"""What a cell takes beside its calls: each is put on record."""


@dataclass(frozen=True)
class Estimate:
    """What is taken, training included."""

    cells: int
    training: int
    """Those of the cells that only teach."""
    calls: int
    """Calls asked anew."""
    tokens: int
    money: float | None
    """US dollars; None where a price is not known."""
    seconds: float
    """With calls of language models at `SECONDS_A_CALL`, and the offline model as fast as in the rehearsal; of an arm,
    were it run alone."""


@dataclass(frozen=True)
class ArmEstimate(Estimate):
    """What one arm will take."""

    arm: str


@dataclass(frozen=True)
class ExperimentEstimate(Estimate):
    """What all arms will take."""

    rehearsed: int
    """Cells that were rehearsed; the others are taken to be like them."""
    shared: int
    """Calls that are not asked because another cell asks the same, or the answer is on record."""
    arms: tuple[ArmEstimate, ...]


def estimate(plan: Plan, progress: Progress) -> ExperimentEstimate:
    """Estimate what an experiment takes; no language model is asked, and nothing is put on record.

    An arm that learns is rehearsed with the memory as it is now: what it will have learned is not known yet.
    `progress`: is called with how many cells are rehearsed, and of how many."""
    import pandas as pd  # slow to import

    experiment, house = plan.experiment, plan.house
    phases: list[tuple[Phase, Cases, dict[int, int]]] = [
        ("train", experiment.teaches or experiment.dataset, dict.fromkeys(plan.learning, 1)),
        ("test", experiment.dataset, {place: experiment.repeats_of(place) for place in plan.setups}),
    ]
    counts: dict[tuple[int, Phase], int] = {}
    """All cells of an arm in a phase, also those that are not rehearsed."""
    some: list[tuple[Phase, int, Row, int, float]] = []
    for phase, cases, repeats in phases:
        rows, many = _chosen(cases, house) if repeats else ([], 0)
        counts |= {(place, phase): many * number for place, number in repeats.items()}
        places = [(place, repeat) for place, number in repeats.items() for repeat in range(number)]
        some += [(phase, place, row, repeat, many / len(rows)) for row, (place, repeat) in product(rows, places)]
    known: dict[str, Reply] = {}
    taken = []
    for done, (phase, place, row, repeat, more) in enumerate(some):
        progress(done, len(some))
        took = _taken(plan, place, phase, row.case, experiment.seed(place, repeat), known)
        taken.append({"arm": place, "phase": phase, "more": more, **took})
    progress(len(some), len(some))
    amounts = ["calls", "shared", "tokens", "money"]
    frame = pd.DataFrame(taken, columns=["arm", "phase", "more", "seconds", *amounts])
    sums = frame[amounts].mul(frame["more"], axis=0).groupby(frame["arm"]).sum(skipna=False)
    sums = sums.reindex([*plan.setups], fill_value=0.0)
    lasts = frame.groupby(["arm", "phase"])["seconds"].median().fillna(0.0)  # what is loaded once is no part of each
    arms = []
    for place in plan.setups:
        mine = {phase: many for (of, phase), many in counts.items() if of == place}
        arms.append(
            ArmEstimate(
                arm=experiment.arms[place].name,
                cells=sum(mine.values()),
                training=mine.get("train", 0),
                calls=round(sums.at[place, "calls"]),
                tokens=round(sums.at[place, "tokens"]),
                money=_known(sums.at[place, "money"]),
                seconds=sum(float(lasts.get((place, phase), 0.0)) * many for phase, many in mine.items()),
            )
        )
    return ExperimentEstimate(
        **{one: sum(getattr(arm, one) for arm in arms) for one in ("cells", "training", "calls", "tokens", "seconds")},
        rehearsed=len(some),
        shared=round(sums["shared"].sum()),
        money=_known(sums["money"].sum(skipna=False)),
        arms=tuple(arms),
    )


def _known(money: float) -> float | None:
    return None if math.isnan(money) else float(money)


def _taken(plan: Plan, place: int, phase: Phase, case: Case, seed: int, known: dict[str, Reply]) -> dict[str, float]:
    """What one cell takes; nothing where it is the run that forks are compared with."""
    if plan.repeats_parent(place, seed):
        return {"calls": 0, "shared": 0, "tokens": 0, "money": 0.0, "seconds": math.nan}
    began, experiment, house = time.perf_counter(), plan.experiment, plan.house
    arm, setup = experiment.arms[place], plan.rehearses(place, phase)
    found = house.estimate(arm.procedure, arm.heard(case), setup, seed, experiment.dataset.run or None, known)
    # As many calls are under way as the model's limit and the experiment's allow.
    together = min(experiment.at_once, setup.model.concurrency)
    online = 0 if experiment.batch else sum(load.calls for load in found.loads if load.model != OFFLINE)
    price = house.price(found, by_batch=experiment.batch)
    tokens = sum(load.prompt_tokens + load.completion_tokens for load in found.loads)
    seconds = SECONDS_A_CELL + time.perf_counter() - began + online * SECONDS_A_CALL / together
    taken = {"calls": found.calls - found.on_record, "shared": found.on_record, "tokens": tokens}
    return {**taken, "money": math.nan if price is None else price, "seconds": seconds}


def _chosen(cases: Cases, house: Courthouse) -> tuple[list[Row], int]:
    """The rows that are rehearsed, and how many there are in all."""
    ids = [row.id for row in rows_of(house, cases)]
    some = set(ids if len(ids) <= REHEARSED_CASES else random.Random(0).sample(ids, REHEARSED_CASES))
    return [row for row in rows_of(house, cases) if row.id in some], len(ids)
