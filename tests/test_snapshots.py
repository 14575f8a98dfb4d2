"""Snapshots of the learned memory: named, frozen, the same after any learning, and what a run sees."""

from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import bundled_cases
from courtroom.knowledge.lessons import Frozen
from courtroom.knowledge.memory import Directive
from courtroom.procedures.verdict.setup import Learning, VerdictSetup
from tests.driving import drive
from tests.replayed import replayed
from tests.test_memory import THEFT, filled, recall, standard

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

TRAINING = VerdictSetup(learning=Learning(on=True, batch=2, terms=False))


def hear(house: Courthouse, number: int, setup: VerdictSetup) -> Record:
    return done(house, house.new_run("verdict", bundled_cases()[number], setup, 0))


def done(house: Courthouse, run: str) -> Record:
    record = house.record(drive(house, run))
    assert record.run.status == "done", record.run.reason
    return record


def seen(record: Record) -> dict[str, list[str]]:
    """What the memory gave, by look-up."""
    return {
        r.path.rpartition("/")[2]: [hit.id for hit in r.hits] for r in record.retrievals if r.query.kind == "recall"
    }


async def test_a_snapshot_stays_as_it_was_whatever_is_learned(tmp_path: Path) -> None:
    base = filled(tmp_path)
    digest = base.snapshot("before")

    async def directives(snapshot: str = "") -> dict[str, float]:
        query = recall("directives", k=9, at=base.snapshots.named(snapshot).at if snapshot else None)
        return {hit.id: hit.record["confidence"] for hit in await base.answer(query)}

    before = await directives()
    base.memory.directives.add(
        [
            Directive(id="d-theft", text="Another text.", anchor=264, charges=("theft",), confidence=0.9),
            Directive(id="d-new", text="A pocket is a pocket.", anchor=264, charges=("theft",)),
        ]
    )
    base.memory.standards.remove(["standard-bus"])
    assert (await directives()).keys() == {*before, "d-new"}
    assert await directives("before") == before
    assert base.snapshots.named("before").digest == digest
    assert base.snapshots.named("before").standards == 3
    assert await directives("empty") == {}
    assert [one.name for one in base.snapshots.all()] == ["empty", "before"]


def test_a_name_stands_for_one_memory_for_ever_with_one_digest_in_every_store(tmp_path: Path) -> None:
    base = filled(tmp_path)
    digest = base.snapshot("a")
    assert base.snapshot("a") == digest  # the same memory: an experiment may do it again after a kill
    base.memory.standards.add([standard("shelf", "Goods under a coat.", THEFT)])
    with pytest.raises(CourtroomError, match="holds another memory"):
        base.snapshot("a")
    for bad in ("", "empty", "a b", "a/b", "x" * 61):
        with pytest.raises(CourtroomError, match="can't be named"):
            base.snapshot(bad)
    with pytest.raises(CourtroomError, match="no snapshot “nobody”"):
        base.snapshots.named("nobody")
    one, other = filled(tmp_path / "one"), filled(tmp_path / "other")
    assert one.snapshot("a") == other.snapshot("b")
    other.memory.standards.add([standard("shelf", "Goods under a coat.", THEFT)])
    other.memory.standards.remove(["standard-shelf"])
    assert other.snapshot("c") == one.snapshot("a")


def test_a_memory_brought_back_is_as_in_its_snapshot_and_this_can_be_undone(house: Courthouse) -> None:
    hear(house, 1, TRAINING)
    hear(house, 2, TRAINING)
    digest = house.knowledge.snapshot("two")
    house.knowledge.restore("empty")
    assert len(house.knowledge.memory.standards) == 0
    assert replayed(house.knowledge.lessons) == {}
    hear(house, 7, TRAINING)
    house.knowledge.restore("two")
    assert house.knowledge.snapshot("again") == digest
    last = house.knowledge.lessons.all()[-1]
    assert (last.phase, last.run) == ("restore", "")
    house.knowledge.lessons.undo(last.seq)
    assert house.knowledge.memory.standards.get("standard-precedent-008") is not None
    assert len(house.knowledge.memory.standards) == 1


def test_a_run_sees_the_snapshot_that_its_setup_names(house: Courthouse) -> None:
    hear(house, 1, TRAINING)
    house.knowledge.snapshot("one")
    hear(house, 2, TRAINING)
    case = 3
    assert seen(hear(house, case, VerdictSetup(memory="one")))["standards"] == ["standard-precedent-002"]
    assert seen(hear(house, case, VerdictSetup(memory="empty")))["standards"] == []
    assert len(seen(hear(house, case, VerdictSetup()))["standards"]) == 2
    run = drive(house, house.new_run("verdict", bundled_cases()[case], VerdictSetup(memory="nobody"), 0))
    assert house.store.status(run) == "failed"
    assert "no snapshot “nobody”" in house.record(run).run.reason


def test_a_fork_sees_the_memory_that_its_parent_saw(house: Courthouse) -> None:
    hear(house, 1, TRAINING)
    parent = hear(house, 3, VerdictSetup(precedents=1))
    hear(house, 2, TRAINING)
    fork = done(house, house.fork(parent.run.id, VerdictSetup(precedents=5)))
    assert seen(fork)["standards"] == seen(parent)["standards"] == ["standard-precedent-002"]
    (frozen,) = [r for r in fork.retrievals if isinstance(r.query, Frozen)]
    assert frozen.hits == next(r for r in parent.retrievals if isinstance(r.query, Frozen)).hits
    later = done(house, house.fork(parent.run.id, VerdictSetup(precedents=5), seed=1, case=parent.case))
    assert seen(later)["standards"] == ["standard-precedent-002"]
