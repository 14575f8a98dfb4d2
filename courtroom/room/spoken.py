"""What an answer says to people: its sentences, and its short facts; also while it is still being written."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import from_json

from courtroom.strict import Strict

LONGEST = 900
"""Characters of one part that are kept; the call itself has the rest."""
MOST_PARTS = 8
MOST_FACTS = 6
SHORT = 60
"""A text of at most this length without the shape of a sentence is a fact, e.g. a name or a label."""
_SENTENCE = re.compile(r"\S+\s+\S+\s+\S+\s+\S|[\u3400-\u9fff，、：；（）。]{8}")
"""Four words, or eight Chinese characters."""


class SpokenPart(Strict):
    """A few sentences with the name of their field."""

    label: str
    text: str


class Fact(Strict):
    """Something short, e.g. a degree, a number, an article."""

    label: str
    value: str


class SpokenAnswer(Strict):
    """An answer as people read it."""

    parts: tuple[SpokenPart, ...] = ()
    facts: tuple[Fact, ...] = ()


def spoken(value: Mapping[str, Any]) -> SpokenAnswer:
    """The sentences and the facts of an answer, in its own order; quotes and lists of sentences are joined."""
    parts: list[SpokenPart] = []
    facts: list[Fact] = []
    for name, item in _leaves(value):
        label = name.replace("_", " ").capitalize()
        if isinstance(item, list):
            texts = [str(one).strip() for one in item if str(one).strip()]
            if any(_SENTENCE.search(text) for text in texts):
                parts.append(SpokenPart(label=label, text=_cut("\n".join(texts))))
            elif texts:
                facts.append(Fact(label=label, value=_cut(", ".join(texts), SHORT)))
        elif isinstance(item, str) and (_SENTENCE.search(item) or len(item) > SHORT):
            parts.append(SpokenPart(label=label, text=_cut(item.strip())))
        elif item is not None and str(item).strip():
            line = {True: "yes", False: "no"}[item] if isinstance(item, bool) else str(item).strip()
            facts.append(Fact(label=label, value=line))
    return SpokenAnswer(parts=tuple(parts[:MOST_PARTS]), facts=tuple(facts[:MOST_FACTS]))


def spoken_so_far(text: str) -> SpokenAnswer:
    """What an answer says while it streams in: the sentences so far, never the JSON around them."""
    begun = text.rpartition("</think>")[2]
    start = begun.find("{")
    if start < 0:
        return SpokenAnswer()
    try:
        value = from_json(begun[start:].partition("```")[0], allow_partial="trailing-strings")
    except ValueError:
        return SpokenAnswer()
    return SpokenAnswer(parts=spoken(value).parts) if isinstance(value, dict) else SpokenAnswer()


def _leaves(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields with what they hold: a text, a number, or a list of texts; groups are gone into."""
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from _leaves(item, f"{name} ")
        elif isinstance(item, list) and any(isinstance(one, Mapping) for one in item):
            for one in item:
                if isinstance(one, Mapping):
                    yield from ((f"{name} {inner}", held) for inner, held in _leaves(one))
        elif isinstance(item, list):
            yield f"{prefix}{name}", [one for one in item if not isinstance(one, list)]
        else:
            yield f"{prefix}{name}", item


def _cut(text: str, most: int = LONGEST) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
