"""What a run can do without: a juror, a piece of evidence, a sentence of the facts."""

import pytest
from pydantic import ValidationError

from courtroom.cases.criminal import CriminalCase
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import changed
from courtroom.engine.record import Record
from courtroom.errors import CaseError
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, without_one


def driven(house: Courthouse, run: str) -> Record:
    house.runner.go(run)
    house.runner.wait(run, 30)
    return house.record(run)


def heard(house: Courthouse, **knobs: object) -> Record:
    setup = CyberJurorsSetup(**{"jury_size": 5, "rounds": 2, "consensus": 1.0, **knobs})  # type: ignore[arg-type]
    return driven(house, house.new_run("cyberjurors", house.library.case("oak-table"), setup, 0))


def test_a_juror_who_is_left_out_takes_nobody_elses_words_or_follows_along(
    house: Courthouse,
) -> None:
    base = heard(house)
    assert isinstance(base.setup, CyberJurorsSetup)
    fork = driven(house, house.fork(base.run.id, changed(base.setup, {"empty_seats": [3]})))
    assert [m.id for m in fork.members] == ["juror-01", "juror-02", "juror-04", "juror-05", "clerk"]
    names = {m.id: m.name for m in base.members}
    assert all(names[m.id] == m.name for m in fork.members)
    first = [call for call in fork.calls if call.stage in ("evidence", "round-1") and call.member != "clerk"]
    assert sum(call.asked for call in first) == 0, "what the others said before they could miss it is on record"
    assert {call.member for call in fork.calls if call.asked} >= {"clerk"}
    assert sum(fork.run.verdict.counts.values()) == 4
    assert isinstance(base.setup, CyberJurorsSetup)
    ring = changed(base.setup, {"graph.kind": "ring", "empty_seats": [3]})
    fork = driven(house, house.fork(base.run.id, ring))
    views = {view.name: view for view in house.procedures["cyberjurors"].views}
    (graph,) = list(views["graph"].draw(fork).values())[-1]
    assert [(edge.source, edge.target) for edge in graph.edges] == [  # type: ignore[union-attr]
        ("juror-01", "juror-02"),
        ("juror-04", "juror-05"),
        ("juror-05", "juror-01"),
    ]


def test_every_seat_but_the_last_can_be_left_empty() -> None:
    setup = CyberJurorsSetup(jury_size=3, empty_seats=(2,))
    assert without_one(setup) == {"juror-01": {"empty_seats": (2, 1)}, "juror-03": {"empty_seats": (2, 3)}}
    assert without_one(CyberJurorsSetup(jury_size=1)) == {}
    assert without_one(CyberJurorsSetup(variant="baseline")) == {}
    with pytest.raises(ValidationError, match="every seat would be empty"):
        CyberJurorsSetup(jury_size=2, empty_seats=(1, 2))


@pytest.mark.parametrize(
    ("changes", "redrawn"),
    [
        ({"graph.kind": "ring"}, True),
        ({"graph.density": 0.9}, True),
        ({"jury_size": 7}, False),
        ({"jury_size": 4}, False),
        ({"rounds": 1}, False),
        ({"graph.kind": "ring", "graph.edges": [[0, 1]]}, False),
    ],
)
def test_another_kind_of_graph_has_other_edges_and_another_jury_size_keeps_them(
    house: Courthouse, changes: dict[str, object], redrawn: bool
) -> None:
    case = house.library.case("oak-table")
    complete = CyberJurorsSetup(jury_size=5).complete(case, 0)
    assert (changed(complete, changes).graph.edges is None) is redrawn


def test_evidence_is_left_out_as_if_it_had_not_been_submitted(house: Courthouse) -> None:
    case = house.library.case("oak-table")
    names = [name for name, _ in case.parts()]
    assert names == [piece.id for piece in case.evidence]
    less = case.without(names[0])
    assert [piece.id for piece in less.evidence] == names[1:]
    assert less.content_hash() != case.content_hash()
    bare = case.without(*names)
    setup = CyberJurorsSetup(jury_size=3, rounds=1)
    assert driven(house, house.new_run("cyberjurors", bare, setup, 0)).run.status == "done"
    with pytest.raises(CaseError, match="no evidence buyer-99"):
        case.without("buyer-99")


def test_sentences_of_the_facts_are_left_out_with_all_else_as_it_was() -> None:
    case = CriminalCase(id="x", title="x", facts="He came.  He took it! He took it! 他走了。他卖了它。")
    assert [name for name, _ in case.parts()] == ["facts-1", "facts-2", "facts-3", "facts-4", "facts-5"]
    assert case.without("facts-1").facts == "He took it! He took it! 他走了。他卖了它。"
    assert case.without("facts-3", "facts-4").facts.split() == ["He", "came.", "He", "took", "it!", "他卖了它。"]
    assert CriminalCase(id="x", title="x", facts="One sentence.").parts() == ()
    with pytest.raises(CaseError, match="Nothing would be left"):
        case.without(*(name for name, _ in case.parts()))
    with pytest.raises(CaseError, match="no part facts-9"):
        case.without("facts-9")
