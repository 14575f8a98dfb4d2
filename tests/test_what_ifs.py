"""What-ifs that really run: an experiment whose arms are forks of one run, paused, gone on with, deleted."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import Experiment
from courtroom.experiments.what_if import left_out, results, singly, values
from courtroom.models.keys import KEYS
from courtroom.models.request import Reply, Request, Watch
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.driving import answered_by, done, shell
from tests.pages import benched, house, opened_at, page, press, texts
from tests.test_what_if_variants import CYBERJURORS

__all__ = ["house"]  # a fixture

SMALL = {"jury_size": 3, "rounds": 2, "consensus": 1.0, "grounding_rounds": 1}


def heard(house: Courthouse) -> str:
    return benched(house, "cyberjurors", "oak-table", **SMALL)


def everything(house: Courthouse, run: str, seeds: tuple[int, ...] = (0,)) -> Experiment:
    base = house.record(run)
    without = left_out(CYBERJURORS, base.setup, base.case, base.run.seed)
    graphs = values(CyberJurorsSetup, "graph.kind", ["ring", "none"])
    return house.experiments.what_ifs.experiment(run, singly(without["jurors"], without["evidence"], graphs), seeds)


def one_round(house: Courthouse, run: str, seed: int = 0) -> Experiment:
    return house.experiments.what_ifs.experiment(run, singly(values(CyberJurorsSetup, "rounds", [1])), (seed,))


class Held:
    """The offline model behind a door that is open until it is shut."""

    def __init__(self, house: Courthouse) -> None:
        self.door, self.knocked = asyncio.Event(), threading.Event()
        self.door.set()
        self.spent: list[dict[str, str]] = []
        """The keys that were given with each question."""
        self._house = house
        answered_by(house, self)

    def shut(self) -> None:
        self.door.clear()
        self.knocked.clear()

    def open(self) -> None:
        self._house.runner.call(self.door.set)

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self.spent.append(dict(KEYS.get()))
        self.knocked.set()
        await self.door.wait()
        return await self._house.pool.answer(request, watch)


@pytest.fixture
def held(house: Courthouse) -> Iterator[Held]:
    held = Held(house)
    yield held
    held.open()


def started(house: Courthouse, experiment: Experiment, keys: dict[str, str] | None = None) -> str:
    name = house.experiments.begin(experiment)
    return house.experiments.go(name, keys)


def test_every_variant_runs_under_every_seed_as_estimated(house: Courthouse) -> None:
    run = heard(house)
    experiment = everything(house, run, (0, 1))
    told: list[tuple[int, int]] = []
    takes = house.experiments.estimate(experiment, lambda *progress: told.append(progress))
    found = done(house, experiment)
    cells = list(house.experiments.store.cells(found.kept.id))
    assert (found.kept.status, found.kept.reason) == ("done", "")
    assert len(cells) == 2 * len(experiment.arms) == takes.cells == told[-1][1] == told[-1][0]
    assert {cell.state for cell in cells} == {"done"}
    assert [cell.arm for cell in cells if not cell.run] == [0], "the base under its own seed is not run again"
    records = [house.record(cell.run) for cell in cells if cell.run]
    assert {(record.run.parent, record.run.origin) for record in records} == {(run, "fork")}
    assert (sum(r.asked for r in records), sum(r.recorded for r in records)) == (takes.calls, takes.shared)
    assert takes.shared > 100, "what no change touches is served"
    assert {record.case.content_hash() for record in records} > {house.record(run).case.content_hash()}
    came = results(experiment, cells)
    assert all(row.done == row.pairs == 2 for row in came.rows)
    assert came.rows[0].runs[0] == run
    assert came.influential()
    assert list(found.frame["run"])[0] == run
    assert len(found.frame) == len(cells), "and it is exported as any experiment is"


def test_a_what_if_is_paused_gone_on_with_and_deleted(house: Courthouse, held: Held) -> None:
    run = heard(house)
    held.shut()
    name = started(house, everything(house, run, (0, 5)))
    assert held.knocked.wait(30)
    house.experiments.pause(name)
    house.experiments.wait(name, 30)
    stopped = {house.store.status(cell.run) for cell in house.experiments.store.cells(name) if cell.run}
    assert house.experiments.store.status(name) == "paused"
    assert "running" not in stopped
    assert {"paused", "deleted"} <= stopped, "some are stopped, others were never made"
    held.open()
    house.experiments.go(name)
    house.experiments.wait(name, 60)
    cells = list(house.experiments.store.cells(name))
    assert {cell.state for cell in cells} == {"done"}
    before = house.store.runs()
    assert len(before) == len(cells)
    held.shut()
    other, name = name, started(house, everything(house, run, (6,)))
    assert held.knocked.wait(30)
    assert len(house.store.runs()) > len(before)
    house.experiments.delete(name)
    assert house.store.runs() == before
    assert [one.id for one in house.experiments.store.experiments()] == [other]
    with pytest.raises(CourtroomError, match="There is no experiment"):
        house.experiments.store.experiment(name)


def test_a_typed_key_is_spent_on_its_own_what_if(house: Courthouse, held: Held) -> None:
    run, mine = heard(house), {"OPENAI_API_KEY": "mine-123456"}
    for seed, keys in ((1, mine), (2, None)):
        held.spent.clear()
        name = started(house, one_round(house, run, seed), keys)
        house.experiments.wait(name, 60)
        assert house.experiments.store.status(name) == "done"
        assert held.spent, "another seed is asked again"
        assert all(spent == (keys or {}) for spent in held.spent)
        assert name not in house.experiments._keys, "and forgotten at its end"


def test_the_shell_estimates_runs_and_tells(house: Courthouse, tmp_path: Path) -> None:
    run = heard(house)
    words = ("what-if", run, "--vary", "rounds=1,2", "--vary", "graph.kind=ring,none", "--grid", "--seeds", "2")
    takes = json.loads(shell(*words, "--estimate", "--json"))
    assert (len(takes["arms"]), takes["cells"]) == (5, 10)
    found = json.loads(shell(*words, "--json"))
    assert found["status"] == "done"
    assert found["variants"][0]["variant"] == "as it was"
    assert found["variants"][1]["variant"] == "Rounds at most (T): 1, Follow-graph: ring"
    assert shell("what-if", found["experiment"]).splitlines()[0].split() == [found["experiment"], "done"]
    assert f"{found['experiment']}\tdone\t10 of 10 cells" in shell("experiment", "status")
    shell("experiment", "export", found["experiment"], "--to", str(tmp_path / "cells.csv"))
    assert len((tmp_path / "cells.csv").read_text().splitlines()) == 11
    assert len(json.loads(shell("what-if", run, "--propose", "20", "--json"))["variants"]) > 3


def test_the_page_finds_what_would_change_a_verdict(house: Courthouse) -> None:
    app = page("what_if")
    assert "No hearing is done yet" in texts(app)
    assert "Pick a case" in [button.label for button in app.button]
    run = heard(house)
    app = page("deliberation", run=run)
    press(app, "What would change this verdict?")
    assert [element.value for element in app.title] == ["What if"]
    assert app.query_params["base"] == run
    app.switch_page("pages/what_if.py").run()  # the harness itself stays on the page that it had opened
    app.number_input(key="what-if-budget").set_value(40).run()
    press(app, "Find the changes")
    press(app, "Start")
    (what_if,) = house.experiments.store.experiments()
    assert what_if.experiment.dataset.run == run
    assert len(what_if.experiment.arms) > 3
    house.experiments.wait(what_if.id, 60)
    app.run()
    assert not app.exception, app.exception
    assert app.session_state["what-if"] == what_if.id
    assert "What decided it:" in texts(app)
    table, cells = (one.value for one in app.dataframe)
    assert len(cells) == len(table), "and every cell has a row"
    assert (table["change"][0], table["run"][0]) == ("as it was", f"deliberation?run={run}")
    assert set(table["done"]) == {"1 of 1"}


def test_what_is_chosen_is_estimated_and_run(house: Courthouse) -> None:
    run = heard(house)
    app = opened_at("what_if", base=run)
    app.button_group(key="what-if-way").set_value("Choose what to vary").run()
    assert "Choose something to vary" in texts(app)
    app.multiselect(key=f"what-if-drop-{run}").set_value(["Each member (3)"]).run()
    app.multiselect(key=f"what-if-vary-{run}").set_value(["rounds", "graph.kind"]).run()
    app.text_input(key=f"what-if-{run}-rounds").set_value("1, 11").run()
    assert "must be at most 10" in texts(app)
    app.text_input(key=f"what-if-{run}-rounds").set_value("1").run()
    app.number_input(key="what-if-seeds").set_value(2).run()
    assert "calls" in texts(app)
    press(app, "Start")
    (what_if,) = house.experiments.store.experiments()
    house.experiments.wait(what_if.id, 60)
    assert {variant.kind for variant in what_if.experiment.arms} == {"base", "member", "knob"}
    app.run()
    assert len(app.dataframe) == 2
    assert len(app.dataframe[1].value) == 2 * len(what_if.experiment.arms)
