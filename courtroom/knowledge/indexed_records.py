"""What an index reads of records: what has changed since a version, and what each record is filtered by."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, Protocol

from pydantic import Field

from courtroom.strict import Strict

Facets = Mapping[str, bool | int]
"""What a record is filtered by, as Chroma takes it: marks such as `category=theft` and `law=264`, and the `day` on which
it came, as the number 20261122; 0 where it was bundled."""


class Filter(Strict):
    """Only records of this category, under this law, that came in this time, with norms; an empty field admits all."""

    category: str = ""
    law: str = ""
    since: date | None = None
    until: date | None = None
    with_norms: bool = Field(default=False, description="Only precedents that norms were distilled from.")

    @property
    def marks(self) -> tuple[str, ...]:
        values = (("category", self.category), ("law", self.law), ("norms", self.with_norms))
        return tuple(facet_key(name, value) for name, value in values if value)

    @property
    def days(self) -> tuple[int, int] | None:
        """The first and the last day, both included; None where each day is admitted."""
        if self.since is None and self.until is None:
            return None
        return day_number(self.since) if self.since else 0, day_number(self.until) if self.until else 9999_12_31


ALL = Filter()
"""Each record may be found."""


def facet_key(name: str, value: object) -> str:
    return f"{name}={str(value).strip().casefold()}"


def day_number(at: date) -> int:
    """A day as the number 20261122."""
    return at.year * 10_000 + at.month * 100 + at.day


def facets_of(record: Any, added: float) -> Facets:
    """Return what a record is filtered by.

    Disputes have a category; criminal cases their charges as categories and their articles as laws; charges and
    statutes their articles; and each has what its id stands under.

    Args:
        added: when it came, in seconds since 1970; 0 where it was bundled.
    """
    parts = record.id.split("/")  # what stands together, such as the examples of one label
    marks = {f"under={'/'.join(parts[:n])}/" for n in range(1, len(parts))}
    if category := getattr(record, "category", ""):
        marks.add(facet_key("category", category))
    if getattr(record, "norms", ()):
        marks.add(facet_key("norms", True))
    if gold := getattr(record, "gold", None):
        marks |= {facet_key("category", charge) for charge in gold.charges or ()}
        marks |= {facet_key("law", article) for article in gold.relevant_articles or ()}
    if articles := getattr(record, "articles", ()):
        marks |= {facet_key("law", article) for article in articles}
    if (number := getattr(record, "number", None)) is not None:
        marks |= {facet_key("law", number), facet_key("law", record.id)}
    day = day_number(datetime.fromtimestamp(added, UTC).date()) if added else 0
    return {**dict.fromkeys(sorted(marks), True), "day": day}


FACETS = "facets, 3"
"""An index with other facets is built again."""
NOTHING = -1
"""The version of an index that holds nothing."""


@dataclass(frozen=True)
class Changed:
    """What differs from a version."""

    touched: frozenset[str]
    """The ids of all records that were written or deleted."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What is to be embedded, by id; the second text of a record, in its other language, has a mark behind the id."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The words of each record, by its id."""
    facets: Mapping[str, Facets] = field(default_factory=dict)
    """By the ids of the texts, those of the records among them."""


class Records(Protocol):
    """What an index is over."""

    def version(self) -> int:
        """Grows as soon as a record has changed; cheap."""
        ...

    def changed(self, since: int) -> Changed: ...
