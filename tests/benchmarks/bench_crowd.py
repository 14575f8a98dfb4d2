"""Many runs at once in one process, beside a bare loop of LiteLLM calls: `python -m tests.benchmarks.bench_crowd`.

A server in a process of its own answers after 0.2 s. All runs are started together, each a hearing by three jurors in
one round; then the very same requests are sent by bare `litellm.acompletion` calls, in the same order of dependence and
within the same limit of calls at once; and both so often in turn. Printed are the wall and CPU time of both, their
ratio, and the most memory that the process has held after the first runs.
"""

import asyncio
import resource

from courtroom import Courthouse, ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.benchmarks.bench_engine import CASE, DELAY, AtOnce, bare, calls_of, plan
from tests.benchmarks.tables import Took, answering, new_house, options, timed


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


def sent(house: Courthouse, whole: AtOnce, limit: int) -> Took:
    """The same requests, with nothing but LiteLLM, on the same loop: its connections are as warm."""
    return timed(lambda: house.runner.do(bare(whole, asyncio.Semaphore(limit))).result())


def main() -> None:
    """Measure both sides in turn, and print."""
    given = options(runs=200, limit=32, rounds=2)
    runs, limit = given.runs, given.limit
    setup = CyberJurorsSetup(model=ModelSpec(id="openai/any", vision="no", concurrency=limit), jury_size=3, rounds=1)
    ours, theirs, held, calls = list[Took](), list[Took](), 0.0, 0
    with answering(DELAY), new_house() as house:
        heard(house, setup, range(1))
        for number in range(given.rounds):
            made, took = heard(house, setup, range(1 + number * runs, 1 + (number + 1) * runs))
            # In GB, before the requests are read for the other side.
            held = held or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            whole = AtOnce([plan(house, house.record(run)) for run in made])
            calls = len(calls_of(whole))
            ours.append(took)
            theirs.append(sent(house, whole, limit))
    best = calls / (limit / DELAY)
    told = f"{limit} of them at once, answers after {DELAY} s (at best {best:.1f} s)"
    print(f"{runs} runs at once, {calls:,} calls, {told}")
    for name, every in (("runs", ours), ("bare LiteLLM calls", theirs)):
        for wall, cpu in every:
            print(f"{name:20}{wall:8.1f} s{1000 * cpu / calls:8.2f} ms CPU a call")
    ratio = sum(wall for wall, _ in ours) / sum(wall for wall, _ in theirs)
    print(f"wall time {ratio:.2f} of the bare calls'; at most {held:.2f} GB of memory")


if __name__ == "__main__":
    main()
