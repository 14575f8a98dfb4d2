"""Who hears any case with options hears disputes, trials and questions, in all that a run can do."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest

from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.datasets.row import Row
from courtroom.declarations.setup import Setup
from courtroom.engine.record import Record
from courtroom.experiments.spec import parsed
from courtroom.experiments.what_if import evidence_left_out, knobs_turned, singly
from courtroom.language import speaking
from courtroom.report import as_html
from courtroom.room.scene import scene
from tests.driving import done, drive, house
from tests.samples import sample
from tests.test_questions import ANSWERS, bridge

__all__ = ["house"]  # a fixture

SMALL: Mapping[str, Mapping[str, Any]] = {
    "council": {"seats": 3},
    "debate": {"rounds": 2},
    "discussion": {"turns": 2, "speakers": 3},
    "mock-jury": {"jury_size": 3, "rounds": 1, "first_votes": 2},
}
OPTIONS = {"2 options": 2, "3 options": 3, "6 options": 6, "no options": 0}
CASES = ("dispute", "trial", *OPTIONS)
EVERY = [
    *(("council", "trial"), ("council", "no options"), ("debate", "dispute"), ("debate", "no options")),
    *(("discussion", "trial"), ("discussion", "3 options"), ("mock-jury", "dispute"), ("mock-jury", "3 options")),
]


@cache
def case_of(house: Courthouse, name: str) -> Case:
    if name == "dispute":
        return house.library.case("camera-fungus")  # no judge is sure of it after one round
    return sample(house, name) if name == "trial" else bridge(OPTIONS[name])


def small(house: Courthouse, procedure: str) -> Setup:
    return house.procedures[procedure].setup.model_validate(SMALL[procedure])


@cache
def heard(house: Courthouse, procedure: str, case: str) -> Record:
    """A run that is stopped after its first stage and then goes on to its end."""
    run = house.new_run(procedure, case_of(house, case), small(house, procedure), 0)
    house.runner.step(run)
    house.runner.wait(run)
    paused = house.record(run)
    assert paused.run.status == "paused", paused.run.reason
    assert len(paused.stages) == 1
    record = house.record(drive(house, run))
    assert record.run.status == "done", record.run.reason
    assert [call.path for call in record.calls][: len(paused.calls)] == [call.path for call in paused.calls]
    return record


@pytest.mark.parametrize(("procedure", "case"), EVERY)
def test_any_case_is_heard_stepped_forked_exported_and_drawn(house: Courthouse, procedure: str, case: str) -> None:
    record, found = heard(house, procedure, case), house.procedures[procedure]
    verdict = record.run.verdict
    assert verdict
    choices = found.about(case_of(house, case)).choices
    assert set(verdict.counts) <= {choice.name for choice in choices}
    assert sum(verdict.counts.values()) + verdict.abstained > 0
    if number := OPTIONS.get(case):
        assert [choice.title for choice in choices] == list(ANSWERS[:number])
    proposing = any(stage.stage_kind == "proposals" for stage in record.stages)
    assert proposing == (case == "no options" and procedure != "council")
    fork = house.record(drive(house, house.fork(record.run.id, record.setup)))
    assert fork.run.verdict == verdict
    assert not [call.path for call in fork.calls if call.asked]
    imported = house.files.take_in(house.files.export(record.run.id)[1].encode())
    assert house.record(imported).run.verdict == verdict
    for language in ("en", "zh"):
        with speaking(language):
            assert record.case.title in as_html(record, found, house.answers, house.media)
            assert scene(record, found)
    for view in found.views:
        view.drawn(record)


@pytest.mark.parametrize(("procedure", "case"), EVERY[::2])
def test_what_if_changes_anything(house: Courthouse, procedure: str, case: str) -> None:
    record = heard(house, procedure, case)
    variants = singly(evidence_left_out(record.case)[:1], tuple(knobs_turned(record.setup))[:1])
    assert len(variants) == 3
    found = done(house, house.experiments.what_ifs.experiment(record.run.id, variants, (0,)))
    assert found.kept.status == "done", found.kept.reason
    assert [row.state for row in found.rows] == ["done"] * 3


@pytest.mark.parametrize("kind", ["dispute", "trial", "question"])
def test_an_experiment_compares_all_panels(house: Courthouse, kind: str) -> None:
    names = [name for name in CASES if name == kind or (kind == "question" and "options" in name)]
    cases = [case_of(house, name).model_copy(update={"id": name.replace(" ", "-")}) for name in names]
    house.datasets.add(f"all-{kind}", [Row(id=case.id, case=case) for case in cases])
    arms = [{"name": name, "procedure": name, "set": dict(changes)} for name, changes in SMALL.items()]
    given = {"name": f"panels-{kind}", "title": "All panels", "dataset": {"name": f"all-{kind}"}, "arms": arms}
    found = done(house, parsed(given, "The experiment"))
    assert found.kept.status == "done", found.kept.reason
    assert [row.state for row in found.rows] == ["done"] * len(cases) * len(SMALL)
