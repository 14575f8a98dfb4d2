"""All that is kept beside a run, as it goes into exports and reports."""

import secrets
from dataclasses import dataclass

from pydantic import Field

from courtroom.questions.asides import Aside, AsideStore
from courtroom.questions.audience import LONGEST, MOST_PHONES, AudienceStore
from courtroom.questions.marks import Mark, MarkStore
from courtroom.store.database import Database
from courtroom.strict import Strict

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
