"""Questions asked beside a run: their answers are kept and billed like any, and nothing of the run changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.engine.asked import Asked
from courtroom.engine.errors import BudgetReached
from courtroom.engine.events import Called
from courtroom.engine.exchange import Exchange
from courtroom.engine.payments import Payer, Payment, Payments, in_sum
from courtroom.engine.rehearsal import MemoryLedger
from courtroom.engine.services import Services
from courtroom.engine.spent import Spent

Keep = Callable[[Asked[Any], Called], Awaitable[None]]


@dataclass(frozen=True)
class AskedBeside:
    """What came of questions that were asked beside a run."""

    calls: tuple[Called | None, ...]
    """In the order of the questions; None where the budget had no room."""
    stopped: str = ""
    """Why some were not asked; empty where all were."""


class BesideLedger(MemoryLedger):
    """Events in a list; what was billed is known from the record, also where a process died before it kept the answer.

    Args:
        root: the run from which all of its family stems.
        failures: how often a question, by its path, had no answer before.
    """

    def __init__(self, payments: Payments, run: str, root: str, failures: Mapping[str, int]) -> None:
        super().__init__(run=run, root=root)
        self._payments, self._failures = payments, failures

    def paid(self, path: str, key: str) -> Payment | None:
        """What was paid beside this run at this path for this answer."""
        return self._payments.found(Payer(self.run, path, beside=True), key)

    def failures(self, path: str) -> int:
        """How often this question had no answer; it is asked anew."""
        return self._failures.get(path, 0)


def spent_with(payments: Payments, run: str) -> Spent:
    """What a run has used up, together with all that was asked beside it: that stops at the run's budget too."""
    paid = in_sum(one for beside in (False, True) for one in payments.of(run, beside=beside).values())
    money = payments.known_money(run) + payments.known_money(run, beside=True)
    return Spent(paid.calls, paid.tokens, money, paid.number)


async def ask_beside(services: Services, questions: Sequence[Asked[Any]], keep: Keep) -> AskedBeside:
    """Ask all at once, within the budget that each question's setup has.

    Args:
        services: with a ledger in memory, and with what was spent so far.
        keep: puts a call on record as soon as it is answered.
    """

    async def one(asked: Asked[Any]) -> Called:
        exchange: Exchange[Any] = Exchange(services, asked)
        try:
            await exchange.run()
        finally:
            called = exchange.called()
            if called.asked or called.value is not None:
                await keep(asked, called)
        return called

    results = await asyncio.gather(*map(one, questions), return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException) and not isinstance(result, BudgetReached):
            raise result
    stopped = next((str(result) for result in results if isinstance(result, BudgetReached)), "")
    return AskedBeside(tuple(None if isinstance(result, BaseException) else result for result in results), stopped)
