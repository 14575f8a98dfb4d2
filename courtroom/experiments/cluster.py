"""Cells of an experiment on a Dask cluster: whoever drives the experiment gives its cells to workers, who share its
store.

A cell is an ordinary run there too, with its lock and its record. This module is imported only where Dask is used. It
has three parts: a model's limits over all workers, which the scheduler keeps; what a worker does; and the cluster as
the driver sees it.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
import threading
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import Future, InvalidStateError
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from distributed import Client, KilledWorker, Scheduler, SchedulerPlugin, Worker, WorkerPlugin, get_worker
from distributed.client import FutureCancelledError
from distributed.comm.core import CommClosedError

from courtroom.access import acts, for_server
from courtroom.engine.runner import BEAT_S
from courtroom.errors import CourtroomError
from courtroom.experiments.plan import Cell, CellPostponed, Finish, Plan
from courtroom.experiments.store import NoSuchExperiment, StoredExperiment
from courtroom.models.failures import LONGEST_WAIT_S
from courtroom.models.limits import CallLimits, Limits, RateLimiter, Slot, limited_together, server_of
from courtroom.models.request import ModelError, Request, Usage
from courtroom.store.connection import OUTAGES
from courtroom.version import __version__

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

ENTER, LEAVE, TURN = "courtroom-enter", "courtroom-leave", "courtroom-turn"
"""A worker has a call to make; it has ended, or is not to be made any more; it may be made now."""


class TurnsAtScheduler(SchedulerPlugin):
    """The limits of all models, as `Limits` holds them for one process."""

    name = "courtroom-turns"
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        self._scheduler, self._limits = scheduler, Limits()
        self._calls: dict[tuple[str, str], tuple[RateLimiter, Slot, asyncio.Task[None]]] = {}
        """What workers wait for, or do: each call, by its worker and its id, with what lets it in."""
        scheduler.stream_handlers.update({ENTER: self._enter, LEAVE: self._leave})

    def remove_worker(self, scheduler: Scheduler, worker: str, *, stimulus_id: str, **given: Any) -> None:
        for of, call in [key for key in self._calls if key[0] == worker]:
            self._leave(of, call, None, None, None)

    def _enter(
        self, worker: str, call: str, model: tuple[str, str], limits: CallLimits, prompt: int, longest: int
    ) -> None:
        limiter = self._limits.limiters[tuple(model)]
        slot = Slot(CallLimits(*limits), lambda: prompt, longest)  # tuples are lists by now

        async def let_in() -> None:
            await limiter.enter(slot)
            self._scheduler.worker_send(worker, {"op": TURN, "call": call})

        self._calls[worker, call] = limiter, slot, asyncio.create_task(let_in())

    def _leave(
        self, worker: str, call: str, used: tuple[int, int] | None, pause: float | None, in_time: bool | None
    ) -> None:
        awaited = self._calls.pop((worker, call), None)
        if awaited is None:
            return
        limiter, slot, entering = awaited
        if not entering.done():
            entering.cancel()
            return
        slot.pause_s, slot.in_time = pause and min(pause, LONGEST_WAIT_S), in_time
        if used is not None:
            slot.usage = Usage(prompt=used[0], completion=used[1])
        limiter.leave(slot)


class TurnsAtWorker(Limits):
    """Asks the scheduler for each call, which alone knows which models are slowed down."""

    def __init__(self, worker: Worker) -> None:
        super().__init__()
        self._worker = worker
        self._waiting: dict[str, Future[None]] = {}
        worker.stream_handlers.update({TURN: self._let_in})

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[Slot]:
        """See `Limits.turn`. Raises `ModelError`: the worker is being closed."""
        call = secrets.token_hex(8)
        slot = Slot.of(request, self._servers[server_of(request)])
        turn = self._waiting[call] = Future()
        what = {"model": limited_together(request.spec), "limits": slot.limits}
        self._send({"op": ENTER, "call": call, **what, "prompt": slot.prompt_tokens, "longest": slot.max_answer})
        try:
            await asyncio.wrap_future(turn)
            yield slot
        except Exception as error:
            slot.failed(error)
            raise
        finally:
            del self._waiting[call]
            used = (slot.usage.prompt, slot.usage.completion) if slot.usage else None
            self._send({"op": LEAVE, "call": call, "used": used, "pause": slot.pause_s, "in_time": slot.in_time})

    def close(self) -> None:
        """No call is let in any more. Called on the worker's loop."""
        for turn in [*self._waiting.values()]:
            with suppress(InvalidStateError):  # it was let in
                turn.set_exception(ModelError("The worker is being closed."))

    def _send(self, message: dict[str, Any]) -> None:
        """From any loop."""

        def send() -> None:
            with suppress(CommClosedError):  # the scheduler has noticed
                self._worker.batched_stream.send(message)

        self._worker.loop.add_callback(send)

    def _let_in(self, call: str) -> None:
        with suppress(KeyError, InvalidStateError):  # the call is not to be made any more
            self._waiting[call].set_result(None)


log = logging.getLogger(__name__)

Opens = Callable[..., "Courthouse"]
"""Opens the courthouse of a worker, given the `limits` of models: a class, so that only its name goes to workers."""

PACKAGE = "courtroom"
ELSEWHERE = "A worker of the Dask cluster has another store. Set its COURTROOM_DATABASE to the one that is used here."
OTHER_VERSION = "A worker of the Dask cluster has another version of Courtroom. Install the same one there."


def drive(experiment: str, version: str, cell: str) -> None:
    """Bring a cell to its end; the task of a cell, in a thread of a worker's.

    Whoever drives the experiment reads what it came to from the run's record: what a worker says of it is not believed.
    Raises `CellPostponed`: this worker can't drive any cell of the experiment; `CourtroomError`: it can't drive this
    one.

    Args:
        version: of this program, where the experiment is driven.
        cell: a `Cell` as JSON.
    """
    if version != __version__:
        raise CellPostponed(OTHER_VERSION)
    with acts(None):
        here = _at(get_worker())
        here.house.runner.do(here.drive(experiment, Cell.model_validate_json(cell))).result()


async def examine_worker(experiment: str, created: float, dask_worker: Worker) -> str:
    """Why a worker can't drive the cells of an experiment that was put on record at a time; empty where it can."""
    try:
        kept = await asyncio.to_thread(for_server().run, _at(dask_worker).experiment, experiment)
    except NoSuchExperiment:
        return ELSEWHERE
    except CourtroomError as error:
        return str(error)
    return "" if kept.created == created else ELSEWHERE


class AtWorker(WorkerPlugin):
    """A worker's courthouse, opened when it is first needed and closed with the worker, and the cells of all experiments
    that it drives."""

    name = PACKAGE
    idempotent = True

    def __init__(self, opens: Opens) -> None:
        self._opens = opens

    def setup(self, worker: Worker) -> None:
        """Get ready for cells, without Dask's profiler: it sees nothing of them, and can stop the process for good. It
        calls `sys._current_frames` a hundred times a second. In Python before 3.11.9 that can wait for itself, if
        memory is collected just then (python/cpython#106883), and the worker's transactions would stay open."""
        if profiler := worker.periodic_callbacks.pop("profile", None):
            profiler.stop()
        self._turns, self._lock = TurnsAtWorker(worker), threading.Lock()
        self._opened: Courthouse | None = None
        self._plans: dict[str, Plan] = {}
        self._under_way: dict[asyncio.Task[None] | None, tuple[str, str]] = {}
        """The experiment and the run of each task on the loop."""

    async def teardown(self, worker: Worker) -> None:
        """Let go of the store; runs under way are taken over by another worker."""
        self._turns.close()
        if self._opened is not None:
            await asyncio.to_thread(self._opened.close)

    @property
    def house(self) -> Courthouse:
        """The worker's courthouse. Raises `CellPostponed`: its store can't be opened."""
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = self._opens(limits=self._turns)
                except CourtroomError as error:
                    raise CellPostponed(f"A worker of the Dask cluster can't open the store: {error}") from error
            return self._opened

    def experiment(self, name: str) -> StoredExperiment:
        return self.house.experiments.store.experiment(name)

    def _plan_of(self, experiment: str) -> Plan | None:
        """Return how an experiment is carried out; None where it is halted. Raises `CellPostponed`: nobody drives it in
        this store."""
        store = self.house.experiments.store
        if not store.is_driven(experiment):
            raise CellPostponed(ELSEWHERE)
        if store.status(experiment) != "running":
            return None
        if experiment not in self._plans:
            kept = self.experiment(experiment)
            self._plans[experiment] = Plan(kept.experiment, kept.kind, self.house)
        return self._plans[experiment]

    async def drive(self, experiment: str, cell: Cell) -> None:
        """Bring a cell to its end, on the loop of the worker's courthouse; see `drive`."""
        if (plan := await asyncio.to_thread(self._plan_of, experiment)) is None:
            return
        if not self._under_way:
            self.house.runner.watch(self._watch())
        task = asyncio.current_task()
        self._under_way[task] = (experiment, cell.run)
        try:
            await plan.finish(cell, {})
        finally:
            del self._under_way[task]

    async def _watch(self) -> None:
        """Stop the runs of experiments that are halted, as long as there are any runs."""
        while self._under_way:
            await asyncio.sleep(BEAT_S)
            try:
                for experiment in {name for name, _ in self._under_way.values()}:
                    if await asyncio.to_thread(self.house.experiments.store.status, experiment) != "running":
                        runs = [run for name, run in self._under_way.values() if name == experiment]
                        await asyncio.to_thread(self._plans[experiment].halt, runs)
            except (*OUTAGES, CourtroomError) as error:
                log.warning("halted experiments could not be looked for, which is tried again: %s", error)


def _at(worker: Worker) -> AtWorker:
    plugin = worker.plugins[PACKAGE]
    assert isinstance(plugin, AtWorker)
    return plugin


REACH_S = 10
"""So long the scheduler may take to answer."""
ANSWER_S = 60
"""So long all workers together may take: each opens the store when it is first asked."""


@asynccontextmanager
async def connected(address: str, kept: StoredExperiment, opens: Opens) -> AsyncIterator[Finish]:
    """Give what has the cells of an experiment brought to their ends by the workers of a cluster that can be used. Lives
    on the engine's loop. `opens`: opens the courthouse of a worker. Raises `CourtroomError`: it can't be reached, has
    another version, or its workers have another store."""
    async with AsyncExitStack() as stack:
        try:
            client = Client(address, asynchronous=True, timeout=REACH_S, set_as_default=False)
            stack.push_async_callback(client.close)
            await client
        except (OSError, ValueError) as error:
            log.warning("the Dask cluster at %s: %s", address, error)
            raise CourtroomError(
                f"The Dask cluster at {address} can't be reached. "
                "Start its scheduler, or check the address: tcp://HOST:8786."
            ) from error
        try:
            async with asyncio.timeout(ANSWER_S):
                await _check(client, address)
                await client.register_plugin(TurnsAtScheduler())
                await client.register_plugin(AtWorker(opens))
                found = await client.run(examine_worker, kept.id, kept.created)
        except TimeoutError as error:
            log.warning("the Dask cluster at %s: no answer for %d s", address, ANSWER_S)
            raise CourtroomError(
                f"A worker of the Dask cluster at {address} does not answer. Start its workers again, then go on."
            ) from error
        if why := next(filter(None, found.values()), ""):
            raise CourtroomError(why)
        yield partial(_finish, client, address, kept.id)


async def _finish(client: Client, address: str, experiment: str, cell: Cell, keys: Mapping[str, str]) -> None:
    """Have a cell brought to its end by a worker; see `Plan.finish`. Each cell is a task, which goes on elsewhere when
    its worker dies. Keys that persons type stay here: a worker has those of its own environment.

    Raises:
        CellPostponed: no cell can be driven now.
        CourtroomError: this one can't.
    """
    plain = cell.model_dump_json(exclude={"state", "reason", "outcome"})
    key = f"{PACKAGE}-{cell.run}-{secrets.token_hex(4)}"
    future = client.submit(drive, experiment, __version__, plain, key=key, pure=False)
    try:
        await future
    except (ImportError, AttributeError, KilledWorker, FutureCancelledError) as error:
        log.warning("cell %s: %s", cell.run, error)
        if isinstance(error, KilledWorker):
            raise CourtroomError(
                f"{error.allowed_failures + 1} workers died while they worked on this cell. "
                "Look at their logs, then try it again."
            ) from error
        gone = f"The Dask cluster at {address} can't be reached any more."
        raise CellPostponed(gone if isinstance(error, FutureCancelledError) else OTHER_VERSION) from error
    finally:
        future.release()


async def _check(client: Client, address: str) -> None:
    asked: Any = client.get_versions(packages=[PACKAGE])  # to be awaited, as the client is asynchronous
    versions = await asked
    if not versions["workers"]:
        raise CourtroomError(f"The Dask cluster at {address} has no worker. Start one: dask worker {address}.")
    places = (versions["client"], versions["scheduler"], *versions["workers"].values())
    mine, *others = (place["packages"].get(PACKAGE) for place in places)
    for theirs in others:
        if theirs != mine:
            raise CourtroomError(
                f"The scheduler and the workers of the Dask cluster at {address} need Courtroom {mine}, as it is here; "
                f"one of them has {theirs or 'none'}. Install the same version."
            )
