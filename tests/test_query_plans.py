"""No page reads a whole table of what grows with every run: the plan of each statement that a page sends is looked at."""

import json
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from courtroom.courthouse import Courthouse
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.settings import Settings
from courtroom.store import postgres as postgres_store
from courtroom.store.database import Database
from courtroom.store.sqlite import SqliteStore
from courtroom.upkeep.backup import move
from tests.full_store import full_store
from tests.pages import page
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

SMALL = {*["cases", "collections", "datasets", "experiments", "marks", "setups", "panels", "sqlite_master"]}
"""Tables that may be read as a whole: persons make their rows one by one."""
COUNTED = {"runs", "experiment_cells"}
"""The list of runs counts its lines in indexes of these, and reads no row for that."""
WITHIN = {"lines", "line", "up", "tree", "tag"}
"""What a statement has worked out itself."""
GROWING = {
    *("answers", "asides", "dataset_rows", "events", "imported_answers", "interventions", "knowledge", "lessons", "memory_states"),
    *("parts", "payments", "questions", "snapshots", "vectors", "audience_arguments", "audience_likes", "audience_votes"),
}  # fmt: skip
Look = Callable[[str, Any], None]
"""Given a statement and its values."""


@contextmanager
def pages_opened(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every page of a full store is opened, and the list of runs is filtered."""
    server = house.settings.server
    monkeypatch.setenv("COURTROOM_HOME", str(house.settings.home))
    monkeypatch.setenv("COURTROOM_DATABASE", server.get_secret_value() if server else "")
    run, fork = full_store()[1:]
    (experiment,) = house.experiments.store.experiments(what_ifs=False)
    (what_if,) = house.experiments.store.experiments(what_ifs=True)
    both = {"runs": f"{run},{fork}"}
    shown: list[tuple[str, dict[str, str], dict[str, str]]] = [
        *((name, {}, {}) for name in ("cases", "knowledge", "what_if", "runs", "experiments", "setup")),
        ("setup", {"fork": run}, {}),
        ("what_if", {"experiment": what_if.id}, {}),
        ("experiments", {"experiment": experiment.id}, {}),
        ("experiments", {}, {"experiments-part": "Datasets"}),
        *(("deliberation", {"run": run}, {f"tab-{run}": tab}) for tab in ("Members", "Calls", "Family")),
        *(("compare", both, {"tab-compare": tab}) for tab in ("What differs", "Answers", "Looked up", "Family")),
    ]
    for name, query, chosen in shown:
        page(name, chosen, **query)
    listed = RunList(house.database)
    some = RunFilter(status="done"), RunFilter(procedure="verdict"), RunFilter(starred=True), RunFilter(case="mine")
    for wanted in some:
        for order in ("newest", "case"):
            listed.count(wanted, order)
            listed.page(wanted, 0, 25, order)
    listed.newest(RunFilter(status="done"), 100)
    yield
    from pages.parts.shared.house import courthouse

    courthouse().close()


def test_no_page_reads_a_whole_table_of_a_sqlite_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: set[str] = set()
    real = SqliteStore._connection

    def traced(self: SqliteStore) -> sqlite3.Connection:
        connection = real(self)
        connection.set_trace_callback(sent.add)
        return connection

    shutil.copytree(full_store()[0], tmp_path / "home")
    monkeypatch.setattr(SqliteStore, "_connection", traced)
    house = Courthouse(Settings(home=tmp_path / "home"))
    with pages_opened(house, monkeypatch):
        pass
    house.close()
    found = []
    with closing(sqlite3.connect(house.settings.sqlite)) as db:
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


def test_no_page_reads_a_whole_table_of_a_postgresql_store(
    tmp_path: Path, postgres: PostgresServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = SecretStr(postgres.fresh())
    shutil.copytree(full_store()[0], tmp_path / "home")
    source, target = Database(tmp_path / "home" / "courtroom.sqlite"), Database(address)
    move(source, target)
    for one in (source, target):
        one.close()
    # So small a table is read as a whole unless the planner has to avoid that; then it does so only where no index helps.
    name = address.get_secret_value().partition("@/")[2].partition("?")[0]
    postgres.say(f'ALTER DATABASE "{name}" SET enable_seqscan = off')
    plans: dict[str, list[dict[str, Any]]] = {}
    real = postgres_store.run

    def explained(server: Any, sql: str, parameters: Any = ()) -> Any:
        if sql.startswith(("SELECT", "WITH")) and sql not in plans:
            ((plan,),) = real(server, f"EXPLAIN (FORMAT JSON) {sql}", parameters).fetchall()
            plans[sql] = plan if isinstance(plan, list) else json.loads(plan)
        return real(server, sql, parameters)

    monkeypatch.setattr(postgres_store, "run", explained)
    house = Courthouse(Settings(home=tmp_path / "home", server=address))
    with pages_opened(house, monkeypatch):
        pass
    house.close()
    found = [
        f"{node['Node Type']} on {node['Relation Name']}: {sql}"
        for sql, (plan,) in plans.items()
        for node in _nodes(plan["Plan"])
        if node.get("Relation Name") in GROWING
        and (node["Node Type"] == "Seq Scan" or (node["Node Type"].startswith("Index") and "Index Cond" not in node))
    ]
    assert len(plans) > 50
    assert not found, "\n".join(found)


def _nodes(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield plan
    for part in plan.get("Plans", ()):
        yield from _nodes(part)
