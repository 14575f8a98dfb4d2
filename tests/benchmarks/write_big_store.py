"""Writes a large store in a few minutes: `python -m tests.benchmarks.write_big_store FOLDER`. The store is the home `FOLDER/big`.

The store goes to the PostgreSQL database of `COURTROOM_DATABASE` where that is set; the folder then holds what is beside it. Some
runs are really heard by the offline model: of several procedures and cases, with an intervention, a fork, a what-if and experiments.
The others are copies of their rows, each with a run's id and answers' keys of its own, made within the database. Half of all runs
are cells of experiments. `--answers` says how many the runs have together.
"""

import json
import shutil
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.engine.interventions import AddNote
from courtroom.experiments.spec import parsed
from courtroom.experiments.store import StoredCell
from courtroom.experiments.what_if import evidence_left_out
from courtroom.questions.marks import Mark
from courtroom.settings import Settings, from_environment
from courtroom.store.connection import StoreConnection
from tests.benchmarks.tables import options
from tests.driving import done, drive

SMALL = {"jury_size": 3, "rounds": 1}
HEARINGS: tuple[tuple[str, str, dict[str, int]], ...] = (
    ("cyberjurors", "oak-table", SMALL),
    ("debate", "vacuum-charging", {}),
    ("discussion", "handbag-authentic", {}),
    ("verdict", "criminal-bus-wallet", {}),
    ("jurisagents", "criminal-card-room", {}),
    ("juris", "news-night-bus", {}),
    ("courtroom-llm", "message-feeling", {}),
)
LARGE = {"jury_size": 25, "rounds": 4}
ARMS = (
    {"name": "debate", "procedure": "debate"},
    {"name": "jury", "procedure": "cyberjurors", "set": SMALL},
)
A_PAGE = 25
"""So many short hearings fill the first page of a list, on the small store too."""
SHARES = (0.4, 0.08, 0.02)
"""Of all runs, so many are cells of each experiment."""
SEVERAL = 4
"""Cells of each arm that are really heard."""
DATASET = "disputes"
END = 8
"""Characters of an answer's key that a copy has instead of the original's."""
MARK = "@" * END
AT_ONCE = 200
"""Runs that are copied in one transaction."""


@dataclass(frozen=True)
class Group:
    """Runs that are copied together: one alone, a run with its fork, or all runs of a what-if."""

    runs: tuple[str, ...]
    answers: int
    """A fork is served those of its parent."""
    what_if: str = ""

    @property
    def mean(self) -> float:
        return self.answers / len(self.runs)


@dataclass(frozen=True)
class Heard:
    """What was really heard."""

    large: str
    """Two runs on one case, of about 350 answers each."""
    other: str
    first: str
    """A small experiment whose cells were really heard."""
    experiments: tuple[str, ...]
    """What is copied from it, the largest first."""
    groups: tuple[Group, ...]


def hear(house: Courthouse, runs: int, *, tiny: bool = False) -> Heard:
    """Have the offline model hear what is copied later, and plan the experiments. `runs`: in the end, cells included."""
    plain = [_heard(house, procedure, case, given, 0) for procedure, case, given in HEARINGS[: 2 if tiny else None]]
    plain += [_heard(house, *HEARINGS[1], seed) for seed in range(1, 3 if tiny else A_PAGE)]
    jury = SMALL if tiny else LARGE
    large, other = (_heard(house, "cyberjurors", "phone-battery", jury, seed) for seed in range(2))
    note = AddNote(text="Mind the seal.")
    told = house.interventions.planned(record := house.record(plain[0]), [note], "Ada", None)
    fork = drive(house, house.fork(plain[0], record.setup, interventions=told))
    house.marks.put(plain[0], Mark(reviewer="Ada", star=True, tags=("odd",)))
    variants = evidence_left_out(house.library.case("oak-table"))[:3]
    lab = house.experiments
    what_if = done(house, lab.what_ifs.experiment(plain[0], variants, (0,))).kept.id
    changed = [cell.run for cell in lab.store.cells(what_if) if cell.run]
    rows = [max(SEVERAL, round(runs * share / len(ARMS))) for share in SHARES]
    cases = [house.library.case(one.id) for one in house.library.cases() if one.kind == "dispute"]
    named = ((f"dispute-{number:05d}", cases[number % len(cases)]) for number in range(max(rows)))
    house.datasets.add(DATASET, (Row(id=name, case=case.model_copy(update={"id": name})) for name, case in named))
    first = lab.go(_experiment(house, "first", SEVERAL))
    lab.wait(first)
    experiments = tuple(_experiment(house, f"disputes-{number}", count) for number, count in enumerate(rows))
    outcomes = "UPDATE experiment_cells SET state = 'done', outcome = ? WHERE experiment = ? AND arm = ?"
    for name in experiments:  # every cell comes to what the cell of its arm came to that was heard
        for arm, cell in _templates(house, first).items():
            house.database.connection.execute(outcomes, (cell.outcome.model_dump_json(), name, arm))
        lab.store.set_status(name, "done")
    groups = (
        *(_group(house, (run,)) for run in (*plain[1:], large, other)),
        _group(house, (plain[0], fork)),
        _group(house, (plain[0], *changed), what_if),
    )
    return Heard(large, other, first, experiments, groups)


class _Copies:
    def __init__(self, house: Courthouse, heard: Heard) -> None:
        self._house, self._heard, self._number = house, heard, 0
        self._waiting: list[tuple[object, ...]] = []

    def all(self, runs: int, answers: int) -> Iterator[str]:
        """Copy until the store has so many runs and answers, about; says how far it is."""
        db = self._house.database.connection
        if self._house.database.name == "SQLite":
            db.execute("PRAGMA synchronous=OFF")  # a store that a power cut damages is written again
        for script in _SCRATCH:
            db.execute(script)
        for name in self._heard.experiments:
            self._cells(name)
            yield from self._written(name)
        while (there := _count(db, "runs")) < runs:
            for group in self._chosen(there, runs, _count(db, "answers"), answers):
                self._plan(group)
            yield from self._written("runs")
        for table in ("copies", "copied_events", "copied_answers", "copied_payments"):
            db.execute(f"DROP TABLE {table}")

    def _chosen(self, there: int, runs: int, answered: int, answers: int) -> Iterator[Group]:
        """Groups for the next transaction, so that the mean of answers comes to what is wanted."""
        mean = (answers - answered) / (runs - there)
        groups = self._heard.groups
        heavy = [group for group in groups if group.mean > mean] or [max(groups, key=lambda one: one.mean)]
        light = [group for group in groups if group not in heavy] or heavy
        made = count = 0
        while count < min(AT_ONCE, runs - there):
            of = heavy if made <= mean * count else light
            group = of[self._number % len(of)]
            yield group
            made, count = made + group.answers, count + len(group.runs)

    def _ending(self) -> str:
        self._number += 1
        return f"{self._number:0{END}x}"

    def _plan(self, group: Group) -> None:
        ending = self._ending()
        for run in group.runs:
            row = self._house.store.run(run)
            parent = f"{row.parent}-{ending}" if row.parent in group.runs else None
            self._waiting.append((run, f"{run}-{ending}", ending, parent, row.case_id, row.title))
        if group.what_if:
            self._waiting.append((group.what_if, f"{group.what_if}-{ending}", ending, group.runs[0], "", ""))

    def _cells(self, name: str) -> None:
        store = self._house.experiments.store
        for arm, template in _templates(self._house, self._heard.first).items():
            for cell in store.cells(name, arm=arm):
                named = (cell.row, f"Dispute {cell.row}")
                self._waiting.append((template.run, cell.run, self._ending(), None, *named))

    def _written(self, what: str) -> Iterator[str]:
        """Have the database copy what is planned."""
        db = self._house.database
        for start in range(0, len(self._waiting), AT_ONCE):
            some = self._waiting[start : start + AT_ONCE]
            with db.transaction() as connection:
                connection.execute("DELETE FROM copies")
                connection.executemany(
                    "INSERT INTO copies (template, run, ending, parent, case_id, title) VALUES (?, ?, ?, ?, ?, ?)", some
                )
                for template in {run for run, *_, case, _ in some if case}:
                    self._take_apart(connection, template)
                for table, how in _COPIED.items():
                    _copy(connection, table, *how)
            yield f"{what}: {start + len(some):,} copies"
        self._waiting = []

    def _take_apart(self, db: StoreConnection, run: str) -> None:
        """Write a run's rows where they are copied from, with a mark in place of the end of each answer's key."""
        if db.execute("SELECT 1 FROM copied_events WHERE run = ? LIMIT 1", (run,)).fetchone():
            return
        keys = sorted({key for call in self._house.record(run).calls for key in call.keys})
        for row in db.execute("SELECT * FROM events WHERE run = ? ORDER BY seq", (run,)).fetchall():
            fields = {**dict(row)}
            for key in keys:
                fields["body"] = fields["body"].replace(key, key[:-END] + MARK)
            named = ", ".join(f":{name}" for name in _EVENTS.split(", "))
            db.execute(f"INSERT INTO copied_events ({_EVENTS}) VALUES ({named})", fields)
        for key in keys:
            kept = "model, request, reply, at"
            of_answers = f"SELECT ?, ?, {kept} FROM answers WHERE key = ?"
            db.execute(f"INSERT INTO copied_answers (run, key, {kept}) {of_answers}", (run, key[:-END], key))
        paid = _PAYMENTS.replace("key", f"substr(key, 1, length(key) - {END})")
        db.execute(f"INSERT INTO copied_payments ({_PAYMENTS}) SELECT {paid} FROM payments WHERE run = ?", (run,))


_EVENTS = "run, generation, overtaken, stage, kind, path, key, at, body"
_PAYMENTS = "run, path, key, calls, attempts, prompt, completion, cost, at, beside"
_SCRATCH = (
    "CREATE TABLE copies (template TEXT, run TEXT, ending TEXT, parent TEXT, case_id TEXT, title TEXT)",
    "CREATE TABLE copied_answers (run TEXT, key TEXT, model TEXT, request TEXT, reply TEXT, at DOUBLE PRECISION)",
    f"CREATE TABLE copied_events AS SELECT {_EVENTS} FROM events WHERE run = ''",
    f"CREATE TABLE copied_payments AS SELECT {_PAYMENTS} FROM payments WHERE run = ''",
    *(f"CREATE INDEX {name}_by_run ON {name} (run)" for name in ("copied_answers", "copied_events", "copied_payments")),
)
"""Where rows are copied from, in the store itself for as long as it is written."""
_END = "|| '-' || copies.ending"
_NAMES = {"case_id": "copies.case_id", "title": "copies.title", "parent": "coalesce(copies.parent, made.parent)"}
_BASE = {"parent": f"copies.parent {_END}", "body": f"replace(made.body, copies.parent, copies.parent {_END})"}
_COPIED: dict[str, tuple[str, str, dict[str, str]]] = {
    "runs": ("runs", "id", {**_NAMES, "number": ""}),
    "events": ("copied_events", "run", {"body": f"replace(made.body, '{MARK}', copies.ending)"}),
    "answers": ("copied_answers", "run", {"run": "", "key": "made.key || copies.ending"}),
    "payments": ("copied_payments", "run", {"key": "made.key || copies.ending"}),
    **{name: (name, "run", {}) for name in ("interventions", "rewinds", "marks")},
    "experiments": ("experiments", "id", {**_BASE, "number": ""}),
    "experiment_cells": (
        *("experiment_cells", "experiment"),
        {"run": f"CASE WHEN made.run = '' THEN '' ELSE made.run {_END} END"},
    ),
}
"""Each table with where its rows are copied from, the column that says of what they are, and what a copy has in place of the same:
nothing where that is empty."""


def _copy(db: StoreConnection, table: str, source: str, of: str, new: Mapping[str, str]) -> None:
    """Have the rows copied of all that is planned."""
    if row := db.execute(f"SELECT * FROM {source} LIMIT 1").fetchone():
        there = {**{name: f"made.{name}" for name in row.keys()}, of: "copies.run", **new}  # noqa: SIM118
        given = {name: told for name, told in there.items() if told}
        db.execute(
            f"INSERT INTO {table} ({', '.join(given)}) SELECT {', '.join(given.values())} FROM copies CROSS JOIN {source} AS made"
            f" WHERE made.{of} = copies.template ON CONFLICT DO NOTHING"
        )


def _count(db: StoreConnection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def _heard(house: Courthouse, procedure: str, case: str, given: dict[str, int], seed: int) -> str:
    setup = house.procedures[procedure].setup.model_validate(given)
    return drive(house, house.new_run(procedure, house.library.case(case), setup, seed))


def _group(house: Courthouse, runs: tuple[str, ...], what_if: str = "") -> Group:
    return Group(runs, len({key for run in runs for call in house.record(run).calls for key in call.keys}), what_if)


def _templates(house: Courthouse, first: str) -> dict[int, StoredCell]:
    return {cell.arm: cell for cell in house.experiments.store.cells(first, "done")}


def _experiment(house: Courthouse, name: str, rows: int) -> str:
    """Plan one over the first so many disputes; its id."""
    given = {"name": name, "dataset": {"name": DATASET, "limit": rows}, "arms": list(ARMS)}
    return house.experiments.begin(parsed(given, name))


def write(folder: Path, runs: int, answers: int, *, tiny: bool = False) -> None:
    """Write `big`, `few`, which has only what was really heard and planned, and `heard.json`, which names it."""
    began = time.monotonic()
    settings = Settings(home=folder / "big", server=from_environment().server)
    house = Courthouse(settings)
    heard = hear(house, runs, tiny=tiny)
    (folder / "heard.json").write_text(json.dumps(asdict(heard)), encoding="utf-8")
    house.close()
    shutil.copytree(settings.home, folder / "few")
    house = Courthouse(settings)
    for line in _Copies(house, heard).all(runs, answers):
        print(f"{time.monotonic() - began:6.1f} s  {line}", flush=True)
    db = house.database.connection
    print(", ".join(f"{_count(db, table):,} {table}" for table in ("runs", "answers", "events", "experiment_cells")))
    house.close()


def main() -> None:
    given = options("folder", runs=10_000, answers=1_000_000)
    write(Path(given.folder), *((100, 1_500) if given.tiny else (given.runs, given.answers)), tiny=given.tiny)


if __name__ == "__main__":
    main()
