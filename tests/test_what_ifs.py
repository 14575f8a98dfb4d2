"""What-ifs: an experiment whose arms are forks of one run, paused, gone on with, deleted; what comes of it, by hand."""

import asyncio
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from courtroom import Courthouse, CourtroomError
from courtroom.declarations.changes import changed
from courtroom.evaluation.movement import movement
from courtroom.experiments import what_if
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.plan import Cell
from courtroom.experiments.spec import Arm, Cases, Experiment, Variant
from courtroom.experiments.what_if import left_out, results, singly, values
from courtroom.models.keys import KEYS
from courtroom.models.request import Reply, Request, Watch
from courtroom.procedures import PROCEDURES
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.driving import answered_by, done, drive, shell
from tests.pages import benched, opened_at, page, press, ran, texts
from tests.pages import house as house  # a fixture
from tests.samples import sample

SMALL = {"jury_size": 3, "rounds": 2, "consensus": 1.0, "grounding_rounds": 1}


def heard(house: Courthouse) -> str:
    return benched(house, "cyberjurors", "oak-table", **SMALL)


def everything(house: Courthouse, run: str, seeds: tuple[int, ...] = (0,)) -> Experiment:
    base = house.record(run)
    without = left_out(CYBERJURORS, base.setup, base.case, base.run.seed)
    graphs = values(CyberJurorsSetup, "graph.kind", ["ring", "none"])
    return house.experiments.what_ifs.experiment(run, singly(without["jurors"], without["evidence"], graphs), seeds)


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
    return house.experiments.go(house.experiments.begin(experiment), keys)


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
    before = [*house.store.each()]
    assert len(before) == len(cells)
    held.shut()
    other, name = name, started(house, everything(house, run, (6,)))
    assert held.knocked.wait(30)
    assert len([*house.store.each()]) > len(before)
    house.experiments.delete(name)
    assert [*house.store.each()] == before
    assert [one.id for one in house.experiments.store.experiments()] == [other]
    with pytest.raises(CourtroomError, match="There is no experiment"):
        house.experiments.store.experiment(name)


def test_a_typed_key_is_spent_on_its_own_what_if(house: Courthouse, held: Held) -> None:
    run, mine = heard(house), {"OPENAI_API_KEY": "mine-123456"}
    one_round = singly(values(CyberJurorsSetup, "rounds", [1]))
    for seed, keys in ((1, mine), (2, None)):
        held.spent.clear()
        name = started(house, house.experiments.what_ifs.experiment(run, one_round, (seed,)), keys)
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
    figure = ("experiment", "figure", found["experiment"], "values", "--json", "--to", "f.csv")
    beside = ("yardstick", "--procedure", "cyberjurors", "--arm", "as it was")
    for idle in (figure, beside, ("what-if", found["experiment"], "--drop", "jurors"), ("check", run, "--estimate")):
        with pytest.raises(CourtroomError, match="Give|Name either"):
            shell(*idle)


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
    ran(app)
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


CYBERJURORS = PROCEDURES["cyberjurors"]


@pytest.mark.parametrize("name", [name for name in PROCEDURES if name not in ("distillation", "alignment")])
def test_everything_that_is_proposed_fits(name: str, house: Courthouse) -> None:
    procedure = house.procedures[name]
    case = sample(house, procedure.kinds[0])
    setup, _ = procedure.prepare(case, procedure.setup(), 0)
    offered = what_if.proposals(procedure, setup, case, 0)
    assert "knob" in {variant.kind for variant in offered}
    assert bool(case.parts()) is ("evidence" in {variant.kind for variant in offered})
    assert len({variant.name for variant in offered}) == len(offered)
    for variant in offered:
        new, heard = what_if.applied(variant, setup, case)
        assert (new, heard) != (setup, case)
        procedure.prepare(heard, new, 0)


def cell(arm: int, seed: int, outcome: str | None, buyer: int = 0, seller: int = 0) -> Cell:
    counts = {"buyer": buyer, "seller": seller} if buyer or seller else {}
    found = Outcome(outcome=outcome, counts=counts) if outcome else None
    place = {"number": 0, "arm": arm, "row": "kettle", "repeat": seed, "seed": seed, "run": f"run-{arm}-{seed}"}
    return Cell(**place, state="done" if found else "waiting", reason="", outcome=found)  # type: ignore[arg-type]


VARIANTS = (
    what_if.BASE,
    Variant(name="without buyer-1", kind="evidence", without=("buyer-1",)),
    Variant(name="without juror-01", kind="member", set={"empty_seats": [1]}),
    Variant(name="rounds=1", kind="knob", set={"rounds": 1}),
)
ARMS = tuple(Arm(**{**variant.model_dump(mode="json"), "procedure": "cyberjurors"}) for variant in VARIANTS)
PLAN = Experiment(name="x", dataset=Cases(run="r"), arms=ARMS, seeds=tuple(range(3)), repeats=3)


def test_results_by_hand() -> None:
    cells = [
        cell(0, 0, "buyer", 7, 3), cell(0, 1, "buyer", 6, 4), cell(0, 2, "seller", 4, 6),
        cell(1, 0, "seller", 2, 8), cell(1, 1, "seller", 3, 7), cell(1, 2, "seller", 4, 6),
        cell(2, 0, "buyer", 8, 2), cell(2, 1, None), cell(2, 2, "buyer", 6, 4),
        cell(3, 0, None), cell(3, 1, None), cell(3, 2, None),
    ]  # fmt: skip
    found = what_if.results(PLAN, cells)
    assert (found.decided, [*found.rows[0].shares]) == ("buyer", ["buyer", "seller"])
    assert [row.name for row in found.influential("evidence", "member")] == ["without buyer-1", "without juror-01"]
    assert [row.name for row in found.influential("member")] == ["without juror-01"]
    base, evidence, juror, pending = found.rows
    assert (base.flips, base.pairs, base.swing) == (0, 3, 0)
    assert base.votes == pytest.approx((0.7 + 0.6 + 0.4) / 3)
    assert base.shares["buyer"].value == pytest.approx(2 / 3)
    # Under seeds 0 and 1 the other side wins; under seed 2 it had won before.
    assert (evidence.outcome, evidence.flips, evidence.pairs) == ("seller", 2, 3)
    assert evidence.swing == pytest.approx(((0.2 - 0.7) + (0.3 - 0.6) + (0.4 - 0.4)) / 3)
    assert evidence.shares["buyer"].value == 0
    # Seed 1 is not done: it is compared where both are.
    assert (juror.done, juror.planned, juror.flips, juror.pairs) == (2, 3, 1, 2)
    assert juror.swing == pytest.approx((0.1 + 0.2) / 2)
    assert (pending.outcome, pending.swing, pending.votes, pending.shares) == ("", None, None, {})
    two = PLAN.model_copy(update={"arms": ARMS[:2], "seeds": (0,), "repeats": 1})
    row = what_if.results(two, [cell(0, 0, "theft"), cell(1, 0, "robbery")]).rows[1]
    assert (row.votes, row.swing, row.flips) == (None, -1.0, 1)


def test_a_juror_left_out_takes_nobodys_words_along(house: Courthouse) -> None:
    setup = CyberJurorsSetup(jury_size=5, rounds=2, consensus=1.0)
    base = house.record(drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), setup, 0)))
    fork = house.record(drive(house, house.fork(base.run.id, changed(base.setup, {"empty_seats": [3]}))))
    assert [m.id for m in fork.members] == ["juror-01", "juror-02", "juror-04", "juror-05", "clerk"]
    names = {m.id: m.name for m in base.members}
    assert all(names[m.id] == m.name for m in fork.members)
    first = [call for call in fork.calls if call.stage in ("evidence", "round-1") and call.member != "clerk"]
    assert sum(call.asked for call in first) == 0, "what the others said before they could miss it is on record"
    assert {call.member for call in fork.calls if call.asked} >= {"clerk"}
    assert sum(fork.run.verdict.counts.values()) == 4
    ring = changed(base.setup, {"graph.kind": "ring", "empty_seats": [3]})
    fork = house.record(drive(house, house.fork(base.run.id, ring)))
    heard = movement(fork, CYBERJURORS, house.answers.of(fork.run)).heard([*fork.ballots][-1])
    assert heard.keys() == {("juror-01", "juror-02"), ("juror-04", "juror-05"), ("juror-05", "juror-01")}
