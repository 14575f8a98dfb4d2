"""The JSON schema of an answer, as it stands in the prompt and as a server is asked to enforce it."""

import json
from collections.abc import Callable, Collection, Mapping
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from courtroom.models.task import LONGEST, Room

KEPT = ("type", "enum", "minimum", "maximum", "minItems", "maxItems", "pattern")
"""What is kept of a field beside its parts: the subset that hosted providers document for strict output."""
LENGTHS = ("minLength", "maxLength")
"""What servers of one's own take besides. llama.cpp looks at lengths only where there is no pattern."""
LEAST, SENTENCE = 3, 100
"""Characters of what may not be empty, where a text may have as many as a sentence: a blank has a length too."""
SHOWN = ("type", "description", "enum", "minimum", "maximum", "minItems", "maxItems", "maxLength")
"""What a prompt shows of a field: nothing that JSON of this form has in any case."""
TELLING = {"enum", "maxLength", "items", "properties"}
"""Beside one of these a prompt needs no type."""
NOT_EMPTY = r"\S"
"""The strict output of hosted providers takes a pattern, and no least length."""


@lru_cache(maxsize=512)
def schema_of(answer: type[BaseModel], *, room: Room = "generous", lengths: bool = False) -> str:
    """The schema as JSON text. A model writes the fields in the order in which they stand here: as they are declared.

    It fits the strict subset of hosted providers: every property is required, what may be absent may be null, no other
    properties are allowed, and no part refers to another. A default is not named: a model is to answer, not to agree.

    Args:
        room: how much is asked for at most.
        lengths: whether to say how long texts may be, which hosted providers refuse.

    Raises:
        ValueError: the answer holds something that the subset has no form for, such as a mapping.
    """
    whole = answer.model_json_schema()
    return json.dumps(_strict(whole, whole.get("$defs", {}), answer.__name__, room, lengths), ensure_ascii=False)


@lru_cache(maxsize=512)
def shown_form(answer: type[BaseModel], room: Room = "generous") -> str:
    """The schema as a prompt shows it, in one short line: no type is named that the rest of a field tells. Raises
    `ValueError`: as `schema_of`."""
    return json.dumps(_each(json.loads(schema_of(answer, room=room, lengths=True)), _shown), ensure_ascii=False)


def enforced(
    answer: type[BaseModel], *, room: Room = "generous", lengths: bool, lacking: Collection[str] = ()
) -> dict[str, Any]:
    """Return the schema that a server is asked to enforce; `lacking`: keywords that the server does not take.

    It has a longest text in a tight room alone: a small model does not end by itself, and a large one would end in
    mid-word."""
    without = {*lacking, *(() if room == "tight" else ("maxLength",))}
    whole = json.loads(schema_of(answer, room=room, lengths=lengths))
    return _each(whole, lambda part: {name: value for name, value in part.items() if name not in without})


def _each(part: Mapping[str, Any], change: Callable[[Mapping[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """A part of a schema with a change in it and in all of its parts."""
    made = change(part)
    if "anyOf" in part:
        made["anyOf"] = [_each(choice, change) for choice in part["anyOf"]]
    if "items" in part:
        made["items"] = _each(part["items"], change)
    if "properties" in part:
        made["properties"] = {name: _each(field, change) for name, field in part["properties"].items()}
    return made


def _shown(part: Mapping[str, Any]) -> dict[str, Any]:
    return {name: part[name] for name in SHOWN if name in part and not (name == "type" and TELLING & part.keys())}


def _strict(part: Mapping[str, Any], known: Mapping[str, Any], where: str, room: Room, lengths: bool) -> dict[str, Any]:
    """One part of a schema, with what it refers to in its place.

    The description of a field is kept, that of a type is not: it speaks to a reader of the code.
    """
    meant = dict(known[part["$ref"].rpartition("/")[2]] if "$ref" in part else part)
    if (size := meant.get(LONGEST, {}).get(room)) is not None:
        name = "maxItems" if meant.get("type") == "array" else "maxLength"
        meant[name] = min(size, meant.get(name, size))
    strict: dict[str, Any] = {name: meant[name] for name in KEPT if name in meant}
    if "const" in meant:
        strict["enum"] = [meant["const"]]
    if lengths and not {"enum", "pattern"} & strict.keys():
        strict |= {name: meant[name] for name in LENGTHS if name in meant}
        if strict.get("minLength") == 1 and strict.get("maxLength", 0) >= SENTENCE:
            strict["minLength"] = LEAST
    elif meant.get("minLength") and "enum" not in strict:
        strict["pattern"] = NOT_EMPTY
    if "anyOf" in meant:
        strict["anyOf"] = [_strict(choice, known, where, room, lengths) for choice in meant["anyOf"]]
    elif meant.get("type") == "array":
        strict["items"] = _strict(meant["items"], known, where, room, lengths)
    elif meant.get("type") == "object":
        if "properties" not in meant:
            raise ValueError(f"{where} is a mapping; a strict schema has fixed fields")
        strict["properties"] = {}
        for name, field in meant["properties"].items():
            told = {"description": field["description"]} if "description" in field else {}
            strict["properties"][name] = told | _strict(field, known, f"{where}.{name}", room, lengths)
        strict["required"] = list(strict["properties"])
        strict["additionalProperties"] = False
    elif not {"type", "enum"} & set(strict):
        raise ValueError(f"{where} has no type that a strict schema knows")
    return strict
