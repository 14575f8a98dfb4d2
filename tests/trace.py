"""Counts the functions of the framework that one walk goes through: `python -m tests.trace`.

Each function with a name counts once, in whichever thread it is called; procedures do not count.
"""

import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from inspect import CO_OPTIMIZED
from itertools import count
from pathlib import Path
from types import CodeType, FrameType

FRAMEWORK = str(Path(__file__).parents[1] / "courtroom") + os.sep
PROCEDURES = os.path.join(FRAMEWORK, "procedures") + os.sep


class Trace:
    """The functions that are called while it is on, in all threads that begin after it was made."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.threads: set[str] = set()
        self.is_on = False
        threading.setprofile(self._look)
        sys.setprofile(self._look)

    def _look(self, frame: FrameType, event: str, value: object) -> None:
        code = frame.f_code
        if not (self.is_on and event == "call" and code.co_filename.startswith(FRAMEWORK)):
            return
        is_function = code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")  # no class, no comprehension
        if is_function and not code.co_filename.startswith(PROCEDURES):
            self.functions.add(code)
            self.threads.add(threading.current_thread().name)

    @contextmanager
    def on(self) -> Iterator[None]:
        """Count anew, as long as the block lasts."""
        self.functions.clear()
        self.threads.clear()
        self.is_on = True
        try:
            yield
        finally:
            self.is_on = False


def walks(home: Path) -> Iterator[tuple[str, int, str]]:
    """Go each walk, the first time in this process; its name, how many functions it took, and in which threads.

    An answer of LiteLLM is one of a second run, when the library and the findings about the server are there.
    """
    trace = Trace()
    from courtroom.courthouse import Courthouse
    from courtroom.engine.court import Court
    from courtroom.experiments.spec import parsed
    from courtroom.models.spec import ModelSpec
    from courtroom.settings import Settings
    from tests.driving import done, drive
    from tests.openai_server import OpenAIServer
    from tests.test_experiments import SINGLE, texts

    house = Courthouse(Settings(home=home))
    case, setup = house.library.case("oak-table"), house.procedures["debate"].setup(rounds=1)

    seeds = count()

    def run() -> str:
        made = drive(house, house.new_run("debate", case, setup, next(seeds)))
        house.record(made)
        return made

    def fork() -> None:
        house.record(drive(house, house.fork(parent, setup)))

    arm = {"name": "one judge", "procedure": "courtroom-llm", "set": SINGLE}
    two_cells = parsed({"name": "two", "dataset": {"name": "two"}, "arms": [arm]}, "here")

    def experiment() -> None:
        done(house, two_cells)

    def counted(name: str, walk: Callable[[], object]) -> tuple[str, int, str]:
        with trace.on():
            walk()
        return name, len(trace.functions), ", ".join(sorted(trace.threads))

    yield counted("a new run with three offline answers", run)
    parent = run()
    yield counted("a fork", fork)
    house.datasets.add("two", [row for row, _ in zip(texts(), range(2), strict=False)])
    yield counted("an experiment of two cells", experiment)
    ask = Court.ask
    counts: list[int] = []

    async def watched(*given: object, **options: object) -> object:
        with trace.on():
            answer = await ask(*given, **options)  # type: ignore[arg-type]
        counts.append(len(trace.functions))
        return answer

    with OpenAIServer() as server:
        os.environ.update(OPENAI_API_BASE=server.url, OPENAI_API_KEY="none")
        Court.ask = watched  # type: ignore[method-assign]
        setup = setup.model_copy(update={"model": ModelSpec(id="openai/any", vision="no", concurrency=1)})
        run()
        run()
    yield "one answer of LiteLLM", counts[-1], ", ".join(sorted(trace.threads))
    house.close()


def main() -> None:
    """Print how many functions each walk goes through, and in which threads."""
    with tempfile.TemporaryDirectory() as folder:
        for walk, count, threads in walks(Path(folder)):
            print(f"{count:5} {walk}: {threads}")


if __name__ == "__main__":
    main()
