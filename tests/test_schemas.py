"""Answer schemas: what a model writes first, and what a server can enforce."""

import json
import math
import random
from collections.abc import Iterator
from typing import Any, get_args

import llguidance
import numpy as np
import pytest
from pydantic import BaseModel, Field

from courtroom.courthouse import Courthouse
from courtroom.models.repair import read_answer
from courtroom.models.schema import schema_of
from courtroom.models.task import Answer
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.asked import asked

STRICT = {"type", "description", "enum", "properties", "required", "additionalProperties", "items", "anyOf"}
BOUNDS = {"minimum", "maximum", "minItems", "maxItems", "pattern"}
BYTES = llguidance.LLTokenizer("byte")
CHARACTERS_A_TOKEN = 4
LONG = 200
"""After so many bytes a walk takes whatever ends a text, a list or the answer."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    made = Courthouse(Settings(home=tmp_path_factory.mktemp("schemas")))
    yield made
    made.close()


@pytest.fixture(scope="module", params=list(PROCEDURES))
def forms(request: pytest.FixtureRequest, house: Courthouse) -> list[type[BaseModel]]:
    """The answers that a procedure asks for, as declared and as narrowed in a hearing, under every preset."""
    procedure = PROCEDURES[request.param]
    found = {schema_of(task.answer): task.answer for task in procedure.tasks}
    for changes in ({}, *(dict(preset.changes) for preset in procedure.presets)):
        found |= {schema_of(one.task.form): one.task.form for one in asked(house, procedure.name, changes)}
    return list(found.values())


def test_a_schema_keeps_the_declared_order_of_the_fields(forms: list[type[BaseModel]]) -> None:
    for form in forms:
        assert list(json.loads(schema_of(form))["properties"]) == list(form.model_fields), form


def test_what_is_thought_stands_before_what_is_decided(forms: list[type[BaseModel]]) -> None:
    for form in forms:
        for kind in answers_in(form):
            if getattr(kind, "published_order", ""):
                continue
            decided = ""
            for name, part in json.loads(schema_of(kind))["properties"].items():
                if name in getattr(kind, "opens_with", ()):
                    continue
                if is_text(part):
                    assert not decided, f"{kind.__name__}: {name} comes after {decided}"
                elif part.get("type") not in ("array", "object"):
                    decided = decided or name


def test_a_schema_fits_the_strict_subset(forms: list[type[BaseModel]]) -> None:
    for form in forms:
        for part in parts(json.loads(schema_of(form))):
            assert part.keys() <= STRICT | BOUNDS, form
            assert not {"enum", "pattern"} <= part.keys(), form
            if part.get("type") == "object":
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
            if part.get("type") in ("integer", "number"):
                assert {"minimum", "maximum"} <= part.keys(), form


@pytest.mark.parametrize("seed", range(3))
def test_what_a_server_may_decode_under_a_schema_is_a_valid_answer(forms: list[type[BaseModel]], seed: int) -> None:
    for form in forms:
        text = decoded(schema_of(form), random.Random(seed))
        assert isinstance(read_answer(text, form, "stop"), form), text


@pytest.mark.parametrize("name", list(PROCEDURES))
def test_bounds_halve_the_tokens_of_a_run_whose_every_field_is_filled(house: Courthouse, name: str) -> None:
    """Without a bound a text goes on to the longest answer. A run of this is printed by `pytest -s`."""
    bounded = free = 0.0
    questions = asked(house, name)
    for one in questions:
        longest = PROCEDURES[name].setup().model.max_tokens
        bounded += min(longest, characters(json.loads(schema_of(one.task.form, lengths=True))) / CHARACTERS_A_TOKEN)
        free += min(longest, characters(json.loads(schema_of(one.task.form))) / CHARACTERS_A_TOKEN)
    print(
        f"{name}: {len(questions)} calls, at most {bounded:,.0f} tokens of answers for {free:,.0f}: {bounded / free:.0%}"
    )
    assert bounded <= free / 2


def characters(part: dict[str, Any]) -> float:
    """How many an answer has whose every field is filled."""
    if "enum" in part:
        return max(len(json.dumps(choice, ensure_ascii=False)) for choice in part["enum"])
    if "anyOf" in part:
        return max(map(characters, part["anyOf"]))
    if "properties" in part:
        return 2 + sum(len(name) + 6 + characters(field) for name, field in part["properties"].items())
    if "items" in part:
        return 2 + part["maxItems"] * (characters(part["items"]) + 2) if "maxItems" in part else math.inf
    return part.get("maxLength", math.inf) + 2 if part["type"] == "string" else 6


def test_what_may_be_absent_may_be_null_and_what_is_empty_by_default_is_asked_for() -> None:
    class Part(Answer):
        """A docstring is for readers of the code."""

        seen: str = ""

    class Whole(Answer):
        reason: str = Field(min_length=1, description="Why.")
        part: Part
        number: int | None = None

    assert json.loads(schema_of(Whole)) == {
        "type": "object",
        "properties": {
            "reason": {"description": "Why.", "type": "string", "pattern": "\\S"},
            "part": {
                "type": "object",
                "properties": {"seen": {"type": "string"}},
                "required": ["seen"],
                "additionalProperties": False,
            },
            "number": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["reason", "part", "number"],
        "additionalProperties": False,
    }


def test_a_mapping_is_refused_as_no_server_can_enforce_it() -> None:
    class Scores(Answer):
        by_name: dict[str, float]

    with pytest.raises(ValueError, match="Scores.by_name is a mapping"):
        schema_of(Scores)


def answers_in(form: Any) -> Iterator[type[BaseModel]]:
    """An answer and all answers that are parts of it."""
    if isinstance(form, type) and issubclass(form, BaseModel):
        yield form
        for field in form.model_fields.values():
            yield from answers_in(field.annotation)
    for part in get_args(form):
        yield from answers_in(part)


def is_text(part: dict[str, Any]) -> bool:
    """Whether a part is free text, or several of them."""
    choices = part.get("anyOf", [part])
    return any("enum" not in (one := choice.get("items", choice)) and one.get("type") == "string" for choice in choices)


def parts(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and all schemas in it."""
    yield schema
    for part in (
        *schema.get("properties", {}).values(),
        *schema.get("anyOf", ()),
        *filter(None, [schema.get("items")]),
    ):
        yield from parts(part)


def decoded(schema: str, draw: random.Random) -> str:
    """A text of tokens drawn at random from those that the engine allows, until it allows none but the end."""
    grammar = llguidance.LLMatcher.grammar_from_json_schema(schema, overrides={"whitespace_flexible": False})
    matcher = llguidance.LLMatcher(BYTES, grammar)
    assert not matcher.get_error(), matcher.get_error()
    out = bytearray()
    while not matcher.is_stopped():
        allowed = np.flatnonzero(np.unpackbits(np.frombuffer(matcher.compute_bitmask(), np.uint8), bitorder="little"))
        plain = [token for token in allowed if 32 <= token < 127 and token != ord("\\")] or list(allowed)
        ends = [token for token in plain if token in b'"]}']
        token = int(draw.choice(ends if ends and (len(out) > LONG or draw.random() < 0.1) else plain))
        if BYTES.eos_token in allowed and (len(out) > LONG or plain == [BYTES.eos_token]):
            break
        out.append(token)
        matcher.consume_token(token)
        assert len(out) < 20_000, "the schema has no end"
    return out.decode()
