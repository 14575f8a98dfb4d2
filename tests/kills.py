"""A hearing whose process dies again and again, to be forked with COURTROOM_HOME set.

Each time a process of its own goes on with the run, and kills itself right after a write: the first process after its
first one, the second after its third one, the next after its fifth one, and so on. Prints how many died before one came to the end.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from itertools import count
from typing import Any

from courtroom.courthouse import Courthouse
from courtroom.engine.answers import AnswerStore
from courtroom.engine.store import RunStore
from courtroom.knowledge.lessons import Lessons

WRITES = ((AnswerStore, "keep"), (RunStore, "add"), (Lessons, "teach"))


def dying(write: Callable[..., Any], last: int, written: list[int]) -> Callable[..., Any]:
    """A write after which the process is dead once there have been so many."""

    def call(*args: Any, **given: Any) -> Any:
        result = write(*args, **given)
        written[0] += 1
        if written[0] == last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    return call


def go_on(run: str, last: int) -> None:
    """Go on with the run until the last write allowed."""
    written = [0]
    for owner, name in WRITES:
        setattr(owner, name, dying(getattr(owner, name), last, written))
    house = Courthouse()
    house.runner.go(run)
    house.runner.wait(run)
    house.close()


def kill_again_and_again(run: str) -> None:
    """Print how often the process died before the run was done."""
    for kills in count():
        child = os.fork()
        if not child:
            go_on(run, 2 * kills + 1)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            assert code == 0, code
            print(kills)
            return
