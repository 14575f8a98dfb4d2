"""What-if sweeps that really run: paused, gone on with, cancelled, deleted, killed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.asker import Asker
from courtroom.engine.changes import read_values
from courtroom.errors import CourtroomError
from courtroom.models.keys import KEYS
from courtroom.models.request import Reply, Request, Watch
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from courtroom.sweeps.plan import BASE, SweepPlan, Variant, evidence_left_out, members_left_out, singly, values
from courtroom.sweeps.results import results
from tests import forks
from tests.test_resilience import environment

SMALL = {"jury_size": 3, "rounds": 2, "consensus": 1.0, "grounding_rounds": 1}


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path))
    yield house
    house.close()


def heard(house: Courthouse, case: str = "oak-table", **knobs: object) -> str:
    setup = CyberJurorsSetup(**{**SMALL, **knobs})  # type: ignore[arg-type]
    run = house.new_run("cyberjurors", house.library.case(case), setup, 0)
    house.runner.go(run)
    house.runner.wait(run, 30)
    assert house.store.status(run) == "done"
    return run


def everything(house: Courthouse, run: str, seeds: tuple[int, ...] = (0,)) -> SweepPlan:
    base = house.record(run)
    procedure = house.procedures[base.run.procedure]
    return house.sweeps.plan(
        run,
        singly(
            members_left_out(procedure, base.setup, base.case, base.run.seed),
            evidence_left_out(base.case),
            values("graph.kind", ["ring", "none"]),
        ),
        seeds,
    )


class Held:
    """The offline model behind a door."""

    def __init__(self, house: Courthouse) -> None:
        self.door = asyncio.Event()
        self.knocked = asyncio.Event()
        self._house = house
        house.runner._asker = Asker(house.answers, self, house.writer)

    def wait_for_a_knock(self) -> None:
        async def wait() -> None:
            await self.knocked.wait()

        self._house.runner.do(wait()).result(30)

    def open(self) -> None:
        async def open_door() -> None:
            self.door.set()

        self._house.runner.do(open_door()).result(30)

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self.knocked.set()
        await self.door.wait()
        return await self._house.pool.answer(request, watch)


@pytest.fixture
def held(house: Courthouse) -> Iterator[Callable[[], Held]]:
    """Shuts the door from when it is called until the test is over."""
    doors: list[Held] = []

    def shut() -> Held:
        doors.append(Held(house))
        return doors[-1]

    yield shut
    for door in doors:
        door.open()


def test_a_sweep_runs_every_variant_under_every_seed_and_takes_what_was_estimated(house: Courthouse) -> None:
    run = heard(house)
    plan = everything(house, run, (0, 1))
    told: list[tuple[int, int]] = []
    takes = house.sweeps.estimate(plan, lambda done, total: told.append((done, total)))
    sweep = house.sweeps.start(plan)
    house.sweeps.wait(sweep, 60)
    row, cells = house.sweeps.store.sweep(sweep), house.sweeps.store.cells(sweep)
    assert (row.status, row.reason) == ("done", "")
    assert len(cells) == 2 * len(plan.variants) == takes.runs == told[-1][1] == told[-1][0]
    assert {cell.status for cell in cells} == {"done"}
    assert cells[0].run == run, "the base under its own seed is not run again"
    records = [house.record(cell.run) for cell in cells[1:]]
    assert {(r.run.parent, r.run.origin) for r in records} == {(run, "fork")}
    assert (sum(r.asked for r in records), sum(r.recorded for r in records)) == (takes.ask, takes.serve)
    assert takes.serve > 100, "what no change touches is served"
    assert {r.case.content_hash() for r in records} > {house.record(run).case.content_hash()}
    found = results(plan, cells)
    assert all(one.done == one.pairs == 2 for one in found.rows)
    assert found.influential()


def test_the_same_plan_again_is_the_same_sweep(house: Courthouse) -> None:
    plan = house.sweeps.plan(heard(house), singly(values("rounds", [1])), (0,))
    first = house.sweeps.start(plan)
    house.sweeps.wait(first, 30)
    before = len(house.store.runs())
    assert house.sweeps.start(plan) == first
    assert len(house.store.runs()) == before
    house.sweeps.store.set_status(first, "cancelled")
    assert house.sweeps.start(plan) != first


def begun(house: Courthouse, held: Callable[[], Held]) -> tuple[str, str, Held]:
    """A run, a sweep of it of which a call is held, and what holds it."""
    run = heard(house)
    model = held()
    sweep = house.sweeps.start(everything(house, run, (0, 5)))
    model.wait_for_a_knock()
    return run, sweep, model


def test_a_paused_sweep_starts_nothing_more_and_goes_on_where_it_was(
    house: Courthouse, held: Callable[[], Held]
) -> None:
    _, sweep, model = begun(house, held)
    house.sweeps.pause(sweep)
    house.sweeps.wait(sweep, 30)
    stopped = {cell.run: cell.status for cell in house.sweeps.store.cells(sweep)}
    assert house.sweeps.store.sweep(sweep).status == "paused"
    assert "running" not in stopped.values()
    assert "paused" in stopped.values()
    assert "waiting" in stopped.values()

    model.open()
    house.sweeps.go(sweep)
    house.sweeps.wait(sweep, 60)
    cells = house.sweeps.store.cells(sweep)
    assert {cell.status for cell in cells} == {"done"}
    assert [cell.run for cell in cells] == list(stopped)
    assert len(house.store.runs()) == len(cells)


def test_a_run_that_stops_does_not_stop_the_others_and_is_tried_again(house: Courthouse) -> None:
    run = heard(house)
    poor = Variant(name="poor", kind="knob", set={"budget.calls": 1, "model.temperature": 0.1})  # shares no answer
    plan = house.sweeps.plan(run, (BASE, poor, *values("graph.kind", ["ring"])), (7,))
    sweep = house.sweeps.start(plan)
    house.sweeps.wait(sweep, 30)
    row = house.sweeps.store.sweep(sweep)
    assert row.status == "paused"
    assert row.reason.startswith("One run has no verdict yet. The budget of 1 calls is used up.")
    cells = house.sweeps.store.cells(sweep)
    assert [cell.status for cell in cells] == ["done", "paused", "done"]
    setup = house.store.setup(cells[1].run, CyberJurorsSetup)
    house.store.replace_setup(cells[1].run, setup.model_copy(update={"budget": CyberJurorsSetup().budget}))
    house.sweeps.go(sweep)
    house.sweeps.wait(sweep, 30)
    assert house.sweeps.store.sweep(sweep).status == "done"


def test_a_cancelled_sweep_keeps_what_it_has_and_a_deleted_one_takes_its_runs_along(
    house: Courthouse, held: Callable[[], Held]
) -> None:
    run, sweep, _ = begun(house, held)
    house.sweeps.cancel(sweep)
    house.sweeps.wait(sweep, 30)
    assert house.sweeps.store.sweep(sweep).status == "cancelled"
    assert 1 < len(house.store.runs()) < len(house.sweeps.store.cells(sweep))
    house.sweeps.delete(sweep)
    assert [row.id for row in house.store.runs()] == [run]
    assert house.sweeps.store.sweeps() == []
    with pytest.raises(CourtroomError, match="There is no sweep"):
        house.sweeps.store.sweep(sweep)


def test_a_sweep_whose_base_was_deleted_says_so(house: Courthouse) -> None:
    run = heard(house)
    sweep = house.sweeps.store.create(everything(house, run), "Table", 0)
    house.store.delete(run)
    house.sweeps.go(sweep)
    house.sweeps.wait(sweep, 30)
    row = house.sweeps.store.sweep(sweep)
    assert row.status == "paused"
    assert f"There is no run “{run}” here" in row.reason


def test_a_run_without_a_verdict_is_no_base(house: Courthouse) -> None:
    run = house.new_run("cyberjurors", house.library.case("oak-table"), CyberJurorsSetup(), 0)
    with pytest.raises(CourtroomError, match="no verdict yet"):
        house.sweeps.plan(run, singly(values("rounds", [1])), (0,))


def test_what_would_change_the_verdict_fits_the_budget_the_cheapest_first(house: Courthouse) -> None:
    run = heard(house)
    whole = house.sweeps.propose(run, 10_000)
    calls = [wanted for _, wanted in whole]
    assert calls == sorted(calls)
    assert {variant.kind for variant, _ in whole} == {"knob", "member", "evidence", "rule"}
    some = house.sweeps.propose(run, 30)
    assert some == whole[: len(some)]
    assert sum(calls[: len(some)]) <= 30 < sum(calls[: len(some) + 1])
    takes = house.sweeps.estimate(house.sweeps.plan(run, singly(tuple(variant for variant, _ in some)), (0,)))
    assert takes.ask <= 30


@pytest.mark.parametrize("procedure", ["jurisagents", "verdict"])
def test_a_criminal_bench_is_asked_without_each_sentence_of_the_facts(house: Courthouse, procedure: str) -> None:
    case = house.library.case("criminal-bus-wallet")
    run = house.new_run(procedure, case, house.procedures[procedure].setup(), 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    plan = house.sweeps.plan(run, singly(evidence_left_out(case)), (0,))
    before = len(house.knowledge.memory.standards)
    sweep = house.sweeps.start(plan)
    house.sweeps.wait(sweep, 60)
    found = results(plan, house.sweeps.store.cells(sweep))
    assert [row.done for row in found.rows] == [1] * len(plan.variants)
    assert all(row.votes is None for row in found.rows)
    assert len(house.knowledge.memory.standards) == before, "what if teaches nothing"


def test_a_sweep_that_another_process_drives_is_left_to_it(house: Courthouse) -> None:
    sweep = house.sweeps.store.create(everything(house, heard(house)), "Table", 0)
    other = f"{house.runner.driver.owner.rsplit(':', 1)[0]}:other"
    assert house.sweeps.store.lease.claim(sweep, other, None)
    house.sweeps.go(sweep)
    assert house.sweeps.take_up_interrupted() == []
    assert Counter(cell.status for cell in house.sweeps.store.cells(sweep))["running"] == 0
    house.sweeps.store.lease.release(sweep, other)
    assert house.sweeps.take_up_interrupted() == [sweep]
    house.sweeps.wait(sweep, 30)
    assert house.sweeps.store.sweep(sweep).status == "done"


class Noting:
    """Answers as the offline model does, and notes whose keys it was given."""

    def __init__(self, house: Courthouse) -> None:
        self.spent: list[dict[str, str]] = []
        self._pool = house.pool

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self.spent.append(dict(KEYS.get()))
        return await self._pool.answer(request, watch)


def test_a_key_typed_for_a_sweep_is_spent_by_nobody_elses(house: Courthouse) -> None:
    run, model, mine = heard(house), Noting(house), {"OPENAI_API_KEY": "mine-123456"}
    house.runner._asker = Asker(house.answers, model, house.writer)
    for seed, keys in ((1, mine), (2, None)):
        model.spent.clear()
        sweep = house.sweeps.start(house.sweeps.plan(run, singly(values("rounds", [1])), (seed,)), keys)
        house.sweeps.wait(sweep, 60)
        assert house.sweeps.store.sweep(sweep).status == "done"
        assert model.spent, "another seed is asked anew"
        assert all(spent == (keys or {}) for spent in model.spent)
        assert sweep not in house.sweeps._crew._keys, "and forgotten at its end"


def shell(home: Path, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    return forks.run(*words, environment=environment(home, url))


def based(home: Path, url: str, *words: str) -> str:
    knobs = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    done = shell(home, url, "run", "oak-table", *knobs, *words, "--json")
    return str(json.loads(done.stdout)["run"])


def test_the_shell_estimates_runs_and_tells(tmp_path: Path) -> None:
    run = based(tmp_path, "")
    words = ("sweep", run, "--vary", "rounds=1,2", "--vary", "graph.kind=ring,none", "--grid", "--seeds", "2")
    takes = json.loads(shell(tmp_path, "", *words, "--estimate", "--json").stdout)
    assert (takes["variants"], takes["runs"]) == (5, 10)
    done = shell(tmp_path, "", *words, "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert found["status"] == "done"
    assert [line["variant"] for line in found["variants"]][:2] == ["as it was", "rounds=1, graph.kind=ring"]
    assert "10 of 10 runs are done" in done.stderr
    told = shell(tmp_path, "", "sweep", found["sweep"])
    assert told.stdout.splitlines()[0].split() == [found["sweep"], "done"]
    proposed = json.loads(shell(tmp_path, "", "sweep", run, "--propose", "20", "--json").stdout)
    assert len(proposed["variants"]) > 3


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--vary", "rounds"), "write KEY=V1,V2"),
        (("--vary", "rounds=0"), "rounds: must be at least 1"),
        (("--vary", "rounds=2"), "Nothing would change"),
        (("--vary", "seed=x"), "x is no seed"),
        (("--drop", "walls"), "'walls' is not one of"),
        ((), "Nothing would change"),
    ],
)
def test_wrong_use_is_told_in_a_sentence(tmp_path: Path, words: tuple[str, ...], told: str) -> None:
    done = shell(tmp_path, "", "sweep", based(tmp_path, ""), *words)
    assert done.returncode == 2
    assert told in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr


def test_lists_of_values_are_read_as_numbers_words_or_json() -> None:
    assert read_values("1,2") == [1, 2]
    assert read_values("ring, complete") == ["ring", "complete"]
    assert read_values("true,null,ring") == [True, None, "ring"]
    assert read_values('["a, b"],[]') == [["a, b"], []]
