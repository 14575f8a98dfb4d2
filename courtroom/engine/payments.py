"""What each run was billed: one row for each call that came to an end, written together with the call's answer."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from courtroom.accounts import this_month
from courtroom.models.request import Reply
from courtroom.store.database import Database


@dataclass(frozen=True)
class Payer:
    """Who pays for a call: a run, and where in it the call is made."""

    run: str
    path: str
    beside: bool = False
    """Whether it is no call of the run itself, but was asked beside it: in an audit or an interview."""


@dataclass(frozen=True)
class Payment:
    """What calls have used up."""

    calls: int = 0
    """How many questions were asked anew, not found on record."""
    attempts: int = 0
    """Calls that a server saw for them, those that failed included."""
    prompt: int = 0
    completion: int = 0
    """Tokens."""
    cost: float | None = 0.0
    """US dollars; None where a price is unknown."""
    number: int = 0
    """Of the last row on record; 0 where it was read from none."""

    @classmethod
    def of(cls, reply: Reply | None) -> Payment:
        """One call by what its provider said; None where the provider said nothing."""
        if reply is None:
            return cls(calls=1)
        return cls(1, reply.attempts, reply.usage.prompt, reply.usage.completion, reply.cost)

    @property
    def tokens(self) -> int:
        """Prompt and answer together."""
        return self.prompt + self.completion


def in_sum(payments: Iterable[Payment]) -> Payment:
    every = tuple(payments)
    costs = [one.cost for one in every]
    return Payment(
        calls=sum(one.calls for one in every),
        attempts=sum(one.attempts for one in every),
        prompt=sum(one.prompt for one in every),
        completion=sum(one.completion for one in every),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        number=max((one.number for one in every), default=0),
    )


class Payments:
    """Payments on disk. They stay whatever becomes of the run's events. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def put(self, paid: Iterable[tuple[Payer, str, Payment]]) -> None:
        """Put payments on disk: who paid, under which answer's key, and what. They count in the month of whose the run is."""
        every = tuple(paid)
        self._keep(every)
        costs = defaultdict[str, float](float)
        for payer, _, one in every:
            costs[payer.run] += one.cost or 0.0
        self._database.connection.executemany(
            "INSERT INTO spending (account, month, money)"
            " SELECT account, ?, ? FROM ownership WHERE kind = 'run' AND id = ? AND account <> ''"
            " ON CONFLICT (account, month) DO UPDATE SET money = spending.money + excluded.money",
            [(this_month(), cost, run) for run, cost in costs.items() if cost],
        )

    def _keep(self, paid: Iterable[tuple[Payer, str, Payment]]) -> None:
        with self._database.transaction() as db:
            db.executemany(
                "INSERT INTO payments (run, path, beside, key, calls, attempts, prompt, completion, cost, at)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(payer.run, payer.path, payer.beside, key),
                        *(one.calls, one.attempts, one.prompt, one.completion, one.cost, now),
                    )
                    for now in (time.time(),)
                    for payer, key, one in paid
                ],
            )

    def take_in(self, run: str, paid: Mapping[str, Payment]) -> None:
        """Keep what an imported run had paid for, by path."""
        self._keep((Payer(run, path), "", one) for path, one in paid.items())

    def of(self, run: str, *, beside: bool = False) -> Mapping[str, Payment]:
        """What a run was billed, by path; or all that was asked beside it."""
        rows = self._database.execute(
            f"SELECT path, {_SUMS} FROM payments WHERE run = ? AND beside = ? GROUP BY path", (run, beside)
        )
        return {row["path"]: Payment(*tuple(row)[1:]) for row in rows}

    def found(self, payer: Payer, key: str) -> Payment | None:
        """What a run has paid at a path for the answer under a key; None where it has paid nothing."""
        row = self._database.row(
            f"SELECT {_SUMS} FROM payments WHERE run = ? AND path = ? AND key = ? AND beside = ?",
            (payer.run, payer.path, key, payer.beside),
        )
        return Payment(*tuple(row)) if row["calls"] else None

    def known_money(self, run: str, *, beside: bool = False) -> float:
        """US dollars of the calls whose price is known."""
        row = self._database.row(
            "SELECT coalesce(sum(cost), 0.0) AS money FROM payments WHERE run = ? AND beside = ?", (run, beside)
        )
        return float(row["money"])


_SUMS = (
    "sum(calls) AS calls, sum(attempts), sum(prompt), sum(completion),"
    " CASE WHEN count(cost) = count(*) THEN sum(cost) END, max(number)"
)
