"""What was asked beside a run, on disk: the answers of audits and interviews. Nothing of the run itself is in it."""

import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from courtroom.access import Access, Resource, needs
from courtroom.engine.events import Called
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Budget, Setup
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
