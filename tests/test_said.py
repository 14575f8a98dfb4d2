"""Search in what was said, over all runs that may be seen."""

from pathlib import Path

import pytest

from courtroom.access import Access, acts, nobody
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.room.said import search_said
from tests.driving import drive
from tests.pages import house as app_house
from tests.pages import opened_at, texts
from tests.signing_in import closed_house, person

__all__ = ["app_house"]  # a fixture


def played(house: Courthouse) -> Record:
    recording = next(one for one in house.recordings if one.file.name == "boatyard-fire.json")
    return house.record(house.files.play(recording))


def statement(record: Record) -> tuple[str, str]:
    """The path of a call and what was said in it, to the first stop."""
    call = next(call for call in record.calls if call.task == "vote" and call.value)
    return call.path, str((call.value or {})["statement"])


@pytest.mark.usefixtures("either_database")
def test_what_was_said_is_found_with_its_place(house: Courthouse) -> None:
    record = played(house)
    path, said = statement(record)
    words = said[20:60]
    found = next(one for one in search_said(house.database, f" {words.upper()} ", 50) if one.call.path == path)
    assert (found.run, found.words) == (record.run.id, words.strip())
    assert found.before + found.words + found.after in said
    for nowhere in ("a phrase that nobody in this run has said", "  ", "%", record.calls[0].keys[0]):
        assert search_said(house.database, nowhere, 50) == []
    assert len(search_said(house.database, "e", 3)) == 3


def test_nobody_finds_what_was_said_in_anothers_private_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closed_house(tmp_path, monkeypatch) as house:
        ann, bob = person(house, "ann", Access.RUN), person(house, "bob", Access.RUN)
        setup = house.procedures["mock-jury"].setup.model_validate({"jury_size": 3, "rounds": 1})
        with acts(ann):
            run = drive(house, house.new_run("mock-jury", house.library.case("trial-boatyard-fire"), setup, 0))
            _, said = statement(house.record(run))
            assert search_said(house.database, said[:40], 5)
        for stranger in (bob, nobody()):
            with acts(stranger):
                assert search_said(house.database, said[:40], 5) == []


def test_the_list_of_runs_opens_the_moment_at_which_it_was_said(app_house: Courthouse) -> None:
    record = played(app_house)
    path, said = statement(record)
    app = opened_at("runs")
    next(one for one in app.text_input if one.label == "Search").set_value(said[:40]).run()
    assert any(one.label.startswith("Said ") for one in app.expander)
    next(one for one in app.button if one.key == f"moment-{record.run.id}-{path}").click().run()
    assert not app.exception, app.exception
    assert app.query_params["moment"] == path
    assert record.run.title in texts(app)
