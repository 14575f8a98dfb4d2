"""What an index reads of records: what has changed since a version, and what each record is filtered by."""

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, NamedTuple, Protocol

from pydantic import Field, ValidationError

from courtroom.strict import Strict


class Facets(NamedTuple):
    """What a record is filtered by."""

    marks: frozenset[str] = frozenset()
    """Such as `category=theft` and `law=264`."""
    day: int = 0
    """When the record came, as the number 20261122; 0 where it was bundled."""


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

    def admits(self, facets: Facets) -> bool:
        first, last = self.days or (0, facets.day)
        return facets.marks.issuperset(self.marks) and first <= facets.day <= last


ALL = Filter()
"""Each record may be found."""


def facet_key(name: str, value: object) -> str:
    return f"{name}={str(value).strip().casefold()}"


def day_number(at: date) -> int:
    """A day as the number 20261122."""
    return at.year * 10_000 + at.month * 100 + at.day


def facets_of(record: Any, added: float) -> Facets:
    """What a record is filtered by: disputes have a category; criminal cases their charges as categories and their articles as laws; charges
    and statutes their articles. `added`: when it came, in seconds since 1970; 0 where it was bundled."""
    marks: set[str] = set()
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
    return Facets(frozenset(marks), day_number(datetime.fromtimestamp(added, UTC).date()) if added else 0)


FACETS = "facets, 2"
"""An index with other facets is built again."""
NOTHING = -1
"""The version of an index that holds nothing."""
FEW = 2_000
"""Up to so many records are compared one by one, and their words are indexed in memory; more have an index on disk."""


@dataclass(frozen=True)
class Changed:
    """What differs from a version."""

    touched: frozenset[str]
    """The ids of all records that were written or deleted."""
    texts: Mapping[str, str] = field(default_factory=dict)
    """What is to be embedded now, by id; the second text of a record, in its other language, has a mark behind the id."""
    facets: Mapping[str, Facets] = field(default_factory=dict)
    """By the same ids."""


@dataclass(frozen=True)
class ChangedWords:
    """What differs from a version, for the word index."""

    touched: frozenset[str]
    lines: Mapping[str, tuple[str, Facets]]
    """The words of each record with what it is filtered by, by the record's id."""


class Records(Protocol):
    """What an index is over."""

    def version(self) -> int:
        """Grows as soon as a record has changed; cheap."""
        ...

    def count(self) -> int: ...

    def changed(self, since: int) -> Changed: ...

    def changed_words(self, since: int) -> ChangedWords: ...


SEAL = "sealed.json"


class Seal(Strict):
    """What a sealed folder holds."""

    version: int
    count: int
    made_with: str
    """Names the engine, its parameters and the embedding: what was built with others is built again."""
    folder: str = ""
    """Where the files are, within the folder of the seal."""
    files: dict[str, tuple[int, str]]
    """Size in bytes and checksum (XXH3, 64 bits) of each file by its path in the folder."""


def files_of(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and checksum of each file below a folder; locks, which are empty, are left out."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != SEAL and path.suffix != ".lock")
    return {path.relative_to(folder).as_posix(): (path.stat().st_size, checksum(path)) for path in found}


def checksum(path: Path) -> str:
    import xxhash  # only where an index is on disk

    with path.open("rb", buffering=0) as file:
        return hashlib.file_digest(file, xxhash.xxh3_64).hexdigest()


def whole(folder: Path, files: dict[str, tuple[int, str]]) -> bool:
    """Whether each of these files is there as it was written. Others are not looked at."""
    return all(
        (path := folder / name).is_file() and path.stat().st_size == size and checksum(path) == written
        for name, (size, written) in files.items()
    )


def read_seal(folder: Path) -> Seal | None:
    """The seal of a folder; None where there is none that can be read."""
    try:
        return Seal.model_validate_json((folder / SEAL).read_bytes())
    except (OSError, ValidationError):
        return None


def write_seal(folder: Path, seal: Seal) -> None:
    """Put a seal in place of the one that is there, at once."""
    with NamedTemporaryFile(dir=folder, prefix=".seal-", delete=False) as file:
        file.write(seal.model_dump_json().encode())
    os.replace(file.name, folder / SEAL)
