"""`models check`: what a model can do, asked of real servers that can and can't."""

import json
import re
from typing import Any

import pytest
from aiohttp import web

from courtroom.shell.commands import app
from tests.openai_server import OpenAIServer


def able(body: dict[str, Any]) -> str:
    """A model that reads, sees and remembers."""
    content = body["messages"][1]["content"]
    if isinstance(content, list):
        return json.dumps({"seen": "a plain picture", "colour": colour_of(content)})
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


def colour_of(content: list[dict[str, Any]]) -> str:
    """The colour of the picture that was sent."""
    import base64
    import io

    from PIL import Image

    (url,) = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    picture = Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))).convert("RGB")
    shades = picture.getpixel((5, 5))
    return ("red", "green", "blue")[shades.index(max(shades))]


def checked(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, Any]]:
    """What the command says of the model."""
    app(["models", "check", "openai/somebodys-own", "--long", "2000", "--json", *options], standalone_mode=False)
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-none")


def test_what_a_model_can_do_and_what_it_cost_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer(answer=able) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        found = checked(capsys)
        assert server.calls == 4
    assert [(trial["about"], trial["works"]) for trial in found] == [
        ("JSON schema", True),
        ("Stream", True),
        ("Picture", True),
        ("Long prompt", True),
    ]
    assert all(trial["prompt_tokens"] > 0 and trial["cost"] is None for trial in found)
    assert found[3]["prompt_tokens"] > 1000
    with OpenAIServer(answer=able) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        app(["models", "check", "openai/gpt-4o-mini", "--long", "2000"], standalone_mode=False)
    *lines, last = capsys.readouterr().out.splitlines()
    assert [line.split("\t")[0] for line in lines] == ["ok"] * 4
    assert re.fullmatch(r"All four cost US\$ 0\.00\d+\.", last)
    with OpenAIServer(answer=unable, streams=False) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        found = checked(capsys)
    assert [trial["works"] for trial in found] == [False] * 4
    assert "refused" in found[0]["sentence"]
    assert "raise the context size" in found[3]["sentence"]


def first_in_prose(body: dict[str, Any]) -> str | None:
    """Answers the first time in words alone, and by the schema when it is asked again."""
    return "I have thought about it." if len(body["messages"]) == 2 else None


@pytest.mark.parametrize(
    ("answer", "all_at_once"), [(lambda body: None, True), (first_in_prose, False)], ids=["form", "prose"]
)
def test_a_sample_case_is_heard_by_a_procedure_and_what_became_of_its_calls_is_told(
    answer: Any, all_at_once: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with OpenAIServer(answer=answer, blind=True) as server:
        server.known(monkeypatch)
        (told,) = checked(capsys, "--procedures", "--only", "debate")
    assert told["verdict"]
    assert (told["lost"], told["cut"]) == (0, 0)
    assert (told["valid"], told["again"]) == ((told["calls"], 0) if all_at_once else (0, told["calls"]))
