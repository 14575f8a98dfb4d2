"""What models can do, as their cards say or as was found out."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from courtroom.access import Access, needs
from courtroom.errors import CourtroomError
from courtroom.models.card import card, load
from courtroom.models.local import model_files
from courtroom.models.offers import served_context
from courtroom.models.route import Connections, address, route
from courtroom.models.spec import LOCAL, NO_SERVER, PERSON, ModelSpec
from courtroom.store.database import Database, insert
from courtroom.store.writer import Writer

VISION = "vision"
"""The name under which it is kept whether a model takes pictures."""
SCHEMA = "schema"
"""Whether it takes a JSON schema for its answer."""
SYSTEM = "system"
"""Whether it takes a system message."""
MAX_TOKENS = "max_tokens"
"""Whether the longest answer goes by this name; else it is `max_completion_tokens`."""
IMAGES = "images"
"""How many pictures one question may have."""
CONTEXT = "context"
"""How many tokens its prompt and its answer may have together."""

ANSWER = "answer"
"""How many tokens an answer may have at most."""


class Findings(dict[str, int]):
    """What was found out about a model at the place where it is asked; all calls to it in this process share it."""

    def __init__(self, values: dict[str, int], keep: Callable[[str, int], None], address: str = "") -> None:
        super().__init__(values)
        self._keep = keep
        self.address = address
        """Where it is asked, without any credentials; empty for its provider's own address."""
        self.first_picture = asyncio.Lock()
        """Held while a picture is sent to a model of which nobody knows whether it can see."""
        self.tried_picture = VISION in values
        self.first_context = asyncio.Lock()
        """Held while it is looked up how much a model holds."""
        self.tried_context = CONTEXT in values
        self.tokens_an_estimate = 1.0
        """How many tokens the server counts where we estimate one."""
        self.streams = True
        """Whether answers may be asked for as streams."""
        self.broken_streams = 0
        """How many broke off in a row."""
        self.is_slow = False
        """Whether a whole answer did not come in time: then it is asked for as a stream, which can be heard."""

    @property
    def lacking(self) -> frozenset[str]:
        """All that the model was found not to take."""
        return frozenset(name for name, value in self.items() if not value)

    def remember(self, name: str, value: int) -> None:
        if self.get(name) != value:
            self[name] = value
            self._keep(name, value)


class Capabilities:
    """Remembers what was found out about models: on disk where a database is given, else until the process ends."""

    def __init__(
        self, database: Database | None = None, writer: Writer | None = None, connections: Connections | None = None
    ) -> None:
        self._database, self._writer = database, writer
        self.connections = Connections() if connections is None else connections
        self._findings: dict[str, Findings] = {}

    async def sees(self, spec: ModelSpec) -> bool:
        """Whether pictures may be sent: as set, as found out, as the model's card says, else they are tried once."""
        if spec.id in NO_SERVER:
            return spec.id == PERSON
        if spec.vision != "auto":
            return spec.vision == "yes"
        if spec.id.startswith(LOCAL):
            return False
        found = (await self.of(spec)).get(VISION)
        if found is not None:
            return bool(found)
        entry: dict[str, Any] | None = await asyncio.to_thread(card, spec.id)  # may import LiteLLM
        return True if entry is None else bool(entry.get("supports_vision"))

    def why_not_asked(self, spec: ModelSpec) -> str:
        """Return why a model can't be asked here; empty where it can. May import LiteLLM, which takes long."""
        if spec.id in NO_SERVER:
            return ""
        try:
            if spec.id.startswith(LOCAL) and not spec.connection:
                return "" if spec.id in model_files() else f"There is no file of {spec.id} on this machine."
            if not spec.connection:
                load()
            route(spec, self.connections)
        except CourtroomError as error:
            return str(error)
        return ""

    async def context(self, spec: ModelSpec) -> Findings:
        """What was found out about a model, with its context where anybody knows it.

        It is known from the model's file or card, or its server is asked for it, once for as long as the process lives.
        """
        findings = await self.of(spec)
        if not findings.tried_context:  # a lock that is free binds no loop: several ask for the same findings
            async with findings.first_context:
                if not findings.tried_context:
                    context = await asyncio.to_thread(self._context, spec)  # may import LiteLLM, and asks the server
                    if context:
                        findings.remember(CONTEXT, context)
                    findings.tried_context = True
        return findings

    def _context(self, spec: ModelSpec) -> int | None:
        if spec.id.startswith(LOCAL) and not spec.connection:
            file = model_files().get(spec.id)
            return file.slot if file else None
        try:
            way = route(spec, self.connections)
        except CourtroomError:
            return None  # the call says why it can't be asked
        if (context := served_context(way)) is not None:
            return context
        known = (card(spec.id) or {}).get("max_input_tokens")
        return known if isinstance(known, int) else None

    async def of(self, spec: ModelSpec) -> Findings:
        """Return what was found out about a model, at its connection and address where it has such."""
        at = await address(spec, self.connections)
        model = f"{spec.id} at {spec.connection} {at}" if spec.connection or at else spec.id
        if model not in self._findings:
            self._findings[model] = Findings(self.found().get(model, {}), partial(self._keep, model), at)
        return self._findings[model]

    def found(self) -> dict[str, dict[str, int]]:
        """Return all that was found out, by model and the place where it is asked, and by name."""
        kept: dict[str, dict[str, int]] = {}
        query = "SELECT model, name, value FROM capabilities ORDER BY model, name"
        for row in self._database.connection.execute(query) if self._database else ():
            kept.setdefault(row["model"], {})[row["name"]] = row["value"]
        return kept

    @needs(Access.RUN)
    def forget(self, model: str) -> int:
        """Forget what was found out of a model, wherever it is asked, and return how many findings there were; the next
        calls find it out again."""
        mine = [place for place in {*self.found(), *self._findings} if place.partition(" at ")[0] == model]
        for place in mine:
            self._findings.pop(place, None)
        if self._database is None:
            return 0
        with self._database.transaction() as db:
            return sum(db.execute("DELETE FROM capabilities WHERE model = ?", (place,)).rowcount for place in mine)

    def _keep(self, model: str, name: str, value: int) -> None:
        row = {"model": model, "name": name, "value": value}
        if (database := self._database) is not None and self._writer is not None:
            self._writer.put(lambda: insert(database.connection, "capabilities", [row], key=["model", "name"]))


def in_words(findings: Mapping[str, int]) -> str:
    """Return findings as a reader takes them in."""
    said = {
        VISION: ("no pictures", "pictures"),
        CONTEXT: ("", "{value:,} tokens"),
        IMAGES: ("", "at most {value} pictures"),
        ANSWER: ("", "answers of {value:,} tokens at most"),
    }
    words = (said.get(name, (f"no {name}", name))[bool(value)].format(value=value) for name, value in findings.items())
    return f"takes {', '.join(words)}"
