"""Everything put together: what the app, the shell and a program open, and close again."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, lru_cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

from courtroom.access import Access, acting_account, acts, allow_all_where_nobody_signs_in, needs
from courtroom.accounts import AccountStore
from courtroom.bell import Bell
from courtroom.cases.case import Case
from courtroom.cases.drafts import asked_with
from courtroom.cases.labelled import LabelledTask
from courtroom.cases.library import Library
from courtroom.datasets.store import Datasets
from courtroom.declarations.parts import Source
from courtroom.declarations.setup import Setup, SetupStore
from courtroom.engine.answers import AnswerStore, Asker
from courtroom.engine.court import RunInput
from courtroom.engine.intervene import Interventions
from courtroom.engine.interventions import Intervention
from courtroom.engine.ledger import Ledger
from courtroom.engine.people import People
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import ABOUT_RECORDINGS, FORK_OF_RECORDING
from courtroom.engine.runner import Runner
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.evaluation.comparison import Relative, family
from courtroom.evaluation.rehearsal import Estimate, rehearse
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.judging.jurors import JurySetup
from courtroom.knowledge.imports import CheckedFile, ImportJob, Imports
from courtroom.knowledge.search import Hit, Knowledge, Query
from courtroom.media.store import media_of
from courtroom.models.apart import refuse
from courtroom.models.capabilities import Capabilities
from courtroom.models.card import price
from courtroom.models.keys import scrubbed
from courtroom.models.limits import Limits
from courtroom.models.request import Reply
from courtroom.models.route import Connections, address
from courtroom.models.spec import ABSTAIN, NO_SERVER, ModelSpec
from courtroom.panel.personas import PanelStore, drawn_panel
from courtroom.questions.asides import BesideStore
from courtroom.questions.audit import Audits
from courtroom.questions.checking import Checks
from courtroom.questions.interview import METHODS, Interviews
from courtroom.recordings import Recordings
from courtroom.settings import Settings, from_environment
from courtroom.store.log import LogFile
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer

if TYPE_CHECKING:
    from courtroom.datasets.importing import DatasetImports
    from courtroom.experiments.service import Experiments
    from courtroom.models.pool import ModelPool
    from courtroom.procedures import Procedures
    from courtroom.report.run_file import RunFiles

S = TypeVar("S", bound=Setup)
MAX_KEPT_RECORDS = 30
"""Runs whose records are kept, at most: those that were looked at last."""


@dataclass
class _KeptRecord:
    pulse: tuple[object, ...] = ()
    record: Record | None = None
    at: float = 0.0
    """When its pulse was last taken, by a clock that nobody sets."""
    reading: threading.Lock = field(default_factory=threading.Lock)


class LatestRecords:
    """One record of each run for all sessions of this process; methods may be called from any thread.

    Who asks while another reads waits for that: many who look on at one run cost no more than one does.
    """

    def __init__(self, record: Callable[[str], Record], store: RunStore) -> None:
        self._record, self._store = record, store
        self._lock = threading.Lock()
        self._kept = lru_cache(maxsize=MAX_KEPT_RECORDS)(lambda run: _KeptRecord())

    def of(self, run: str, age_s: float = 0.0) -> Record:
        """A run as it stands; the very same object for as long as nothing in it changes. `age_s`: how long ago it may
        have been looked up. Who looks again soon may take what another has just read."""
        self._store.demand_seen(run)
        with self._lock:  # two who look at once must share one
            kept = self._kept(run)
        if kept.record is not None and time.monotonic() - kept.at < age_s:
            return kept.record
        with kept.reading:
            kept.at = time.monotonic()
            pulse = self._store.pulse(run)  # before the record: what comes in between is read once more
            if kept.record is None or kept.pulse != pulse:
                kept.record, kept.pulse = self._record(run), pulse
            return kept.record


class Courthouse:
    """One process's view of one store: its runs, made, forked, estimated, driven and read; and what is made of runs.

    Args:
        settings: where things are kept; from the environment by default.
        is_server: people sign in, so that a call is refused for which nobody said who acts.
        streaming: whether answers stream into the page as they arrive.
        connections: among Streamlit's secrets, beside those of the settings.
        procedures: more procedures, beside those installed.
        limits: those of models, where several processes share them.

    Raises:
        StoreError: the store can't be used.
        CourtroomError: the settings do not fit.
    """

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        is_server: bool = False,
        streaming: bool = False,
        connections: Mapping[str, Any] | None = None,
        procedures: Iterable[Procedure] = (),
        limits: Limits | None = None,
    ) -> None:
        if not is_server:
            allow_all_where_nobody_signs_in()
        self.settings = settings or from_environment()
        self._more, self._limits = tuple(procedures), limits
        self.connections = Connections.read(self.settings.connections, connections)
        self.database = open_store(self.settings.database)
        self._log = LogFile(self.settings.log_file, self.settings.log == "json", scrubbed)
        self.media = media_of(self.settings)
        self.library = Library(self.database, self.media)
        self.datasets = Datasets(self.database)
        self.store = RunStore(self.database)
        self.writer = Writer(self.database)
        self.accounts = AccountStore(self.database, self.settings)
        self.bell = Bell(self.settings, self.database, self.accounts)
        self.people = People(self.database, self.writer, lambda run: self.bell.ring("run", run, "waits for a seat"))
        self.answers = AnswerStore(self.database)
        self.setups = SetupStore(self.database)
        self.panels = PanelStore(self.database)
        self.beside = kept = BesideStore(self.database)
        self.asides, self.marks, self.audiences = kept.asides, kept.marks, kept.audiences
        self.audits, self.checks, self.interviews = Audits(self), Checks(self), Interviews(self)
        self.taking_in: dict[str, ImportJob] = {}
        self._pools: set[str] = set()
        self._streaming = streaming
        self._lock = threading.Lock()
        self._runner: Runner | None = None
        self._latest = LatestRecords(lambda run: self.runner.record(run), self.store)
        self.closed = False

    @cached_property
    def procedures(self) -> Procedures:
        from courtroom.procedures import PROCEDURES, Procedures, register  # slow to import: not to list cases or runs

        return Procedures(register(self._more, PROCEDURES), PROCEDURES.broken)

    def ask(self, question: str, options: Sequence[str] = (), files: Iterable[tuple[str, bytes]] = ()) -> Case:
        """Take in a question as a case; see `asked_with`. `new_run` has it heard."""
        return self.library.add(asked_with(question, options, files))

    def fitting(self, kind: str) -> list[Procedure]:
        """All procedures that hear this kind of case, first those that were designed for it."""
        hear = (procedure for procedure in self.procedures.values() if kind in procedure.kinds)
        return sorted(hear, key=lambda procedure: procedure.kinds[0] != kind)

    def first_fitting(self, kind: str) -> Procedure:
        """The first procedure that takes this kind of case."""
        if not (fitting := self.fitting(kind)):
            raise CourtroomError(f"No procedure takes cases of the kind “{kind}”. Choose another case.")
        return fitting[0]

    @property
    def teaching(self) -> tuple[tuple[Procedure, Source], ...]:
        """The procedures whose cases are made from runs of others, each with where they come from."""
        return tuple((one, one.teaches_from) for one in self.procedures.values() if one.teaches_from)

    def read(self, source: Source, runs: Iterable[str] | None = None, teacher: str = "") -> tuple[Any, ...]:
        """Return what a batch can be made of, from these runs; by default from all that are done here and test nothing.
        `teacher`: the one model whose answers are read."""
        runs = runs or self.store.ended(source.procedure)
        return tuple(source.read((self.record(run) for run in runs), teacher))

    @cached_property
    def knowledge(self) -> Knowledge:
        return Knowledge(self.database, self.settings)

    @cached_property
    def imports(self) -> Imports:
        return Imports(self.database, self.knowledge)

    @cached_property
    def recordings(self) -> Recordings:
        """The hearings that come with Courtroom."""
        return Recordings.read(self.settings.recordings)

    @cached_property
    def files(self) -> RunFiles:
        """What writes runs into files, and reads them."""
        from courtroom.report.run_file import RunFiles  # slow to import: only to write or read one

        return RunFiles(self)

    @cached_property
    def experiments(self) -> Experiments:
        """All experiments of the store."""
        from courtroom.experiments.service import Experiments  # slow to import: not to list cases or runs
        from courtroom.experiments.store import ExperimentStore

        return Experiments(ExperimentStore(self.database), self)

    @cached_property
    def dataset_imports(self) -> DatasetImports:
        from courtroom.datasets.importing import DatasetImports  # slow to import: not to list cases or runs

        return DatasetImports(self.datasets, self.media, self.settings.home / "uploads")

    @cached_property
    def capabilities(self) -> Capabilities:
        """What was found out about models: whether they see, and take a JSON schema."""
        return Capabilities(self.database, self.writer, self.connections)

    @cached_property
    def pool(self) -> ModelPool:
        from courtroom.models.pool import ModelPool  # slow to import: not to list cases or runs

        methods = (METHODS, *(one.offline for one in self.procedures.values()))
        offline = {task: method for one in methods for task, method in one.items()}
        kept_in = self.database, self.writer
        return ModelPool(self.media, self.connections, self._limits, self.capabilities, offline, kept_in)

    @property
    def runner(self) -> Runner:
        """The engine; its thread starts when it is first needed."""
        if (there := self._runner) is not None:
            return there  # without the lock: the house is closed under it, and closing waits for whoever asks here
        with self._lock:
            if self._runner is None:
                self._runner = Runner(
                    store=self.store,
                    procedures=self.procedures,
                    asker=Asker(self.answers, self.pool, self.writer),
                    writer=self.writer,
                    knowledge=self.knowledge,
                    capabilities=self.capabilities,
                    people=self.people,
                    warm=self._warm,
                    streaming=self._streaming,
                    rings=partial(self.bell.ring, "run"),
                )
            return self._runner

    @needs(Access.RUN)
    def take_in(self, file: CheckedFile) -> ImportJob:
        """Import a checked file in the background; `taking_in` says how far it is."""
        job = self.taking_in[file.digest] = ImportJob(file.name, total=len(file.records))
        self.runner.do(self.imports.run_job(file, job))
        return job

    @needs(Access.RUN)
    def new_run(
        self, procedure: str, case: Case, setup: Setup, seed: int, run: str | None = None, origin: str = "input"
    ) -> str:
        """Put a run on record with its complete setup; it is not driven yet.

        Args:
            run: the id it is to have; a run that has it already stays as it is.

        Returns:
            The run's id.

        Raises:
            CourtroomError: the procedure does not hear such a case, or an edited prompt can't be used.
        """
        chosen = self.procedures[procedure]
        if not isinstance(case, Case):
            raise CourtroomError("A run takes a case: `library.case(ID)`. `library.cases()` is only the list of them.")
        if case.kind not in chosen.kinds:
            fitting = ", ".join(one.name for one in self.fitting(case.kind))
            raise CourtroomError(
                f"{chosen.title} hears cases of the kind “{'”, “'.join(chosen.kinds)}”; {case.id} is of the kind "
                f"“{case.kind}”. Choose a procedure that takes it: {fitting}."
            )
        refuse(setup.prompts, {})
        complete = self.with_people(setup, seed).complete(case, seed)
        chosen.check(case, complete)
        self._offer(case)
        return self.store.create(procedure, case, complete, seed, origin=origin, run=run)

    @needs(Access.RUN)
    def fork(
        self,
        parent: str,
        setup: Setup,
        seed: int | None = None,
        case: Case | None = None,
        run: str | None = None,
        interventions: Sequence[Intervention] | None = None,
    ) -> str:
        """Put a new run of the same case with another setup on record, not yet driven, and return its id.

        What is not touched by the change is served from the record. What persons did to the parent holds in it too.

        Args:
            seed: another one than the parent's asks all that depends on chance anew.
            case: the parent's case with something changed.
            run: the id it is to have; a run that has it already stays as it is.
            interventions: what it begins with, see `interventions.planned`; None is what was done to the parent.
        """
        row = self.store.run(parent)
        procedure = self.procedures[row.procedure]
        before = self.store.setup(parent, procedure.setup)
        refuse(setup.prompts, before.prompts)
        heard, wanted = case or self.store.case(row), row.seed if seed is None else seed
        complete = self.with_people(setup, wanted).complete(heard, wanted)
        procedure.check(heard, complete, before)
        if case is not None:
            self._offer(case)
        return self.store.create(
            row.procedure,
            heard,
            complete,
            wanted,
            parent=parent,
            origin=FORK_OF_RECORDING if row.origin in ABOUT_RECORDINGS else "fork",
            run=run,
            interventions=self.store.interventions.of(parent) if interventions is None else interventions,
        )

    @property
    def interventions(self) -> Interventions:
        return Interventions(self.runner)

    def record(self, run: str, age_s: float = 0.0) -> Record:
        """Read a run as it stands; see `LatestRecords.of`."""
        return self._latest.of(run, age_s)

    def worth(self, run: str) -> str:
        """Say what the votes behind a verdict are worth, by the newest run of such a panel on each case."""
        from courtroom.evaluation.effective_votes import MAX_READ_RUNS, panel_kind, panels, worth  # slow to import

        base = self.record(run)
        procedure = self.procedures[base.run.procedure]
        voters = next((f"{role.title.lower()}s" for role in procedure.roles if role.votes), "")
        if base.run.verdict is None or not voters:
            return ""
        kind, cases = panel_kind(base.setup), {base.run.case_id: base}
        done = RunFilter(status="done", procedure=procedure.name, made_here=True)
        for other in RunList(self.database).newest(done, MAX_READ_RUNS):
            with suppress(CourtroomError):  # one that can't be read is no reason to say nothing
                if other.case_id not in cases and panel_kind(self.store.setup(other.id, procedure.setup)) == kind:
                    cases[other.case_id] = self.record(other.id)
        return worth((p for one in cases.values() for p in panels(one, procedure.about(one.case).choices)), voters)

    def family(self, run: str, most: int | None = None) -> tuple[Relative, ...]:
        """The run's family, with what each fork changed; the first so many of it."""
        return family(self.store, self.procedures, run, most)

    def estimate(
        self,
        procedure: str,
        case: Case,
        setup: Setup,
        seed: int,
        parent: str | None = None,
        known: dict[str, Reply] | None = None,
        interventions: Sequence[Intervention] | None = None,
    ) -> Estimate:
        """About what a run will take, by a rehearsal in memory in which answers on record count as they are.

        Args:
            parent: the run that it is to be forked from: what that one looked up is not looked up anew.
            known: answers that estimates before this one came to; they count as on record, and this one's are added.
            interventions: what it begins with; None is what was done to the parent.
        """
        ledger, runner, store = Ledger(), self.runner, self.store
        if parent:
            seen, asked_at = partial(store.retrieval, parent), partial(store.asked_at, parent)
            ledger = Ledger(root=store.root(parent), seen=seen, asked_at=asked_at)
            interventions = store.interventions.of(parent) if interventions is None else interventions
        self._offer(case)

        async def look_up(query: Query, embedding: str) -> tuple[Hit, ...]:
            # On the engine's loop, and by the server's own embedding alone: an estimate must not have a whole
            # collection embedded, at a price, by a model that somebody has just chosen.
            return await asyncio.wrap_future(runner.do(self.knowledge.answer(query)))

        complete = self.with_people(setup, seed).complete(case, seed)
        begins = RunInput(self.procedures[procedure], case, complete, seed, interventions or ())
        work = rehearse(begins, ledger, look_up, self.capabilities, self.answers.reply, known)
        with acts(acting_account()):  # in the caller's own thread, and in those that it starts
            estimate = asyncio.run(work)
        asked = {load.model for load in estimate.loads if load.prompt_tokens}
        specs = {spec.id: spec for spec in setup.models if spec.id in asked and not spec.connection}
        moved = []  # asked before, and never at the address that they have now
        for spec in specs.values():
            before = ledger.asked_at(spec.id, spec.connection)
            if before and asyncio.run(address(spec, self.connections)) not in before:
                moved.append(spec.id)
        return replace(estimate, moved=tuple(moved))

    def with_people(self, setup: S, seed: int) -> S:
        """Return the setup with jurors drawn from its pool of people, where it names one. Raises `CourtroomError`:
        there is no such pool, or it has too few people."""
        if not isinstance(setup, JurySetup) or not setup.people or len(setup.jury) >= setup.jury_size:
            return setup
        known = {one.name for one in setup.jury}
        others = [one for one in self.panels.load(setup.people) if one.name not in known]
        drawn = drawn_panel(others, setup.jury_size - len(setup.jury), seed)
        return setup.model_copy(update={"jury": (*setup.jury, *drawn)})

    def with_stand_in(self, setup: S, otherwise: str) -> S:
        """Return the setup with a stand-in for each of its models that can't be asked here and has none.

        A fork of it is served what is on record; what is not is asked of the stand-in. Raises `NotAllowed`: the
        stand-in may not be asked."""
        ModelSpec(id=otherwise)

        def given(spec: ModelSpec) -> ModelSpec:
            if spec.otherwise != ABSTAIN or not self.capabilities.why_not_asked(spec):
                return spec
            return spec.model_copy(update={"otherwise": otherwise})

        roles, members = ({name: given(spec) for name, spec in group.items()} for group in (setup.roles, setup.members))
        return setup.model_copy(update={"model": given(setup.model), "roles": roles, "members": members})

    def price(self, estimate: Estimate, *, by_batch: bool = False) -> float | None:
        """US dollars that an estimate comes to; None where the price of a model is unknown that is to be asked."""
        money = 0.0
        for load in estimate.loads:
            if load.prompt_tokens:
                if (known := price(load.model, by_batch=by_batch)) is None:
                    return None
                money += known.of(load.prompt_tokens, load.completion_tokens, load.read, load.written)
        return money

    def _offer(self, case: Case) -> None:
        """Take in what a case brings along to be found in its hearing, and the examples of its dataset."""
        if not isinstance(case, LabelledTask):
            return
        if case.pool:
            with self.store.together():  # many cells of an experiment are made at once: the first takes the examples in
                if case.pool not in self._pools:
                    self.knowledge.take_examples(case.under(), self.datasets.examples(case.pool))
                    self._pools.add(case.pool)
        if case.examples or not case.pool:
            self.knowledge.take_examples(case.under(), case.known())

    def close(self) -> None:
        """Stop the engine and let go of the store. Runs under way can be taken up again."""
        self.closed = True
        if "dataset_imports" in self.__dict__:
            self.dataset_imports.close()
        with self._lock:
            if self._runner is not None:
                self._runner.close(getattr(self.__dict__.get("pool"), "close", None))
                self._runner = None
        self.writer.close()
        self.bell.close()
        if "knowledge" in self.__dict__:
            self.knowledge.close()
        self.database.close()
        self._log.close()

    async def _warm(self, procedure: Procedure, setup: Setup) -> None:
        specs = [member.spec for member in procedure.panel(setup)]
        if {name for spec in specs for name in (spec.id, spec.otherwise)} - {*NO_SERVER, ABSTAIN}:
            await self.pool.warm()
        await self.knowledge.using(setup.embedding).warm(procedure.looks_in)
        _keep_libraries()


@cache
def _keep_libraries() -> None:
    """Keep for good what is there by the first run: later collections need not walk it, which takes 0.3 s each time."""
    gc.collect()
    gc.freeze()
