"""`models check`: what a model can do, asked of real servers that can and can't."""

import json
import re
from typing import Any

import pytest
from aiohttp import web

from tests.driving import shell
from tests.openai_server import OpenAIServer
from tests.test_wire import shown


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


def first_in_prose(body: dict[str, Any]) -> str | None:
    """Answers the first time in words alone, and by the schema when it is asked again."""
    return "I have thought about it." if len(body["messages"]) == 2 else None


@pytest.mark.parametrize(
    ("answer", "all_at_once"), [(lambda body: None, True), (first_in_prose, False)], ids=["form", "prose"]
)
def test_a_sample_case_is_heard_by_a_procedure_and_what_became_of_its_calls_is_told(
    answer: Any, all_at_once: bool
) -> None:
    with OpenAIServer(answer=answer, blind=True) as server:
        (told,) = json.loads(checked(server, "--json", "--procedures", "--only", "debate"))
    assert told["verdict"]
    assert (told["lost"], told["cut"]) == (0, 0)
    assert (told["valid"], told["again"]) == ((told["calls"], 0) if all_at_once else (0, told["calls"]))
