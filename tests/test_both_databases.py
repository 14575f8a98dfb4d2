"""What both databases have to answer alike: lists, filters, sums and states of one and the same full store; and its pages."""

import ast
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from courtroom.courthouse import Courthouse
from courtroom.evaluation.run_list import ORDERS, RunFilter, RunList
from courtroom.experiments.outcome import Outcome
from courtroom.knowledge.bases import known_bases
from courtroom.questions.marks import Mark
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.upkeep.backup import move
from tests.full_store import full_store
from tests.postgres_server import PostgresServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

ROOT = Path(__file__).parents[1]
ONLY_SQLITE = re.compile(
    r"\bINSERT OR\b|\browid\b|\bifnull\(|\biif\(|\btotal\(|\bPRAGMA\b|\bsqlite_master\b|\bjson_each\(\?|\bGLOB\b|\bMAX\(\w+ \+ 1, "
)
AT_HOME = ("store/", "upkeep/doctor.py")
"""Where SQLite's own file is looked after."""


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
    target = Database(address)
    move(house.database, target)
    target.close()
    other = Courthouse(Settings(home=home, server=address))
    yield house, other
    other.close()
    house.close()


WANTED = (
    *({}, {"text": "TABLE"}, {"text": "100%"}, {"status": "done"}, {"procedure": "verdict"}, {"tag": "odd"}),
    *({"tag": "odd", "reviewer": "Cy"}, {"starred": True}, {"case": "mine"}),
    *({"experiment": "WHAT-IF"}, {"experiment": "EXPERIMENT"}),
)


@pytest.mark.parametrize("given", WANTED, ids=str)
def test_the_list_of_runs_is_the_same(both: tuple[Courthouse, Courthouse], given: dict[str, Any]) -> None:
    store = both[0].experiments.store
    names = {"WHAT-IF": store.experiments(what_ifs=True)[0].id, "EXPERIMENT": store.experiments(what_ifs=False)[0].id}
    wanted = RunFilter(**{name: names.get(str(value), value) for name, value in given.items()})
    lists = [RunList(one.database) for one in both]
    for order in ORDERS:
        found = [(one.count(wanted, order), one.page(wanted, 0, 50, order)) for one in lists]
        assert found[0] == found[1], order
        assert (found[0][0] > 0) == (wanted.text != "100%" and not wanted.experiment)


def test_everything_else_is_read_alike(both: tuple[Courthouse, Courthouse]) -> None:
    run, fork = full_store()[1:]

    def read(house: Courthouse) -> dict[str, object]:
        store, studies = house.store, house.experiments.store
        (experiment,) = studies.experiments(what_ifs=False)
        return {
            "runs": [(row, store.stages(row.id), [*store.events(row.id)], store.pulse(row.id)) for row in store.runs()],
            "family": (store.kin(fork), store.families.root(fork), store.steering([run, fork]), store.steering([])),
            "paid": (store.payments.of(run), store.payments.known_money(run)),
            "cells": (studies.counts(experiment.id), studies.took(experiment.id), studies.names_snapshot("first")),
            "marks": (house.marks.all(), house.marks.tags(), house.marks.reviewers(), house.marks.short([run])),
            "audience": (house.audiences.arguments(run), house.audiences.votes(run), house.audiences.likes(run)),
            "names": (house.panels.names(), house.setups.names(), known_bases(house.database)),
            "memory": house.knowledge.snapshots.all(),
            "datasets": (house.datasets.list(), [*house.datasets.rows("disputes")], [*house.datasets.with_media()]),
            "records": {name: one.all() for name, one in house.knowledge.collections.items()},
            "lessons": house.knowledge.lessons.all(),
        }

    ours, theirs = map(read, both)
    for name in ours:
        assert ours[name] == theirs[name], name
    assert next(iter(dict(ours["cells"][1]).values())) == (3, 24, 0.25)  # type: ignore[index]


def test_no_sql_outside_the_store_is_sqlites_alone() -> None:
    found = []
    for path in sorted((ROOT / "courtroom").rglob("*.py")):
        name = path.relative_to(ROOT / "courtroom").as_posix()
        if name.startswith(AT_HOME):
            continue
        texts = [
            node.value
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        found += [f"{name}: {text}" for text in texts if ONLY_SQLITE.search(text)]
    assert not found, json.dumps(found, indent=1)
