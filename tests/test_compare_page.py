"""The page Compare, and the ways that lead to it, drawn by Streamlit's own test harness."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from tests.driving import drive
from tests.pages import heard, house, opened_at
from tests.samples import sample
from tests.test_experiments_page import unmarked as texts

__all__ = ["house"]  # a fixture
TABS = ("What differs", "Votes", "Members", "Answers", "Views", "Looked up", "Family")


def forked(house: Courthouse, run: str) -> str:
    setup = house.record(run).setup
    jury = list(setup.jury)
    jury[2] = jury[2].model_copy(update={"traits": ("blunt",), "background": "Sells tables."})
    return drive(house, house.fork(run, setup.model_copy(update={"jury": tuple(jury)})))


def compared(runs: str, tab: str | None = None) -> AppTest:
    return opened_at("compare", {"tab-compare": tab} if tab else None, runs=runs)


@pytest.mark.parametrize("procedure", ["juris", "courtroom-llm"])
@pytest.mark.slow
def test_every_tab_is_drawn_for_a_procedure_of_any_kind(house: Courthouse, procedure: str) -> None:
    found = house.procedures[procedure]
    run = drive(house, house.new_run(procedure, sample(house, found.kinds[0]), found.setup(), 0))
    fork = drive(house, house.fork(run, house.record(run).setup, seed=3))
    app, shown = compared(f"{run},{fork}"), {}
    for tab in TABS:
        app.session_state["tab-compare"] = tab
        app.run()
        assert not app.exception, (tab, app.exception)
        shown[tab] = texts(app)
    assert "Seed" in shown["What differs"]
    assert ("Nobody has voted" in shown["Votes"]) == (not house.record(run).ballots)


def test_what_differs_is_told_with_its_values(house: Courthouse) -> None:
    run = heard(house)
    fork = forked(house, run)
    app = compared(f"{run},{fork}", "What differs")
    was = house.record(run).setup.jury[2].background  # type: ignore[attr-defined]
    (table,) = [element.proto.body for element in app.get("html") if "Personas · 3 · Background" in element.proto.body]
    row = re.search("<tr><th>Personas · 3 · Background</th>(.*?)</tr>", table)
    assert re.findall("<td>(.*?)</td>", row[1]) == [was, "Sells tables."]
    assert "a fork of A" in texts(app)
    app = compared(f"{run},{fork}", "Members")
    name = house.record(run).setup.jury[2].name  # type: ignore[attr-defined]
    assert list(app.dataframe[0].value.iloc[0])[:2] == [name, "≠"]
    assert any("Persona · Background" in element.proto.body for element in app.get("html"))
    assert "judge" not in " ".join(one.label for one in app.expander), "answers are named in words"
    app = compared(f"{run},{fork}", "Answers")
    assert list(app.dataframe[0].value.iloc[0])[:2] == ["Round 1", name]
