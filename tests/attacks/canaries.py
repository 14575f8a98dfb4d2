"""Text that fetches, links or runs something wherever a page reads it as more than text; and what is filled with it."""

import json
from collections.abc import Iterator, Mapping
from itertools import count
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from tests.openai_server import answer_for

MARK = "canary"
"""Stands in every one, so that a test can see that they were shown."""
SHORT = (
    "![canary](H)",
    "<img src=H onerror=alert(1) alt=canary>",
    "<script src=H></script>canary",
    "<script>alert('canary')</script>",
    "<iframe src=H></iframe>canary",
    "<link rel=stylesheet href=H>canary",
    "<style>*{background:url(H)}</style>canary",
    "<svg onload=alert(1)><image href=H /></svg>canary",
    '<meta http-equiv=refresh content="0;url=H">canary',
    "[canary](javascript:alert(1))",
    '<a href="javascript:alert(1)">canary</a>',
    '<a href="H" style="list-style-image:url(H)">canary</a>',
    '<span style="filter:url(H#a);mask:url(H)">canary</span>',
    "$\\href{H}{canary}\\includegraphics{H}$",
    '"><img src=H onerror=alert(1)>canary',
    "</textarea></script></template><img src=H>canary",
    ":red[![canary](H)]",
    "&lt;img src=H&gt;canary",
    "![canary][r]\n\n[r]: H",
    "`` ![canary](H)",
)
ARTICLE = 264
KEPT = frozenset({"selected_evidence_id"})
"""Fields of an answer that name something of the case."""
FIXED = {"sentences": 3, "death_penalty": False, "life_imprisonment": False}
"""Numbers that must fit the setup, or each other."""

Model = TypeVar("Model", bound=BaseModel)


class Canaries:
    """Makes them, each with an address of its own; `hosts` are beginnings of addresses, taken in turn."""

    def __init__(self, *hosts: str) -> None:
        self._hosts, self._number = hosts, count()

    def one(self, room: int = 10_000) -> str:
        """The next that fits into so many characters, or nothing."""
        for _ in SHORT:
            number = next(self._number)
            told = SHORT[number % len(SHORT)].replace("H", f"{self._hosts[number % len(self._hosts)]}/{number}.png")
            if len(told) <= room:
                return told
        return ""

    def all(self) -> str:
        """Every kind, one after the other."""
        return " ".join(self.one() for _ in SHORT)

    def some(self, room: int) -> str:
        """As many as fit."""
        told = ""
        while room - len(told) > 60 and (more := self.one(room - len(told) - 1)) and len(told) < 2_000:
            told += f"{more} "
        return told or self.one(room)

    def filled(self, model: Model) -> Model:
        """The same with canaries in every text that takes some."""
        data = model.model_dump(mode="json")
        for holder, key in _texts(data):
            before = holder[key]
            for told in (f"{self.all()} {before}", f"{self.some(180)}{before[:15]}", self.some(75), self.one(60)):
                holder[key] = told
                try:
                    type(model).model_validate(data)
                    break
                except ValidationError:
                    holder[key] = before
        return type(model).model_validate(data)

    def answer(self, body: Mapping[str, Any]) -> str:
        """An answer to the schema asked for, with canaries in every text of it that is free."""
        form = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        plain = answer_for(dict(body), json.dumps(form))
        return plain if form is None else json.dumps(self._answer(json.loads(plain), form, form.get("$defs", {}), ""))

    def _answer(self, value: Any, form: Mapping[str, Any], defs: Mapping[str, Any], name: str) -> Any:
        if "$ref" in form:
            form = defs[form["$ref"].rsplit("/", 1)[1]]
        if "anyOf" in form:
            return self._answer(value, form["anyOf"][0], defs, name)
        if isinstance(value, dict):
            parts = form.get("properties", {})
            return {key: self._answer(part, parts.get(key, {}), defs, key) for key, part in value.items()}
        if isinstance(value, list):
            return [self._answer(part, form.get("items", {}), defs, name) for part in value]
        if not isinstance(value, str):
            return ARTICLE if "article" in name and type(value) is int else FIXED.get(name, value)
        if "enum" in form or "const" in form or name in KEPT:
            return value
        return (self.some(min(400, form.get("maxLength", 400))) + value)[: form.get("maxLength", 10_000)]


def _texts(data: Any) -> Iterator[tuple[Any, str | int]]:
    """All places of texts: what holds each, and its name or number there."""
    for key, part in [*(data.items() if isinstance(data, dict) else enumerate(data))]:
        if isinstance(part, str):
            yield data, key
        elif isinstance(part, (dict, list)):
            yield from _texts(part)
