"""The engine, driven by a scripted model; what a procedure sees of the court, and who looks on of a run."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from courtroom import Case, Court, Lesson, Put, Search, Verdict
from courtroom.access import Access, Account, acts
from courtroom.courthouse import LatestRecords
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.run import Control
from courtroom.models.request import ModelError
from tests.toy import Bench, ToySetup, side_by_member, toy


@pytest.mark.parametrize(
    ("control", "reason", "tallies"),
    [
        (Control(stage="round 1"), "Round 2", 1),
        (Control(breaks=("round",)), "after the round", 1),
        (Control(breaks=("change",)), "juror-01 changed from seller to buyer", 1),
        (Control(breaks=("consensus",)), "consensus", 2),
    ],
)
def test_a_run_pauses_where_it_is_told_and_goes_on(bench: Bench, control: Control, reason: str, tallies: int) -> None:
    record = bench.hear(ToySetup(consensus=0.9), control=control)
    assert record.run.status == "paused"
    assert reason in record.run.reason
    assert len(record.tallies) >= tallies
    assert control.stage is None or [stage.name for stage in record.stages] == ["Round 1"]
    assert bench.go_on(record.run.id, control=Control()).run.status == "done"
    assert len(bench.model.history) == 6


def test_after_a_lost_quorum_only_those_who_failed_are_asked(bench: Bench) -> None:
    down = ModelError("The server is down.")
    bench.model.reply = lambda request: side_by_member(request) if request.tag.endswith("juror-03") else down
    record = bench.hear()
    assert record.run.status == "failed"
    assert "1 of 3 members could vote in Round 1" in record.run.reason
    bench.model.reply = side_by_member
    assert bench.go_on(record.run.id).run.status == "done"
    asked = Counter(request.tag for request in bench.model.history)
    assert (asked["0/juror-03"], asked["0/juror-01"]) == (2, 3)


def test_what_a_lesson_rests_on_is_on_disk_first(bench: Bench, tmp_path: Path) -> None:
    async def look_and_learn(court: Court[Case, ToySetup]) -> Verdict:
        await court.stage("Learning", "round")
        (hit,) = await court.retrieve("look", Search(collection="precedents", text="kettle", k=1))
        await court.learn("put", Lesson(phase="norms", ops=(Put(collection="precedents", record={"id": hit.id}),)))
        return Verdict(outcome="learned")

    bench.procedures = {"toy": replace(toy(tmp_path), deliberate=look_and_learn)}
    bench.runner.close()
    bench.runner = bench.new_runner()
    seen: list[str] = []
    bench.shelf.learn = lambda run, *_: seen.extend(event.path for _, event in bench.store.events(run))
    bench.hear()
    assert "learning/look" in seen


LONG_S = 3600.0


def test_what_one_has_read_is_kept_from_strangers(bench: Bench) -> None:
    ada, ben = (Account(id=name, name=name, access=Access.RUN) for name in ("ada", "ben"))
    latest = LatestRecords(bench.runner.record, bench.store)
    with acts(ada):
        run = bench.start()
        assert latest.of(run, LONG_S).run.id == run
    with acts(ben), pytest.raises(NoSuchRun):
        latest.of(run, LONG_S)
    record = latest.of(bench.hear().run.id)
    budget = record.setup.budget.model_copy(update={"calls": 99})
    bench.store.replace_setup(record.run.id, record.setup.model_copy(update={"budget": budget}))
    assert latest.of(record.run.id).setup.budget.calls == 99
