"""The models that can be reached now, asked of real servers and chosen on the Setup page; and what each can do."""

import json
import re
import struct
from contextlib import closing
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom import Courthouse, ModelSpec
from courtroom.models import local
from courtroom.models.keys import PROVIDERS
from courtroom.models.local import LocalServers, model_files
from courtroom.models.offers import Offer, offers
from courtroom.models.request import ModelError
from courtroom.models.route import Connections
from tests.driving import shell
from tests.openai_server import OpenAIServer
from tests.pages import house as house  # a fixture
from tests.pages import page, press, ran
from tests.say import there
from tests.test_sent_pictures import shown_wire as shown

LLAMA = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="xllamacpp is not installed")
lab = partial(there, provider="hosted_vllm", key="sk-of-the-lab")
"""A server as the connection `test`."""


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "PACKAGES", ())
    for provider in PROVIDERS.values():
        for name in (*provider.keys, *provider.addresses):
            monkeypatch.delenv(name, raising=False)


def test_a_connections_own_list_is_offered_and_its_key_goes_there_alone() -> None:
    with OpenAIServer() as server, OpenAIServer() as other:
        found = offers(lab(server), {}, {"OPENAI_API_BASE": other.url, "OPENAI_API_KEY": "sk-openai"})
        keys = [{headers.get("Authorization") for headers in one.listed} for one in (server, other)]
    assert Offer(id="hosted_vllm/any", connection="test") in found
    assert Offer(id="openai/any") in found
    assert keys == [{"Bearer sk-of-the-lab"}, {"Bearer sk-openai"}]


def test_a_server_that_lists_nonsense_offers_nothing_and_one_that_redirects_is_not_followed() -> None:
    nonsense = (b"[]", b"[" * 100_000, b'{"data": 5}', b'{"data": [{"id": "../../x y"}]}', b"x" * 3_000_000)
    with OpenAIServer() as other, OpenAIServer() as server:
        for listing in (*nonsense, other.url):
            server.listing = listing
            assert offers(lab(server), {}, {}) == (), listing[:40]
        assert (len(server.listed), other.listed) == (6, [])


def test_models_are_picked_from_a_connections_list_for_all_and_for_each_seat(house: Courthouse) -> None:
    with OpenAIServer() as server:
        house.__dict__["connections"] = lab(server)
        app = page("setup", {"setup_section": "Models"})
        (picker,) = [box for box in app.selectbox if box.label == "Model"]
        assert "hosted_vllm/any @ test" in picker.options
        ran(picker.select("hosted_vllm/any @ test"))
        model = app.session_state["drafts"]["cyberjurors"].values["model"]
        (several,) = [box for box in app.multiselect if box.label == "Models, in turn"]
        several.select("offline").select("hosted_vllm/any @ test").run()
        press(app, "Give them out")
        members = app.session_state["drafts"]["cyberjurors"].values["members"]
    assert (model["id"], model["connection"]) == ("hosted_vllm/any", "test")
    assert members["juror-01"]["id"] == members["juror-03"]["id"] == "offline"
    assert (members["juror-02"]["id"], members["juror-02"]["connection"]) == ("hosted_vllm/any", "test")
    assert len(members) == 18


def gguf(context: int) -> bytes:
    """The beginning of a file: a text, a list of texts, a list of numbers, and the context."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    fields = (
        text("general.name") + struct.pack("<I", 8) + text("A model"),
        text("general.tags") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b"),
        text("general.sizes") + struct.pack("<IIQ", 9, 4, 3) + struct.pack("<3I", 1, 2, 3),
        text("llama.context_length") + struct.pack("<II", 4, context),
    )
    return struct.pack("<4sIQQ", b"GGUF", 3, 0, len(fields)) + b"".join(fields)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COURTROOM_MODELS", str(tmp_path))
    hostile = struct.pack("<4sIQQQ", b"GGUF", 3, 0, 2**60, 2**63) + b"x" * 100
    wrong = {"damaged": gguf(4096)[:60], "none": b"This is no model.", "hostile": hostile}
    for name, data in {"small": gguf(4096), "large": gguf(131_072), **wrong}.items():
        (tmp_path / f"{name}.gguf").write_bytes(data)
    (tmp_path / "notes.txt").write_text("nothing")
    return tmp_path


def test_the_files_that_hold_a_model_are_offered_with_their_context_and_named_without_a_path(folder: Path) -> None:
    found = model_files()
    contexts = {name: file.context for name, file in found.items()}
    assert contexts == {"local/large.gguf": 131_072, "local/small.gguf": 4096}
    assert found["local/large.gguf"].slot == local.MOST_CONTEXT
    (small,) = [one for one in offers(Connections(), {}, {}) if one.id == "local/small.gguf"]
    assert small.model_copy(update={"size": 98_000_000}).facts() == "98 MB · 4,096 tokens of context · no pictures"
    assert not ModelSpec(id="local/small.gguf").problem()
    with pytest.raises(ValueError, match="holds no address"):
        ModelSpec(id="local/../small.gguf")


@pytest.mark.parametrize(
    ("name", "installed", "why"),
    [
        ("local/../small.gguf", True, "There is no model"),
        ("local/absent.gguf", True, "There is no model"),
        ("local/small.gguf", False, "install the extra `local`"),
        pytest.param("local/small.gguf", True, "can't load local/small.gguf", marks=LLAMA),
    ],
)
@pytest.mark.usefixtures("folder")
async def test_what_can_not_load_is_said(name: str, installed: bool, why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name leads out of the folder."""
    monkeypatch.setattr(local, "find_spec", lambda package: installed or None)
    loading: set[str] = set()
    with pytest.raises(ModelError, match=why):
        async with LocalServers().asked(name, loading):
            pass
    assert not loading


def able(body: dict[str, Any]) -> str:
    """A model that reads, sees and remembers."""
    content = body["messages"][1]["content"]
    if isinstance(content, list):
        (url,) = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
        shades = shown(url).convert("RGB").getpixel((5, 5))
        colour = ("red", "green", "blue")[shades.index(max(shades))]
        return json.dumps({"seen": "a plain picture", "colour": colour})
    return json.dumps({"code_word": re.findall(r"code word is (\w+)", content)[0]})


def unable(body: dict[str, Any]) -> str | web.Response:
    """One that takes no schema and no picture, and forgets the beginning."""
    content = body["messages"][1]["content"]
    error = lambda told: web.json_response({"error": {"message": told}}, status=400)  # noqa: E731
    if "response_format" in body:
        return error("response_format is not supported")
    if isinstance(content, list):
        return error("this model takes no image_url")
    if len(content) > 3000:
        return json.dumps({"code_word": "unknown"})
    return able(body)


def checked(server: OpenAIServer, *options: str, model: str = "somebodys-own") -> str:
    """What the command says of a model of the server."""
    with pytest.MonkeyPatch.context() as patch:
        server.known(patch)
        return shell("models", "check", f"openai/{model}", "--long", "2000", *options)


def test_what_a_model_can_do_and_what_it_cost_is_told() -> None:
    with OpenAIServer(answer=able) as server:
        found = json.loads(checked(server, "--json"))
        assert server.calls == 4
        *lines, last = checked(server, model="gpt-4o-mini").splitlines()
    assert [trial["about"] for trial in found] == ["JSON schema", "Stream", "Picture", "Long prompt"]
    assert all(trial["works"] for trial in found)
    assert all(trial["prompt_tokens"] > 0 and trial["cost"] is None for trial in found)
    assert found[3]["prompt_tokens"] > 1000
    assert [line.split("\t")[0] for line in lines] == ["ok"] * 4
    assert re.fullmatch(r"All four cost US\$ 0\.00\d+\.", last)
    with OpenAIServer(answer=unable, streams=False) as server:
        found = json.loads(checked(server, "--json"))
    assert [trial["works"] for trial in found] == [False] * 4
    assert "refused" in found[0]["sentence"]
    assert "raise the context size" in found[3]["sentence"]


def test_a_sample_case_is_heard_by_a_procedure_and_what_became_of_its_calls_is_told() -> None:
    def answer(body: dict[str, Any]) -> str | None:
        """The first time in words alone, and by the schema when it is asked again."""
        return "I have thought about it." if len(body["messages"]) == 2 else None

    with OpenAIServer(answer=answer, blind=True) as server:
        (told,) = json.loads(checked(server, "--json", "--procedures", "--only", "debate"))
    assert told["verdict"]
    assert (told["lost"], told["cut"]) == (0, 0)
    assert (told["valid"], told["again"]) == (0, told["calls"])


async def test_findings_are_shown_and_forgotten_by_command(house: Courthouse) -> None:
    spec = ModelSpec(id="openai/a-model-of-my-own")
    findings = await house.capabilities.of(spec)
    for name, value in (("vision", 0), ("images", 10), ("temperature", 0)):
        findings.remember(name, value)
    house.close()
    assert "at most 10 pictures, no temperature, no pictures" in shell("doctor")
    assert "3 findings of openai/a-model-of-my-own are forgotten" in shell("models", "forget", spec.id)
    with closing(Courthouse(house.settings)) as again:
        assert not again.capabilities.found()
        assert (await again.capabilities.of(spec)).get("vision") is None
