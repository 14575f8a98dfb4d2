"""Runs beside each other, and the page that shows them: what is said to differ does, and nothing else."""

import json
import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError, Record
from courtroom.evaluation.comparison import Comparison, compare
from tests.driving import drive, finished, hearing, prepared, shell
from tests.driving import house as house  # a fixture
from tests.pages import heard, opened_at, ran
from tests.samples import sample
from tests.test_experiments_page import unmarked as texts


@pytest.fixture(scope="module")
def jury(house: Courthouse) -> Record:
    """A jury of seven that discusses for three rounds."""
    return hearing(house, "cyberjurors", "phone-battery", jury_size=7, consensus=1)


def forked(house: Courthouse, run: str) -> Record:
    """The same with another third juror."""
    setup: Any = house.record(run).setup
    first, second, third, *others = setup.jury
    blunt = third.model_copy(update={"traits": ("blunt",), "background": "Sells tables."})
    return finished(house, house.fork(run, setup.model_copy(update={"jury": (first, second, blunt, *others)})))


@pytest.fixture(scope="module")
def fork(house: Courthouse, jury: Record) -> Record:
    return forked(house, jury.run.id)


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


def test_a_family_is_a_tree_of_forks(house: Courthouse, jury: Record) -> None:
    first = house.fork(jury.run.id, jury.setup.model_copy(update={"norms": 1}))
    second = house.fork(jury.run.id, jury.setup, seed=5)
    grandchild = house.fork(first, jury.setup.model_copy(update={"norms": 1, "tie": "seller"}))
    prepared(house, "cyberjurors", jury.case, 9, jury_size=2)
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


def test_the_shell_compares(house: Courthouse, jury: Record, fork: Record, monkeypatch: pytest.MonkeyPatch) -> None:
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


TABS = ("What differs", "Votes", "Members", "Answers", "Views", "Looked up", "Family")


def compared(runs: str, tab: str | None = None) -> AppTest:
    return opened_at("compare", {"tab-compare": tab} if tab else None, runs=runs)


@pytest.mark.parametrize("procedure", ["juris", "courtroom-llm"])
@pytest.mark.slow
def test_every_tab_is_drawn_for_a_procedure_of_any_kind(app_house: Courthouse, procedure: str) -> None:
    found = app_house.procedures[procedure]
    record = hearing(app_house, procedure, sample(app_house, found.kinds[0]))
    run, fork = record.run.id, drive(app_house, app_house.fork(record.run.id, record.setup, seed=3))
    app, shown = compared(f"{run},{fork}"), {}
    for tab in TABS:
        app.session_state["tab-compare"] = tab
        shown[tab] = texts(ran(app))
    assert "Seed" in shown["What differs"]
    assert ("Nobody has voted" in shown["Votes"]) == (not app_house.record(run).ballots)


def test_what_differs_is_told_with_its_values(app_house: Courthouse) -> None:
    run = heard(app_house)
    fork = forked(app_house, run).run.id
    app = compared(f"{run},{fork}", "What differs")
    was = app_house.record(run).setup.jury[2].background  # type: ignore[attr-defined]
    (table,) = [element.proto.body for element in app.get("html") if "Personas · 3 · Background" in element.proto.body]
    row = re.search("<tr><th>Personas · 3 · Background</th>(.*?)</tr>", table)
    assert re.findall("<td>(.*?)</td>", row[1]) == [was, "Sells tables."]
    assert "a fork of A" in texts(app)
    app = compared(f"{run},{fork}", "Members")
    name = app_house.record(run).setup.jury[2].name  # type: ignore[attr-defined]
    assert list(app.dataframe[0].value.iloc[0])[:2] == [name, "≠"]
    assert any("Persona · Background" in element.proto.body for element in app.get("html"))
    assert "judge" not in " ".join(one.label for one in app.expander), "answers are named in words"
    app = compared(f"{run},{fork}", "Answers")
    assert list(app.dataframe[0].value.iloc[0])[:2] == ["Round 1", name]
