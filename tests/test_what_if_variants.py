"""What-ifs: what is varied and what comes of it, by examples worked by hand."""

import pytest

from courtroom.cases.dispute import Evidence
from courtroom.courthouse import Courthouse
from courtroom.declarations.changes import changed
from courtroom.evaluation.movement import movement
from courtroom.experiments import what_if
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.spec import Arm, Cases, Experiment, Variant
from courtroom.experiments.store import StoredCell
from courtroom.procedures import PROCEDURES
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests import toy
from tests.driving import drive
from tests.samples import sample

CYBERJURORS = PROCEDURES["cyberjurors"]
STAYS_COLD = Evidence(id="buyer-1", side="buyer", text="It stays cold.")
BOILED = Evidence(id="seller-1", side="seller", text="It boiled when I sent it.")
CASE = toy.CASE.model_copy(update={"evidence": (STAYS_COLD, BOILED)})


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


def cell(arm: int, seed: int, outcome: str | None, buyer: int = 0, seller: int = 0) -> StoredCell:
    counts = {"buyer": buyer, "seller": seller} if buyer or seller else {}
    found = Outcome(outcome=outcome, counts=counts) if outcome else None
    place = {"number": 0, "arm": arm, "row": "kettle", "repeat": seed, "seed": seed, "run": f"run-{arm}-{seed}"}
    return StoredCell(**place, state="done" if found else "waiting", reason="", outcome=found)  # type: ignore[arg-type]


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
    assert (found.decided, found.outcomes) == ("buyer", ("buyer", "seller"))
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
