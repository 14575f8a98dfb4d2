"""How the page Runs bears many runs: `python -m tests.benchmarks.bench_runs [runs]` (2,000 by default).

Each size is a new process on a store that is there. Printed are the seconds until the page first stands, the opening of the
store included (cold), and until it stands again (warm, the median), with 20 runs and with many, and their ratios, which are to
be at most two.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
FEW = 20
LOOKS = 7


def fill(count: int) -> None:
    """Make the store."""
    from courtroom.courthouse import Courthouse
    from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
    from tests.many_runs import copies

    house = Courthouse()
    run = house.new_run("cyberjurors", house.library.case("phone-battery"), CyberJurorsSetup(), 0)
    house.runner.go(run)
    house.runner.wait(run)
    copies(house, run, count - 1)
    house.close()


def look() -> None:
    """Open the page in this process; prints the seconds of the first and of later times."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    seconds = []
    for _ in range(1 + LOOKS):
        began = time.perf_counter()
        app.switch_page("pages/runs.py").run()
        assert not app.exception, app.exception
        seconds.append(time.perf_counter() - began)
    print(seconds[0], statistics.median(seconds[1:]))


def measured(count: int) -> tuple[float, float]:
    """Cold and warm seconds with so many runs, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        given = {**os.environ, "COURTROOM_HOME": folder}
        for words in (["fill", str(count)], ["look"]):
            done = subprocess.run(
                [sys.executable, "-m", __spec__.name, *words],
                cwd=ROOT, env=given, capture_output=True, text=True, check=True,
            )  # fmt: skip
    cold, warm = map(float, done.stdout.split()[-2:])
    return cold, warm


def main(many: int) -> None:
    """Measure few and many."""
    few, lots = measured(FEW), measured(many)
    for name, before, now in zip(("cold", "warm"), few, lots, strict=True):
        print(f"{name}: {FEW} runs {before:.2f} s, {many} runs {now:.2f} s, ratio {now / before:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["fill"]:
        fill(int(sys.argv[2]))
    elif sys.argv[1:2] == ["look"]:
        look()
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
