"""The answer store: what was asked and what came back, found again by content."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.engine.budget import Payer, Payment, Payments
from courtroom.engine.run import Run
from courtroom.errors import Unreadable
from courtroom.media.medium import Medium
from courtroom.models.request import Message, Reply, Request, digest_text
from courtroom.store.connection import StoredRow, read
from courtroom.store.database import Database


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

    def of(self, run: Run) -> AnswerStore:
        """The answers that a run shows: those of an imported run are its own, and are served to no other; what came
        with Courtroom is trusted."""
        return ImportedAnswers(self._database, run.id) if run.is_unverified else self

    def take_in(self, run: Run, entries: Mapping[str, tuple[dict[str, Any], Reply]], parts: Mapping[str, str]) -> None:
        """Keep the answers of an imported run, within a transaction of the caller's. `parts`: texts of prompts by their digests, which are right."""
        db = self._database.connection
        db.executemany("INSERT INTO parts VALUES (?, ?) ON CONFLICT DO NOTHING", parts.items())
        rows = [
            (key, json.dumps(request, ensure_ascii=False), reply.model_dump_json(), request["model"])
            for key, (request, reply) in entries.items()
        ]
        if run.is_recording:
            db.executemany(
                "INSERT INTO answers (key, request, reply, model, at) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                [(*row, run.created) for row in rows],
            )
        else:
            db.executemany(
                "INSERT INTO imported_answers (run, key, request, reply) VALUES (?, ?, ?, ?)",
                [(run.id, *row[:3]) for row in rows],
            )

    @property
    def shared(self) -> bool:
        """Whether processes of several machines may use this store."""
        return self._database.claims is not None

    def claim(self, keys: Sequence[str]) -> list[bool]:
        """Claim questions for this process until they are released or it ends; whether each is this one's."""
        return self._database.claims.take([f"answer/{key}" for key in keys]) if self._database.claims else []

    def release(self, keys: Sequence[str]) -> list[None]:
        if self._database.claims:
            self._database.claims.release([f"answer/{key}" for key in keys])
        return [None] * len(keys)

    def reply(self, key: str) -> Reply | None:
        row = self._row("reply", key)
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
            db.executemany("INSERT INTO parts VALUES (?, ?) ON CONFLICT DO NOTHING", texts.items())
            db.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", rows)
            self._payments.put((one.payer, one.request.key, one.paid) for one in ended)

    def request(self, key: str) -> tuple[Message, ...]:
        """The messages that were sent for an answer on record; empty where there is none."""
        row = self._row("request", key)
        return read("answer", key, lambda: unpack(json.loads(row["request"])["messages"], self.text)) if row else ()

    def entry(self, key: str) -> tuple[dict[str, Any], Reply] | None:
        """What was sent, text parts by their digests, and what came back."""
        row = self._row("request, reply", key)
        return read("answer", key, lambda: read_answer(row)) if row else None

    def text(self, digest: str) -> str:
        row = self._database.row("SELECT text FROM parts WHERE hash = ?", (digest,))
        if row is None:
            raise Unreadable("part of a prompt", digest, "it is missing from the store")
        return str(row["text"])

    def _row(self, columns: str, key: str) -> StoredRow | None:
        found: StoredRow | None = self._database.row(f"SELECT {columns} FROM answers WHERE key = ?", (key,))
        return found


class ImportedAnswers(AnswerStore):
    """The answers that came with one imported run, to be read."""

    def __init__(self, database: Database, run: str) -> None:
        super().__init__(database)
        self._run = run

    def _row(self, columns: str, key: str) -> StoredRow | None:
        found: StoredRow | None = self._database.row(
            f"SELECT {columns} FROM imported_answers WHERE run = ? AND key = ?", (self._run, key)
        )
        return found


def read_answer(row: Mapping[str, Any] | StoredRow) -> tuple[dict[str, Any], Reply]:
    """What was sent, text parts by their digests, and what came back."""
    return json.loads(row["request"]), Reply.model_validate_json(row["reply"])


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
