"""Setups under a name, to be used again."""

from __future__ import annotations

import json
import time
from typing import Any

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.store.database import Database
from courtroom.store.rows import read


class SetupStore:
    """Saved setups: procedure, seed and knobs as plain data, the same form that is shared as a file."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> list[str]:
        """All names, last saved first."""
        rows = self._database.connection.execute("SELECT name FROM setups ORDER BY saved DESC")
        return [row["name"] for row in rows]

    @needs(Access.RUN)
    def save(self, name: str, body: dict[str, Any]) -> None:
        """Save under a name, in place of what had it before."""
        self._database.connection.execute(
            "INSERT INTO setups VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body, saved = excluded.saved",
            (name, json.dumps(body, ensure_ascii=False), time.time()),
        )

    def load(self, name: str) -> dict[str, Any]:
        """What was saved under a name.

        Raises:
            Unreadable: its row is damaged.
        """
        row = self._database.connection.execute("SELECT body FROM setups WHERE name = ?", (name,)).fetchone()
        body: dict[str, Any] = read("setup", name, lambda: dict(json.loads(row["body"])))
        return body

    @needs(Access.RUN)
    def delete(self, name: str) -> None:
        """Forget a saved setup."""
        self._database.connection.execute("DELETE FROM setups WHERE name = ?", (name,))
