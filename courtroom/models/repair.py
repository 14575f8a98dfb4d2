"""Reading an answer: strict JSON first, then mended JSON, then not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import json_repair
from pydantic import BaseModel, ValidationError

MOST_COMPLAINTS = 5


class Unreadable(ValueError):
    """An answer that can't be read as what was asked for; the message says what is wrong with it."""


def read_answer(text: str, schema: type[BaseModel], finish: str) -> BaseModel:
    """The answer as the schema's type.

    Args:
        text: one JSON object, perhaps fenced, amid prose or slightly wrong. Of several, the last that fits counts:
            models think aloud before they answer.
        finish: why the model ended; an answer that was cut off is not half-read.

    Raises:
        Unreadable: the text holds no whole JSON object, or none that fits.
    """
    if finish == "length":
        raise Unreadable("the answer was cut off before its end; write less")
    try:
        return _fitting(text, schema)
    except RecursionError as error:
        raise Unreadable("it is nested too deeply") from error


def complaint(reason: str) -> str:
    """What a member is told when it is asked again."""
    return (
        f"That answer can't be used: {reason}. "
        "Answer again with one whole JSON object that fits the schema, and nothing else."
    )


def _fitting(text: str, schema: type[BaseModel]) -> BaseModel:
    wrong = ""
    for value in _objects(text):
        try:
            return schema.model_validate(value)
        except ValidationError as error:
            wrong = wrong or _told(error)
    raise Unreadable(wrong or "there is no JSON object in it")


def _told(error: ValidationError) -> str:
    """What does not fit, field by field, in a line that a model can act upon."""
    items = error.errors(include_url=False, include_input=False)
    lines = [f"{'.'.join(map(str, item['loc'])) or 'the answer'}: {item['msg']}" for item in items[:MOST_COMPLAINTS]]
    if len(items) > MOST_COMPLAINTS:
        lines.append(f"and {len(items) - MOST_COMPLAINTS} more")
    return "; ".join(lines)


def _objects(text: str) -> Iterator[Any]:
    """All that may be the answer, the likeliest first: the whole text, else each object in it from the last on."""
    try:
        yield json.loads(text)
    except json.JSONDecodeError:
        for piece in reversed(_pieces(text)):
            yield _loaded(piece)


def _loaded(piece: str) -> Any:
    try:
        return json.loads(piece)
    except json.JSONDecodeError:
        return json_repair.loads(piece)


def _pieces(text: str) -> list[str]:
    """Each `{…}` that lies in no other.

    Raises:
        Unreadable: the last one is not closed; a repair could only make up its end.
    """
    pieces, at = [], text.find("{")
    while at >= 0:
        end = _end(text, at)
        if end is None:
            raise Unreadable("the JSON object is not closed")
        pieces.append(text[at:end])
        at = text.find("{", end)
    return pieces


def _end(text: str, start: int) -> int | None:
    """Where the object that starts here has closed all its braces and brackets, those in strings apart."""
    depth, inside, escaped = 0, False, False
    for place in range(start, len(text)):
        character = text[place]
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = inside
        elif character == '"':
            inside = not inside
        elif not inside:
            depth += (character in "{[") - (character in "}]")
            if depth == 0:
                return place + 1
    return None
