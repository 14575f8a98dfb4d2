"""What it costs to import a large dataset: `python -m tests.benchmarks.bench_import`.

Invented records in CAIL2018's form are written to one file. A process imports them and is killed with SIGKILL in the
middle; a second one goes on to the end. Printed are rows a second, the peak of memory, and whether each record is there
just once.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests import forks
from tests.benchmarks.bench_retrieval import invented
from tests.benchmarks.tables import options, timed

Program = Callable[..., subprocess.CompletedProcess[str]]
"""Has a program run in a process."""
IMPORT = """
import os, resource, signal, sys, time
from courtroom.courthouse import Courthouse
from courtroom.datasets.importing import Order
from courtroom.settings import Settings
from pathlib import Path
home, source, last = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
house = Courthouse(Settings(home=home))
def progress(taken, refused, share):
    if last and taken >= last:
        os.kill(os.getpid(), signal.SIGKILL)
began = time.perf_counter()
done = house.dataset_imports.run(Order(source=source, name="cail"), progress)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(done.info.count, done.refused, time.perf_counter() - began, peak)
house.close()
"""


def written(path: Path, count: int) -> None:
    """Records in CAIL2018's form, of about 300 Chinese characters each."""
    draw = random.Random(0)
    some = invented(min(count, 2_000), 0)
    with path.open("w", encoding="utf-8") as file:
        for number in range(count):
            meta = {"relevant_articles": [264], "accusation": ["盗窃"], "criminals": ["张某"]}
            term = {"death_penalty": False, "life_imprisonment": False, "imprisonment": draw.randrange(1, 120)}
            meta |= {"punish_of_money": draw.choice([0, 2000]), "term_of_imprisonment": term}
            row = {"fact": f"{some[number % len(some)]}案号{number}。", "meta": meta}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def new(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    """A program in a new interpreter, to its end."""
    command, environment = [sys.executable, "-c", code, *words], os.environ | {"PYTHONPATH": os.getcwd()}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


def run(does: Program, home: Path, source: Path, last: int = 0) -> list[float]:
    """An import in a process of its own, which dies once so many rows are in; else rows, refused ones, seconds and
    megabytes."""
    done = does(IMPORT, str(home), str(source), str(last))
    assert done.returncode == (-signal.SIGKILL if last else 0), done.stderr
    return [*map(float, done.stdout.split())]


def kept(home: Path) -> tuple[str, list[int]]:
    """Which version of the records is there, and their numbers."""
    with closing(Courthouse(Settings(home=home))) as house:
        return house.datasets.info("cail").version, [row.number for row in house.datasets.rows("cail")]


def main() -> None:
    given = options(records=100_000)
    count, does = (1_500, forks.program) if given.tiny else (given.records, new)
    with tempfile.TemporaryDirectory() as folder:
        home, other, source = (Path(folder) / name for name in ("home", "other", "cail.jsonl"))
        written(source, count)
        print(f"{count:,} records, {source.stat().st_size / 2**20:.0f} MB")
        print(f"killed after {timed(lambda: run(does, home, source, count // 2))[0]:.1f} s")
        rows, refused, seconds, peak = run(does, home, source)
        told = f"{rows:,.0f} rows, {refused:,.0f} refused, at most {peak:,.0f} MB of memory"
        print(f"gone on with in {seconds:.1f} s: {told}")
        version, numbers = kept(home)
        print("each record once, in its order" if numbers == [*range(count)] else "RECORDS ARE LOST OR DOUBLED")
        _, _, seconds, peak = run(does, other, source)
        print(f"unbroken: {seconds:.1f} s, {count / seconds:,.0f} rows a second, at most {peak:,.0f} MB of memory")
        print(f"the same version: {'yes' if kept(other)[0] == version else 'NO'}")


if __name__ == "__main__":
    main()
