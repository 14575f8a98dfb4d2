"""Experiments on a Dask cluster: real worker processes, a real PostgreSQL, a real server of a model."""

import asyncio
import json
import math
import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import distributed.versions
import pytest
from aiohttp import web
from distributed import Client, LocalCluster

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.spec import Experiment
from courtroom.models.wire import to_wire
from tests import forks
from tests.driving import arms_of, drivers, until
from tests.driving import done as driven
from tests.openai_server import OpenAIServer
from tests.postgres_server import PostgresServer
from tests.test_experiments import SINGLE, TRIAL, spec, texts
from tests.test_resilience import asked_by

pytestmark = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning:distributed.*",
    "ignore::ResourceWarning",
    # A connection of Dask's that could not be made in time.
    "ignore:coroutine 'wait_for' was never awaited:RuntimeWarning",
)

AT_ONCE = 4
"""Cells at once on each worker."""
HERE = {"host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 50}


class Gated(OpenAIServer):
    """A server that answers so many calls, and holds those after them until it is opened."""

    free: float = math.inf
    """How many more calls are answered."""

    def __init__(self) -> None:
        super().__init__(keep_bodies=True)
        self.held: list[dict[str, Any]] = []

    def hold_after(self, calls: float) -> None:
        self.free, self.held = calls, []

    async def _respond(self, request: web.Request, body: dict[str, Any], *rest: Any) -> web.StreamResponse:
        self.free -= 1
        if self.free < 0:
            self.held.append(body)
        while self.free < 0:
            await asyncio.sleep(0.01)
        return await super()._respond(request, body, *rest)


@pytest.fixture(scope="module")
def server() -> Iterator[Gated]:
    with Gated() as server:
        yield server


@pytest.fixture(scope="module")
def variables(postgres: PostgresServer, server: Gated, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The environment of every process, which share a store."""
    home = str(tmp_path_factory.mktemp("dask") / "home")
    store = {"COURTROOM_HOME": home, "COURTROOM_DATABASE": postgres.fresh()}
    return {**store, "OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "none"}


@pytest.fixture(scope="module")
def cluster(variables: dict[str, str]) -> Iterator[LocalCluster]:
    """A cluster of two workers, which are started again when they die."""
    forks.ready()
    started = {"distributed.worker.multiprocessing-method": "forkserver"}
    started |= {"distributed.admin.log-format": "%(name)s %(message)s"}
    two = {"n_workers": 2, "threads_per_worker": AT_ONCE, "env": variables}
    with dask.config.set(started), LocalCluster(**two, **HERE) as cluster:
        yield cluster


@pytest.fixture
def house(variables: dict[str, str], cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch) -> Courthouse:
    """Whoever drives an experiment, with the cluster's address."""
    for name, value in {**variables, "COURTROOM_DASK": cluster.scheduler_address}.items():
        monkeypatch.setenv(name, value)
    return with_texts(Courthouse())


def with_texts(house: Courthouse) -> Courthouse:
    if not any(info.name == "feelings" for info in house.datasets.newest()):
        house.datasets.add("feelings", texts())
    return house


def online(name: str, knobs: dict[str, Any] | None = None, **given: Any) -> Experiment:
    """Two arms that ask models of this name; one, where its settings are given."""
    every = {"one": SINGLE, "three": TRIAL} if knobs is None else {"a": knobs}
    arms = [{**arm, "model": f"openai/{name}-{arm['name']}"} for arm in arms_of(every)]
    return spec(name=name, arms=arms, **{"at_once": 2 * AT_ONCE, **given})


def table(found: ExperimentResults) -> list[tuple[object, ...]]:
    assert found.kept.status == "done", found.kept.reason
    return [(row.arm, row.row, row.state, row.reason, row.outcome and row.outcome.details) for row in found.rows]


@pytest.fixture
def alone(house: Courthouse, tmp_path: Path) -> Courthouse:
    """Whoever drives experiments by itself, with a store of its own."""
    return with_texts(Courthouse(Settings(home=tmp_path / "alone", server=None, dask="")))


def asked(server: Gated, name: str) -> Counter[str]:
    """How often each question was put to models of a name."""
    return Counter(asked_by(body) for body in server.bodies if body["model"].startswith(name))


def answered(house: Courthouse, name: str) -> Counter[str]:
    """How many answers of models of a name are on record to each question."""
    keys = house.database.connection.execute("SELECT key FROM answers WHERE model LIKE ?", (f"openai/{name}%",))
    wires = (to_wire(house.answers.request(row["key"]), house.media) for row in keys)
    return Counter(json.dumps(wire, sort_keys=True) for wire in wires)


def test_a_cluster_asks_as_one_does(house: Courthouse, alone: Courthouse, cluster: LocalCluster, server: Gated) -> None:
    """And gives the same table."""
    found = driven(house, online("same"))
    with Client(cluster) as client:  # Dask's profiler can stop a worker for good, with all that it has locked
        watched = client.run(lambda dask_worker: "profile" in dask_worker.periodic_callbacks)
    assert list(watched.values()) == [False, False]
    assert asked(server, "same") == answered(house, "same")
    until(lambda: not drivers(house), "all locks to be free")
    assert table(found) == table(driven(alone, online("same")))


def test_the_limits_of_a_model_hold_over_all_workers(house: Courthouse, cluster: LocalCluster, server: Gated) -> None:
    server.most_open, server.delay = 0, 0.3
    found = driven(house, online("limited", {**SINGLE, "model.concurrency": 2}, repeats=2))
    server.delay = 0.0
    assert {row.state for row in found.rows} == {"done"}
    assert server.most_open == 2
    assert not cluster.scheduler.plugins["courtroom-turns"]._calls, "all have left"


def test_a_killed_worker_changes_no_figure(house: Courthouse, alone: Courthouse, server: Gated) -> None:
    server.hold_after(20)
    name = house.experiments.begin(online("worker"))
    house.experiments.go(name)
    until(lambda: len(server.held) >= 2 and answered(house, "worker").total() == 20, "calls that are held")
    ((worker, _),) = drivers(house).most_common(1)
    assert worker != os.getpid()
    os.kill(worker, signal.SIGKILL)
    until(lambda: not Path(f"/proc/{worker}").exists(), "its end")
    held = Counter(map(asked_by, server.held))  # before another has gone on
    until(lambda: worker not in drivers(house), "another worker")
    server.hold_after(math.inf)
    house.experiments.wait(name, 300)
    assert asked(server, "worker") - answered(house, "worker") <= held, "only what had no answer yet"
    assert table(house.experiments.results(name)) == table(driven(alone, online("worker")))


LIES = (
    "no JSON",
    '{"status": "done"}',
    '{"status": "paused"}',
    '{"status": "done", "outcome": {"outcome": "sadness", "asked": -9, "cost": -1e9}, "asked": -9, "cost": -1e9}',
    '{"status": "failed", "why": "I am the one who says", "tokens": 1000000000000000000}',
)


def says(lies: tuple[str, ...]) -> None:
    """Has the process that this runs in give these answers for cells, in turn, without any work; or else the truth."""
    from itertools import cycle

    from courtroom.experiments import cluster

    honest = getattr(cluster, "honest", cluster.drive)
    turn, cluster.honest = cycle(lies), honest
    cluster.drive = (lambda *given: next(turn)) if lies else honest


def test_what_a_worker_says_counts_for_nothing(house: Courthouse, cluster: LocalCluster, server: Gated) -> None:
    with Client(cluster) as client:
        client.run(says, LIES)
        try:
            found = driven(house, online("lies"))
        finally:
            client.run(says, ())
    assert {row.state for row in found.rows} == {"failed"}
    assert all(row.reason.endswith(".") and row.outcome == Outcome() for row in found.rows)
    assert asked(server, "lies").total() == 0


def refused(house: Courthouse, dask: str) -> str:
    """Why an experiment can't be driven on a cluster."""
    house.settings.dask = dask
    with_texts(house)
    name = house.experiments.begin(spec(name="refused"))
    with pytest.raises(CourtroomError) as error:
        house.experiments.go(name)
    assert house.experiments.store.experiment(name).status == "paused"
    return str(error.value)


def test_a_useless_cluster_is_refused(house: Courthouse, alone: Courthouse, on_postgres: str, monkeypatch: Any) -> None:
    monkeypatch.setattr("courtroom.experiments.cluster.REACH_S", 1)
    address = house.settings.dask
    assert "has another store" in refused(Courthouse(Settings(home=alone.settings.home)), address)
    assert refused(alone, address).startswith("A Dask cluster needs a store that its workers share.")
    assert "can't be reached. Start its scheduler" in refused(house, "tcp://127.0.0.1:1")
    with LocalCluster(n_workers=0, **HERE) as empty:
        assert "has no worker. Start one: dask worker" in refused(house, empty.scheduler_address)
    real = distributed.versions._version_cached
    newer = {"courtroom": "9.9"}  # here and for the scheduler, which is in this process
    monkeypatch.setattr("distributed.versions._version_cached", lambda name: newer.get(name) or real(name))
    assert "one of them has" in refused(house, address)
