"""Experiments killed twice against unbroken ones: `python -m tests.benchmarks.bench_kills`.

Three experiments run offline by one shell command each: 300 criminal cases under three arms, 500 labelled texts under
four structures, and all sample disputes with five repeats. Real records come from COURTROOM_REAL_DATA; `--only disputes`
needs none. Each experiment is killed with SIGKILL twice, at about a third and two thirds of its
answers, and gone on with by `experiment resume`. Printed are: whether its cells and its table equal an unbroken
experiment's, and how many questions were asked although their answers were on record.
"""

import json
import os
import random
import sqlite3
import tempfile
import time
from pathlib import Path

import pandas as pd

from courtroom.settings import DATA
from tests import forks
from tests.benchmarks.counted_shell import counted
from tests.benchmarks.tables import needed_data, options

OWN = {"run", "seconds", "wall_s", "latency_s", "created", "cell", "asked"}
"""Columns that differ between any two experiments: ids, times, and which of two cells asked what both want to know."""
CRIMINAL = """
name = "criminal"
measures = ["charge_accuracy", "charge_f1", "article_accuracy", "article_f1", "log_distance"]
dataset = { name = "lawbench", sample = 300 }
arm = [
    { name = "one model", procedure = "jurisagents", set = { variant = "single-model" } },
    { name = "two instances", procedure = "jurisagents" },
    { name = "verified", procedure = "verdict" },
]
"""
TEXTS = """
name = "texts"
measures = ["accuracy", "macro_f1"]
dataset = { name = "emotion", sample = 500 }
""" + "".join(
    f'[[arm]]\nname = "{one}"\nprocedure = "courtroom-llm"\nset = {{ structure = "{one}" }}\n'
    for one in ("single", "multiple", "sequential", "parallel")
)
DISPUTES = """
name = "disputes"
repeats = 5
measures = ["accuracy", "votes_mae"]
dataset = { name = "disputes" }
arm = [{ name = "jury", procedure = "cyberjurors" }, { name = "debate", procedure = "debate" }]
"""


def voted(folder: Path) -> Path:
    """The sample disputes without their pictures, with an invented jury's votes."""
    draw, file = random.Random(0), folder / "disputes.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for path in sorted((DATA / "cases").glob("*/case.json")):
            case = json.loads(path.read_text(encoding="utf-8"))
            if case["kind"] == "dispute":
                evidence = [{**piece, "media": []} for piece in case["evidence"]]
                jury = {"buyer": (buyer := draw.randint(0, 17)), "seller": 17 - buyer}
                lines.write(json.dumps({**case, "evidence": evidence, "jury": jury}) + "\n")
    return file


def studies(folder: Path, only: str) -> dict[str, tuple[str, Path]]:
    """By name: each experiment's file, and what its dataset is imported from."""
    disputes = {"disputes": (DISPUTES, voted(folder))}
    if only == "disputes":
        return disputes
    records = needed_data()
    emotion = records / "classification" / "emotion.train.txt"
    return {"criminal": (CRIMINAL, records / "lawbench"), "texts": (TEXTS, emotion)} | disputes


class Store:
    """One folder with a store, and the shell over it."""

    def __init__(self, home: Path) -> None:
        self.home, self.log = home, home / "asked"
        home.mkdir()
        self.log.touch()

    def begin(self, *arguments: str) -> forks.Fork:
        """A shell command in a process of its own."""
        environment = os.environ | {"COURTROOM_HOME": str(self.home)}
        return forks.Fork(counted, str(self.log), *arguments, environment=environment)

    def shell(self, *arguments: str) -> str:
        """A shell command's output."""
        with self.begin(*arguments) as process:
            done = process.finish()
        assert not done.returncode, f"{' '.join(arguments)}\n{done.stdout}{done.stderr}"
        return done.stdout

    def asked(self) -> list[str]:
        """The keys of all questions that the offline model was asked, in order."""
        return self.log.read_text().split()

    def answered(self) -> set[str]:
        """The keys of all answers on disk."""
        with sqlite3.connect(self.home / "courtroom.sqlite", timeout=60) as database:
            return {key for (key,) in database.execute("SELECT key FROM answers")}

    def results(self, name: str) -> tuple[pd.DataFrame, str]:
        """The cells, without what differs between any two experiments, and the table in Markdown."""
        files = [self.home / "cells.csv", self.home / "table.md"]
        for file in files:
            self.shell("experiment", "export", name, "--to", str(file))
        cells = pd.read_csv(files[0], dtype=str, keep_default_na=False)
        return cells.drop(columns=[*OWN], errors="ignore"), files[1].read_text()


def killed_at(store: Store, process: forks.Fork, answers: int) -> bool:
    """Kill the process once so many questions have been asked; whether it was still alive."""
    while process.returncode is None:
        if len(store.asked()) >= answers:
            process.kill()
            return True
        time.sleep(0.01)
    return False


def tried(name: str, toml: str, dataset: Path, folder: Path) -> None:
    """Run one experiment unbroken and broken, and print how they compare."""
    file = folder / f"{name}.toml"
    file.write_text(toml, encoding="utf-8")
    whole, broken = (Store(folder / f"{name}-{which}") for which in ("whole", "broken"))
    for store in (whole, broken):
        named = () if dataset.is_dir() else ("--name", dataset.name.partition(".")[0])
        store.shell("datasets", "import", str(dataset), *named)
    began = time.perf_counter()
    whole.shell("experiment", "run", str(file))
    (unbroken, table), total = whole.results(name), len(whole.asked())
    print(f"{name}: {len(unbroken):,} cells, {total:,} questions, {time.perf_counter() - began:.0f} s unbroken")
    again = 0
    for third, command in enumerate((("run", str(file)), ("resume", name), ("resume", name)), 1):
        known, before = broken.answered(), len(broken.asked())
        if third == 3:
            broken.shell("experiment", *command)
        else:
            with broken.begin("experiment", *command) as process:
                if not killed_at(broken, process, total * third // 3):
                    print("  IT ENDED BEFORE IT WAS KILLED")
            print(f"  killed with {len(broken.answered()):,} answers on record")
        again += len(known & set(broken.asked()[before:]))
    cells, its_table = broken.results(name)
    keys = [key for key in ("arm", "row", "repeat") if key in cells]
    one, other = (frame.sort_values(keys, ignore_index=True) for frame in (unbroken, cells))
    apart = [str(column) for column in one if not one[column].equals(other[column])]
    same = "yes" if its_table == table else "NO"
    print(f"  cells equal: {'yes' if not apart else f'NO, {apart}'}; table equal: {same}")
    print(f"  asked although on record: {again}; on record: {len(broken.answered()):,} and {len(whole.answered()):,}")


def main() -> None:
    only = options(only="").only
    with tempfile.TemporaryDirectory() as folder:
        for name, (toml, dataset) in studies(Path(folder), only).items():
            if only in ("", name):
                tried(name, toml, dataset, Path(folder))


if __name__ == "__main__":
    main()
