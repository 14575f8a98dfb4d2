"""What comes from others, as a link, a file, a fork, an intervention, a what-if, says nothing of where a key goes."""

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError, ModelSpec, report
from courtroom.__main__ import app as shell
from courtroom.declarations.changes import changed
from courtroom.engine.interventions import ChangeSetup
from courtroom.models.connections import Connections
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.attacks.trap import Trap
from tests.driving import drive
from tests.pages import heard, house, opened_at, page, ran

__all__ = ["house"]  # a fixture
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

THERE = "http://127.0.0.1:9/v1"
CANARY = "canary-of-the-owner-1"

NAMES = (
    "api_base", "base_url", "api_key", "extra_headers", "extra_body", "client", "custom_llm_provider", "model", "fallbacks",
    "aws_bedrock_runtime_endpoint", "proxy", "ssl_verify", "http_client", "callbacks", "timeout", "API_BASE", "api_base ",
    "seed.api_base", "thinking", "tools", "n", "",
)  # fmt: skip
IDS = (
    f"openai/{THERE}", f"huggingface/{THERE}", THERE, "oobabooga/x", "custom_openai/x", "openai_like/x", "sagemaker/x",
    "bedrock/arn:aws:bedrock:us-east-1:1:provisioned-model/x", "bedrock/evil.example/x", "github_copilot/x", "gemini/../../x",
    "openai/a b", "openai/a?api_base=x", "openai/a#x", "openai/a%2e%2e", "openai/a\nb", "https:/evil.example/x", "openai/{x}",
)  # fmt: skip
CONNECTIONS = (THERE, "//evil.example", "../lab", "lab http://evil.example", "a/b", " ", "{lab}")

HOSTILE: list[dict[str, Any]] = [
    *({"extra": {name: THERE}} for name in NAMES),
    *({"extra": {"seed": value}} for value in (THERE, True, ["x"])),
    {"extra": {"stop": ["x"] * 9}},
    {"extra": {"reasoning_effort": THERE}},
    {"extra": {"api_base": {"nested": THERE}}},
    *({"id": model} for model in IDS),
    *({"id": "openai/any", "connection": name} for name in CONNECTIONS if name.strip()),
    {"id": "person", "otherwise": f"oobabooga/{THERE}"},
    {"id": "openai/any", "api_base": THERE},
    {"id": "openai/any", "address": THERE},
]
FEW = [{"extra": {"api_base": THERE}}, {"id": f"oobabooga/{THERE}"}, {"id": "openai/any", "connection": THERE}]


@pytest.fixture(autouse=True)
def owner(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", CANARY)


def one_sentence(error: Exception) -> bool:
    told = str(error)
    return 0 < len(told) < 400 and "\n" not in told and "Traceback" not in told


def hostile_setup(spec: dict[str, Any]) -> dict[str, Any]:
    return {"model": {**ModelSpec().model_dump(), **spec}}


@pytest.mark.parametrize("spec", HOSTILE, ids=lambda spec: json.dumps(spec)[:70])
def test_a_setup_says_nothing_of_where_a_key_goes(spec: dict[str, Any]) -> None:
    for given in ({"model": spec}, {"roles": {"juror": spec}}, {"members": {"juror": spec}}):
        with pytest.raises(ValidationError):
            CyberJurorsSetup.model_validate(given)


@pytest.mark.parametrize("spec", FEW, ids=["address", "id", "connection"])
def test_shell_and_intervention_refuse_it(spec: dict[str, Any], house: Courthouse, tmp_path: Path, capfd: Any) -> None:
    run = heard(house, jury_size=2, rounds=1, examination="shared")
    actions = tmp_path / "interventions.json"
    actions.write_text(json.dumps([{"kind": "change", "key": "model", "value": spec}]))
    setting = f"model={json.dumps(spec)}"
    for words in (
        ["run", "oak-table", "--set", setting],
        ["fork", run, "--set", setting, "--from", "round 1"],
        ["fork", run, "--intervene", str(actions)],
        ["what-if", run, "--vary", f"model=[{json.dumps(spec)}]"],
    ):
        with pytest.raises(CourtroomError) as refused:
            shell(words, standalone_mode=False)
        assert one_sentence(refused.value), words
    assert CANARY not in "".join(capfd.readouterr())
    run = house.new_run("cyberjurors", house.library.case("oak-table"), CyberJurorsSetup(jury_size=2), 0)
    *_, (name, value) = spec.items()
    changes = {"model": spec, f"model.{name}": value, "roles.juror": spec, "members.juror-01": spec}
    for key, given in changes.items():
        with pytest.raises(CourtroomError) as refused:
            house.interventions.intervene(run, ChangeSetup(key=key, value=given))
        assert one_sentence(refused.value)
    assert house.store.interventions.of(run) == ()


def test_a_connection_that_is_not_there_stops_the_run_with_one_sentence(house: Courthouse) -> None:
    name = "OPENAI_API_KEY"
    row = house.store.run(heard(house, jury_size=2, model={"id": "openai/any", "connection": name, "vision": "no"}))
    assert row.status == "failed"
    assert row.reason.startswith(f"There is no connection “{name}” on this server.")


def setup_page(link: object = None, section: str = "Settings") -> AppTest:
    query = {} if link is None else {"setup": link if isinstance(link, str) else json.dumps(link)}
    return opened_at("setup", {"setup_section": section}, **query)


def button(app: AppTest, label: str) -> Any:
    return next((one for one in app.button if one.label == label), None)


LINKS = (
    {"setup": hostile_setup(FEW[0])},
    *("{", '{"setup": []}', '{"seed": -1}', "[" * 100_000),
    {"setup": {"prompts": {"judge": "x" * 500_000}}},
)


def test_a_hostile_link_or_saved_setup_is_refused_in_a_sentence_and_changes_nothing(house: Courthouse) -> None:
    plain = CyberJurorsSetup().model_dump(mode="json")
    for link in LINKS:
        app = setup_page(link)
        assert [error.value for error in app.error if "The setup in this link is not used" in error.value]
        assert app.session_state["drafts"]["cyberjurors"].values == plain
        assert button(app, "Use these settings") is None
    house.setups.save("nice", {"procedure": "cyberjurors", "seed": 0, "setup": hostile_setup(FEW[0])})
    house.setups.save("odd", {"procedure": "cyberjurors", "setup": [1]})
    app = setup_page(section="Save and share")
    for name in ("nice", "odd"):
        ran(app.button(key=f"load-{name}").click())
        assert app.error
        assert app.session_state["drafts"]["cyberjurors"].values == plain


def test_what_a_link_changes_is_shown_before_anything_can_be_started(house: Courthouse) -> None:
    changes = {"rounds": 2, **hostile_setup({"id": "openai/dear"})}
    link = {"procedure": "cyberjurors", "seed": 7, "setup": changes}
    app = setup_page(link)
    assert "This link changes 3 settings" in "".join(one.value for one in app.markdown)
    shown = {row["setting"]: (row["before"], row["after"]) for row in app.dataframe[0].value.to_dict("records")}
    assert shown["Seed"] == ("0", "7")
    assert shown["Model"] == ("offline", "openai/dear")
    assert button(app, "Start").disabled
    assert button(app, "Start step by step").disabled
    button(app, "Use the defaults").click().run()
    assert not button(app, "Start").disabled
    assert app.session_state["drafts"]["cyberjurors"].values == CyberJurorsSetup().model_dump(mode="json")
    again = setup_page(link)
    button(again, "Use these settings").click().run()
    assert again.session_state["drafts"]["cyberjurors"].values["model"]["id"] == "openai/dear"
    assert not button(again, "Start").disabled
    assert house.store.runs() == []


def test_an_old_run_with_an_address_in_it_is_shown_as_it_was_and_not_driven(house: Courthouse) -> None:
    with Trap() as trap:
        run = house.new_run("cyberjurors", house.library.case("oak-table"), CyberJurorsSetup(jury_size=2), 0)
        db, spec = house.database.connection, {"id": "openai/any", "extra": {"api_base": trap.url}, "vision": "no"}
        stored = json.loads(db.execute("SELECT setup FROM runs WHERE id = ?", (run,)).fetchone()["setup"])
        old = json.dumps({**stored, "model": spec})
        db.execute("UPDATE runs SET setup = ? WHERE id = ?", (old, run))
        assert house.record(run).setup.model.extra == {"api_base": trap.url}
        page("deliberation", {"run": run})
        for _ in range(2):  # the second time with what the first one put on record
            drive(house, run)
            row = house.store.run(run)
            assert row.status == "failed"
            assert row.reason.startswith("openai/any is not asked: “api_base” can't be given in a setup")
        record = house.record(run)
        assert trap.url in report.as_json(record, house.answers)
        assert house.store.status(drive(house, house.fork(run, record.setup))) == "failed"
        mended = changed(record.setup, {"model": {"id": "offline"}})
        assert house.store.status(drive(house, house.fork(run, mended))) == "done"
    assert trap.seen == []


OPENAI = '[connections.lab]\nprovider = "openai"\n'
FILES = (
    "not = [toml",
    OPENAI,
    f'{OPENAI}address = "ftp://x"\nkey = "s3cret-of-lab"',
    f'{OPENAI}address = "http://u:s3cret-of-lab@x/v1"',
    '[connections.lab]\nprovider = "bedrock"\naddress = "http://x/v1"',
    f'{OPENAI}address = "http://x/v1"\nkye = "s3cret-of-lab"',
)


def test_a_wrong_connections_file_is_told_in_a_sentence_without_its_keys(tmp_path: Path) -> None:
    path = tmp_path / "connections.toml"
    for text in FILES:
        path.write_text(text)
        with pytest.raises(CourtroomError) as refused:
            Connections.read(path)
        assert one_sentence(refused.value)
        assert "s3cret" not in str(refused.value)


def test_connections_are_read_from_toml_json_and_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = {"provider": "openai", "address": "http://lab/v1", "key_from": "LAB_KEY"}
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"connections": {"lab": lab}}))
    own = {"provider": "ollama", "address": "http://own:11434", "key": "k-123456"}
    secrets = {"own": own, "sql": {"url": "sqlite://"}}
    monkeypatch.setenv("LAB_KEY", "l-123456")
    found = Connections.read(path, secrets)
    assert {name: one.secret for name, one in found.items()} == {"own": "k-123456", "lab": "l-123456"}
    assert "k-123456" not in repr(found["own"])
