"""An experiment of many cells beside a bare loop of LiteLLM calls, in one run: `python -m tests.benchmarks.bench_experiment`.

`--cells` says how many (5,000 by default), `--limit` how many calls the model takes at once (32); `--tiny` only shows that it runs.

A server on loopback answers after 0.2 s. An experiment labels one text in each cell, with one call; then the very same
requests are sent by a bare `litellm.acompletion` loop that keeps as many calls under way. Both are warm: a few cells come before. Printed are cells a second and CPU
time a cell of both, our throughput as a share of the loop's, and the most memory that the process has held.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.experiments.spec import parsed
from courtroom.models.card import load
from courtroom.models.schema import schema_of
from courtroom.models.wire import to_wire
from courtroom.procedures.courtroom_llm.tasks import Classify
from courtroom.settings import Settings
from tests.openai_server import server_process

DELAY = 0.2
CELLS = 3
"""Cells under way for each call: one that is read or written is not waiting for its answer."""
WARM = 8
"""Cells before those that are measured."""
SINGLE = {"structure": "single", "judges": 1, "shots": 0, "explain": False}
MODEL = "openai/any"
LABELS = ("sad", "glad")
Took = tuple[float, float]
"""Wall and CPU seconds."""


def texts(first: int, many: int) -> Iterator[Row]:
    """Texts to label, one a row."""
    for number in range(first, first + many):
        name = f"text-{number:05}"
        said = f"Parcel {number} came {number % 9} days late, and the box was {'torn' if number % 2 else 'whole'}."
        item = Labelled(id=name, text=said, label="sad" if number % 2 else "glad")
        case = LabelledTask(id=name, title=said, labels=LABELS, question="How does the writer feel?", items=(item,))
        yield Row(id=name, case=case, split="test")


def timed(work: Callable[[], object]) -> Took:
    """How long it takes, with the CPU time of all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def experiment(house: Courthouse, first: int, cells: int, limit: int) -> Took:
    """Bring every cell to its end."""
    dataset = f"texts-{first}"
    house.datasets.add(dataset, texts(first, cells))
    knobs = {**SINGLE, "model.concurrency": limit}
    arm = {"name": "one call", "procedure": "courtroom-llm", "model": MODEL, "set": knobs}
    name = house.experiments.begin(
        parsed({"name": "bench", "dataset": {"name": dataset}, "at_once": CELLS * limit, "arms": [arm]}, "bench")
    )

    def work() -> None:
        house.experiments.go(name)
        house.experiments.wait(name)

    took = timed(work)
    counts = house.experiments.store.counts(name)
    assert counts == {(0, "done"): cells}, counts
    return took


def requests(house: Courthouse, cells: int) -> list[dict[str, Any]]:
    """What was sent for the last so many answers on record."""
    keys = house.database.connection.execute("SELECT key FROM answers ORDER BY rowid DESC LIMIT ?", (cells,))
    form = Classify(passages=(), labels=LABELS).form
    schema = {"name": form.__name__, "schema": json.loads(schema_of(form)), "strict": True}
    response_format = {"type": "json_schema", "json_schema": schema}
    return [
        {"messages": to_wire(house.answers.request(row["key"]), house.media), "response_format": response_format}
        for row in keys
    ]


async def bare(calls: list[dict[str, Any]], limit: int) -> None:
    """The same requests, with nothing but LiteLLM: so many workers take one after the other."""
    left = iter(calls)

    async def worker() -> None:
        for call in left:
            await load().acompletion(model=MODEL, **call, num_retries=0, max_retries=0)

    async with asyncio.TaskGroup() as group:
        for _ in range(limit):
            group.create_task(worker())


def memory() -> float:
    """The most memory that this process has held, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def measure(folder: Path, cells: int, limit: int) -> None:
    """Measure in a home of its own, and print."""
    with server_process(delay=DELAY) as address:
        os.environ["OPENAI_API_BASE"], os.environ["OPENAI_API_KEY"] = address, "none"
        house = Courthouse(Settings(home=folder / "home"))
        experiment(house, 0, WARM, limit)
        ours = experiment(house, WARM, cells, limit)
        held = memory()
        calls = requests(house, cells)
        house.close()
    with server_process(delay=DELAY) as address:
        os.environ["OPENAI_API_BASE"] = address
        theirs = timed(lambda: asyncio.run(bare(calls, limit)))
    print(f"{cells:,} cells, {limit} calls at once, answers after {DELAY} s (at best {limit / DELAY:.0f} a second)")
    for name, (wall, cpu) in (("experiment", ours), ("bare LiteLLM loop", theirs)):
        print(f"{name:20}{wall:8.1f} s{cells / wall:8.1f} cells/s{1000 * cpu / cells:8.2f} ms CPU a cell")
    print(f"throughput {100 * theirs[0] / ours[0]:.0f} % of the bare loop's; at most {held:.2f} GB of memory")


def main() -> None:
    """Measure."""
    options = argparse.ArgumentParser()
    options.add_argument("--cells", type=int, default=5_000)
    options.add_argument("--limit", type=int, default=32)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        size = (8, 4) if given.tiny else (given.cells, given.limit)
        measure(Path(folder), *size)


if __name__ == "__main__":
    main()
