"""What is kept beside a run: audits, interviews, checks, marks and the audience, on disk and in exports."""

from __future__ import annotations

import secrets
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from courtroom.access import Resource
from courtroom.engine.budget import Payment, in_sum
from courtroom.engine.events import Called
from courtroom.questions.audience import LONGEST, MOST_PHONES, AudienceStore
from courtroom.questions.marks import Mark, MarkStore
from courtroom.sharing import listed, may_see
from courtroom.store.connection import read
from courtroom.store.database import Database, Tables, insert
from courtroom.strict import Strict, option

Condition = Literal["same", "votes", "reasons", "neither", "without"]
CONDITIONS: tuple[Condition, ...] = ("same", "votes", "reasons", "neither")
"""What a member is shown of its peers: the same as then, their votes alone, their reasons alone, nothing.
Beside these stands `without`: all but one of them."""

TITLES: Mapping[Condition, str] = {
    "same": "the same as then",
    "votes": "its peers' votes, no reasons",
    "reasons": "its peers' reasons, no votes",
    "neither": "nothing of its peers",
    "without": "all but one of its peers",
}


class Sample(Strict):
    """One answer of an audit."""

    kind: Literal["sample"] = "sample"
    audited: str = Field(description="Path of the call that is audited.")
    key: str
    """Of that call's answer: a call that was made anew after an intervention is another one under the same path."""
    condition: Condition
    without: str = option("", "The name of the peer that is left out.")
    number: int = Field(description="Of the samples under this condition, from 1; it is added to the run's seed.")
    choice: str | None
    called: Called


class Interview(Strict):
    """A question of a person to a member, and the answer."""

    kind: Literal["interview"] = "interview"
    member: str
    after: str = Field(description="Path of the call after which the member was asked: it knew what it knew then.")
    key: str = Field(description="Of that call's answer.")
    who: str
    question: str
    answer: str
    called: Called


class Check(Strict):
    """A model's answer on what a statement says that the case does not hold."""

    kind: Literal["check"] = "check"
    statement: str
    """By what the statement is known: a digest of its vote's path and of what was said."""
    called: Called


Aside = Annotated[Sample | Interview | Check, Field(discriminator="kind")]
ASIDE: TypeAdapter[Aside] = TypeAdapter(Aside)


class AsideStore(Tables):
    """Reads and writes what was asked beside runs, from any thread. A damaged row raises `Unreadable`."""

    def add(self, run: str, aside: Aside) -> None:
        """Keep one; when this returns, a killed process has not lost it."""
        self.take_in(run, [(time.time(), aside)])

    def take_in(self, run: str, asides: Iterable[tuple[float, Aside]]) -> None:
        """Keep several with their times."""
        rows = ({"run": run, "kind": one.kind, "at": at, "body": one.model_dump_json()} for at, one in asides)
        insert(self._database.connection, "asides", rows)

    def of(self, run: str) -> tuple[tuple[float, Aside], ...]:
        if not may_see(self._database, Resource(kind="run", id=run)):
            return ()
        rows = self._database.execute("SELECT at, body FROM asides WHERE run = ? ORDER BY seq", (run,))
        return tuple((row["at"], read_aside(run, row["body"])) for row in rows)

    def audited(self) -> frozenset[str]:
        fits, values = listed("run", "asides.run")
        rows = self._database.execute(f"SELECT DISTINCT run FROM asides WHERE kind = 'sample' AND {fits}", values)
        return frozenset(row["run"] for row in rows)

    def samples(self, run: str) -> tuple[Sample, ...]:
        return tuple(one for _, one in self.of(run) if isinstance(one, Sample))

    def interviews(self, run: str) -> tuple[tuple[float, Interview], ...]:
        return tuple((at, one) for at, one in self.of(run) if isinstance(one, Interview))


def read_aside(run: str, body: str) -> Aside:
    return read("answer beside run", run, lambda: ASIDE.validate_json(body))


class Cost(Strict):
    """What was really asked beside a run."""

    calls: int = 0
    tokens: int = 0
    money: float | None = Field(default=0.0, description="US dollars; None where a price is unknown.")
    estimated: bool = option(False)
    """Whether a provider did not count some of the tokens, so that they and the money are about so much."""

    @classmethod
    def sum_of(cls, costs: Iterable[Cost]) -> Cost:
        """Add up what was asked."""
        paid = in_sum(Payment(one.calls, prompt=one.tokens, cost=one.money, estimated=one.estimated) for one in costs)
        return cls(calls=paid.calls, tokens=paid.tokens, money=paid.cost, estimated=paid.estimated)


def cost(calls: Iterable[Called]) -> Cost:
    """What calls beside a run took; answers that were on record took nothing."""
    return Cost.sum_of(
        Cost(calls=one.asked, tokens=one.prompt_tokens + one.completion_tokens, money=one.cost, estimated=one.estimated)
        for one in calls
        if one.asked
    )


LAST = 32_503_680_000.0
"""The year 3000, in seconds since the epoch: no time in a file is later."""


class ExportedVote(Strict):
    """A vote with the number of the phone that gave it."""

    poll: str = Field(max_length=500)
    voter: int = Field(ge=1, le=MOST_PHONES)
    choice: str = Field(max_length=500)
    at: float = Field(ge=0, le=LAST)


class ExportedArgument(ExportedVote):
    """An argument, and the phones that voted for it."""

    text: str = Field(min_length=1, max_length=LONGEST)
    liked_by: tuple[int, ...] = Field(default=(), max_length=MOST_PHONES)


class ExportedAudience(Strict):
    made: float = Field(ge=0, le=LAST)
    closed: float | None = Field(default=None, ge=0, le=LAST)
    votes: tuple[ExportedVote, ...] = ()
    arguments: tuple[ExportedArgument, ...] = ()


def _phone(number: int) -> str:
    return f"imported-voter-{number:06d}"


@dataclass(frozen=True)
class KeptBeside:
    """What was asked, said and voted beside one run."""

    asides: tuple[tuple[float, Aside], ...] = ()
    """Answers of audits, interviews and checks, with their times."""
    marks: tuple[Mark, ...] = ()
    audience: ExportedAudience | None = None


class BesideStore(Tables):
    def __init__(self, database: Database) -> None:
        super().__init__(database)
        self.asides, self.marks, self.audiences = AsideStore(database), MarkStore(database), AudienceStore(database)

    def of(self, run: str) -> KeptBeside:
        """Return all that is kept beside a run; of its audience, each phone as a number."""
        kept, audiences = KeptBeside(self.asides.of(run), self.marks.of(run)), self.audiences
        if (audience := audiences.of(run)) is None:
            return kept
        numbers, told = defaultdict[str, int](count(1).__next__), {"poll", "choice", "at", "text"}
        votes = [ExportedVote(voter=numbers[one.phone], **one.model_dump(include=told)) for one in audiences.votes(run)]
        liked_by = defaultdict[int, tuple[int, ...]](tuple)
        for like in audiences.likes(run):
            liked_by[like.argument] += (numbers[like.phone],)
        arguments = [
            ExportedArgument(voter=numbers[one.phone], liked_by=liked_by[one.number], **one.model_dump(include=told))
            for one in audiences.arguments(run)
        ]
        heard = ExportedAudience(
            made=audience.made, closed=audience.closed, votes=tuple(votes), arguments=tuple(arguments)
        )
        return replace(kept, audience=heard)

    def take_in(self, run: str, beside: KeptBeside) -> None:
        """Keep what a file holds of it, within a transaction of the caller's."""
        self.asides.take_in(run, beside.asides)
        self.marks.take_in(run, beside.marks)
        if (audience := beside.audience) is None:
            return
        db, token = self._database.connection, secrets.token_urlsafe(18)  # it has a link of its own here
        insert(db, "audiences", [{"run": run, "token": token, "made": audience.made, "closed": audience.closed}])
        votes = ({"phone": _phone(one.voter), **one.model_dump(exclude={"voter"})} for one in audience.votes)
        insert(db, "audience_votes", ({"run": run, **vote} for vote in votes))
        for one in audience.arguments:
            number = db.execute(
                "INSERT INTO audience_arguments (run, poll, phone, choice, text, at)"
                " VALUES (?, ?, ?, ?, ?, ?) RETURNING number",
                (run, one.poll, _phone(one.voter), one.choice, one.text, one.at),
            ).fetchone()["number"]
            likes = [{"argument": number, "run": run, "phone": _phone(voter), "at": one.at} for voter in one.liked_by]
            insert(db, "audience_likes", likes)
