"""Answers: found on record by what was asked, from a call under way, or from the model; kept before they are given."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from courtroom.engine.budget import Payer, Payment, Payments, in_sum
from courtroom.engine.run import Run
from courtroom.engine.services import Permit
from courtroom.errors import Unreadable
from courtroom.media.medium import Medium
from courtroom.models.request import Message, Model, ModelError, Reply, Request, Watch, digest_text
from courtroom.models.spec import OFFLINE, SCRIPT
from courtroom.store.connection import OUTAGES, StoredRow, StoreLock, passing, read
from courtroom.store.database import Database, insert
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)


class AnswerStore:
    """Answers by key. Text parts are kept once, however many prompts share them. `imported`: the imported run whose own
    answers are read; empty: all answers that were given here."""

    def __init__(self, database: Database, imported: str = "") -> None:
        self._database, self._payments = database, Payments(database)
        self._imported = imported

    def of(self, run: Run) -> AnswerStore:
        """Return the answers that a run shows: those of an unverified import are its own, and are served to no other."""
        return AnswerStore(self._database, run.id) if run.is_unverified else self

    def take_in(self, run: Run, entries: Mapping[str, tuple[dict[str, Any], Reply]], parts: Mapping[str, str]) -> None:
        """Keep the answers of an imported run, within a transaction of the caller's. `parts`: texts of prompts by their
        digests, which are right."""
        db = self._database.connection
        insert(db, "parts", ({"hash": digest, "text": text} for digest, text in parts.items()), or_keep=True)
        rows = [
            {"key": key, "request": json.dumps(request, ensure_ascii=False), "reply": reply.model_dump_json()}
            | ({"model": request["model"], "at": run.created} if run.is_recording else {"run": run.id})
            for key, (request, reply) in entries.items()
        ]
        insert(db, "answers" if run.is_recording else "imported_answers", rows, or_keep=run.is_recording)

    def lock(self, key: str) -> StoreLock | None:
        """The lock of whoever asks a question; None where no other machine could ask it at the same moment."""
        return self._database.lock(f"answer {key}") if self._database.is_shared else None

    def reply(self, key: str) -> Reply | None:
        row = self._row("reply", key)
        return read("answer", key, lambda: Reply.model_validate_json(row["reply"])) if row else None

    def used(self, keys: Iterable[str]) -> Payment:
        """Return what these answers used up when they were given, each once: what a run would have paid by itself."""
        return in_sum(Payment.of(reply) for key in sorted(set(keys)) if (reply := self.reply(key)) is not None)

    def keep(self, request: Request, payer: Payer, reply: Reply | None, paid: Payment) -> None:
        """Put an answer and its payment on disk, both or none: a process that is killed then has lost neither. `reply`:
        None where the call failed."""
        with self._database.transaction() as db:
            if reply is not None:
                parts = (part for message in request.messages for part in message.parts if isinstance(part, str))
                texts = {digest_text(part): part for part in parts}
                insert(db, "parts", ({"hash": key, "text": text} for key, text in texts.items()), or_keep=True)
                sent = {"model": request.spec.id, "sampling": request.spec.sampling(), "tag": request.tag}
                messages = [message.packed(digest_text) for message in request.messages]
                packed = json.dumps(sent | {"messages": messages}, ensure_ascii=False)
                row = {"key": request.key, "model": request.spec.id, "request": packed, "at": time.time()}
                insert(db, "answers", [row | {"reply": reply.model_dump_json()}], or_keep=True)
            self._payments.put([(payer, request.key, paid)])

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
        table = "imported_answers WHERE run = :run AND" if self._imported else "answers WHERE"
        sql = f"SELECT {columns} FROM {table} key = :key"
        found: StoredRow | None = self._database.row(sql, {"run": self._imported, "key": key})
        return found


def read_answer(row: Mapping[str, Any] | StoredRow) -> tuple[dict[str, Any], Reply]:
    """What was sent, text parts by their digests, and what came back."""
    return json.loads(row["request"]), Reply.model_validate_json(row["reply"])


def unpack(
    messages: list[tuple[Any, list[str | dict[str, object]]]], text: Callable[[str], str]
) -> tuple[Message, ...]:
    """Messages from their stored form; `text` gives a part by its digest."""
    return tuple(
        Message(role, tuple(text(p) if isinstance(p, str) else Medium.model_validate(p) for p in parts))
        for role, parts in messages
    )


AGAIN_S = 0.1
"""Seconds between two tries to take the lock of a question that another process asks."""


class Asker:
    """Asks each question once, however many runs want to know, and keeps the answer before giving it.

    Where several processes share a store, whoever asks a question has its lock; the others wait for the answer.
    """

    def __init__(self, answers: AnswerStore, model: Model, writer: Writer) -> None:
        self._answers, self._model, self._writer = answers, model, writer
        self._under_way: dict[str, asyncio.Task[tuple[Reply, bool]]] = {}
        self._not_ours: set[str] = set()
        """Questions under way whose answers a person, another process or a batch on record has yet to give."""

    def knows(self, key: str) -> bool:
        return self._answers.reply(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """See `AnswerSource`. A caller that is cancelled leaves its call to finish: it is billed."""
        while True:
            if (reply := self._answers.reply(request.key)) is not None:
                return reply, False
            call = self._under_way.get(request.key)
            if call is not None:
                return (await asyncio.shield(call))[0], False
            if await permit():
                break
        call = asyncio.create_task(self._ask(request, payer, watch, by or self._model))
        self._under_way[request.key] = call
        if by is not None or request.by_batch:
            self._not_ours.add(request.key)
        call.add_done_callback(lambda done: self._done(request.key, done))
        return await asyncio.shield(call)

    async def finish(self) -> None:
        """Wait until all answers under way are on disk. Nobody waits for a person, another process or a batch."""
        for key in self._not_ours & self._under_way.keys():
            self._under_way[key].cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _ask(self, request: Request, payer: Payer, watch: Watch | None, model: Model) -> tuple[Reply, bool]:
        is_ours = request.spec.id not in (OFFLINE, SCRIPT) and model is self._model
        lock = self._answers.lock(request.key) if is_ours else None
        if lock:
            self._not_ours.add(request.key)
            while not await asyncio.to_thread(self._take, lock):  # noqa: ASYNC110  another process can't notify
                await asyncio.sleep(AGAIN_S)
            if not request.by_batch:
                self._not_ours.discard(request.key)
        try:
            if lock and (there := self._answers.reply(request.key)) is not None:
                return there, False
            try:
                reply = await model.answer(request, watch)
            except ModelError as failure:
                await self._writer.do(partial(self._answers.keep, request, payer, None, Payment.of(failure.paid)))
                raise
            # Where the disk takes none, it is held in memory until it does; see `Writer`.
            await self._writer.do(partial(self._answers.keep, request, payer, reply, Payment.of(reply)))
            return reply, True
        finally:
            if lock:
                await asyncio.to_thread(lock.release)

    def _take(self, lock: StoreLock) -> bool:
        try:
            return lock.take()
        except OUTAGES as error:
            if not passing(error):
                raise
            log.warning("the lock of a question could not be taken, which is tried again: %s", error)
            return False

    def _done(self, key: str, call: asyncio.Task[tuple[Reply, bool]]) -> None:
        self._under_way.pop(key, None)
        self._not_ours.discard(key)
        if not call.cancelled():
            call.exception()  # seen here, so that a call nobody waits for any more is not reported as lost
