"""An audience: people on their phones who vote beside a run's members and send arguments."""

import re
import secrets
import time
from functools import partial

from pydantic import Field

from courtroom.access import Access, Resource, needs
from courtroom.errors import CourtroomError
from courtroom.sharing import changing, demand_change
from courtroom.store.connection import fitting, read
from courtroom.store.database import Tables, insert
from courtroom.strict import Strict

BEFORE = ""
"""The poll before the first ballot; each other poll has the path of the ballot beside which it stands."""
LONGEST = 280
MOST_PHONES = 2_000
"""Phones that take part in one audience: whoever makes up ids fills no disk."""
PHONE = re.compile(r"[A-Za-z0-9_-]{16,64}")
"""The id of one."""


class NoSuchAudience(CourtroomError):
    """A link that leads to no audience."""


class VoteRefused(CourtroomError):
    """A vote or an argument that is not taken; the message says why."""


class Audience(Strict):
    run: str
    token: str
    made: float
    closed: float | None = None
    shown: int | None = None
    """How many ballots phones may see; None: all that the run has so far."""


class AudienceVote(Strict):
    """What one phone has chosen in one poll."""

    run: str
    poll: str
    phone: str
    choice: str
    at: float


class AudienceArgument(AudienceVote):
    """What one phone has said in one poll."""

    number: int
    text: str = Field(min_length=1, max_length=LONGEST)


class Like(Strict):
    """One phone's vote for the argument of another."""

    argument: int
    run: str
    phone: str
    at: float


class Liked(AudienceArgument):
    """An argument with the number of phones that voted for it."""

    likes: int


class AudienceStore(Tables):
    """Reads and writes audiences. Methods may be called from any thread. A damaged row raises `Unreadable`."""

    @needs(Access.RUN)
    def open(self, run: str, shown: int | None = None) -> Audience:
        """The audience of a run, open; its link can't be guessed and stays the same."""
        changing(self._database, "invite", Resource(kind="run", id=run), "audience")
        self._database.execute(
            "INSERT INTO audiences (run, token, made, shown) VALUES (?, ?, ?, ?)"
            " ON CONFLICT (run) DO UPDATE SET closed = NULL",
            (run, secrets.token_urlsafe(18), time.time(), shown),
        )
        found = self.of(run)
        assert found is not None
        return found

    def of(self, run: str) -> Audience | None:
        return self._found("run", run)

    def at(self, token: str) -> Audience:
        if (found := self._found("token", token)) is None:
            raise NoSuchAudience("This link leads to no audience. Ask whoever leads the hearing for a new one.")
        return found

    def _found(self, column: str, value: str) -> Audience | None:
        row = self._database.row(f"SELECT * FROM audiences WHERE {column} = ?", (value,))
        return read("audience", row["run"], partial(fitting, Audience, row)) if row else None

    @needs(Access.RUN)
    def close(self, run: str) -> None:
        changing(self._database, "change", Resource(kind="run", id=run), "audience")
        self._database.execute("UPDATE audiences SET closed = ? WHERE run = ? AND closed IS NULL", (time.time(), run))

    @needs(Access.RUN)
    def show(self, run: str, shown: int | None) -> None:
        """Let phones see this many ballots; None: all that the run has so far."""
        demand_change(self._database, Resource(kind="run", id=run))
        self._database.execute("UPDATE audiences SET shown = ? WHERE run = ?", (shown, run))

    @needs(Access.RUN)
    def empty(self, run: str) -> None:
        with self._database.transaction() as db:
            changing(self._database, "delete", Resource(kind="run", id=run), "audience")
            for table in ("audience_likes", "audience_arguments", "audience_votes"):
                db.execute(f"DELETE FROM {table} WHERE run = ?", (run,))

    def vote(self, run: str, poll: str, phone: str, choice: str) -> None:
        """Keep a phone's vote in place of its earlier one in the same poll."""
        with self._database.transaction() as db:
            self._admit(run, phone, voting=True)
            own = {"run": run, "poll": poll, "phone": phone, "choice": choice, "at": time.time()}
            insert(db, "audience_votes", [own], key=["run", "poll", "phone"])

    def argue(self, run: str, poll: str, phone: str, text: str) -> None:
        """Keep a phone's argument in place of its earlier one in the same poll, which loses its votes."""
        said = " ".join(text.split())
        if not 0 < len(said) <= LONGEST:
            raise VoteRefused(f"An argument has 1 to {LONGEST} characters; this one has {len(said)}.")
        with self._database.transaction() as db:
            self._admit(run, phone)
            choice = self.choices(run, phone).get(poll)
            if choice is None:
                raise VoteRefused("Vote first: an argument speaks for what you voted for.")
            mine = {"run": run, "poll": poll, "phone": phone}
            earlier = "FROM audience_arguments WHERE run = :run AND poll = :poll AND phone = :phone"
            db.execute(f"DELETE FROM audience_likes WHERE argument IN (SELECT number {earlier})", mine)
            db.execute(f"DELETE {earlier}", mine)
            insert(db, "audience_arguments", [mine | {"choice": choice, "text": said, "at": time.time()}])

    def like(self, run: str, number: int, phone: str, on: bool) -> None:
        """Vote for the argument of another phone, or take that vote back."""
        with self._database.transaction() as db:
            self._admit(run, phone)
            row = self._database.row("SELECT phone FROM audience_arguments WHERE run = ? AND number = ?", (run, number))
            if row is None:
                raise VoteRefused("This argument is not there any more.")
            if row["phone"] == phone:
                raise VoteRefused("This is your own argument: others vote for it.")
            if on:
                own = {"argument": number, "run": run, "phone": phone, "at": time.time()}
                insert(db, "audience_likes", [own], or_keep=True)
            else:
                db.execute("DELETE FROM audience_likes WHERE argument = ? AND phone = ?", (number, phone))

    def _admit(self, run: str, phone: str, *, voting: bool = False) -> None:
        if not PHONE.fullmatch(phone):
            raise VoteRefused("This page has lost its place. Open the link again.")
        audience = self.of(run)
        if audience is None or audience.closed is not None:
            raise VoteRefused("The audience is closed.")
        if self.choices(run, phone):
            return
        if not voting:
            raise VoteRefused("Vote first; then you can say why, and vote for what others say.")
        if self.voters(run) >= MOST_PHONES:
            raise VoteRefused(f"There are {MOST_PHONES} people already.")

    def counts(self, run: str) -> dict[str, dict[str, int]]:
        sql = "SELECT poll, choice, count(*) AS votes FROM audience_votes WHERE run = ? GROUP BY poll, choice"
        rows = self._database.execute(sql, (run,))
        found: dict[str, dict[str, int]] = {}
        for row in rows:
            found.setdefault(row["poll"], {})[row["choice"]] = row["votes"]
        return found

    def voters(self, run: str) -> int:
        return int(self._database.row("SELECT count(DISTINCT phone) FROM audience_votes WHERE run = ?", (run,))[0])

    def choices(self, run: str, phone: str) -> dict[str, str]:
        rows = self._database.execute(
            "SELECT poll, choice FROM audience_votes WHERE run = ? AND phone = ?", (run, phone)
        )
        return {row["poll"]: row["choice"] for row in rows}

    def liked_by(self, run: str, phone: str) -> frozenset[int]:
        rows = self._database.execute("SELECT argument FROM audience_likes WHERE run = ? AND phone = ?", (run, phone))
        return frozenset(row["argument"] for row in rows)

    def arguments(self, run: str) -> tuple[Liked, ...]:
        """All arguments, those with most votes first, then the oldest."""
        rows = self._database.execute(
            "SELECT a.*, (SELECT count(*) FROM audience_likes AS l WHERE l.argument = a.number) AS likes"
            " FROM audience_arguments AS a WHERE run = ? ORDER BY likes DESC, number",
            (run,),
        )
        return tuple(read("argument of an audience", run, partial(fitting, Liked, row)) for row in rows)

    def votes(self, run: str) -> tuple[AudienceVote, ...]:
        rows = self._database.execute("SELECT * FROM audience_votes WHERE run = ? ORDER BY at, poll, phone", (run,))
        return tuple(read("vote of an audience", run, partial(fitting, AudienceVote, row)) for row in rows)

    def likes(self, run: str) -> tuple[Like, ...]:
        rows = self._database.execute("SELECT * FROM audience_likes WHERE run = ? ORDER BY at, argument, phone", (run,))
        return tuple(read("vote for an argument", run, partial(fitting, Like, row)) for row in rows)
