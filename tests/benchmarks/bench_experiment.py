"""An experiment of many cells beside a bare loop of LiteLLM calls, in one run: `python -m
tests.benchmarks.bench_experiment`.

A server in a process of its own answers after 0.2 s. An experiment labels one text in each cell, with one call; then
the very same requests are sent by a bare `litellm.acompletion` loop that keeps as many calls under way. Both are warm:
a few cells come before. Printed are cells a second and CPU time a cell of both, our throughput as a share of the
loop's, and the most memory that the process has held. A loop that comes near the best that limit and delay allow was
not held up by its own work or the server's: with another result take a smaller limit, or a machine that does nothing
else.
"""

import asyncio
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.experiments.spec import parsed
from courtroom.models.schema import schema_of
from courtroom.models.wire import to_wire
from courtroom.procedures.courtroom_llm.tasks import Classify
from courtroom.settings import Settings
from tests.benchmarks.bench_engine import DELAY, AtOnce, Call, bare
from tests.benchmarks.tables import Took, answering, memory, options, timed

CELLS = 3
"""Cells under way for each call: one that is read or written is not waiting for its answer."""
WARM = 8
"""Cells before those that are measured."""
SINGLE = {"structure": "single", "judges": 1, "shots": 0, "explain": False}
MODEL = "openai/any"
LABELS = ("sad", "glad")


def texts(first: int, many: int) -> Iterator[Row]:
    """Texts to label, one a row."""
    for number in range(first, first + many):
        name = f"text-{number:05}"
        said = f"Parcel {number} came {number % 9} days late, and the box was {'torn' if number % 2 else 'whole'}."
        item = Labelled(id=name, text=said, label="sad" if number % 2 else "glad")
        case = LabelledTask(id=name, title=said, labels=LABELS, question="How does the writer feel?", items=(item,))
        yield Row(id=name, case=case, split="test")


def begun(
    house: Courthouse, first: int, cells: int, limit: int, name: str = "texts", at_once: int = 0, **changes: Any
) -> str:
    """Put an experiment on record. `changes`: of its arm."""
    house.datasets.add(f"{name}-{first}", texts(first, cells))
    knobs = {**SINGLE, "model.concurrency": limit}
    arm = {"name": "one call", "procedure": "courtroom-llm", "model": MODEL, "set": knobs, **changes}
    given = {"name": name, "dataset": {"name": f"{name}-{first}"}, "at_once": at_once or CELLS * limit, "arms": [arm]}
    return house.experiments.begin(parsed(given, "bench"))


def experiment(house: Courthouse, first: int, cells: int, limit: int, **given: Any) -> Took:
    """Bring every cell to its end."""
    name, store = begun(house, first, cells, limit, **given), house.experiments.store
    took = timed(lambda: house.experiments.wait(house.experiments.go(name)))
    assert store.counts(name) == {(0, "done"): cells}, (store.counts(name), store.experiment(name).reason)
    return took


def requests(house: Courthouse, cells: int) -> AtOnce:
    """What was sent for the last so many answers on record."""
    keys = house.database.connection.execute("SELECT key FROM answers ORDER BY at DESC LIMIT ?", (cells,))
    form = schema_of(Classify(passages=(), labels=LABELS).form)
    return AtOnce([Call(to_wire(house.answers.request(row["key"]), house.media), form) for row in keys])


def throughput(home: Path, cells: int, limit: int, delay: float) -> None:
    """Measure the experiment and the loop, and print."""
    with answering(delay):
        house = Courthouse(Settings(home=home))
        experiment(house, 0, WARM, limit)
        ours = experiment(house, WARM, cells, limit)
        held = memory()
        calls = requests(house, cells)
        house.close()
    with answering(delay):
        theirs = timed(lambda: asyncio.run(bare(calls, asyncio.Semaphore(limit))))
    best = limit / delay
    print(f"{cells:,} cells, {limit} calls at once, answers after {delay} s (at best {best:.0f} a second)")
    for name, (wall, cpu) in (("experiment", ours), ("bare LiteLLM loop", theirs)):
        rate, each = cells / wall, 1000 * cpu / cells
        print(f"{name:20}{wall:8.1f} s{rate:8.1f} cells/s{rate / best:8.0%} of the best{each:8.2f} ms CPU a cell")
    print(f"throughput {theirs[0] / ours[0]:.0%} of the bare loop's; at most {held:.2f} GB of memory")


def main() -> None:
    given = options(cells=5_000, limit=16)
    cells, limit = (8, 4) if given.tiny else (given.cells, given.limit)
    with tempfile.TemporaryDirectory() as folder:
        throughput(Path(folder), cells, limit, 0.02 if given.tiny else DELAY)


if __name__ == "__main__":
    main()
