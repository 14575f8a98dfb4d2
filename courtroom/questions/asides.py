"""What was asked beside a run, on disk: the answers of audits and interviews. Nothing of the run itself is in it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from courtroom.access.account import Access, Resource
from courtroom.access.acting import needs
from courtroom.engine.events import Called
from courtroom.sharing.actions import changing
from courtroom.sharing.rules import listed, may_see
from courtroom.store.database import Database
from courtroom.store.rows import read
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
"""What a page calls them."""


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
    """What it votes for; None where there is no answer."""
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
    """Who asked."""
    question: str
    answer: str
    called: Called


Aside = Annotated[Sample | Interview, Field(discriminator="kind")]
ASIDE: TypeAdapter[Aside] = TypeAdapter(Aside)


class AsideStore:
    """Reads and writes what was asked beside runs. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @needs(Access.RUN)
    def changing(self, run: str, what: str) -> None:
        """The person who acts is about to ask something beside a run, which costs.

        Raises:
            Forbidden: the run is somebody else's.
        """
        changing(self._database, "ask", Resource(kind="run", id=run), what)

    def add(self, run: str, aside: Aside) -> None:
        """Keep one; when this returns, a killed process has not lost it."""
        self._database.connection.execute(
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
        """All of a run with their times, in order.

        Raises:
            Unreadable: a row is damaged.
        """
        if not may_see(self._database, Resource(kind="run", id=run)):
            return ()
        rows = self._database.connection.execute("SELECT at, body FROM asides WHERE run = ? ORDER BY seq", (run,))
        return tuple((row["at"], read_aside(run, row["body"])) for row in rows)

    def audited(self) -> frozenset[str]:
        """The runs in which something was audited."""
        fits, values = listed("run", "asides.run")
        rows = self._database.connection.execute(
            f"SELECT DISTINCT run FROM asides WHERE kind = 'sample' AND {fits}", values
        )
        return frozenset(row["run"] for row in rows)

    def samples(self, run: str) -> tuple[Sample, ...]:
        """The answers of a run's audits."""
        return tuple(one for _, one in self.of(run) if isinstance(one, Sample))

    def interviews(self, run: str) -> tuple[tuple[float, Interview], ...]:
        """A run's interviews with their times."""
        return tuple((at, one) for at, one in self.of(run) if isinstance(one, Interview))


def read_aside(run: str, body: str) -> Aside:
    """One from its row.

    Raises:
        Unreadable: the row is damaged.
    """
    return read("answer beside run", run, lambda: ASIDE.validate_json(body))
