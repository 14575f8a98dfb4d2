"""How long the HTML report of a large jury takes: `python -m tests.benchmarks.bench_report [jurors]` (51 by default).

Each export is a process of its own, as a person would start it. Printed are its seconds, those of the JSON, and their ratio,
which is to be at most three.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
TIMES = 3


def export(home: Path, run: str, to: Path) -> float:
    """Seconds of one process that writes a run to a file."""
    began = time.perf_counter()
    _shell(home, "export", run, "--to", str(to))
    return time.perf_counter() - began


def _shell(home: Path, *words: str) -> str:
    given = {**os.environ, "COURTROOM_HOME": str(home)}
    done = subprocess.run(
        [sys.executable, "-m", "courtroom", *words], cwd=ROOT, env=given, capture_output=True, text=True, check=True
    )
    return done.stdout


def main(jurors: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        _shell(home, "run", "phone-battery", "--set", f"jury_size={jurors}")
        run = _shell(home, "runs").split("\t")[0]
        seconds = {
            ending: min(export(home, run, home / f"run.{ending}") for _ in range(TIMES)) for ending in ("json", "html")
        }
    ratio = seconds["html"] / seconds["json"]
    print(f"{jurors} jurors: JSON {seconds['json']:.2f} s, HTML {seconds['html']:.2f} s, ratio {ratio:.2f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 51)
