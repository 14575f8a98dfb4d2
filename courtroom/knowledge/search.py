"""The questions a procedure may put to the knowledge base, as data."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from courtroom.case import Strict


class Search(Strict):
    kind: Literal["search"] = "search"
    collection: Literal["precedents"]
    text: str
    k: int = Field(ge=1)
    exclude: tuple[str, ...] = ()


class Rank(Strict):
    kind: Literal["rank"] = "rank"
    text: str
    candidates: tuple[str, ...]
    k: int = Field(ge=1)


class Hit(Strict):
    id: str
    similarity: float
    record: dict[str, Any] = {}
