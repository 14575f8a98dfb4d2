"""A link to a setup carries its case: a sample by its id, another by what is in it."""

import json

import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import CaseError
from tests.pages import house, page, texts

__all__ = ["house"]  # a fixture


def link(**more: object) -> str:
    return json.dumps({"procedure": "debate", "seed": 3, "setup": {"rounds": 4}, **more})


def test_a_link_opens_the_case_and_the_procedure_that_it_was_made_for(house: Courthouse) -> None:  # noqa: F811
    app = page("setup", setup=link(case="camera-fungus"))
    assert app.session_state["case"] == "camera-fungus"
    assert next(one for one in app.selectbox if one.label == "Procedure").value.name == "debate"
    next(one for one in app.button if one.label == "Use these settings").click().run()
    next(one for one in app.button if one.label == "Start").click().run()
    (run,) = house.store.runs()
    assert (run.case_id, run.procedure, run.seed) == ("camera-fungus", "debate", 3)


def test_another_case_can_be_chosen_after_the_link_is_open(house: Courthouse) -> None:  # noqa: F811
    app = page("setup", setup=link(case="camera-fungus"))
    next(one for one in app.selectbox if one.label == "Case").set_value("oak-table").run()
    app.run()
    assert app.session_state["case"] == "oak-table"


def test_an_uploaded_case_is_found_by_its_content_and_told_where_it_is_missing(house: Courthouse) -> None:  # noqa: F811
    table = house.library.case("oak-table")
    mine = house.library.restore(table.model_copy(update={"id": "mine", "title": "My table"}))
    name = house.library.name_in_link(mine)
    assert "mine" not in name
    assert house.library.name_in_link(table) == "oak-table"
    assert page("setup", setup=link(case=name)).session_state["case"] == "mine"
    house.library.delete("mine")
    app = page("setup", setup=link(case=name))
    assert not app.exception, app.exception
    assert "The case of this link is not in this install" in texts(app)
    assert app.session_state["case"] != "mine"


@pytest.mark.parametrize("case", ["nope", "sha256:", "sha256:0", "../../etc/passwd", "<script>", "", "mine"])
def test_a_case_that_is_not_here_is_told_in_a_sentence(case: str, house: Courthouse) -> None:  # noqa: F811
    with pytest.raises(CaseError, match=r"is not in this install.*\.$"):
        house.library.linked(case)


def test_a_case_of_another_type_makes_no_setup(house: Courthouse) -> None:  # noqa: F811
    app = page("setup", setup=link(case=["oak-table"]))
    assert not app.exception, app.exception
    assert "This is not a setup" in texts(app)


def test_the_shared_link_and_file_name_the_case_and_a_saved_setup_does_not(house: Courthouse) -> None:  # noqa: F811
    app = page()
    app.session_state["setup_section"] = "Save and share"
    app.session_state["case"] = "camera-fungus"
    app.switch_page("pages/setup.py").run()
    assert "camera-fungus" in "".join(code.value for code in app.code)
    next(one for one in app.text_input if one.label == "Name").set_value("plain")
    next(one for one in app.button if one.label == "Save").click().run()
    assert "case" not in house.setups.load("plain")
