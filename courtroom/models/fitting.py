"""What a model said, in the form that it was asked for, where only the form is another and what is meant is certain."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from courtroom.models.narrow import folded, same
from courtroom.models.schema import schema_of

MOST_WRAPPED = 4
"""Objects, lists and strings that may lie around an answer."""
_TRUTHS = {
    **dict.fromkeys(("true", "yes", "是", "是的", "对", "真"), True),
    **dict.fromkeys(("false", "no", "否", "不", "不是", "错", "假"), False),
}
_NUMBER = r"(\d{1,4}(?:\.\d)?)"
_DURATION = re.compile(
    rf"(?:about |约)?(?:{_NUMBER}\s*(?:years?|年)\W*(?:and |又|零)?)?\s*(?:{_NUMBER}\s*(?:months?|个?月))?",
    re.IGNORECASE,
)
_SEPARATORS = re.compile(r"[,，;；、\n]|\band\b|和")


def fitted(value: Any, form: type[BaseModel]) -> Any:
    """Return a value as the form has it: wrappings off, keys and choices as declared. What is unsure stays as it is."""
    part = _part(form)
    return _fit(unwrapped(value, part["properties"]), part, "")


@lru_cache(maxsize=256)
def _part(form: type[BaseModel]) -> dict[str, Any]:
    part: dict[str, Any] = json.loads(schema_of(form, lengths=True))
    return part


def unwrapped(value: Any, names: Sequence[str] | Mapping[str, Any]) -> Any:
    """Return the one object with these names in it that lies in a call, a list, a string or another object."""
    value = _decoded(value)
    if not isinstance(value, dict) or _has(value, names) > 1 or (_has(value, names) and len(value) > 1):
        return value
    inside = {id(each): each for each in _inside(value, MOST_WRAPPED) if _has(each, names) > _has(value, names)}
    most = max((_has(each, names) for each in inside.values()), default=0)
    best = [each for each in inside.values() if _has(each, names) == most]
    return best[0] if len(best) == 1 else value


def _has(value: Mapping[str, Any], names: Sequence[str] | Mapping[str, Any]) -> int:
    return len({folded(key) for key in value} & {folded(name) for name in names})


def _inside(value: Any, depth: int) -> Iterator[dict[str, Any]]:
    for each in value.values() if isinstance(value, dict) else value:
        each = _decoded(each)
        if isinstance(each, dict):
            yield each
        if isinstance(each, dict | list) and depth > 1:
            yield from _inside(each, depth - 1)


def _decoded(value: Any) -> Any:
    """An object or a list that was written as text, or the only object of a list."""
    for _ in range(MOST_WRAPPED):
        if isinstance(value, str) and value.lstrip()[:1] in ("{", "[", '"'):
            try:
                inner = json.loads(value)
            except (ValueError, RecursionError):
                return value
            if not isinstance(inner, dict | list | str):
                return value
            value = inner
        elif isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict | list):
            value = value[0]
        else:
            return value
    return value


def _fit(value: Any, part: Mapping[str, Any], about: str) -> Any:
    """A value as one part of the schema has it. `about`: what the schema says of the part and of all around it."""
    about = f"{about} {part.get('description', '')}"
    if "anyOf" in part:
        is_null = value is None and {"type": "null"} in part["anyOf"]
        return None if is_null else _fit(value, _merged(part["anyOf"]), about)
    kind, choices = part.get("type"), part.get("enum", ())
    if kind == "object":
        return _object(value, part, about)
    if kind == "array":
        return _list(value, part, about)
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if kind == "boolean" or (choices and all(isinstance(choice, bool) for choice in choices)):
        return _TRUTHS.get(folded(value), value) if isinstance(value, str) else value
    if choices:
        return _choice(value, choices)
    if kind in ("integer", "number"):
        return _months(value) if isinstance(value, str) and "month" in about.casefold() else value
    return _text(value, part) if kind == "string" else value


def _merged(parts: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
    """One part for several of which any may be meant: the only one, or an object with the fields of all."""
    some = [part for part in parts if part != {"type": "null"}]
    if len(some) == 1:
        return some[0]
    if not all("properties" in part for part in some):
        return {}
    fields: dict[str, Any] = {}
    for name, field in (pair for part in some for pair in part["properties"].items()):
        if "type" in field or name not in fields:
            fields[name] = field
    return {"type": "object", "properties": fields}


def _object(value: Any, part: Mapping[str, Any], about: str) -> Any:
    """An object with the keys as declared; of one within another, what was not asked for is left out."""
    value = _decoded(value)
    if not isinstance(value, dict):
        return value
    fields, is_whole, fit = part["properties"], not about.strip(), dict[str, Any]()
    names = {folded(name): name for name in fields}
    for key, each in value.items():
        name = str(key if key in fields else names.get(folded(key), key))
        name = key if name in value else name
        if name in fields:
            fit[name] = _fit(each, fields[name], f"{about} {name}")
        elif is_whole:
            fit[name] = each
    return fit


def _list(value: Any, part: Mapping[str, Any], about: str) -> Any:
    items = part["items"]
    if isinstance(value, str) and value.lstrip().startswith("["):
        value = _decoded(value)
    if value is None or value == "":
        return []
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], list):
        value = value[0]
    if isinstance(value, str) and "enum" in items:
        pieces = [_choice(piece.strip(), items["enum"]) for piece in _SEPARATORS.split(value) if piece.strip()]
        whole = _choice(value, items["enum"])
        return [whole] if whole in items["enum"] else pieces if set(pieces) <= set(items["enum"]) else value
    if (isinstance(value, str) and items.get("type") == "string") or (
        isinstance(value, dict) and "properties" in items
    ):
        value = [value]
    if not isinstance(value, list):
        return value
    return [None if each is None else _fit(each, items, f"{about} item") for each in value]


def _choice(value: Any, choices: Sequence[Any]) -> Any:
    written = {str(choice): choice for choice in choices}
    meant = same(str(value), tuple(written)) if isinstance(value, str | int) and not isinstance(value, bool) else None
    return written.get(meant, value) if meant is not None else value


def _months(text: str) -> Any:
    given = _DURATION.fullmatch(text.strip(" .。*\"'"))
    if given is None or not any(given.groups()):
        return text
    months = 12 * float(given[1] or 0) + float(given[2] or 0)
    return int(months) if months == int(months) else months


def _text(value: Any, part: Mapping[str, Any]) -> Any:
    """A text: empty for null where it may be empty, a number as it is written, texts of a list below each other."""
    if value is None:
        return None if part.get("minLength") else ""
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value
