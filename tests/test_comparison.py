"""Runs beside each other: what is said to differ does, and nothing else."""

import json

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.engine.run import Control
from courtroom.errors import CourtroomError
from courtroom.evaluation.comparison import Comparison, compare, put_in
from courtroom.figures.graph import draw_votes_beside
from courtroom.models.errors import ModelError
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.driving import drive, house, shell
from tests.test_engine import bench
from tests.toy import Bench, Scripted, ToySetup

__all__ = ["bench", "house"]  # fixtures


def driven(house: Courthouse, run: str, control: Control | None = None) -> Record:
    return house.record(drive(house, run, control))


@pytest.fixture(scope="module")
def jury(house: Courthouse) -> Record:
    """A jury of seven that discusses for three rounds."""
    setup = CyberJurorsSetup(jury_size=7, consensus=1)
    return driven(house, house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0))


@pytest.fixture(scope="module")
def fork(house: Courthouse, jury: Record) -> Record:
    """The same with another third juror."""
    persons = list(jury.setup.jury)
    persons[2] = persons[2].model_copy(update={"traits": ("blunt",), "background": "Sells phones."})
    return driven(house, house.fork(jury.run.id, jury.setup.model_copy(update={"jury": tuple(persons)})))


def test_a_changed_persona_differs_there_and_downstream(jury: Record, fork: Record) -> None:
    found = compare([jury, fork])
    differences = [(kind, one.path) for kind, one in found.differences.all()]
    assert differences == [("setup", "jury.3.background"), ("setup", "jury.3.traits")]
    assert found.differences.setup[1].values[1] == ["blunt"]
    assert [m.member for m in found.members if m.seat] == ["juror-03"]
    assert found.parts_at == "round-1/juror-03/judge"
    apart = {(answer.stage, answer.member) for answer in found.answers if answer.state != "same"}
    assert {member for stage, member in apart if stage == "round-1"} <= {"juror-03", "clerk"}
    assert not {stage for stage, _ in apart} & {"evidence", "precedents"}
    assert {one.path for one in found.look_ups if not one.same_query} == {"precedents/juror-03/norms"}
    assert [(one.run.parent, one.run.origin) for one in (jury, fork)] == [(None, "input"), (jury.run.id, "fork")]
    asked = [answer for answer in found.answers if answer.sources[1] == "asked"]
    assert len(asked) == fork.asked
    assert not any(answer.same_question for answer in asked)
    assert {answer.path for answer in found.answers} == {call.path for call in jury.calls}
    for answer in found.answers:
        one, other = jury.call(answer.path), fork.call(answer.path)
        assert (one.value == other.value) == (answer.state == "same") == (not answer.fields)
        for field in answer.fields:
            if "." not in field.path:
                assert field.values == ((one.value or {})[field.path], (other.value or {})[field.path])


def test_a_fork_with_nothing_changed_differs_in_nothing(house: Courthouse, jury: Record) -> None:
    same = driven(house, house.fork(jury.run.id, jury.setup))
    found = compare([jury, same])
    assert (list(found.differences.all()), found.verdict, found.members, found.parts_at) == ([], (), (), "")
    assert {answer.state for answer in found.answers} == {"same"}
    assert all(all(one.runs) for look_up in found.look_ups for one in look_up.found)
    assert same.asked == 0


def test_an_unfinished_run_is_compared_as_far_as_possible(house: Courthouse, jury: Record) -> None:
    setup = jury.setup.model_copy(update={"norms": 2})
    begun = driven(house, house.fork(jury.run.id, setup), Control(stage="round 1"))
    new = house.record(house.fork(jury.run.id, setup))
    found = compare([jury, begun, new])
    assert [stage.name for stage in begun.stages] == ["Evidence", "Precedents", "Round 1"]
    assert [one.path for one in found.differences.setup] == ["norms"]
    assert [ballot.path for ballot in found.ballots] == ["round-1", "round-2", "round-3"]
    assert [tally is not None for tally in found.ballots[1].tallies] == [True, False, False]
    assert not any(row.differs for row in found.ballots[1].members)
    states = {answer.path: answer.state for answer in found.answers}
    assert {state for path, state in states.items() if path.startswith("evidence/")} == {"same"}
    assert {state for path, state in states.items() if path.startswith("round-2/")} == {"not yet"}
    assert found.parts_at.startswith("round-1/")
    assert compare([jury, new]).parts_at == ""
    assert not any(member.seat for member in found.members)
    assert found.verdict == ()


def test_votes_are_found_by_ballot_and_member(bench: Bench) -> None:
    alone = bench.hear(ToySetup(consensus=0.9))
    bench.model.reply = Scripted.reply
    united = bench.hear(ToySetup(consensus=0.9), seed=1)
    found = compare([alone, united])
    first, second = found.ballots
    differs = [(row.member, row.differs) for row in first.members]
    assert differs == [("juror-01", True), ("juror-02", False), ("juror-03", False)]
    votes = [vote and (vote.choice, vote.reasons) for vote in first.members[0].votes]
    assert votes == [("seller", ("round 1",)), ("buyer", ("It is cold.",))]
    assert [tally and tally.counts for tally in first.tallies] == [{"buyer": 2, "seller": 1}, {"buyer": 3, "seller": 0}]
    assert [tally and round(tally.share, 2) for tally in first.tallies] == [0.67, 1.0]
    assert (second.tallies[1], second.members[0].votes[1], second.members[0].differs) == (None, None, False)
    assert [answer.path for answer in found.answers][-1] == "round-2/juror-03/vote"
    assert {answer.state for answer in found.answers if answer.stage == "round-2"} == {"only in some"}
    assert found.differences.seed[0].values == (0, 1)
    assert found.members[0].ballots == ("round-1",)
    buyer, seller = draw_votes_beside(found.ballots, "AB", bench.procedures["toy"].choices).data
    assert [list(map(str, names)) for names in buyer.y] == [["Round 1", "Round 1", "Round 2"], ["A", "B", "A"]]
    assert [round(share, 2) for share in buyer.x] == [0.67, 1.0, 1.0]
    assert [round(share, 2) for share in seller.x] == [0.33, 0.0, 0.0]


def test_a_member_without_an_answer_is_told(bench: Bench) -> None:
    bench.model.reply = Scripted.reply
    answered, down = bench.hear(ToySetup(rounds=1)), ModelError("The server is down.")
    bench.model.reply = lambda request: down if request.tag.endswith("juror-02") else '{"side": "buyer"}'
    failed = bench.hear(ToySetup(rounds=1), seed=1)
    found = compare([answered, failed])
    (answer,) = [answer for answer in found.answers if answer.member == "juror-02"]
    assert [field.path for field in answer.fields] == ["side", "reason", "no_answer"]
    assert answer.fields[2].values[0] is None
    assert "The server is down." in answer.fields[2].values[1]
    (row,) = [row for row in found.ballots[0].members if row.differs]
    assert [vote and vote.choice for vote in row.votes] == ["buyer", None]


@pytest.mark.slow
def test_different_procedures_are_compared_by_what_they_share(house: Courthouse) -> None:
    case = house.library.case("criminal-bus-wallet")
    names = ("jurisagents", "verdict")
    one, other = (driven(house, house.new_run(name, case, house.procedures[name].setup(), 0)) for name in names)
    found = compare([one, other])
    assert found.differences.procedure[0].values == ("jurisagents", "verdict")
    assert found.differences.case == ()
    shared = set(type(one.setup).model_fields) & set(type(other.setup).model_fields)
    assert {difference.path.split(".")[0] for difference in found.differences.setup} <= shared
    assert {answer.path for answer in found.answers} == {call.path for call in (*one.calls, *other.calls)}
    assert found.verdict
    assert any("Article" not in thing.id for look_up in found.look_ups for thing in look_up.found)


def test_several_ballots_of_one_stage_are_told_apart(house: Courthouse) -> None:
    case = house.library.case("statement-follows")
    setup = CourtroomLLMSetup(texts=tuple(item.id for item in case.items[:3]))
    one = driven(house, house.new_run("courtroom-llm", case, setup, 0))
    other = driven(house, house.fork(one.run.id, one.setup, seed=3))
    found = compare([one, other])
    assert {ballot.path for ballot in found.ballots} == set(one.ballots) | set(other.ballots)
    assert len(found.ballots) == 3
    for ballot in found.ballots:
        for row in ballot.members:
            cast = [record.ballots.get(ballot.path, {}).get(row.member) for record in (one, other)]
            assert [vote and vote.choice for vote in row.votes] == [vote and vote.choice for vote in cast]


def test_another_case_is_told_by_its_fields(house: Courthouse, jury: Record) -> None:
    removed, kept = jury.case.evidence[0], jury.case.evidence[1:]
    changed = kept[0].model_copy(update={"text": "Nothing."})
    other = jury.case.model_copy(update={"evidence": (changed, *kept[1:])})
    found = put_in([(jury.run, jury.case, jury.setup), (jury.run, other, jury.setup)])
    assert [one.path for one in found.case] == [f"evidence.{removed.id}", f"evidence.{changed.id}.text"]
    assert (found.case[0].values[1], found.case[1].values) == (None, (kept[0].text, "Nothing."))


def test_a_family_is_a_tree_of_forks(house: Courthouse, jury: Record) -> None:
    first = house.fork(jury.run.id, jury.setup.model_copy(update={"norms": 1}))
    second = house.fork(jury.run.id, jury.setup, seed=5)
    grandchild = house.fork(first, jury.setup.model_copy(update={"norms": 1, "tie": "seller"}))
    house.new_run("cyberjurors", jury.case, CyberJurorsSetup(jury_size=2), 9)
    kin = house.family(grandchild)
    told = {one.run.id: (one.depth, [difference.path for _, difference in one.changes.all()]) for one in kin}
    family = {jury.run.id: (0, []), first: (1, ["norms"]), grandchild: (2, ["tie"]), second: (1, ["seed"])}
    assert told == told | family
    order = [one.run.id for one in kin]
    assert order[0] == jury.run.id
    assert order.index(grandchild) == order.index(first) + 1
    assert {one.run.id for one in house.family(second)} == set(order)
    house.store.delete(first)
    assert [one.run.id for one in house.family(grandchild)] == [grandchild]
    assert grandchild not in {one.run.id for one in house.family(second)}


def test_the_shell_prints_the_comparison(
    monkeypatch: pytest.MonkeyPatch, house: Courthouse, jury: Record, fork: Record
) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(house.settings.home))
    runs = jury.run.id, fork.run.id
    out = shell("compare", *runs, "--json")
    told = json.loads(out)
    assert [(one["run"], one["asked"]) for one in told.pop("runs")] == [(one.run.id, one.asked) for one in (jury, fork)]
    known = Comparison.model_validate_json(compare([jury, fork]).model_dump_json())
    assert Comparison.model_validate_json(json.dumps(told)) == known
    assert json.loads(out)["differences"]["setup"][1]["path"] == "jury.3.traits"
    out = shell("compare", *runs)
    assert 'setup jury.3.traits: A ["' in out
    assert "from round-1/juror-03/judge on" in out
    assert f"fork of {jury.run.id}" in out
    for several in ([jury.run.id], [jury.run.id] * 2, [*runs, *"abc"]):
        with pytest.raises(CourtroomError, match="Two to four different runs"):
            shell("compare", *several)
    with pytest.raises(CourtroomError, match="There is no run “nope” here"):
        shell("compare", jury.run.id, "nope")
