"""How much faster several Dask workers are than one: `python -m tests.benchmarks.bench_dask`.

One cluster has one worker, the other has four; both share a PostgreSQL store and take turns with parts of the same size. It is
measured twice: with calls that cost CPU (the offline model works in the worker itself), where there are at most as many times
as cores, and with calls that wait (a server answers after a while), where a worker has so many cells at once.
Printed are both times, their ratio, and what the cores, or the workers' cells at once, allow.
"""

import os
import tempfile
from argparse import Namespace
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

import dask
from distributed import LocalCluster
from pydantic import SecretStr

from courtroom.courthouse import Courthouse
from courtroom.models.spec import OFFLINE
from courtroom.settings import Settings
from tests import forks
from tests.benchmarks.bench_experiment import experiment
from tests.benchmarks.tables import answering, options
from tests.postgres_server import WHY_NOT, PostgresServer, programs

TRIAL = {"structure": "parallel", "judges": 9, "shots": 0, "explain": False, "hearings": 3}
ON_CPU = {"model": OFFLINE, "set": TRIAL}
"""A trial with a jury: its calls cost far more than its bookkeeping."""
FORKED = {"distributed.worker.multiprocessing-method": "forkserver"}
"""Workers that have their imports behind them."""
HERE: dict[str, Any] = {"host": "127.0.0.1", "dashboard_address": ":0", "silence_logs": 50}
WARM = 4
"""Cells of each worker before those that are measured."""


@contextmanager
def crew(workers: int, at_once: int, home: Path, address: str, url: str, *, forked: bool) -> Iterator[Courthouse]:
    """A cluster of so many processes, and whoever has it drive experiments."""
    given = {"COURTROOM_HOME": str(home), "COURTROOM_DATABASE": address}
    given |= {"OPENAI_API_BASE": url, "OPENAI_API_KEY": "none", "OMP_NUM_THREADS": "1"}
    with (
        dask.config.set(FORKED if forked else {}),
        LocalCluster(n_workers=workers, threads_per_worker=at_once, env=given, **HERE) as cluster,
    ):
        settings = Settings(home=home, server=SecretStr(address), dask=cluster.scheduler_address)
        with closing(Courthouse(settings)) as house:
            yield house


def compared(what: str, arm: dict[str, Any], houses: dict[int, Courthouse], given: Namespace) -> Iterator[float]:
    """Seconds of each number of workers for so many cells, in parts that take turns."""
    # No two of them have the same texts: what is on record is not asked again.
    first = {workers: place * 1_000_000 for place, workers in enumerate(houses)}
    took = dict.fromkeys(houses, 0.0)
    for turn in range(1 + given.parts):
        for workers, house in houses.items():
            cells = given.cells // given.parts if turn else WARM * workers
            how = {"name": f"{what}-{workers}", "at_once": min(256, 2 * given.at_once * workers), **arm}
            seconds, _ = experiment(house, first[workers], cells, 512, **how)
            first[workers] += cells
            took[workers] += seconds if turn else 0.0
    yield from took.values()


def main() -> None:
    given = options(cells=2_000, workers=4, at_once=4, delay=0.4, parts=2, only="")
    if given.tiny:
        given.cells, given.workers, given.delay, given.parts, given.only = 6, 2, 0.05, 1, "waiting"
        forks.ready()
    if programs() is None:
        raise SystemExit(WHY_NOT)
    cores = len(os.sched_getaffinity(0))
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        url = stack.enter_context(answering(given.delay))
        postgres = PostgresServer()
        stack.callback(postgres.close)
        address = postgres.fresh()
        houses = {
            many: stack.enter_context(crew(many, given.at_once, home / str(many), address, url, forked=given.tiny))
            for many in (1, given.workers)
        }
        for what, arm, most in (("cpu", ON_CPU, min(cores, given.workers)), ("waiting", {}, given.workers)):
            if given.only not in ("", what):
                continue
            one, many = compared(what, arm, houses, given)
            least = given.cells * given.delay / given.at_once / given.workers
            told = f"; the limit of {given.at_once} at once and {given.delay} s each take {least:.1f} s at least"
            best = "" if arm else told
            took = (
                f"1 worker {one:.1f} s, {given.workers} workers {many:.1f} s, ratio {one / many:.2f} of {most} at most"
            )
            print(f"{what}: {given.cells:,} cells, {took} ({cores} cores{best})", flush=True)


if __name__ == "__main__":
    main()
