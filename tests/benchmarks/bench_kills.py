"""Experiments killed twice against unbroken ones: `python -m tests.benchmarks.bench_kills`.

Three experiments run offline by one shell command each: 300 criminal cases under three arms, 500 labelled texts under four
structures, and all sample disputes with five repeats. Real records come from COURTROOM_REAL_DATA; `--tiny` takes a few disputes and
nothing else. Each experiment is killed with SIGKILL twice, at about a third and two thirds of its answers, and
gone on with by `experiment resume`. Printed are: whether its cells and its table equal an unbroken experiment's, and how many questions
were asked although their answers were on record.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from courtroom.settings import DATA
from tests.real import FOLDER

SHELL = """
import os, sys
from courtroom.models.offline import OfflineModel
asked = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
answer = OfflineModel.answer
async def counted(self, request, watch=None):
    os.write(asked, f"{request.key}\\n".encode())
    return await answer(self, request, watch)
OfflineModel.answer = counted
from courtroom.__main__ import main
sys.argv[1:] = sys.argv[2:]
main()
"""
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
arm = [{{ name = "jury", procedure = "cyberjurors" }}, {{ name = "debate", procedure = "debate" }}]
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
    few = ", sample = 1" if tiny else ""
    disputes = Study("disputes", DISPUTES.format(part=few), ("import", str(voted(folder)), "--name", "disputes"))
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

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """A shell command in a process group of its own."""
        return subprocess.Popen(
            [sys.executable, "-c", SHELL, str(self.log), *arguments],
            env=os.environ | {"COURTROOM_HOME": str(self.home), "PYTHONPATH": os.getcwd()},
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True,
        )  # fmt: skip

    def shell(self, *arguments: str) -> str:
        """A shell command's output.

        Raises:
            RuntimeError: it failed.
        """
        process = self.begin(*arguments)
        output, _ = process.communicate()
        if process.returncode:
            raise RuntimeError(f"{' '.join(arguments)}\n{output}")
        return output

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


def killed_at(store: Store, process: subprocess.Popen[str], answers: int) -> bool:
    """Kill the process once so many questions have been asked; whether it was still alive."""
    while process.poll() is None:
        if len(store.asked()) >= answers:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
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
        process = broken.begin("experiment", *command)
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
