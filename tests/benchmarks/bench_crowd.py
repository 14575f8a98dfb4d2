"""Many runs at once in one process, beside a bare loop of LiteLLM calls: `python -m tests.benchmarks.bench_crowd`.

`--runs` says how many (200 by default), `--limit` how many calls the model takes at once (32); `--tiny` only shows that it runs.

A server in a process of its own answers after 0.2 s. All runs are started together, each a hearing by three jurors in one round;
then the very same requests are sent by bare `litellm.acompletion` calls, in the same order of dependence and within the same
limit. Printed are the wall and CPU time of both, their ratio, and the most memory that the process has held.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
from pathlib import Path

from courtroom.courthouse import Courthouse
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.benchmarks.bench_engine import CASE, DELAY, AtOnce, bare, calls_of, plan
from tests.benchmarks.bench_experiment import Took, memory, timed
from tests.openai_server import server_process


def heard(house: Courthouse, setup: CyberJurorsSetup, seeds: range) -> tuple[list[str], Took]:
    """Runs with these seeds, all started at once and brought to their ends."""
    case = house.library.case(CASE)
    runs = [house.new_run("cyberjurors", case, setup, seed) for seed in seeds]

    def work() -> None:
        for run in runs:
            house.runner.go(run)
        for run in runs:
            house.runner.wait(run)

    took = timed(work)
    for run in runs:
        row = house.store.run(run)
        assert row.status == "done", row.reason
    return runs, took


async def loop(whole: AtOnce, limit: int) -> None:
    """The same requests, with nothing but LiteLLM."""
    await bare(whole, asyncio.Semaphore(limit))


def measure(home: Path, runs: int, limit: int) -> None:
    """Measure, and print."""
    setup = CyberJurorsSetup(model=ModelSpec(id="openai/any", vision="no", concurrency=limit), jury_size=3, rounds=1)
    with server_process(DELAY) as address:
        os.environ.update(OPENAI_API_BASE=address, OPENAI_API_KEY="none")
        house = Courthouse(Settings(home=home))
        heard(house, setup, range(1))
        made, ours = heard(house, setup, range(1, 1 + runs))
        held = memory()
        whole = AtOnce([plan(house, house.record(run)) for run in made])
        house.close()
    with server_process(DELAY) as address:
        os.environ["OPENAI_API_BASE"] = address
        theirs = timed(lambda: asyncio.run(loop(whole, limit)))
    calls = len(calls_of(whole))
    best = calls / (limit / DELAY)
    print(
        f"{runs} runs at once, {calls:,} calls, {limit} of them at once, answers after {DELAY} s (at best {best:.1f} s)"
    )
    for name, (wall, cpu) in (("runs", ours), ("bare LiteLLM calls", theirs)):
        print(f"{name:20}{wall:8.1f} s{1000 * cpu / calls:8.2f} ms CPU a call")
    print(f"wall time {ours[0] / theirs[0]:.2f} of the bare calls'; at most {held:.2f} GB of memory")


def main() -> None:
    """Measure in a home of its own."""
    options = argparse.ArgumentParser()
    options.add_argument("--runs", type=int, default=200)
    options.add_argument("--limit", type=int, default=32)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), *((2, 4) if given.tiny else (given.runs, given.limit)))


if __name__ == "__main__":
    main()
