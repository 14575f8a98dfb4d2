"""The answer store: what was asked and what came back, found again by content."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from courtroom.engine.payments import Payer, Payment, Payments
from courtroom.errors import Unreadable
from courtroom.media.medium import Medium
from courtroom.models.request import Message, Reply, Request, digest_text
from courtroom.store.database import Database
from courtroom.store.rows import read


@dataclass(frozen=True)
class Arrived:
    """A call that came to its end, and who pays for it."""

    request: Request
    payer: Payer
    reply: Reply | None
    """None where the call failed."""
    paid: Payment


class AnswerStore:
    """Answers by key. Text parts are kept once, however many prompts share them."""

    def __init__(self, database: Database) -> None:
        self._database, self._payments = database, Payments(database)

    def reply(self, key: str) -> Reply | None:
        """The answer on record under this key."""
        row = self._database.connection.execute("SELECT reply FROM answers WHERE key = ?", (key,)).fetchone()
        return read("answer", key, lambda: Reply.model_validate_json(row["reply"])) if row else None

    def keep(self, arrived: Iterable[Arrived]) -> None:
        """Put answers and their payments on disk, all or none; once that is committed, a killed process has lost neither."""
        texts: dict[str, str] = {}
        rows = []
        ended = tuple(arrived)
        for request, reply in ((one.request, one.reply) for one in ended if one.reply is not None):
            parts = (part for message in request.messages for part in message.parts if isinstance(part, str))
            texts.update({digest_text(part): part for part in parts})
            rows.append((request.key, request.spec.id, _packed(request), reply.model_dump_json(), time.time()))
        with self._database.transaction() as db:
            db.executemany("INSERT OR IGNORE INTO parts VALUES (?, ?)", texts.items())
            db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", rows)
            self._payments.put((one.payer, one.request.key, one.paid) for one in ended)

    def request(self, key: str) -> tuple[Message, ...]:
        """The messages that were sent for an answer on record; empty where there is none."""
        row = self._database.connection.execute("SELECT request FROM answers WHERE key = ?", (key,)).fetchone()
        return read("answer", key, lambda: unpack(json.loads(row["request"])["messages"], self.text)) if row else ()

    def entry(self, key: str) -> tuple[dict[str, Any], Reply] | None:
        """What was sent, text parts by their digests, and what came back."""
        row = self._database.connection.execute("SELECT request, reply FROM answers WHERE key = ?", (key,)).fetchone()
        return (
            read("answer", key, lambda: (json.loads(row["request"]), Reply.model_validate_json(row["reply"])))
            if row
            else None
        )

    def text(self, digest: str) -> str:
        """A text part by its digest."""
        row = self._database.connection.execute("SELECT text FROM parts WHERE hash = ?", (digest,)).fetchone()
        if row is None:
            raise Unreadable("part of a prompt", digest, "it is missing from the store")
        return str(row["text"])


def _packed(request: Request) -> str:
    messages = [
        [m.role, [digest_text(p) if isinstance(p, str) else p.model_dump() for p in m.parts]] for m in request.messages
    ]
    return json.dumps(
        {"model": request.spec.id, "sampling": request.spec.sampling(), "tag": request.tag, "messages": messages},
        ensure_ascii=False,
    )


def unpack(
    messages: list[tuple[str, list[str | dict[str, object]]]], text: Callable[[str], str]
) -> tuple[Message, ...]:
    """Messages from their stored form; `text` gives a part by its digest."""
    return tuple(
        Message(role, tuple(text(p) if isinstance(p, str) else Medium.model_validate(p) for p in parts))  # type: ignore[arg-type]
        for role, parts in messages
    )
