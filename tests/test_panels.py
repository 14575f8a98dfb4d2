"""Panels of personas: from files and tables, under names, by page and by shell."""

import json
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import seating
from courtroom.errors import CourtroomError
from courtroom.panel.personas import read_panel, sample_panel, write_csv, write_yaml
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from tests.driving import shell
from tests.pages import house, page, press, texts

__all__ = ["house"]  # a fixture

HEAD = "name,gender,age,status,background,traits,interests\n"
ADA = "Ada,woman,41,employed,Repairs cameras.,patient; exact,chess\n"


@pytest.mark.parametrize("ending", ["csv", "yaml"])
def test_a_panel_that_is_exported_is_imported_as_it_was(ending: str) -> None:
    panel = sample_panel(7, 3)
    text = write_csv(panel) if ending == "csv" else write_yaml(panel)
    assert read_panel(f"a.{ending}", text.encode()) == panel


def test_a_csv_is_read_as_spreadsheets_write_it() -> None:
    other = "\ufeffAge;NAME;gender;status;Background;traits\r\n41;Ada;woman;employed;Repairs cameras.;patient, exact\r\n;;;;;\r\n"
    (ada,) = read_panel("a.CSV", other.encode())
    assert (ada.name, ada.age, ada.traits, ada.interests) == ("Ada", 41, ("patient", "exact"), ())


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.csv", "", "name, gender, age, status, background is not among them"),
        ("a.csv", "name,age\nAda,41", "gender, status, background is not among them"),
        ("a.csv", HEAD + ADA + "Ben,man,old,retired,Was a judge.,,", "Row 2: age must be a whole number from 18"),
        ("a.csv", HEAD + ADA + "Ben,man,17,student,At school.,,", "Row 2: age must be a whole number from 18 to 95."),
        ("a.csv", HEAD + "Ada,woman,,employed,Repairs cameras.,,", "Row 1: age is missing"),
        ("a.csv", HEAD + ADA + ADA, "Row 2: there is a “Ada” already"),
        ("a.csv", HEAD + "Ada,woman,41,employed,Repairs, and sells, cameras,a,b,c", "line 2: there are more cells"),
        ("a.csv", "shoe," + HEAD + "44," + ADA, "Row 1: “shoe” is no field"),
        ("a.csv", HEAD, "nobody in this panel"),
        ("a.csv", HEAD + "".join(ADA.replace("Ada", f"Ada {n}") for n in range(52)), "at most 51"),
        ("a.csv", HEAD + '"Ada,woman', "is not valid CSV"),
        ("a.yaml", "- name: [", "is not valid YAML: line 1"),
        ("a.yaml", "name: Ada", "must be a list of persons"),
        ("a.yaml", "- 7", "Row 1: this is no person"),
        ("a.yaml", "- !!python/object/apply:os.system [id]", "is not valid YAML"),
        ("a.yaml", "- &a [x, x]\n- [*a, *a]", "uses aliases"),
        ("a.yaml", "[" * 1_000, "is not valid YAML"),
        ("a.yaml", "- 7: Ada", "Row 1: name is missing"),
        (
            "a.yaml",
            "- {name: Ada, gender: woman, age: 41, status: employed, background: b, traits: patient}",
            "Row 1: traits must be a list of texts.",
        ),
        ("a.csv", HEAD + ADA.replace("Repairs cameras.", "x" * 500), "Row 1: background has more than 400 characters"),
        ("a.txt", "Ada", "can't be read"),
        ("a.csv", "x" * (2**20 + 1), "too much for a panel"),
    ],
)
def test_what_does_not_fit_is_told_by_row_in_one_sentence(name: str, data: str, told: str) -> None:
    with pytest.raises(CourtroomError) as caught:
        read_panel(name, data.encode())
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


def test_panels_are_kept_under_names(house: Courthouse) -> None:
    panel = sample_panel(3, 0)
    house.panels.save("  three  strangers ", panel)
    house.panels.save("others", sample_panel(2, 1))
    assert house.panels.names() == ["others", "three strangers"]
    with pytest.raises(CourtroomError, match="already"):
        house.panels.rename("others", "three strangers")
    house.panels.rename("others", "two")
    assert house.panels.delete("three strangers") == panel
    assert house.panels.names() == ["two"]
    for act in (lambda: house.panels.load("others"), lambda: house.panels.save(" ", panel)):
        with pytest.raises(CourtroomError):
            act()


def test_a_panel_takes_the_seats_of_a_jury_and_of_nothing_else() -> None:
    persons = [one.model_dump(mode="json") for one in sample_panel(3, 5)]
    setup = CyberJurorsSetup.model_validate(seating(CyberJurorsSetup, persons))
    assert (setup.jury_size, [one.name for one in setup.jury]) == (3, [one["name"] for one in persons])
    with pytest.raises(CourtroomError, match="no personas"):
        seating(JurisAgentsSetup, persons)


def test_a_panel_is_saved_seated_renamed_and_deleted_with_undo_on_setup(house: Courthouse) -> None:
    house.panels.save("three", sample_panel(3, 5))
    app = page("setup", {"setup_section": "Jury"})
    press(app, "Seat this panel")
    assert "3 jurors" in texts(app)
    next(one for one in app.text_input if one.label == "Name of the panel").set_value("again")
    press(app, "Save")
    assert house.panels.load("again") == house.panels.load("three")
    app.selectbox(key="panel-chosen").set_value("again").run()
    next(one for one in app.text_input if one.label == "New name").set_value("neighbours")
    press(app, "Rename")
    assert house.panels.names() == ["neighbours", "three"]
    app.selectbox(key="panel-chosen").set_value("three").run()
    press(app, "Delete this panel")
    assert house.panels.names() == ["neighbours"]
    app.button(key="undo-deleted_panel").click().run()
    assert house.panels.load("three") == sample_panel(3, 5)


def test_the_shell_keeps_panels_and_seats_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))

    file, out = tmp_path / "three.csv", tmp_path / "out.yaml"
    file.write_text(write_csv(sample_panel(3, 5)))
    assert shell("panels", "import", str(file)) == "three\t3\n"
    shell("panels", "rename", "three", "neighbours")
    assert shell("panels") == "neighbours\t3\n"
    shell("panels", "export", "neighbours", "--to", str(out))
    assert read_panel("out.yaml", out.read_bytes()) == sample_panel(3, 5)
    heard = json.loads(shell("run", "oak-table", "--panel", "neighbours", "--set", "rounds=1", "--json"))
    assert heard["members"] == 4, "three jurors and a clerk"
    shell("panels", "delete", "neighbours")
    assert shell("panels") == ""
