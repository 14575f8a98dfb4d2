"""Whether a what-if leaves room for a person: `python -m tests.benchmarks.bench_what_if`.

One process, as the app is: while a what-if of offline runs goes on, a client reads a finished run whole and opens the page
Deliberation over and over. Printed are p50 and p95 of both, in milliseconds, without and with the what-if, and their ratio.
The offline model computes in the very process that draws pages: with any other model there is far less to get in the way of.
"""

import os
import tempfile
import time
from collections.abc import Callable

import numpy as np

from courtroom.courthouse import Courthouse
from courtroom.experiments.what_if import BASE
from tests.benchmarks.tables import options, timed
from tests.pages import ROOT, heard, page

LOOKS = 60
"""How often each is done without the what-if."""


def over_and_over(work: Callable[[], object], going_on: Callable[[int], bool]) -> list[float]:
    """Milliseconds of each time."""
    times = list[float]()
    while going_on(len(times)):
        times.append(1000 * timed(work)[0])
    return times


def measure(runs: int, jurors: int, looks_alone: int) -> None:
    """Measure alone, then next to a what-if."""
    from pages.parts.shared.house import courthouse

    house: Courthouse = courthouse()
    run = heard(house, "phone-battery", jury_size=jurors)
    app = page("deliberation", {"run": run})

    def look_again() -> None:
        app.run()
        assert not app.exception, app.exception

    looks: dict[str, Callable[[], object]] = {"read a run": lambda: house.record(run), "open its page": look_again}
    head = f"{'what-if':>12}{'ratio':>8}"
    print(f"{'milliseconds':16}{'p50 alone':>12}{head}{'p95 alone':>12}{head}{'times':>8}")
    for number, (name, look) in enumerate(looks.items()):
        look()
        alone = over_and_over(look, lambda done: done < looks_alone)
        first = 1000 * (number + 1)  # seeds of its own, so that nothing is on record
        lab, began = house.experiments, time.perf_counter()
        what_if = lab.go(lab.begin(lab.what_ifs.experiment(run, (BASE,), range(first, first + runs))))
        beside = over_and_over(look, lambda done: not done or lab.store.status(what_if) == "running")  # noqa: B023
        took = time.perf_counter() - began
        assert lab.store.status(what_if) == "done", lab.store.experiment(what_if).reason
        line = f"{name:16}"
        for part in (50, 95):
            before, now = np.percentile(alone, part), np.percentile(beside, part)
            line += f"{before:12.1f}{now:12.1f}{now / before:8.1f}"
        print(f"{line}{len(beside):8}   ({runs} runs in {took:.0f} s)")
    house.close()


def main() -> None:
    given = options(runs=100, jurors=7)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["COURTROOM_HOME"] = folder
        os.chdir(ROOT)
        measure(*((2, 3, 2) if given.tiny else (given.runs, given.jurors, LOOKS)))


if __name__ == "__main__":
    main()
