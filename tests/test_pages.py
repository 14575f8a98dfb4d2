"""Each page, drawn by Streamlit's own test harness."""

import json
from collections import Counter

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Budget, Courthouse
from courtroom.engine.run import Control
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from pages.parts.shared.shown import escaped, html_of, literal
from tests.driving import until
from tests.pages import benched, field, heard, page, press, put, ran, texts
from tests.pages import house as house  # a fixture


def keys(app: AppTest, beginning: str) -> set[str]:
    """What follows this in the keys of the page's buttons."""
    return {one.key.removeprefix(beginning) for one in app.button if str(one.key).startswith(beginning)}


def listed(app: AppTest) -> list[str]:
    """Ids of the lines that the page Runs shows."""
    return list(app.dataframe[-1].value["run"])


def choose(app: AppTest, *lines: str) -> None:
    """Choose lines of its table."""
    rows = [listed(app).index(line) for line in lines]
    app.session_state[f"runs-{hash(tuple(listed(app)))}"] = {"selection": {"rows": rows}}
    ran(app)


def test_the_first_screen_shows_a_few_samples_a_kind_and_filters_the_rest(house: Courthouse) -> None:
    app = page()
    cases, few = house.library.cases(), keys(app, "hear-")
    shown = Counter(case.kind for case in cases if case.id in few)
    assert shown.keys() == {case.kind for case in cases}
    assert max(shown.values()) == 3
    put(app, "selectbox", "Show", "All cases")
    assert {case.id for case in cases} == keys(app, "hear-")
    app.text_input[0].set_value("fungus").run()
    assert keys(app, "hear-") == {"camera-fungus"}
    app.text_input[0].set_value("no such thing").run()
    assert "Loosen" in texts(app)


def test_one_hearing_of_each_kind_can_be_watched_before_and_after_the_first_run(house: Courthouse) -> None:
    kinds = {"criminal", "dispute", "document", "labelled", "question", "trial"}
    assert keys(page(), "watch-") == kinds
    heard(house)
    app = page()
    assert keys(app, "watch-") == kinds
    app.button(key="watch-document").click().run()
    assert "juris" in {run.procedure for run in house.store.each()}


def test_a_knob_that_is_turned_can_be_undone_and_is_in_the_run(house: Courthouse) -> None:
    app = page("setup")
    put(app, "number_input", "Jurors", 3)
    press(app, "Undo")
    assert field(app, "number_input", "Jurors").value == 17
    put(app, "number_input", "Jurors", 3)
    press(app, "Start")
    (run,) = [*house.store.each()]
    assert len(house.store.setup(run.id, CyberJurorsSetup).jury) == 3


def test_a_spent_budget_can_be_raised_on_the_page(house: Courthouse) -> None:
    run = heard(house, budget=Budget(calls=5))
    app = page("deliberation", {"run": run})
    assert "budget of 5 calls" in texts(app)
    field(app, "number_input", "Calls").set_value(500)
    next(button for button in app.button if button.label.startswith("Set the budget")).click().run()
    house.runner.wait(run, 20)
    assert house.store.run(run).status == "done"


def test_a_waiting_run_is_changed_by_the_editors_of_setup(house: Courthouse) -> None:
    run = heard(house, control=Control(stage="evidence"))
    app = page("deliberation", {"run": run, f"intervene-{run}": True, f"act-{run}": "Change"})
    put(app, "number_input", "Rounds at most (T)", 1)
    press(app, "Change from the next stage on")
    (made,) = house.record(run).interventions
    assert (made.action.key, made.before, made.after) == ("rounds", 3, 1)  # type: ignore[union-attr]


def test_precedents_are_found_by_matter_deleted_brought_back_and_distilled(house: Courthouse) -> None:
    app = page("knowledge")
    put(app, "text_input", "Search by matter", "washing machine leaks")
    assert "Washing machine" in app.expander[0].label
    where = house.settings.home / "chroma"
    assert f"Chroma holds their vectors: the collection precedents in {where}." in texts(app).replace("\\", "")
    before = len(house.knowledge.of("precedents").all())
    next(button for button in app.button if button.key and button.key.startswith("delete-")).click().run()
    assert len(house.knowledge.of("precedents").all()) == before - 1
    press(app, "Undo")
    assert len(house.knowledge.of("precedents").all()) == before
    press(app, "Distil again")
    (run,) = [*house.store.each()]
    house.runner.wait(run.id, 20)
    assert house.store.run(run.id).procedure == "distillation"
    assert house.store.run(run.id).status == "done"
    (distilled,) = house.record(run.id).case.precedents
    assert 2 <= len(house.knowledge.of("precedents").get(distilled.id).norms) <= 4


def test_a_run_is_forked_from_its_page_and_says_what_changes(house: Courthouse) -> None:
    run = benched(house, "jurisagents")
    app = page("setup", fork=run)
    assert "Nothing is changed yet" in texts(app)
    assert "8 are on record" in texts(app)
    put(app, "number_input", "Statutes looked up", 3)
    assert "Statutes looked up: 10 → 3" in texts(app).replace("\\", "")
    press(app, "Start")
    fork = [*house.store.each()][-1]
    assert (fork.parent, fork.origin) == (run, "fork")
    house.runner.wait(fork.id, 60)
    assert 0 < house.record(fork.id).recorded < 8


def test_a_knowledge_base_is_imported_and_shown_by_its_name_with_the_files_it_is_made_of(house: Courthouse) -> None:
    law = json.dumps({"number": 264, "text": "Whoever steals ..."}).encode()
    app = page("knowledge", part="statutes")
    assert "unofficial digest" in texts(app)
    put(app, "text_input", "Into the knowledge base", "prc")
    for name, content in (("bad.jsonl", law + b"\nnot json\n"), ("law.jsonl", law)):
        app.file_uploader(key="import-statutes").set_value((name, content, "application/jsonl")).run()
        press(app, "Check and import")
        assert ("is not valid JSON at column 1" in texts(app)) == (name == "bad.jsonl")
    until(lambda: "all 1 records are in" in texts(app.run()), "the import to be told")
    assert "law.jsonl (1 records)" in texts(app).replace("\\", "")
    assert len(app.expander) == 2  # the import form, and the one article
    assert "Unofficial digest" not in texts(app)
    choice = field(page("setup", fork=benched(house, "jurisagents")), "selectbox", "Knowledge base")
    assert (choice.options, choice.value) == (["bundled", "prc"], "bundled")


def test_the_memory_is_named_and_a_learning_step_undone_on_the_page(house: Courthouse) -> None:
    benched(house, "verdict", learning={"on": True})
    assert len(house.knowledge.memory.standards) + len(house.knowledge.memory.buffer) == 1
    app = page("knowledge", part="standards")
    app.text_input(key="snapshot-name").set_value("one").run()
    ran(app.button(key="snapshot-take").click())
    assert [one.name for one in house.knowledge.snapshots.all()] == ["empty", "one"]
    assert list(app.dataframe[0].value["Name"]) == ["empty", "one"]
    app.text_input(key="snapshot-name").set_value("a b").run()
    app.button(key="snapshot-take").click().run()
    assert "be named “a b”" in app.error[0].value
    press(page("knowledge", part="learning"), "Undo this step")
    assert len(house.knowledge.memory.standards) == len(house.knowledge.memory.buffer) == 0


def link(**more: object) -> str:
    return json.dumps({"procedure": "debate", "seed": 3, "setup": {"rounds": 4}, **more})


def test_a_link_opens_the_case_and_the_procedure_that_it_was_made_for(house: Courthouse) -> None:
    app = page("setup", setup=link(case="camera-fungus"))
    assert app.session_state["case"] == "camera-fungus"
    assert field(app, "selectbox", "Procedure").value == "debate"
    press(app, "Use these settings")
    press(app, "Start")
    (run,) = [*house.store.each()]
    assert (run.case_id, run.procedure, run.seed) == ("camera-fungus", "debate", 3)
    assert house.record(run.id).setup.model_dump()["rounds"] == 4
    app = page("setup", setup=link(case="camera-fungus"))
    put(app, "selectbox", "Case", "oak-table")
    app.run()
    assert app.session_state["case"] == "oak-table", "another one can be chosen"


def test_each_of_several_choices_in_a_row_counts(house: Courthouse) -> None:
    app = page("setup")
    for case in ("oak-table", "camera-fungus", "down-jacket"):
        put(app, "selectbox", "Case", case)
        assert app.session_state["case"] == case
    for procedure in ("debate", "mock-jury", "cyberjurors"):
        put(app, "selectbox", "Procedure", procedure)
    put(app, "selectbox", "Case", "oak-table")
    assert field(app, "selectbox", "Procedure").value == "cyberjurors"


def test_a_fork_leaves_the_setup_and_a_chosen_case(house: Courthouse) -> None:
    run = heard(house)
    app = page("setup", {"case": "down-jacket"})
    put(app, "number_input", "Jurors", 3)
    app.query_params["fork"] = run
    assert field(ran(app), "number_input", "Jurors").value == 5
    press(app, "Start afresh instead")
    assert field(app, "number_input", "Jurors").value == 3
    app = page("", {"fork": run}, case="camera-fungus")
    press(app, "Hear this case")
    assert field(app, "selectbox", "Case").value == "camera-fungus"


def test_a_link_that_says_a_part_of_a_group_is_used(house: Courthouse) -> None:
    app = page("setup", setup=json.dumps({"procedure": "cyberjurors", "setup": {"budget": {"calls": 500}}}))
    press(app, "Use these settings")
    press(app, "Start")
    (run,) = [*house.store.each()]
    assert house.record(run.id).setup.budget == Budget(calls=500)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b'{"setup": {"rounds": 2}, "setup": {"rounds": 3}}', "it has the field “setup” twice"),
        ('{"case": "张伟"}'.encode("gbk"), "it is not UTF-8 text. Save it as UTF-8."),
    ],
)
def test_a_setup_file_that_would_be_guessed_at_is_refused(house: Courthouse, data: bytes, told: str) -> None:
    app = page("setup", {"setup_section": "Save and share", "case": "camera-fungus"})
    field(app, "file_uploader", "Load a setup from JSON").upload("a.json", data).run()
    press(app, "Load this file")
    assert told in texts(app).replace("\\", "")


def test_the_door_leaves_no_mark_that_markdown_or_html_reads() -> None:
    marks = "![](http://a/b) <img src=x> [a](b) :red[x] $x$ `c` &lt; ~~d~~ | # - + = \"'"
    assert "\n" not in literal("a\n\n    b")
    at = literal(marks)
    assert all(at[place - 1] == "\\" for place, mark in enumerate(at) if mark in "![]()<>*_`$:&~|#-+=\"'{}")
    assert not set("<>\"'") & set(escaped(marks))
    assert html_of("diff", pieces=[("new", "<b>&")]).count("&lt;b&gt;&amp;") == 1
