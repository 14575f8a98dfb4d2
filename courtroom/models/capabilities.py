"""What models can do, as their cards say or as was found out."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from courtroom.models.card import card
from courtroom.models.connections import Connections
from courtroom.models.route import address
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from courtroom.store.database import Database
from courtroom.store.writer import Writer


class Capabilities:
    """Remembers on disk what was found out about a model, at the place where it is asked."""

    def __init__(self, database: Database, writer: Writer, connections: Connections | None = None) -> None:
        self._database, self._writer = database, writer
        self._connections = connections or Connections()
        self._known: dict[tuple[str, str], bool | None] = {}
        """What was found out; None where nothing is on record, which only `remember` changes while this process lives."""

    async def sees(self, spec: ModelSpec) -> bool:
        """Whether pictures may be sent: as set, as found out, as the model's card says, else they are tried once."""
        if spec.id in (OFFLINE, PERSON):
            return spec.id == PERSON
        if spec.vision != "auto":
            return spec.vision == "yes"
        found = await self.recall(spec, "vision")
        if found is not None:
            return found
        entry: dict[str, Any] | None = await asyncio.to_thread(card, spec.id)  # may import LiteLLM
        return True if entry is None else bool(entry.get("supports_vision"))

    async def address(self, spec: ModelSpec) -> str:
        """Where a model is asked, without any credentials; empty for its provider's own address."""
        return await address(spec, self._connections)

    async def remember(self, spec: ModelSpec, name: str, value: bool) -> None:
        """Keep what was found out."""
        model = await self._placed(spec)
        self._known[model, name] = value
        self._writer.put(partial(self._keep, model, name, value))

    def _keep(self, model: str, name: str, value: bool) -> None:
        self._database.connection.execute(
            "INSERT INTO capabilities VALUES (?, ?, ?) ON CONFLICT (model, name) DO UPDATE SET value = excluded.value",
            (model, name, value),
        )

    async def recall(self, spec: ModelSpec, name: str) -> bool | None:
        """What was found out; None where nothing was."""
        model = await self._placed(spec)
        if (model, name) not in self._known:
            row = self._database.connection.execute(
                "SELECT value FROM capabilities WHERE model = ? AND name = ?", (model, name)
            ).fetchone()
            self._known[model, name] = bool(row["value"]) if row else None
        return self._known[model, name]

    async def _placed(self, spec: ModelSpec) -> str:
        """The model's id, with its connection and address where it is not asked at its provider's own."""
        at = await self.address(spec)
        return f"{spec.id} at {spec.connection} {at}" if spec.connection or at else spec.id
