"""Panels of personas under a name, to be seated again."""

from __future__ import annotations

import time
from collections.abc import Iterable

from pydantic import TypeAdapter

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.errors import CourtroomError
from courtroom.panel.personas import Persona
from courtroom.store.database import Database
from courtroom.store.rows import read

LONGEST_NAME = 80
PANEL: TypeAdapter[tuple[Persona, ...]] = TypeAdapter(tuple[Persona, ...])


class PanelStore:
    """Saved panels. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def names(self) -> list[str]:
        """All names, last saved first."""
        rows = self._database.connection.execute("SELECT name FROM panels ORDER BY saved DESC, name")
        return [row["name"] for row in rows]

    @needs(Access.RUN)
    def save(self, name: str, panel: Iterable[Persona]) -> None:
        """Save under a name, in place of what had it before.

        Raises:
            CourtroomError: the name is empty or too long, or nobody is in the panel.
        """
        kept, called = tuple(panel), _name(name)
        if not kept:
            raise CourtroomError("A panel needs at least one person. Add one.")
        self._database.connection.execute(
            "INSERT INTO panels VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body, saved = excluded.saved",
            (called, PANEL.dump_json(kept).decode(), time.time()),
        )

    def load(self, name: str) -> tuple[Persona, ...]:
        """The panel of a name.

        Raises:
            CourtroomError: there is none.
            Unreadable: its row is damaged.
        """
        row = self._database.connection.execute("SELECT body FROM panels WHERE name = ?", (name,)).fetchone()
        if row is None:
            raise CourtroomError(f"There is no panel “{name}”. See all with `python -m courtroom panels`.")
        return read("panel", name, lambda: PANEL.validate_json(row["body"]))

    @needs(Access.RUN)
    def rename(self, name: str, to: str) -> None:
        """Give a panel another name.

        Raises:
            CourtroomError: there is no such panel, or the other name is taken.
        """
        called = _name(to)
        with self._database.transaction() as db:
            self.load(name)
            if called == name:
                return
            if called in self.names():
                raise CourtroomError(f"There is a panel “{called}” already. Choose another name.")
            db.execute("UPDATE panels SET name = ? WHERE name = ?", (called, name))

    @needs(Access.RUN)
    def delete(self, name: str) -> tuple[Persona, ...]:
        """Forget a panel; what it was, to be saved again.

        Raises:
            CourtroomError: there is none.
        """
        with self._database.transaction() as db:
            panel = self.load(name)
            db.execute("DELETE FROM panels WHERE name = ?", (name,))
        return panel


def _name(name: str) -> str:
    called = " ".join(name.split())
    if not called or len(called) > LONGEST_NAME:
        raise CourtroomError(f"Give the panel a name of at most {LONGEST_NAME} characters.")
    return called
