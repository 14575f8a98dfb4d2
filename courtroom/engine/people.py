"""Persons in seats: a question waits on disk until whoever holds the seat's link has answered, in any process."""

import asyncio
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from courtroom.access import Access, Resource, needs
from courtroom.declarations.setup import Member
from courtroom.errors import CourtroomError
from courtroom.models.request import LATE, ModelError, Reply, Request, Watch
from courtroom.models.schema import schema_of
from courtroom.models.spec import ABSTAIN
from courtroom.sharing import demand_change, note
from courtroom.store.connection import fitting, read, read_all
from courtroom.store.database import Database, insert
from courtroom.store.writer import Writer
from courtroom.strict import Strict

LOOK_S = 0.2


class NoSuchSeat(CourtroomError):
    """A link that leads to no seat."""


class Seat(Strict):
    """One member's place in one run, as its link opens it."""

    token: str
    run: str
    member: str


class SeatQuestion(Strict):
    """What a person is asked: just what this member would be given, and the form of the answer."""

    run: str
    path: str
    key: str
    member: str
    title: str
    messages: tuple[tuple[str, tuple[Any, ...]], ...]
    """Role and parts: texts, and media as objects."""
    answer_schema: dict[str, Any]
    asked: float
    deadline: float | None
    answer: str | None


class People:
    """Seats with their links, and the questions that wait for an answer.

    `rings` is called when a run begins to wait for a person.
    """

    def __init__(self, database: Database, writer: Writer, rings: Callable[[str], None] = lambda run: None) -> None:
        self._database, self.writer, self._rings = database, writer, rings

    # --- seats ----------------------------------------------------------------------------------------------

    @needs(Access.RUN)
    def seat(self, run: str, member: str) -> Seat:
        """The seat of a member; its link can't be guessed and stays the same."""
        db = self._database.connection
        demand_change(self._database, Resource(kind="run", id=run))
        made = {"token": secrets.token_urlsafe(24), "run": run, "member": member, "made": time.time()}
        if insert(db, "seats", [made], or_keep=True):
            note(self._database, "invite", Resource(kind="run", id=run), member)
        return fitting(Seat, db.execute("SELECT * FROM seats WHERE run = ? AND member = ?", (run, member)).fetchone())

    def open(self, token: str) -> Seat:
        row = self._database.row("SELECT * FROM seats WHERE token = ?", (token,))
        if row is None:
            raise NoSuchSeat("This link leads to no seat. Ask whoever leads the hearing for a new one.")
        return fitting(Seat, row)

    # --- questions ------------------------------------------------------------------------------------------

    def questions(self, seat: Seat) -> list[SeatQuestion]:
        sql = "SELECT * FROM questions WHERE run = ? AND member = ? ORDER BY asked"
        rows = self._database.execute(sql, (seat.run, seat.member))
        return read_all(rows, question)[0]

    def waiting(self, run: str) -> list[SeatQuestion]:
        rows = self._database.execute("SELECT * FROM questions WHERE run = ? AND answer IS NULL ORDER BY asked", (run,))
        return read_all(rows, question)[0]

    def answer(self, seat: Seat, question: SeatQuestion, answer: dict[str, Any]) -> bool:
        """Answer one of the seat's questions; False where it was answered before or its time is over."""
        now = time.time()
        cursor = self._database.execute(
            "UPDATE questions SET answer = ?, answered = ? WHERE run = ? AND member = ? AND path = ? AND key = ?"
            " AND answer IS NULL AND (deadline IS NULL OR deadline > ?)",
            (json.dumps(answer, ensure_ascii=False), now, seat.run, seat.member, question.path, question.key, now),
        )
        return cursor.rowcount == 1

    def ask(self, run: str, path: str, member: Member, request: Request) -> None:
        """Put a question on disk; one that waits already goes on waiting."""
        wait = request.spec.wait_s
        now = time.time()
        body = {
            "messages": [message.packed() for message in request.messages],
            "answer_schema": json.loads(schema_of(request.task.asked_form, room="free")),
        }
        where = {"run": run, "path": path, "key": request.key, "member": member.id, "title": request.task.title}
        deadline = now + wait if wait is not None else None
        row = {**where, "request": json.dumps(body, ensure_ascii=False), "asked": now, "deadline": deadline}
        if insert(self._database.connection, "questions", [row], or_keep=True) and len(self.waiting(run)) == 1:
            self._rings(run)

    def look(self, run: str, path: str, key: str) -> tuple[str | None, float | None]:
        """The answer, and until when it may come."""
        row = self._database.row(
            "SELECT answer, deadline FROM questions WHERE run = ? AND path = ? AND key = ?", (run, path, key)
        )
        if row is None:
            raise ModelError("The question was taken back.")
        return row["answer"], row["deadline"]

    def withdraw(self, run: str, path: str, key: str) -> None:
        sql = "DELETE FROM questions WHERE run = ? AND path = ? AND key = ? AND answer IS NULL"
        self._database.execute(sql, (run, path, key))


@dataclass(frozen=True)
class Person:
    """A model that is a person: answers when somebody has."""

    people: People
    run: str
    path: str
    member: Member

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        began = time.monotonic()
        await self.people.writer.do(partial(self.people.ask, self.run, self.path, self.member, request))
        withdraw = partial(self.people.withdraw, self.run, self.path, request.key)
        late: float | None = None
        try:
            while True:
                answer, deadline = self.people.look(self.run, self.path, request.key)
                if answer is not None:
                    return Reply(text=answer, cost=0.0, latency_s=round(time.monotonic() - began, 3))
                if late is None and deadline is not None:  # what is left of the time, by a clock that nobody sets
                    late = time.monotonic() + min(deadline - time.time(), request.spec.wait_s or 0.0)
                if late is not None and time.monotonic() > late:
                    if request.spec.otherwise != ABSTAIN:
                        await self.people.writer.do(withdraw)
                        return Reply(text="", cost=0.0, finish=LATE)  # on record, so that a replay is late too
                    raise ModelError(f"{self.member.name} did not answer in time.")
                await asyncio.sleep(LOOK_S)  # the answer may come from another process, by way of the disk
        except BaseException:
            self.people.writer.put(withdraw)
            raise


def question(row: Any) -> SeatQuestion:
    return read("question", row["path"], lambda: fitting(SeatQuestion, {**dict(row), **json.loads(row["request"])}))
