"""A hearing whose process dies again and again, to be forked with COURTROOM_HOME set.

Each time a process of its own goes on with the run, and kills itself right after a write: the first process after its first one,
the others after their second, fourth, eighth one and so on. Prints how many died before one came to the end.
"""

import os
import signal
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any

from courtroom.courthouse import Courthouse
from courtroom.engine.answers import AnswerStore
from courtroom.engine.store import RunStore
from courtroom.experiments.store import ExperimentStore
from courtroom.knowledge.lessons import Lessons
from courtroom.store.writer import Writer

WRITES = ((AnswerStore, "keep"), (RunStore, "add"), (Lessons, "teach"))


def die_when(due: Callable[[], bool]) -> None:
    """Have this process die when this holds and the writer has put something on disk, before anybody is told of it."""
    written = Writer._written

    def then(writer: Writer, writes: Sequence[Callable[[], Any]]) -> list[Any]:
        results = written(writer, writes)
        if due():
            os.kill(os.getpid(), signal.SIGKILL)
        return results

    Writer._written = then  # type: ignore[method-assign]


def die_after(last: int, writes: Iterable[tuple[type, str]]) -> None:
    """Have this process die as soon as so many of these writes are on disk; 0 is never."""
    written = [0]

    def counted(write: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **given: Any) -> Any:
            result = write(*args, **given)
            written[0] += 1
            return result

        return call

    for owner, name in writes:
        setattr(owner, name, counted(getattr(owner, name)))
    die_when(lambda: 0 < last <= written[0])


def go_on(run: str, last: int) -> None:
    """Go on with the run until the last write allowed."""
    die_after(last, WRITES)
    house = Courthouse()
    house.runner.go(run)
    house.runner.wait(run)
    house.close()


def go_on_with_experiment(name: str, last: int) -> None:
    """Go on with an experiment until the last write allowed; 0 is to the end."""
    die_after(last, ((AnswerStore, "keep"), (ExperimentStore, "conclude")))
    house = Courthouse()
    house.experiments.go(name)
    house.experiments.wait(name)
    house.close()


def kill_again_and_again(run: str) -> None:
    """Print how often the process died before the run was done."""
    for kills in count():
        child = os.fork()
        if not child:
            go_on(run, 2**kills)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if code != -signal.SIGKILL:
            assert code == 0, code
            print(kills)
            return
