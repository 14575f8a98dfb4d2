"""What the runs of each person may cost in a month, all of them together, in whichever process they are driven."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field

from courtroom.accounts.store import AccountStore
from courtroom.engine.errors import BudgetReached
from courtroom.engine.payments import Payment
from courtroom.engine.setup import Budget
from courtroom.engine.spent import Need, Reserved, Spent
from courtroom.store.database import Database

FRESH_S = 5.0
"""For so long what was read of the month counts; what is paid in this process is counted at once."""


@dataclass
class Purse:
    """A person's money for this month: reserved and settled as a run's is, see `Spent`."""

    limit: float
    """US dollars."""
    spent: Spent = field(default_factory=Spent)

    def reserve(self, need: Need) -> Reserved | asyncio.Event:
        """Room for one more call, or what to wait for before asking again.

        Raises:
            BudgetReached: there is none in this month.
        """
        budget = Budget.model_construct(money=self.limit)
        try:
            return self.spent.reserve(need, budget)
        except BudgetReached as reached:
            raise BudgetReached(
                f"This person's runs may cost US$ {self.limit:,.2f} a month, and US$ {self.spent.money:,.2f} are spent. "
                "Ask an owner of this server for more, or go on next month; nothing is lost."
            ) from reached

    def settle(self, held: Reserved, paid: Payment | None) -> None:
        """Give a reservation back; what the call took is used up."""
        self.spent.settle(held, paid)


class Purses:
    """The purses of all whose runs are driven in this process."""

    def __init__(self, database: Database) -> None:
        self._database, self._accounts = database, AccountStore(database)
        self._known: dict[str, tuple[float, Purse | None, Spent]] = {}

    async def of(self, account: str) -> Purse | None:
        """The purse of an account; None where its money has no limit."""
        known = self._known.get(account)
        if known is None or time.monotonic() - known[0] > FRESH_S:
            limit, money = await asyncio.to_thread(self._read, account)
            spent = self._known[account][2] if account in self._known else Spent()
            spent.money = money
            known = (time.monotonic(), None if limit is None else Purse(limit, spent), spent)
            self._known[account] = known
        return known[1]

    def payer(self, run: str) -> str:
        """The account of whose a run is; empty where it is nobody's."""
        row = self._database.connection.execute(
            "SELECT account FROM ownership WHERE kind = 'run' AND id = ?", (run,)
        ).fetchone()
        return str(row["account"]) if row else ""

    def _read(self, account: str) -> tuple[float | None, float]:
        limit = self._accounts.budget(account)
        return limit, 0.0 if limit is None else self._accounts.spent(account)
