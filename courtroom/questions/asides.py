"""What is kept beside a run, on disk: the answers of audits and interviews; and all of it, with marks and the audience, as it goes into
exports and reports. Nothing of the run itself is in it."""

import secrets
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from courtroom.access import Access, Resource, needs
from courtroom.engine.events import Called
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Budget, Setup
from courtroom.questions.audience import LONGEST, MOST_PHONES, AudienceStore
from courtroom.questions.marks import Mark, MarkStore
from courtroom.sharing import changing, listed, may_see
from courtroom.store.connection import read
from courtroom.store.database import Database
from courtroom.strict import Strict

Condition = Literal["same", "votes", "reasons", "neither"]
CONDITIONS: tuple[Condition, ...] = ("same", "votes", "reasons", "neither")
"""What a member is shown of its peers: what it was shown then, their votes alone, their reasons alone, nothing of them."""

TITLES: Mapping[Condition, str] = {
    "same": "the same as then",
    "votes": "its peers' votes, no reasons",
    "reasons": "its peers' reasons, no votes",
    "neither": "nothing of its peers",
}


class Sample(Strict):
    """One answer of an audit."""

    kind: Literal["sample"] = "sample"
    audited: str
    """Path of the call that is audited."""
    key: str
    """Of that call's answer: a call that was made anew after an intervention is another one under the same path."""
    condition: Condition
    number: int
    """Of the samples under this condition, from 1; it is added to the run's seed."""
    choice: str | None
    called: Called


class Interview(Strict):
    """A question of a person to a member, and the answer."""

    kind: Literal["interview"] = "interview"
    member: str
    after: str
    """Path of the call after which the member was asked: it knew what it knew then."""
    key: str
    """Of that call's answer."""
    who: str
    question: str
    answer: str
    called: Called


Aside = Annotated[Sample | Interview, Field(discriminator="kind")]
ASIDE: TypeAdapter[Aside] = TypeAdapter(Aside)


class AsideStore:
    """Reads and writes what was asked beside runs. Methods may be called from any thread. A damaged row raises `Unreadable`."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @needs(Access.RUN)
    def changing(self, run: str, what: str) -> None:
        """The person who acts is about to ask something beside a run, which costs."""
        changing(self._database, "ask", Resource(kind="run", id=run), what)

    def add(self, run: str, aside: Aside) -> None:
        """Keep one; when this returns, a killed process has not lost it."""
        self._database.execute(
            "INSERT INTO asides (run, kind, at, body) VALUES (?, ?, ?, ?)",
            (run, aside.kind, time.time(), aside.model_dump_json()),
        )

    def take_in(self, run: str, asides: Iterable[tuple[float, Aside]]) -> None:
        """Keep those of an imported run with their times, within a transaction of the caller's."""
        self._database.connection.executemany(
            "INSERT INTO asides (run, kind, at, body) VALUES (?, ?, ?, ?)",
            [(run, one.kind, at, one.model_dump_json()) for at, one in asides],
        )

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
    money: float | None = 0.0
    """US dollars; None where a price is unknown."""


def cost(calls: Iterable[Called]) -> Cost:
    """What calls beside a run took; answers that were on record took nothing."""
    asked = [call for call in calls if call.asked]
    costs = [call.cost for call in asked]
    return Cost(
        calls=sum(call.asked for call in asked),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in asked),
        money=None if None in costs else sum(one for one in costs if one is not None),
    )


def budget(procedure: Procedure, record: Record) -> Budget:
    """The run's budget as it is now: a person may have raised it."""
    at = procedure.input(record.case, record.setup, record.run.seed, record.interventions)
    setup: Setup = at.at(len(record.stages)).setup
    return setup.budget


def failures(asides: Iterable[Aside]) -> Counter[str]:
    """How often each question, by its path, had no answer."""
    return Counter(one.called.path for one in asides if one.called.value is None)


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
    """All of one audience."""

    made: float = Field(ge=0, le=LAST)
    closed: float | None = Field(default=None, ge=0, le=LAST)
    votes: tuple[ExportedVote, ...] = ()
    arguments: tuple[ExportedArgument, ...] = ()


def exported(audiences: AudienceStore, run: str) -> ExportedAudience | None:
    audience = audiences.of(run)
    if audience is None:
        return None
    votes, likes, arguments = audiences.votes(run), audiences.likes(run), audiences.arguments(run)
    phones = [vote.phone for vote in votes] + [one.argument.phone for one in arguments] + [like.phone for like in likes]
    numbers = {phone: number for number, phone in enumerate(dict.fromkeys(phones), start=1)}
    return ExportedAudience(
        made=audience.made,
        closed=audience.closed,
        votes=tuple(
            ExportedVote(poll=vote.poll, voter=numbers[vote.phone], choice=vote.choice, at=vote.at) for vote in votes
        ),
        arguments=tuple(
            ExportedArgument(
                poll=one.argument.poll,
                voter=numbers[one.argument.phone],
                choice=one.argument.choice,
                at=one.argument.at,
                text=one.argument.text,
                liked_by=tuple(numbers[like.phone] for like in likes if like.argument == one.argument.number),
            )
            for one in arguments
        ),
    )


def take_in(database: Database, run: str, audience: ExportedAudience) -> None:
    """Keep what a file says of an audience, within a transaction of the caller's; it has a link of its own here."""
    db = database.connection
    db.execute(
        "INSERT INTO audiences (run, token, made, closed) VALUES (?, ?, ?, ?)",
        (run, secrets.token_urlsafe(18), audience.made, audience.closed),
    )
    db.executemany(
        "INSERT INTO audience_votes (run, poll, phone, choice, at) VALUES (?, ?, ?, ?, ?)",
        [(run, vote.poll, _phone(vote.voter), vote.choice, vote.at) for vote in audience.votes],
    )
    for one in audience.arguments:
        number = db.execute(
            "INSERT INTO audience_arguments (run, poll, phone, choice, text, at) VALUES (?, ?, ?, ?, ?, ?) RETURNING number",
            (run, one.poll, _phone(one.voter), one.choice, one.text, one.at),
        ).fetchone()["number"]
        db.executemany(
            "INSERT INTO audience_likes (argument, run, phone, at) VALUES (?, ?, ?, ?)",
            [(number, run, _phone(voter), one.at) for voter in one.liked_by],
        )


def _phone(number: int) -> str:
    return f"imported-voter-{number:06d}"


@dataclass(frozen=True)
class KeptBeside:
    """What was asked, said and voted beside one run."""

    asides: tuple[tuple[float, Aside], ...] = ()
    """Answers of audits and interviews, with their times."""
    marks: tuple[Mark, ...] = ()
    audience: ExportedAudience | None = None


class BesideStore:
    """Reads what is kept beside runs."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._asides, self._marks, self._audiences = AsideStore(database), MarkStore(database), AudienceStore(database)

    def of(self, run: str) -> KeptBeside:
        return KeptBeside(self._asides.of(run), self._marks.of(run), exported(self._audiences, run))

    def take_in(self, run: str, beside: KeptBeside) -> None:
        """Keep what a file holds of it, within a transaction of the caller's."""
        self._asides.take_in(run, beside.asides)
        self._marks.take_in(run, beside.marks)
        if beside.audience:
            take_in(self._database, run, beside.audience)
