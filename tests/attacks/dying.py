"""A process that a run ends in one of its calls."""

import os
import signal
import time
from pathlib import Path

from courtroom.engine import ledger
from courtroom.models.request import Request
from tests import forks
from tests.toy import Bench


def bench_that(folder: Path, how: str, run: str, progress: bool) -> None:
    """Go on with a run as a person does, or as a server does that starts; where the run still goes, its process dies."""
    with forks.Fork(works, folder, how, run, 3 if progress else 1) as process:
        code = process.finish(60).returncode
    assert code in (0, -signal.SIGKILL), code


def works(folder: Path, how: str, run: str, last: int) -> None:
    """Work on the run until its call of this number kills the process; to be forked."""
    ledger.GATHER_S = 0.0  # the loop, which would write later, stands still while the process waits for its end
    bench = Bench(folder)
    answer = bench.model.reply
    asked, before = 0, len(list(bench.store.events(run)))

    def dying(request: Request) -> str | Exception:
        nonlocal asked
        asked += 1
        if asked == last:
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
