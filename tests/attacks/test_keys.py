"""No key leaves: each is a canary, looked for everywhere but in its one header; and what comes from others says nothing of where it goes."""

import base64
import json
import logging
import socket
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import ValidationError
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError, ModelSpec, Settings, report
from courtroom.__main__ import app as shell
from courtroom.declarations.changes import changed
from courtroom.engine.interventions import ChangeSetup
from courtroom.engine.run import Control
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.keys import KEYS, NO_KEY, PROVIDERS, scrubbed, typed_name
from courtroom.models.pool import ModelPool
from courtroom.models.request import Reply, Request, Watch
from courtroom.models.route import Connection, Connections
from courtroom.procedures import PROCEDURES
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.attacks.trap import Trap
from tests.conftest import LeftThisMachine
from tests.driving import drive
from tests.furnished import copied
from tests.pages import ROOT, field, heard, house, opened_at, page, press, ran
from tests.samples import sample
from tests.say import question
from tests.toy import Bench, Scripted, ToySetup

__all__ = ["house"]  # a fixture
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

MARK = "CANARY7f3"
NAMES = sorted({"MADE_UP_SECRET", "AWS_SECRET_ACCESS_KEY"}.union(*(provider.keys for provider in PROVIDERS.values())))
CANARIES = {name: f"{MARK}/+{number:02d}&{name.lower()}" for number, name in enumerate(NAMES)}
IN_BASE64 = [base64.b64encode(bytes(n) + MARK.encode())[(0, 2, 3)[n] : -4] for n in range(3)]
FORMS = [MARK.encode(), MARK.encode().hex().encode(), *IN_BASE64, quote(MARK, safe="").encode()]
"""A canary as it is, and as a careless server may write it."""


def canaries_in(found: bytes | str) -> list[bytes]:
    """What of a canary stands in it."""
    data = found.encode() if isinstance(found, str) else found
    return [form for form in FORMS if form in data]


@pytest.fixture(autouse=True)
def every_key_is_a_canary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    for provider in PROVIDERS.values():
        for name in provider.addresses:
            monkeypatch.delenv(name, raising=False)
    for name, canary in {**CANARIES, "AZURE_API_VERSION": "2024-06-01"}.items():
        monkeypatch.setenv(name, canary)


@pytest.fixture
def away() -> Iterator[Trap]:
    """Where nothing may arrive."""
    with Trap() as away:
        yield away
    assert away.seen == []


async def asked(folder: Path, request: Request, watch: Watch | None = None, at: Connections | None = None) -> str:
    """All that comes back, an error included."""
    try:
        return (await ModelPool(MediaStore(folder), at).answer(request, watch)).model_dump_json()
    except CourtroomError as error:
        return str(error)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The store of all runs; at the end no file of it holds a key."""
    home = copied(tmp_path_factory.mktemp("keys"))
    yield home
    for path in (path for path in home.rglob("*") if path.is_file()):
        assert canaries_in(path.read_bytes()) == [], path


@pytest.mark.parametrize(
    ("name", "way"), [*((name, "echo") for name in PROCEDURES), ("cyberjurors", "errors"), ("juris", "redirects")]
)
def test_a_key_is_in_one_header_only(name: str, way: str, home: Path, away: Trap, monkeypatch: Any, capfd: Any) -> None:
    small = {"jury_size": 3, "examination": "shared", "rounds": 1, "instances": 1, "longest": 3, "hearings": 1}
    procedure = PROCEDURES[name]
    fields = procedure.setup.model_fields
    values = {knob: value for knob, value in small.items() if knob in fields} | dict(procedure.small)
    spec = {"id": "openai/any", "attempts": 2, "vision": "no", "timeout_s": 20}
    with Trap(way, to=lambda: away.url) as trap:
        monkeypatch.setenv("OPENAI_API_BASE", trap.url)
        with closing(Courthouse(Settings(home=home), streaming=True)) as house:
            setup = procedure.setup.model_validate({**values, "model": spec, "reasks": 1})
            run = drive(house, house.new_run(procedure.name, sample(house, procedure.kinds[0]), setup, 0))
            record = house.record(run)
            exported = report.as_json(record, house.answers)
            told = exported + report.as_html(record, procedure, house.answers, house.media)
    assert trap.seen
    assert {sent.headers["authorization"] for sent in trap.seen} == {f"Bearer {CANARIES['OPENAI_API_KEY']}"}
    assert not any(canaries_in(sent.without("authorization")) for sent in trap.seen)
    assert canaries_in(told) == []
    assert canaries_in("".join(capfd.readouterr())) == []
    if way == "echo":
        calls = [event for event in json.loads(exported)["events"] if event["kind"] == "call" and event["asked"]]
        assert {call["address"] for call in calls} == {"not told"}
        assert all(call["answered"].startswith("served ") for call in calls)
        assert '"…' in told or "Bearer …" in told  # the echo was there, and is not a test of nothing


def test_no_page_shows_the_key(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with Trap() as trap:
        monkeypatch.setenv("OPENAI_API_BASE", trap.url)
        run = heard(house, jury_size=2, rounds=1, model={"id": "openai/any", "vision": "no"})
        for tab in ("Calls", "Members"):
            assert canaries_in(str(page("deliberation", {"run": run, f"tab-{run}": tab}).main)) == []
        assert canaries_in(str(page("setup", {"setup_section": "Models"}).main)) == []
        assert canaries_in(str(page("runs").main)) == []
    assert trap.seen


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_a_provider_gets_its_own_key_alone(
    provider: str, tmp_path: Path, away: Trap, monkeypatch: pytest.MonkeyPatch, caplog: Any, capfd: Any
) -> None:
    """And sends it no further."""
    caplog.set_level(logging.DEBUG, "courtroom")
    known = PROVIDERS[provider]
    own = CANARIES[known.keys[0]]
    with Trap("redirects", to=lambda: away.url) as on, Trap("errors") as failing, Trap("echo") as echoing:
        for trap in (on, failing, echoing):
            monkeypatch.setenv(known.addresses[0], trap.url)
            for _ in range(4 if trap is on else 1):
                told = await asked(tmp_path, question(id=f"{provider}/some-model", attempts=1))
                assert canaries_in(told) == []
            assert trap.seen, told
            for sent in trap.seen:
                there = f"{sent.headers} {sent.path}"
                assert not any(canary in there for canary in CANARIES.values() if canary != own)
                assert not canaries_in(sent.body)
    assert any(own in str(sent.headers) or quote(own, safe="") in sent.path or own in sent.path for sent in on.seen)
    assert canaries_in(caplog.text + "".join(capfd.readouterr())) == []


async def test_an_id_never_says_who_is_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_up: set[str] = set()

    def none(host: Any, *_: Any, **__: Any) -> Any:
        looked_up.add(host.decode() if isinstance(host, bytes) else str(host))
        raise socket.gaierror(-2, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", none)
    for provider in (name for name, known in PROVIDERS.items() if not known.unplaced):
        looked_up.clear()
        for name in ("evil.example:80/x", "x@evil.example/y"):
            await asked(tmp_path, question(id=f"{provider}/{name}", attempts=1, timeout_s=2))
        assert len(looked_up) <= 1, provider  # none where the provider's own place is an IP address
        assert "evil" not in str(looked_up)


@pytest.mark.parametrize("host", ["192.0.2.1", "localhost.example"])
def test_no_test_reaches_another_machine(host: str, nothing_leaves_this_machine: list[str]) -> None:
    with pytest.raises(LeftThisMachine):
        socket.create_connection((host, 80))
    assert nothing_leaves_this_machine == [host]
    nothing_leaves_this_machine.clear()


async def test_a_provider_without_a_key_is_given_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in PROVIDERS["groq"].keys:
        monkeypatch.delenv(name)
    assert "There is no key for groq/any" in await asked(tmp_path, question(id="groq/any"))
    with Trap() as trap:
        monkeypatch.setenv("GROQ_API_BASE", trap.url)
        await asked(tmp_path, question(id="groq/any"))
    assert [sent.headers["authorization"] for sent in trap.seen] == [f"Bearer {NO_KEY}"]


@pytest.mark.parametrize("way", ["echo", "errors", "redirects"])
async def test_a_connections_key_goes_to_its_address_before_a_typed_one(way: str, tmp_path: Path, away: Trap) -> None:
    typed = {"lab": f"{MARK}-typed-lab", "own": f"{MARK}-own"}
    KEYS.set({"OPENAI_API_KEY": f"{MARK}-typed-openai", **{typed_name(name): key for name, key in typed.items()}})
    with Trap(way, to=lambda: away.url) as trap:
        there = {"provider": "openai", "address": trap.url}
        listed = {
            "lab": Connection.model_validate({**there, "key": f"{MARK}-of-the-lab"}),
            "own": Connection.model_validate(there),
            "env": Connection.model_validate({**there, "key_from": "MADE_UP_SECRET"}),
        }
        for name in listed:
            told = await asked(tmp_path, question(connection=name, attempts=1), at=Connections(listed))
            assert canaries_in(told) == []
    keys = {question(connection=name).key for name in ("", "lab", "other")}
    keys |= {replace(question(), address=address).key for address in ("http://a/v1", "http://b/v1")}
    assert len(keys) == 5, "two servers with one model's name share no answer"
    wanted = [f"{MARK}-of-the-lab", f"{MARK}-own", CANARIES["MADE_UP_SECRET"]]
    assert [sent.headers["authorization"] for sent in trap.seen] == [f"Bearer {key}" for key in wanted]
    assert not any(canaries_in(sent.without("authorization")) for sent in trap.seen)


async def test_what_streams_in_shows_no_part_of_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shown: list[str] = []
    with Trap() as trap:
        monkeypatch.setenv("OPENAI_API_BASE", trap.url)
        told = await asked(tmp_path, question(), shown.append)
    assert "Bearer …" in told
    assert len(shown) > 10
    starts = [form[:8] for form in FORMS]
    assert not any(start in text.encode() for text in shown for start in starts)


async def test_a_forgotten_key_is_scrubbed_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    held = {"OPENAI_API_KEY": f"{MARK}-typed and forgotten"}
    KEYS.set(held)
    with Trap("401", to=held.clear) as trap:
        monkeypatch.setenv("OPENAI_API_BASE", trap.url)
        told = await asked(tmp_path, question(attempts=1))
    assert held == {}
    assert canaries_in(told + caplog.text) == []


@pytest.mark.parametrize("secret", [f"{MARK}-x&y/z+w", 'made "up" secret'])
def test_a_secret_is_scrubbed_in_whatever_form(secret: str) -> None:
    KEYS.set({"ANY_KEY": secret})
    for pad in ("", "a", "ab"):
        encoded = base64.b64encode(f"{pad}Bearer {secret}!".encode()).decode()
        inner = base64.b64encode(f"{pad}Bearer {secret}".encode())[len(f"{pad}Bearer ") * 4 // 3 + 4 : -4].decode()
        assert inner in encoded
        assert not any(inner[at : at + 4] in scrubbed(encoded) for at in range(len(inner) - 3))
    for written in (secret, quote(secret), quote(secret, safe=""), json.dumps(secret), secret.encode().hex()):
        assert scrubbed(f"it is {written}").replace('"', "") == "it is …"


class Spender(Scripted):
    """Answers, and notes whose keys it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.spent: list[dict[str, str]] = []

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self.spent.append(dict(KEYS.get()))
        return Reply(text='{"side": "buyer"}' if len(self.spent) % 2 else '{"side": "seller"}', cost=0.0)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    with closing(Bench(tmp_path, Spender())) as bench:
        yield bench


MINE, YOURS = {"OPENAI_API_KEY": "mine-123456"}, {"OPENAI_API_KEY": "yours-123456"}


def test_a_typed_key_is_not_spent_by_whoever_goes_on(bench: Bench) -> None:
    """With nothing typed, with another key, or by way of another server."""
    runs = [bench.start(ToySetup(rounds=2), seed=seed) for seed in range(3)]
    for run, yours in zip(runs, ({}, YOURS), strict=False):
        for keys in (MINE, yours):
            bench.runner.step(run, keys)
            bench.runner.wait(run, 10)
    assert bench.model.spent == [MINE] * 3 + [{}] * 3 + [MINE] * 3 + [YOURS] * 3
    bench.runner.go(runs[2], Control(upto=0), MINE)
    bench.runner.wait(runs[2], 10)
    with closing(bench.new_runner()) as other:
        other.go(runs[2], keys=YOURS)
        other.wait(runs[2], 10)
    assert bench.model.spent[12:] == [MINE] * 3 + [{}] * 3


def test_a_typed_key_is_forgotten_with_an_intervention_a_stop_and_the_end(bench: Bench) -> None:
    run = bench.start(ToySetup(rounds=3))
    bench.runner.step(run, MINE)
    bench.runner.wait(run, 10)
    bench.runner.release(run)  # as an intervention does
    assert bench.runner._active == {}, "and with them their keys"
    drive(bench, run)
    assert bench.model.spent == [MINE] * 3 + [{}] * (len(bench.model.spent) - 3)
    assert len(bench.model.spent) > 3
    assert bench.runner._active == {}, "and with them their keys"


def test_who_starts_a_run_that_has_just_ended_starts_it_anew(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    run, obey = bench.start(ToySetup(rounds=2)), bench.runner._obey
    bench.runner.go(run, Control(upto=0), MINE)
    bench.runner.wait(run, 10)

    async def obey_late(*given: Any) -> bool:
        await bench.runner._release(run)
        return await obey(*given)

    monkeypatch.setattr(bench.runner, "_obey", obey_late)
    bench.runner.go(run, keys=YOURS)
    bench.runner.wait(run, 10)
    assert bench.store.status(run) == "done"
    assert bench.model.spent == [MINE] * 3 + [YOURS] * 3


THERE = "http://127.0.0.1:9/v1"

HOSTILE: list[dict[str, Any]] = json.loads((ROOT / "tests/inputs/hostile_specs.json").read_text(encoding="utf-8"))
"""Models that would be asked elsewhere, or otherwise than a setup may say."""
FEW = [{"extra": {"api_base": THERE}}, {"id": f"oobabooga/{THERE}"}, {"id": "openai/any", "connection": THERE}]


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
    assert canaries_in("".join(capfd.readouterr())) == []
    run = house.new_run("cyberjurors", house.library.case("oak-table"), CyberJurorsSetup(jury_size=2), 0)
    *_, (name, value) = spec.items()
    changes = {"model": spec, f"model.{name}": value, "roles.juror": spec, "members.juror-01": spec}
    for key, given in changes.items():
        with pytest.raises(CourtroomError) as refused:
            house.interventions.intervene(run, ChangeSetup(key=key, value=given))
        assert one_sentence(refused.value)
    assert house.store.interventions.of(run) == ()
    # And a connection that is not there stops the run.
    missing = {"id": "openai/any", "connection": "OPENAI_API_KEY", "vision": "no"}
    row = house.store.run(heard(house, jury_size=2, model=missing))
    assert row.status == "failed"
    assert row.reason.startswith("There is no connection “OPENAI_API_KEY” on this server.")


def setup_page(link: object = None, section: str = "Settings") -> AppTest:
    query = {} if link is None else {"setup": link if isinstance(link, str) else json.dumps(link)}
    return opened_at("setup", {"setup_section": section}, **query)


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
        assert "Use these settings" not in [one.label for one in app.button]
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
    assert field(app, "button", "Start").disabled
    assert field(app, "button", "Start step by step").disabled
    press(app, "Leave the setup as it is")
    assert not field(app, "button", "Start").disabled
    assert app.session_state["drafts"]["cyberjurors"].values == CyberJurorsSetup().model_dump(mode="json")
    again = setup_page(link)
    press(again, "Use these settings")
    assert again.session_state["drafts"]["cyberjurors"].values["model"]["id"] == "openai/dear"
    assert not field(again, "button", "Start").disabled
    assert [*house.store.each()] == []


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


def test_connections_are_read_or_refused_without_their_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "connections.toml"
    for text in FILES:
        path.write_text(text)
        with pytest.raises(CourtroomError) as refused:
            Connections.read(path)
        assert one_sentence(refused.value)
        assert "s3cret" not in str(refused.value)
    lab = {"provider": "openai", "address": "http://lab/v1", "key_from": "LAB_KEY"}
    path = tmp_path / "c.json"
    path.write_text(json.dumps({"connections": {"lab": lab}}))
    own = {"provider": "ollama", "address": "http://own:11434", "key": "k-123456"}
    secrets = {"own": own, "sql": {"url": "sqlite://"}}
    monkeypatch.setenv("LAB_KEY", "l-123456")
    found = Connections.read(path, secrets)
    assert {name: one.secret for name, one in found.items()} == {"own": "k-123456", "lab": "l-123456"}
    assert "k-123456" not in repr(found["own"])
