"""JURIS: seats differ by model, by stated point of view, or both; and nobody judges its own text without a word."""

import json
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from courtroom import report
from courtroom.__main__ import main
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import changed, merged
from courtroom.procedures.juris import views
from courtroom.procedures.juris.procedure import JURIS
from courtroom.procedures.juris.setup import JurisSetup, members
from courtroom.procedures.juris.tasks import SEVEN
from courtroom.settings import Settings
from tests.juris import ASSESSOR, panel, rendered, write
from tests.openai_server import OpenAIServer
from tests.pages import page

ONE: dict[str, Any] = {"model": {"id": "openai/one"}}


def preset(title: str, **more: Any) -> JurisSetup:
    (found,) = [one for one in JURIS.presets if one.title == title]
    return JurisSetup.model_validate(merged(JurisSetup.model_validate(more).model_dump(mode="json"), found.changes))


def test_one_model_with_one_prompt_in_all_seats_is_told_in_plain_words() -> None:
    jury, generators, assessor = JurisSetup.model_validate(ONE).warnings()
    assert jury.startswith("All 5 jurors are one model (openai/one) with one prompt: they repeat one opinion.")
    assert generators.startswith("Both generators are one model (openai/one) with one prompt")
    assert "--set points_of_view.juror-01=" in jury
    assert assessor.startswith("The final text is not assessed: the assessor has no model of its own")


@pytest.mark.parametrize("title", ["Paper, with its models", "Seven points of view"])
def test_a_preset_whose_seven_seats_differ_is_not_warned_of(title: str) -> None:
    setup = preset(title, **ONE, roles=ASSESSOR)
    assert setup.warnings() == ()
    seats = [one for one in members(setup) if one.role in ("generator", "juror")]
    assert len(seats) == 7
    of_role = {(one.role, one.spec.id, setup.points_of_view.get(one.id)) for one in seats}
    assert len(of_role) == 7


def test_the_preset_with_the_papers_models_names_those_of_section_4_1() -> None:
    who = {one.id: one.spec.id for one in members(preset("Paper, with its models", **ONE))}
    families = {
        "generator-a": "mistral:7b", "generator-b": "gemma3:12b", "juror-01": "qwen2.5:7b", "juror-02": "llama3.1:8b",
        "juror-03": "llama-distill", "juror-04": "glm4:9b", "juror-05": "gemma3:12b", "editor": "mistral:7b",
        "assessor": "gpt-4",
    }  # fmt: skip
    assert who.keys() == families.keys()
    assert [name for name, family in families.items() if family not in who[name]] == []


def test_seats_that_are_alike_among_others_that_differ_are_named() -> None:
    setup = changed(preset("Paper, with its models"), {"members.juror-04.id": "ollama/qwen2.5:7b"})
    (told,) = setup.warnings()
    assert told.startswith("Juror 1 and Juror 4 are one model (ollama/qwen2.5:7b) with one prompt")


@pytest.mark.parametrize("stated", [{}, dict(SEVEN)], ids=["nothing stated", "seven stated"])
def test_a_point_of_view_reaches_its_seat_alone_and_without_any_all_prompts_are_the_same(
    house: Courthouse, stated: dict[str, str]
) -> None:
    model = panel()
    record = write(house, model, points_of_view=stated, longest=3)
    for task, seats in (("length", 5), ("ballot", 5), ("generate", 2)):
        asked = [rendered(one) for one in model.history if one.task.name == task]
        assert len(set(asked[:seats])) == (seats if stated else 1), task
    everything = "\n".join(map(rendered, model.history))
    assert all((f"> {view}" in everything) == bool(stated) for view in SEVEN.values())
    (table,) = views.jurors(record)[""]
    assert [row[2] for row in table.rows] == [stated.get(f"juror-0{seat}") for seat in range(1, 6)]


def test_offline_a_juror_weighs_by_its_point_of_view(house: Courthouse) -> None:
    case = next(one for one in house.library.cases() if one.kind == "document")
    document: Any = house.library.case(case.id)
    same = dict.fromkeys((f"juror-0{seat}" for seat in range(1, 6)), "Look first at brevity: is it short?")
    record = write(house, case=document, points_of_view=same, assess="none")
    ballots = [call.value for call in record.calls if call.task == "ballot" and call.value]
    assert ballots
    assert all("brevity" in ballot[f"critique_{ballot['vote'].lower()}"] for ballot in ballots)


def test_the_assessor_is_never_the_runs_own_model(house: Courthouse) -> None:
    record = write(house, panel())
    assert not any(call.member == "assessor" for call in record.calls)
    assert record.run.verdict.details["assessment"] is None
    assert "has no model of its own" in str(views.measures(record))
    judged = write(house, panel(), roles=ASSESSOR)
    assert {call.model for call in judged.calls if call.member == "assessor"} == {"judge"}


@pytest.mark.parametrize(
    ("roles", "told"),
    [
        ({"assessor": {"id": "openai/one"}}, "takes part in the writing too (openai/one)"),
        ({"assessor": {"id": "offline"}}, "counts words and reads no meaning"),
    ],
)
def test_an_assessor_that_writes_or_reads_nothing_is_told(roles: dict[str, Any], told: str) -> None:
    assert told in JurisSetup.model_validate({**ONE, "roles": roles}).warnings()[-1]


@pytest.mark.parametrize(("before", "now"), [(True, "holistic"), (False, "none")])
def test_a_setup_of_an_earlier_version_still_opens(before: bool, now: str) -> None:
    assert JurisSetup.model_validate({"assess": before}).assess == now


# --- where a person sees it ---------------------------------------------------------------------------------


def test_the_shell_warns_before_the_run_and_in_its_result_and_so_does_the_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        small = ["--set", "shortest=1", "--set", "longest=1", "--set", "jury_size=2"]
        words = ["run", "news-night-bus", "--model", "openai/one", *small, "--json"]
        monkeypatch.setattr("sys.argv", ["courtroom", *words])
        with pytest.raises(SystemExit) as ended:
            main()
    told = capsys.readouterr()
    assert not ended.value.code, told.err
    assert told.err.startswith("Warning: Both jurors are one model (openai/one) with one prompt")
    result = json.loads(told.out)
    assert len(result["warnings"]) == 3
    house = Courthouse(Settings(home=tmp_path))
    record = house.record(result["run"])
    page = report.as_html(record, JURIS, house.answers, house.media)
    house.close()
    assert all(f'<p class="notice">{escape(warning)}</p>' in page for warning in record.setup.warnings())


def test_at_a_real_server_each_seat_is_asked_with_its_point_of_view(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with OpenAIServer() as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "k")
        house = Courthouse(Settings(home=tmp_path))
        setup = preset("Seven points of view", **ONE, shortest=1, longest=1)
        run = house.new_run("juris", house.library.case("news-night-bus"), setup, 0)
        house.runner.go(run)
        house.runner.wait(run, 60)
        status = house.record(run).run
        house.close()
        prompts = "\n".join(server.prompts)
    assert status.status == "done", status.reason
    assert all(view in prompts for view in SEVEN.values())


def test_the_setup_page_warns_and_takes_points_of_view_beside_the_models(house: Courthouse) -> None:
    setup = page("setup", {"case": "news-night-bus", "setup_section": "Models"})
    assert "point of view" in setup.dataframe[-1].value.columns
    assert not setup.warning
    for role in ("Juror", "Generator"):
        next(one for one in setup.text_input if one.label == role).set_value("openai/one").run()
    told = [one.value.replace("\\", "").partition(" with one prompt")[0] for one in setup.warning]
    assert told[:2] == ["All 5 jurors are one model (openai/one)", "Both generators are one model (openai/one)"]
    presets = next(one for one in setup.button_group if one.label == "Preset")
    presets.set_value("Seven points of view").run()
    assert not setup.exception, setup.exception
    assert [one.value[:31] for one in setup.warning] == ["The assessor is the offline mod"]
    table = next(one.value for one in setup.dataframe if "point of view" in one.value.columns)
    assert list(table["point of view"])[:7] == list(SEVEN.values())
