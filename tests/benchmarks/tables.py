"""What benchmarks share: options, tables that are worked out row by row, a model's server, and what work costs."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import TypeVar

from courtroom import Case, Courthouse, Settings

CaseT = TypeVar("CaseT", bound=Case)
Took = tuple[float, float]
"""Wall and CPU seconds."""


@dataclass(frozen=True)
class Row:
    """A name, and the figures beside it, worked out when they are asked for."""

    name: str
    figures: Callable[[], Iterable[str]]

    def line(self) -> str:
        return f"| {' | '.join((self.name, *self.figures()))} |"


@dataclass(frozen=True)
class Table:
    """Rows under one head."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Row, ...]

    def lines(self) -> Iterator[str]:
        """The table as Markdown, line by line as its rows are worked out."""
        yield from (f"### {self.title}", "", f"| {' | '.join(self.head)} |", f"|{' --- |' * len(self.head)}")
        for row in self.rows:
            yield row.line()
        yield ""


def share(value: float) -> str:
    """A share of one as a percentage."""
    return f"{value:.1%}".replace("%", " %")


def timed(work: Callable[[], object]) -> Took:
    """How long it takes, with the CPU time of all threads."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def real_data() -> Path | None:
    """The folder with public records, if there is one."""
    return Path(folder) if (folder := os.environ.get("COURTROOM_REAL_DATA")) else None


def needed_data() -> Path:
    """The same, where nothing can be measured without it: ends with a sentence if there is none."""
    return real_data() or sys.exit("Set COURTROOM_REAL_DATA to the folder with the public records.")


@contextmanager
def answering(delay: float = 0.0) -> Iterator[str]:
    """A server in a process of its own that answers after so many seconds, and that LiteLLM asks; its address."""
    from tests.openai_server import server_process

    with server_process(delay) as address:
        os.environ.update(OPENAI_API_BASE=address, OPENAI_API_KEY="none")
        yield address


@contextmanager
def new_house() -> Iterator[Courthouse]:
    """A courthouse with nothing in it but the samples."""
    with tempfile.TemporaryDirectory() as home, closing(Courthouse(Settings(home=Path(home)))) as house:
        yield house


def samples(house: Courthouse, kind: type[CaseT]) -> list[CaseT]:
    """The sample cases of a kind."""
    return [case for case in house.library.cases() if isinstance(case, kind)]


def options(**defaults: object) -> argparse.Namespace:
    """What the command was given, each option by its default; `--help` tells them."""
    parser = argparse.ArgumentParser()
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=type(value), default=value, help="%(default)s by default")
    return parser.parse_args()


def printed(tables: Callable[..., Iterable[Table]], house: Courthouse) -> Iterator[str]:
    """Tables, of this courthouse where they want one, as lines of Markdown; each row as soon as it is known."""
    for table in tables(house) if signature(tables).parameters else tables():
        yield from table.lines()


def show(tables: Callable[..., Iterable[Table]]) -> None:
    """Print tables, of a new courthouse where they want one."""
    with new_house() as house:
        for line in printed(tables, house):
            print(line, flush=True)
