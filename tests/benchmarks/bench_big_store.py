"""How long pages take on a large store and on a small one: `python -m tests.benchmarks.bench_big_store`.

`--store FOLDER` takes a store that `write_big_store` has written into that folder; `--looks` says how often each page is opened.

*Runs* and *Experiments* are opened on the large store and on an empty one; *Deliberation*, *Compare*, *What if* and one experiment
with thousands of cells on the large store and on one that holds only what these pages show. Each store has a process of its own,
and the processes take turns. Printed are the medians in a new session (fresh) and in one that has drawn the page before (warm),
and their ratios, which are to be at most two; and how long a new process takes until its first page stands. A list of nothing is
only measured fresh: to draw nothing once more takes no time at all.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from contextlib import ExitStack, closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.tables import options, timed

ROOT = Path(__file__).parents[2]
EMPTY, FEW, BIG = "empty", "few", "big"
FRESH_WARM = ("fresh", "warm")
BAR = 2.0


@dataclass(frozen=True)
class Page:
    """A page, what its address holds, and the store beside which the large one is measured."""

    title: str
    name: str
    beside: str
    query: Mapping[str, str]


class Visitor:
    """A process that opens pages on one store. `Here` is one without a process: quicker to begin with, it measures nothing."""

    def __init__(self, home: Path) -> None:
        given = {**os.environ, "COURTROOM_HOME": str(home)}
        given.pop("COURTROOM_DATABASE", None)
        self._process = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, "--visit"],
            cwd=ROOT, env=given, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def opened(self, page: Page) -> tuple[float, float]:
        """Seconds in a new session, and in the same session again."""
        assert self._process.stdin is not None
        print(json.dumps({"name": page.name, "query": page.query}), file=self._process.stdin, flush=True)
        fresh, warm = json.loads(self._process.stdout.readline())
        return fresh, warm

    def close(self) -> None:
        self._process.communicate()


class Here(Visitor):
    def __init__(self, home: Path) -> None:
        self._home = home

    def opened(self, page: Page) -> tuple[float, float]:
        from pages.parts.shared.house import courthouse

        os.environ["COURTROOM_HOME"] = str(self._home)
        took = opened(page.name, page.query)
        courthouse().close()
        return took

    def close(self) -> None: ...


def opened(name: str, query: Mapping[str, str]) -> tuple[float, float]:
    """Open a page in a new session and again in the same; the seconds of both."""
    from streamlit.testing.v1 import AppTest

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600)
    app.switch_page(f"pages/{name}.py")
    for key, value in query.items():
        app.query_params[key] = value

    def look() -> None:
        app.run()
        assert not app.exception, app.exception

    return timed(look)[0], timed(look)[0]


def measure(
    stores: Mapping[str, Path], pages: list[Page], looks: int, kind: type[Visitor] = Visitor, before: int = 1
) -> list[str]:
    """Open all pages in turn, so many times; a line for each page. Before that it does not count, as modules are loaded then."""
    first, took = defaultdict[str, list[float]](list), defaultdict[tuple[str, str, str], list[float]](list)
    for _ in range(min(3, looks)):
        for name, home in stores.items():
            with closing(kind(home)) as alone:
                first[name].append(timed(partial(alone.opened, Page("", "runs", "", {})))[0])
    with ExitStack() as stack:
        found = {name: stack.enter_context(closing(kind(home))) for name, home in stores.items()}
        for look in range(before + looks):
            for page in pages:
                for store in (page.beside, BIG):
                    for how, seconds in zip(FRESH_WARM, found[store].opened(page), strict=True):
                        if look >= before:
                            took[page.title, how, store].append(seconds)
    lines = [_line("Runs in a new process", "", EMPTY, first[EMPTY], first[BIG])]
    for page in pages:
        for how in FRESH_WARM[: 1 if page.beside == EMPTY else 2]:
            beside, big = (took[page.title, how, store] for store in (page.beside, BIG))
            lines.append(_line(page.title, how, page.beside, beside, big))
    return lines


def _line(title: str, how: str, name: str, beside: list[float], big: list[float]) -> str:
    small, large = median(beside), median(big)
    sign = "" if large <= BAR * small else f", above {BAR:g}"
    return f"{title:24}{how:6}{name:>6} {small:7.3f} s    big {large:7.3f} s    ratio {large / small:.2f}{sign}"


def pages_of(heard: Mapping[str, Any]) -> list[Page]:
    large, other, experiment = heard["large"], heard["other"], heard["experiments"][0]
    return [
        Page("Runs", "runs", EMPTY, {}),
        Page("Runs", "runs", FEW, {}),
        Page("Experiments", "experiments", EMPTY, {}),
        Page("Deliberation", "deliberation", FEW, {"run": large}),
        Page("Compare", "compare", FEW, {"runs": f"{large},{other}"}),
        Page("What if", "what_if", FEW, {}),
        Page("One experiment", "experiments", FEW, {"experiment": experiment}),
    ]


def main() -> None:
    given = options(runs=10_000, answers=1_000_000, looks=9, store="", visit=False)
    if given.visit:  # pages as they are wanted on standard input, the seconds on standard output
        for line in sys.stdin:
            print(json.dumps(opened(**json.loads(line))), flush=True)
        return
    from tests.benchmarks.write_big_store import write

    runs, answers, *how = (100, 1_500, 1, Here, 0) if given.tiny else (given.runs, given.answers, given.looks)
    with tempfile.TemporaryDirectory() as folder:
        whole, empty = Path(given.store or f"{folder}/whole"), Path(folder) / EMPTY
        if not given.store:
            write(whole, runs, answers, tiny=given.tiny)
        empty.mkdir()
        heard = json.loads((whole / "heard.json").read_text())
        stores = {EMPTY: empty, FEW: whole / FEW, BIG: whole / BIG}
        for line in measure(stores, pages_of(heard), *how):
            print(line, flush=True)


if __name__ == "__main__":
    main()
