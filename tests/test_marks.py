"""Marks of reviewers: kept, filtered by, exported, compared."""

import json

import pytest
from pydantic import ValidationError

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.run_list import RunFilter, RunLine, RunList
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.marks import Mark, agreement, check_target


def hear(house: Courthouse) -> Record:
    setup = CyberJurorsSetup(jury_size=3, examination="shared", rounds=1)
    run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
    house.runner.go(run)
    house.runner.wait(run, 30)
    return house.record(run)


def listed(house: Courthouse, wanted: RunFilter) -> list[str]:
    lines = RunList(house.database).page(wanted, 0, 10)
    assert RunList(house.database).count(wanted) == len(lines)
    return [line.id for line in lines if isinstance(line, RunLine)]


def test_a_reviewer_has_one_mark_on_a_thing_and_can_take_it_away(house: Courthouse) -> None:
    record = hear(house)
    run, call = record.run.id, record.calls[-2].path
    house.marks.put(record.run.id, Mark(reviewer="Ada", star=True, tags=("  To  Show ", "to show")))
    house.marks.put(record.run.id, Mark(reviewer="Ada", score=4, tags=("To show",)))
    house.marks.put(record.run.id, Mark(reviewer="Ben", target="juror-02", comment="It never says why."))
    house.marks.put(record.run.id, Mark(reviewer="Ben", target=call, score=2))
    assert [(one.reviewer, one.target, one.star, one.tags) for one in house.marks.of(run)] == [
        ("Ada", "", False, ("to show",)),
        ("Ben", "juror-02", False, ()),
        ("Ben", call, False, ()),
    ]
    house.marks.put(record.run.id, Mark(reviewer="Ada"))
    assert house.marks.one(run, "", "Ada") is None
    check_target(record, call)
    with pytest.raises(CourtroomError, match="no member and no call"):
        check_target(record, "juror-99")
    with pytest.raises(ValidationError):
        Mark(reviewer="Ada", score=6)


def test_runs_are_filtered_by_star_tag_and_reviewer(house: Courthouse) -> None:
    one, two, three = hear(house), hear(house), hear(house)
    house.marks.put(one.run.id, Mark(reviewer="Ada", star=True, tags=("odd",)))
    house.marks.put(one.run.id, Mark(reviewer="Ben", tags=("fine",)))
    house.marks.put(two.run.id, Mark(reviewer="Ben", target="juror-01", star=True))
    assert set(listed(house, RunFilter())) == {record.run.id for record in (one, two, three)}
    assert set(listed(house, RunFilter(starred=True))) == {one.run.id, two.run.id}
    assert listed(house, RunFilter(starred=True, reviewer="Ben")) == [two.run.id]
    assert listed(house, RunFilter(tag="fine")) == [one.run.id]
    assert listed(house, RunFilter(tag="fine", reviewer="Ada")) == []
    assert (house.marks.tags(), house.marks.reviewers()) == (("fine", "odd"), ("Ada", "Ben"))
    house.store.restore(house.store.delete(one.run.id))
    assert len(house.marks.of(one.run.id)) == 2


def test_marks_and_interviews_are_exported_with_the_run(house: Courthouse) -> None:
    record = hear(house)
    run = record.run.id
    house.marks.put(record.run.id, Mark(reviewer="Ada", comment="Look at this."))
    house.interviews.ask(record, record.calls_of("juror-01")[-1], "Why?", "Ada").result(30)
    written = json.loads(report.as_json(record, house.answers, house.beside.of(run)))
    assert [mark["comment"] for mark in written["marks"]] == ["Look at this."]
    (interview,) = written["asides"]
    assert (interview["question"], interview["who"]) == ("Why?", "Ada")
    assert set(interview["called"]["keys"]) <= set(written["answers"])
    house.marks.put(run, Mark(reviewer="<b>Eve</b>", score=2))
    page = report.as_html(*(record, house.procedures["cyberjurors"], house.answers, house.media), house.beside.of(run))
    assert "Look at this." in page
    assert "Ada asks juror-01 after round-1/juror-01/judge" in page
    assert "<b>Eve" not in page


def test_agreement_is_krippendorffs_alpha_of_what_two_have_scored() -> None:
    pytest.importorskip("krippendorff")

    def marks(target: str, **scores: int) -> list[Mark]:
        return [Mark(target=target, reviewer=reviewer, score=score) for reviewer, score in scores.items()]

    same = {"run": [*marks("a", ada=1, ben=1), *marks("b", ada=5, ben=5), *marks("c", ada=3)]}
    found = agreement(same)
    assert (found.reviewers, found.marked, found.scores) == (2, 2, 1.0)
    # By hand: D_o = 2 pairs of difference 4 of 4 values; D_e = all pairs of {1, 5, 5, 1}.
    against = agreement({"run": [*marks("a", ada=1, ben=5)], "other": [*marks("a", ada=5, ben=1)]})
    assert against.scores == pytest.approx(1 - 16 / (16 * 8 / 12))
    assert agreement({"run": marks("a", ada=1)}).note.startswith("No two")
    assert agreement({"run": marks("a", ada=2, ben=2)}).note.startswith("All scores")
