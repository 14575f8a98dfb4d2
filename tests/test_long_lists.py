"""Lists of runs and experiments are read as far as they are shown, however long they are."""

import pytest

from courtroom.courthouse import Courthouse
from courtroom.experiments.spec import Experiment
from tests.many_runs import copies
from tests.pages import heard, house, opened_at, page, texts
from tests.test_run_list import SMALL, rows_read

__all__ = ["house", "rows_read"]  # fixtures
MOST = 5


@pytest.fixture
def run(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> str:  # noqa: F811
    """One that was heard, among more than are offered at once."""
    monkeypatch.setattr("pages.parts.runs.MOST", MOST)
    monkeypatch.setattr("pages.parts.experiments.list.PAGE", MOST)
    run = heard(house, **SMALL)
    copies(house, run, 2 * MOST)
    return run


@pytest.mark.parametrize("name", ["compare", "what_if"])
def test_a_page_on_which_a_run_is_chosen_reads_no_more_of_many_than_of_few(
    house: Courthouse, run: str, rows_read: list[int], name: str
) -> None:  # fmt: skip  # noqa: F811
    counts = []
    for more in (0, 100):
        copies(house, run, more, 2 * MOST)
        page(name)  # what is read once
        rows_read[0] = 0
        page(name)
        counts.append(rows_read[0])
    assert counts[0] == counts[1]


def test_a_run_that_is_not_offered_is_found_by_a_search_and_one_in_the_address_is_there(
    house: Courthouse, run: str
) -> None:  # noqa: F811
    oldest = f"{run}-00000"
    app = opened_at("compare", runs=f"{run},{oldest}")
    (choice,) = app.multiselect
    assert len(choice.options) == MOST + 2
    assert choice.value == [run, oldest]
    app = page("compare")
    (choice,) = app.multiselect
    assert len(choice.options) == MOST
    app.text_input(key="compare-search").set_value(oldest).run()
    assert [option.rpartition(" ")[2] for option in app.multiselect[0].options] == [oldest]
    app = opened_at("what_if", base=run)
    assert app.selectbox[0].value == run
    app.text_input(key="what-if-search").set_value("no such run").run()
    assert app.selectbox[0].value == run, "the chosen one stays"


def test_the_list_of_experiments_has_pages(house: Courthouse, run: str, rows_read: list[int]) -> None:  # noqa: F811
    arm = {"name": "one", "procedure": "cyberjurors", "set": SMALL}
    first = house.experiments.store.create(
        Experiment.model_validate({"name": "first", "dataset": {"name": "one"}, "arms": [arm]}), "dispute", ()
    )
    counts = []
    for start in (0, 10):
        for number in range(start, start + 10):
            house.database.connection.execute(
                "INSERT INTO experiments (id, name, body, kind, status, created)"
                " SELECT id || ?, name || ?, body, kind, status, created FROM experiments WHERE id = ?",
                (f"-{number}", f"-{number}", first),
            )
        page("experiments")
        rows_read[0] = 0
        app = page("experiments")
        counts.append(rows_read[0])
        assert len([one for one in app.button if str(one.key).startswith("open-")]) == MOST
    assert counts[0] == counts[1]
    app.number_input(key="experiments-page").set_value(5).run()
    assert [one.key for one in app.button if str(one.key).startswith("open-")] == [f"open-{first}"]
    assert not app.exception
    assert "first" in texts(app)
