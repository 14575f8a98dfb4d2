"""Both databases answer alike to one full store, and no page reads a whole table of what grows with every run."""

import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from pydantic import SecretStr

from courtroom.courthouse import Courthouse
from courtroom.evaluation.run_list import ORDERS, RunFilter, RunList
from courtroom.experiments.outcome import Outcome
from courtroom.knowledge.bases import known_bases
from courtroom.questions.asides import Cost
from courtroom.questions.marks import Mark
from courtroom.settings import Settings
from courtroom.store.opening import open_store
from courtroom.store.sqlite import SqliteStore
from courtroom.upkeep.backup import move
from tests.full_store import full_store
from tests.pages import page
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory, postgres: PostgresServer) -> Iterator[tuple[Courthouse, Courthouse]]:
    """The same full store in both databases."""
    home, address = tmp_path_factory.mktemp("both") / "home", SecretStr(postgres.fresh())
    shutil.copytree(full_store()[0], home)
    house = Courthouse(Settings(home=home))
    run = full_store()[1]
    house.marks.put(run, Mark(reviewer="Bo", star=True, tags=("odd", "clear")))
    house.marks.put(run, Mark(reviewer="Cy", tags=("odd",)))
    (experiment,) = house.experiments.store.experiments(what_ifs=False)
    cell = next(house.experiments.store.cells(experiment.id))
    unknown = {name: None for name, field in Outcome.model_fields.items() if field.is_required()}
    took = {"asked": 3, "prompt_tokens": 20, "completion_tokens": 4, "cost": 0.25}
    house.experiments.store.conclude(experiment.id, cell.number, Outcome.model_construct(**{**unknown, **took}))
    target = open_store(address)
    move(house.database, target)
    target.close()
    other = Courthouse(Settings(home=home, server=address))
    yield house, other
    other.close()
    house.close()


WANTED = (
    *({}, {"text": "TABLE"}, {"text": "100%"}, {"status": "done", "procedure": "verdict"}, {"case": "mine"}),
    *({"tag": "odd", "reviewer": "Cy"}, {"starred": True}, "what-if"),
)


def test_both_databases_are_read_alike(both: tuple[Courthouse, Courthouse]) -> None:
    run, fork = full_store()[1:]

    def read(house: Courthouse) -> dict[str, object]:
        store, studies = house.store, house.experiments.store
        (experiment,) = studies.experiments(what_ifs=False)
        what_if, *_ = (one.id for one in studies.experiments(what_ifs=True))
        wanted = [RunFilter(**{"experiment": what_if} if given == "what-if" else given) for given in WANTED]
        listed = RunList(house.database)
        return {
            "list": [(listed.count(one, order), listed.page(one, 0, 50, order)) for one in wanted for order in ORDERS],
            "runs": [(row, [*store.events(row.id)], store.pulse(row.id)) for row in store.runs()],
            "family": (store.kin(fork), store.root(fork), store.steering([run, fork]), store.steering([])),
            "paid": (store.payments.of(run), store.payments.spent(run).money),
            "cells": (studies.counts(experiment.id), studies.took(experiment.id), studies.names_snapshot("first")),
            "marks": (house.marks.all(), house.marks.tags(), house.marks.reviewers(), house.marks.short([run])),
            "audience": (house.audiences.arguments(run), house.audiences.votes(run), house.audiences.likes(run)),
            "names": (house.panels.names(), house.setups.names(), known_bases(house.database)),
            "memory": house.knowledge.snapshots.all(),
            "datasets": (house.datasets.newest(), [*house.datasets.rows("disputes")], [*house.datasets.with_media()]),
            "records": {name: one.all() for name, one in house.knowledge.collections.items()},
            "lessons": house.knowledge.lessons.all(),
        }

    ours, theirs = map(read, both)
    for name in ours:
        assert ours[name] == theirs[name], name
    assert [*dict(ours["cells"][1]).values()][0] == Cost(calls=3, tokens=24, money=0.25)  # type: ignore[index]


SMALL = {*["cases", "collections", "datasets", "experiments", "marks", "setups", "panels", "sqlite_master"]}
"""Tables that may be read as a whole: persons make their rows one by one."""
COUNTED = {"runs", "experiment_cells"}
"""The list of runs counts its lines in indexes of these, and reads no row for that."""
WITHIN = {"lines", "line", "up", "tree", "tag"}
"""What a statement has worked out itself."""


def open_pages(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every page of a full store is opened, and the list of runs is filtered."""
    house = Courthouse(settings)
    monkeypatch.setenv("COURTROOM_HOME", str(settings.home))
    run, fork = full_store()[1:]
    (experiment,) = house.experiments.store.experiments(what_ifs=False)
    (what_if,) = house.experiments.store.experiments(what_ifs=True)
    both = {"runs": f"{run},{fork}"}
    shown = [
        *((name, {}, {}) for name in ("cases", "knowledge", "what_if", "runs", "experiments", "setup")),
        ("setup", {"fork": run}, {}),
        ("what_if", {"experiment": what_if.id}, {}),
        ("experiments", {"experiment": experiment.id}, {}),
        ("experiments", {}, {"experiments-part": "Datasets"}),
        *(("deliberation", {"run": run}, {f"tab-{run}": tab}) for tab in ("Calls", "Family")),
        *(("compare", both, {"tab-compare": tab}) for tab in ("What differs", "Looked up")),
    ]
    for name, query, chosen in shown:
        page(name, chosen, **query)
    listed = RunList(house.database)
    for given in ({"status": "done"}, {"procedure": "verdict"}, {"starred": True}, {"case": "mine"}):
        wanted = RunFilter(**given)
        for order in ("newest", "case"):
            listed.count(wanted, order)
            listed.page(wanted, 0, 25, order)
    listed.newest(RunFilter(status="done"), 100)
    house.close()
    from pages.parts.shared.house import courthouse

    courthouse().close()


@pytest.mark.slow
def test_no_page_reads_a_whole_table_of_a_sqlite_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path / "home")
    shutil.copytree(full_store()[0], settings.home)  # which is made before statements are looked at
    sent: set[str] = set()
    real = SqliteStore.connection

    def traced(self: SqliteStore) -> sqlite3.Connection:
        connection = real.fget(self)
        connection.set_trace_callback(sent.add)
        return connection

    monkeypatch.setattr(SqliteStore, "connection", property(traced))
    open_pages(settings, monkeypatch)
    found = []
    with closing(sqlite3.connect(settings.sqlite)) as db:
        db.create_function("folded", 1, str)
        for statement in sorted(sent):
            if not statement.lstrip().startswith(("SELECT", "WITH", "UPDATE", "DELETE", "INSERT")):
                continue
            steps = [step for *_, step in db.execute(f"EXPLAIN QUERY PLAN {statement}")]
            newest = re.search(r"WHERE 1 = 1 ORDER BY number DESC LIMIT \d+$", statement) and len(steps) == 1
            for step in steps:
                scan = re.match(
                    r"(?:SCAN|SEARCH(?= \w+ USING AUTOMATIC)) (?!CONSTANT)(\w+)( USING COVERING INDEX)?", step
                )
                if scan and scan[1] not in SMALL | WITHIN and not (scan[1] in COUNTED and (scan[2] or newest)):
                    found.append(f"{step}: {statement}")
    assert len(sent) > 100
    assert not found, "\n".join(found)
