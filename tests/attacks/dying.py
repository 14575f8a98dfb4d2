"""A process that a run ends: `python -m tests.attacks.dying FOLDER goes|starts RUN AFTER`, killed in the run's AFTERth call."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from courtroom.engine import ledger
from courtroom.models.request import Request
from tests.toy import Bench


def bench_that(folder: Path, how: str, run: str, progress: bool) -> None:
    """Go on with a run as a person does, or as a server does that starts; where the run still goes, its process dies."""
    command = [sys.executable, "-m", "tests.attacks.dying", str(folder), how, run, "3" if progress else "1"]
    code = subprocess.run(command, check=False, timeout=60).returncode
    assert code in (0, -signal.SIGKILL), code


def main(folder: str, how: str, run: str, after: str) -> None:
    """Work on the run until its call number `after` kills this process."""
    ledger.GATHER_S = 0.0  # the loop, which would write later, stands still while the process waits for its end
    bench = Bench(Path(folder))
    answer = bench.model.reply
    asked, before = 0, len(list(bench.store.events(run)))

    def dying(request: Request) -> str | Exception:
        nonlocal asked
        asked += 1
        if asked == int(after):
            while asked > 1 and len(list(bench.store.events(run))) == before:
                time.sleep(0.01)  # a thread of its own writes down what the answers before led to
            os.kill(os.getpid(), signal.SIGKILL)
        return answer(request)

    bench.model.reply = dying
    if how == "goes":
        bench.runner.go(run)
    else:
        bench.runner.resume_interrupted()
    bench.runner.wait(run)
    bench.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
