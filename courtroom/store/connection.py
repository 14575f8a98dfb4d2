"""What all SQL in the program runs on, whichever database is behind it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

Parameters = Sequence[Any] | Mapping[str, Any]


class StoredRow(Protocol):
    """One row: values by position or by name; `tuple(row)` and `dict(row)` work."""

    def __getitem__(self, key: Any, /) -> Any:
        """One value."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """Its values."""
        ...

    def __len__(self) -> int:
        """How many there are."""
        ...

    def keys(self) -> list[str]:
        """Their names."""
        ...


class Rows(Protocol):
    """What a statement gave."""

    @property
    def rowcount(self) -> int:
        """Rows that were changed."""
        ...

    def __iter__(self) -> Iterator[Any]:
        """The rows that are left."""
        ...

    def fetchone(self) -> Any:
        """The next row; None where there is none."""
        ...

    def fetchall(self) -> list[Any]:
        """The rows that are left."""
        ...

    def close(self) -> None:
        """Read no further."""
        ...


class StoreConnection(Protocol):
    """Runs statements, each for itself or within a transaction."""

    @property
    def in_transaction(self) -> bool:
        """Whether this thread is within a transaction."""
        ...

    def execute(self, sql: str, parameters: Any = (), /) -> Rows:
        """Run one statement; `?` and `:name` stand for values."""
        ...

    def executemany(self, sql: str, parameters: Iterable[Any], /) -> Rows:
        """Run one statement for each set of values."""
        ...
