"""An experiment of many cells beside a bare loop of LiteLLM calls, in one run: `python -m tests.benchmarks.bench_experiment`.

A server in a process of its own answers after 0.2 s. An experiment labels one text in each cell, with one call; then the very
same requests are sent by a bare `litellm.acompletion` loop that keeps as many calls under way. Both are warm: a few cells come
before. Printed are cells a second and CPU time a cell of both, our throughput as a share of the loop's, and the most memory
that the process has held. A loop that comes near the best that limit and delay allow was not held up by its own work or the
server's: with another result take a smaller limit, or a machine that does nothing else.

Then the app, in a process of its own, drives as many cells while a browser's session opens its pages over a web socket, and
again when it has paused: seconds until a page is drawn, p50 of both and their ratio.
"""

import asyncio
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median
from typing import Any

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.experiments.spec import parsed
from courtroom.models.schema import schema_of
from courtroom.models.wire import to_wire
from courtroom.procedures.courtroom_llm.tasks import Classify
from courtroom.settings import Settings
from tests.app_server import AppServer, app_server, forked_app
from tests.benchmarks.app_session import Place, memory_mb, opened
from tests.benchmarks.bench_engine import DELAY, AtOnce, Call, bare
from tests.benchmarks.tables import Took, answering, memory, options, timed

CELLS = 3
"""Cells under way for each call: one that is read or written is not waiting for its answer."""
PAUSE_S = 0.2
"""Seconds between two pages that are opened."""
WARM = 8
"""Cells before those that are measured."""
SINGLE = {"structure": "single", "judges": 1, "shots": 0, "explain": False}
MODEL = "openai/any"
LABELS = ("sad", "glad")
AppOf = Callable[[Path], AbstractContextManager[AppServer]]
"""Starts the app over a store."""


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


def pages(home: Path, cells: int, limit: int, looks: int, app_of: AppOf = app_server, pause_s: float = PAUSE_S) -> None:
    """Measure the app's pages while it drives an experiment and when it does nothing, and print."""
    with answering(DELAY):
        house = Courthouse(Settings(home=home))
        store = house.experiments.store
        done = store.experiments()[0]
        run = next(cell.run for cell in store.cells(done.id, "done"))
        name = begun(house, WARM + cells, cells, limit)
        store.set_status(name, "running")  # as if its process had died: the app goes on with it
        places: dict[str, Place] = {
            "Runs": ("runs", {}),
            "Deliberation": ("deliberation", {"run": run}),
            "Experiments": ("experiments", {}),
            "an experiment": ("experiments", {"experiment": done.id}),
        }
        with app_of(home) as app:
            asyncio.run(opened(app.url, [places["Runs"]], 0, 0.0))  # the first visit has the app go on with it
            while not (before := store.counts(name).get((0, "done"), 0)):
                time.sleep(PAUSE_S)  # it loads LiteLLM
            began = time.perf_counter()
            beside = asyncio.run(opened(app.url, list(places.values()), looks, pause_s))
            took, left = time.perf_counter() - began, store.status(name) == "running"
            driven = store.counts(name)[0, "done"] - before
            if left:
                store.set_status(name, "paused")
            while store.lease.holder(name)[0] is not None:
                time.sleep(PAUSE_S)
            alone = asyncio.run(opened(app.url, list(places.values()), looks, pause_s))
            held = memory_mb(app.pid, "VmHWM") / 1024
        house.close()
    until = "which went on to the end" if left else "which ended before that: take more cells"
    print(f"{'ms until it is drawn':24}{'alone':>8}{'beside':>8}{'ratio':>8}   beside an experiment, {until}")
    for page, calm, now in zip(places, alone, beside, strict=True):
        p50, busy = 1000 * median(calm), 1000 * median(now)
        print(f"{page:24}{p50:8.0f}{busy:8.0f}{busy / p50:8.1f}")
    print(f"the app drove {driven:,} cells meanwhile, {driven / took:.0f} a second; at most {held:.2f} GB of memory")


def main() -> None:
    given = options(cells=5_000, limit=16, looks=20)
    cells, limit, looks = (8, 4, 1) if given.tiny else (given.cells, given.limit, given.looks)
    with tempfile.TemporaryDirectory() as folder:
        throughput(Path(folder), cells, limit, 0.02 if given.tiny else DELAY)
        pages(Path(folder), cells, limit, looks, *((forked_app, 0.0) if given.tiny else ()))


if __name__ == "__main__":
    main()
