"""What a search can be narrowed to: a category, a law, and when records came."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any, NamedTuple

from courtroom.strict import Strict


class Facets(NamedTuple):
    """What a record is filtered by."""

    marks: frozenset[str] = frozenset()
    """Such as `category=theft` and `law=264`."""
    day: int = 0
    """When the record came, as the number 20261122; 0 where it was bundled."""


class Filter(Strict):
    """Only records of this category, under this law, and that came in this time; an empty field admits all."""

    category: str = ""
    law: str = ""
    since: date | None = None
    until: date | None = None

    @property
    def marks(self) -> tuple[str, ...]:
        """The marks that a record must have."""
        return tuple(mark(name, value) for name, value in (("category", self.category), ("law", self.law)) if value)

    @property
    def days(self) -> tuple[int, int] | None:
        """The first and the last day, both included; None where each day is admitted."""
        if self.since is None and self.until is None:
            return None
        return day_of(self.since) if self.since else 0, day_of(self.until) if self.until else 9999_12_31

    def admits(self, facets: Facets) -> bool:
        """Whether a record may be found."""
        first, last = self.days or (0, facets.day)
        return facets.marks.issuperset(self.marks) and first <= facets.day <= last


ALL = Filter()
"""Each record may be found."""


def mark(name: str, value: object) -> str:
    """One mark of a record."""
    return f"{name}={str(value).strip().casefold()}"


def day_of(at: date) -> int:
    """A day as the number 20261122."""
    return at.year * 10_000 + at.month * 100 + at.day


def facets_of(record: Any, added: float) -> Facets:
    """What a record is filtered by.

    Args:
        record: disputes have a category; criminal cases their charges as categories and their articles as laws; charges
            and statutes their articles.
        added: when it came, in seconds since 1970; 0 where it was bundled.
    """
    marks: set[str] = set()
    if category := getattr(record, "category", ""):
        marks.add(mark("category", category))
    if gold := getattr(record, "gold", None):
        marks |= {mark("category", charge) for charge in gold.charges or ()}
        marks |= {mark("law", article) for article in gold.relevant_articles or ()}
    if articles := getattr(record, "articles", ()):
        marks |= {mark("law", article) for article in articles}
    if (number := getattr(record, "number", None)) is not None:
        marks |= {mark("law", number), mark("law", record.id)}
    return Facets(frozenset(marks), day_of(datetime.fromtimestamp(added, UTC).date()) if added else 0)
