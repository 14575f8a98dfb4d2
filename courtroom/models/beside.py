"""What is asked beside a vote: how sure a member is of it, on which pieces it rests, and what it would ask the court."""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, get_origin

from pydantic import BaseModel, Field, create_model

from courtroom.text.words import short, strings

HIGHEST_CONFIDENCE = 100
OFFLINE_DRAWS = 20
"""The offline model is as sure as so many draws of its formula agree."""
QUOTED_CHARACTERS = 40
"""Offline, a vote rests on a piece of which the answer quotes so much of the beginning."""
REST = ("other", "anything else: what the case holds beside these, a rule, a norm, or that something is missing")
"""What can be pointed to beside the pieces."""
SHOWN_CHARACTERS = 110
"""So much of a piece tells which one it is."""
MAX_QUESTION_CHARACTERS = 500
"""Of a question to the court, which is one sentence."""
ASKED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
ASKS_COURT, OF_REPLIES = ASKED["may_ask"], ASKED["of_replies"]


@dataclass(frozen=True)
class BesideVote:
    """What is asked beside a vote."""

    confidence: bool
    pieces: tuple[tuple[str, str], ...]
    """Names of the pieces of the case that can be pointed to, with their texts; empty where that is not asked."""
    question: bool = False
    """Whether a question may be put to the court."""


@lru_cache(maxsize=256)
def with_beside(form: type[BaseModel], beside: BesideVote) -> type[BaseModel]:
    """Return an answer of the same name with the fields for what is asked beside the vote, after all others."""
    fields: dict[str, Any] = {}
    if beside.pieces:
        pieces = (*beside.pieces, REST)
        names = tuple(name for name, _ in pieces)
        listed = "; ".join(f"{name}: {short(' '.join(text.split()), SHOWN_CHARACTERS)}" for name, text in pieces)
        one: Any = Literal[names]
        asked = ASKED["rests_on"].format(listed=listed)
        fields["rests_on"] = (tuple[one, ...], Field(max_length=len(names), description=asked))
    if beside.question:
        longest = MAX_QUESTION_CHARACTERS
        fields["question"] = (str, Field(default="", max_length=longest, description=ASKED["question"]))
    if beside.confidence:
        fields["confidence"] = (int, Field(ge=0, le=HIGHEST_CONFIDENCE, description=ASKED["confidence"]))
    return create_model(form.__name__, __base__=form, __doc__=form.__doc__, **fields)


def offline_beside(
    form: type[BaseModel], beside: BesideVote, answer: BaseModel, draws: Iterable[BaseModel]
) -> dict[str, Any]:
    """Return what a formula says beside its vote: the pieces that it quotes, and how many draws of it vote alike.
    `draws`: the same formula with other sources of chance."""
    said = answer.model_dump(mode="json")
    added: dict[str, Any] = {}
    if beside.pieces:
        written = " ".join(strings(said))
        added["rests_on"] = [name for name, text in beside.pieces if text[:QUOTED_CHARACTERS].strip() in written]
    if beside.confidence:
        chosen = [name for name, field in form.model_fields.items() if get_origin(field.annotation) is Literal]
        votes = [drawn.model_dump(mode="json") for drawn in draws]
        alike = sum(all(vote[name] == said[name] for name in chosen) for vote in votes)
        added["confidence"] = round(HIGHEST_CONFIDENCE * alike / len(votes))
    return said | added
