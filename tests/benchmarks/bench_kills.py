"""Experiments killed twice against unbroken ones: `python -m tests.benchmarks.bench_kills`.

Three experiments run offline by one shell command each: 300 criminal cases under three arms, 500 labelled texts under four
structures, and all sample disputes with five repeats. Real records come from COURTROOM_REAL_DATA; `--tiny` takes a few disputes and
nothing else. Each experiment is killed with SIGKILL twice, at about a third and two thirds of its answers, and
gone on with by `experiment resume`. Printed are: whether its cells and its table equal an unbroken experiment's, and how many questions
were asked although their answers were on record.
"""

import argparse
import json
import os
import random
import sqlite3
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from courtroom.settings import DATA
from tests import forks
from tests.benchmarks.counted_shell import counted
from tests.real import FOLDER

OWN = {"run", "seconds", "wall_s", "latency_s", "created", "cell", "asked"}
"""Columns that differ between any two experiments: ids, times, and which of two cells asked what both want to know."""


@dataclass(frozen=True)
class Study:
    """One experiment: its file, and the shell command that has its dataset in the store."""

    name: str
    toml: str
    dataset: tuple[str, ...]


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
arm = [
    { name = "single", procedure = "courtroom-llm", set = { structure = "single" } },
    { name = "multiple", procedure = "courtroom-llm", set = { structure = "multiple" } },
    { name = "sequential", procedure = "courtroom-llm", set = { structure = "sequential" } },
    { name = "parallel", procedure = "courtroom-llm", set = { structure = "parallel" } },
]
"""
DISPUTES = """
name = "disputes"
repeats = 5
measures = ["accuracy", "votes_mae"]
dataset = {{ name = "disputes"{part} }}
arm = [{{ name = "jury", procedure = "cyberjurors"{jury} }}, {{ name = "debate", procedure = "debate" }}]
"""


def voted(folder: Path) -> Path:
    """The sample disputes without their pictures, with an invented jury's votes."""
    draw = random.Random(0)
    file = folder / "disputes.jsonl"
    with file.open("w", encoding="utf-8") as lines:
        for path in sorted((DATA / "cases").glob("*/case.json")):
            case = json.loads(path.read_text(encoding="utf-8"))
            if case["kind"] == "dispute":
                for piece in case["evidence"]:
                    piece["media"] = []
                buyer = draw.randint(0, 17)
                lines.write(json.dumps({**case, "jury": {"buyer": buyer, "seller": 17 - buyer}}) + "\n")
    return file


def studies(folder: Path, tiny: bool) -> list[Study]:
    """The three experiments, or a few cells of the last."""
    part, jury = (", sample = 1", ", set = { jury_size = 5 }") if tiny else ("", "")
    disputes = Study(
        "disputes", DISPUTES.format(part=part, jury=jury), ("import", str(voted(folder)), "--name", "disputes")
    )
    emotion = ("import", str(FOLDER / "classification" / "emotion.train.txt"), "--name", "emotion")
    if tiny:
        return [disputes]
    return [Study("criminal", CRIMINAL, ("import", str(FOLDER / "lawbench"))), Study("texts", TEXTS, emotion), disputes]


class Store:
    """One folder with a store, and the shell over it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        home.mkdir()
        self.log = home / "asked"
        self.log.touch()

    def begin(self, *arguments: str) -> forks.Fork:
        """A shell command in a process of its own."""
        return forks.Fork(
            counted, str(self.log), *arguments, environment=os.environ | {"COURTROOM_HOME": str(self.home)}
        )

    def shell(self, *arguments: str) -> str:
        """A shell command's output.

        Raises:
            RuntimeError: it failed.
        """
        with self.begin(*arguments) as process:
            done = process.finish()
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}\n{done.stdout}{done.stderr}")
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
        self.shell("experiment", "export", name, "--to", str(self.home / "cells.csv"))
        self.shell("experiment", "export", name, "--to", str(self.home / "table.md"))
        cells = pd.read_csv(self.home / "cells.csv", dtype=str, keep_default_na=False)
        cells = cells.drop(columns=[column for column in cells if column in OWN])
        return cells, (self.home / "table.md").read_text()


def killed_at(store: Store, process: forks.Fork, answers: int) -> bool:
    """Kill the process once so many questions have been asked; whether it was still alive."""
    while process.returncode is None:
        if len(store.asked()) >= answers:
            process.kill()
            return True
        time.sleep(0.01)
    return False


def tried(study: Study, folder: Path) -> None:
    """Run one experiment unbroken and broken, and print how they compare."""
    file = folder / f"{study.name}.toml"
    file.write_text(study.toml, encoding="utf-8")
    stores = {name: Store(folder / f"{study.name}-{name}") for name in ("whole", "broken")}
    for store in stores.values():
        store.shell("datasets", *study.dataset)
    whole, broken = stores.values()
    began = time.perf_counter()
    whole.shell("experiment", "run", str(file))
    unbroken, table = whole.results(study.name)
    total = len(whole.asked())
    print(f"{study.name}: {len(unbroken):,} cells, {total:,} questions, {time.perf_counter() - began:.0f} s unbroken")
    again = 0
    command = ("run", str(file))
    for share in (1 / 3, 2 / 3):
        known, before = broken.answered() if broken.asked() else set(), len(broken.asked())
        with broken.begin("experiment", *command) as process:
            if not killed_at(broken, process, int(total * share)):
                print("  IT ENDED BEFORE IT WAS KILLED")
        again += len(known & set(broken.asked()[before:]))
        print(f"  killed with {len(broken.answered()):,} answers on record")
        command = ("resume", study.name)
    known, before = broken.answered(), len(broken.asked())
    broken.shell("experiment", *command)
    again += len(known & set(broken.asked()[before:]))
    cells, its_table = broken.results(study.name)
    keys = ["arm", "row", "repeat"]
    keys = [key for key in keys if key in cells]
    one, other = (frame.sort_values(keys, ignore_index=True) for frame in (unbroken, cells))
    apart = [str(column) for column in one if not one[column].equals(other[column])]
    print(
        f"  cells equal: {'yes' if not apart else f'NO, {apart}'}; table equal: {'yes' if its_table == table else 'NO'}"
    )
    print(f"  asked although on record: {again}; on record: {len(broken.answered()):,} and {len(whole.answered()):,}")
    if study.name == "disputes":
        found = json.loads(broken.shell("experiment", "results", study.name, "--json"))
        print("  Cochran's Q over repeats:", {arm: one["repeats"] for arm, one in found["steady"].items()})


def main() -> None:
    """Each experiment in turn."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tiny", action="store_true")
    parser.add_argument("--only", choices=["criminal", "texts", "disputes"])
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for study in studies(Path(folder), given.tiny):
            if given.only in (None, study.name):
                tried(study, Path(folder))


if __name__ == "__main__":
    main()
