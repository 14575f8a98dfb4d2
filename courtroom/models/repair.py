"""Reading an answer: strict JSON first, then mended JSON, then not at all."""

from __future__ import annotations

import json
from typing import Any

import json_repair
from pydantic import BaseModel, ValidationError


class Unreadable(ValueError):
    """An answer that can't be read as what was asked for; the message says what is wrong with it."""


def read_answer(text: str, schema: type[BaseModel], finish: str) -> BaseModel:
    """The answer as the schema's type.

    Args:
        finish: why the model ended; an answer that was cut off is not half-read.

    Raises:
        Unreadable: the text holds no whole JSON object, or one that doesn't fit.
    """
    if finish == "length":
        raise Unreadable("the answer was cut off before its end; write less")
    try:
        return schema.model_validate(_object(text))
    except ValidationError as error:
        wrong = (f"{'.'.join(map(str, item['loc'])) or 'the answer'}: {item['msg']}" for item in error.errors())
        raise Unreadable("; ".join(wrong)) from error


def complaint(reason: str) -> str:
    """What a member is told when it is asked again."""
    return f"That answer can't be used: {reason}. Answer again with one whole JSON object that fits the schema, and nothing else."


def _object(text: str) -> Any:
    start = text.find("{")
    if start < 0:
        raise Unreadable("there is no JSON object in it")
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        pass  # not strict JSON; it may be fenced, preceded by prose, or slightly wrong
    body = text[start:]
    if _depth(body) > 0:
        raise Unreadable("the JSON object is not closed")
    return json_repair.loads(body)


def _depth(text: str) -> int:
    """Braces and brackets still open at the end, those in strings apart."""
    depth, inside, escaped = 0, False, False
    for character in text:
        if escaped:
            escaped = False
        elif character == "\\":
            escaped = inside
        elif character == '"':
            inside = not inside
        elif not inside:
            depth += (character in "{[") - (character in "}]")
            if depth == 0 and character in "}]":
                return 0
    return depth + inside
