"""What has changed in a collection since a version: an index takes in this, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from courtroom.knowledge.facets import Facets

NOTHING = -1
"""The version of an index that holds nothing."""
FEW = 2_000
"""Up to so many records are compared one by one, and their words are indexed in memory; more have an index on disk."""


@dataclass(frozen=True)
class Changed:
    """What differs from a version."""

    touched: frozenset[str]
    """The ids of all records that were written or taken out."""
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

    def count(self) -> int:
        """How many records there are."""
        ...

    def changed(self, since: int) -> Changed:
        """What was written or taken out after a version."""
        ...

    def changed_words(self, since: int) -> ChangedWords:
        """The same, for the word index."""
        ...
