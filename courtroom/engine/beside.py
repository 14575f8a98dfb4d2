"""Questions asked beside a run: their answers are kept and billed like any, and nothing of the run changes."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.engine.budget import Spent
from courtroom.engine.errors import BudgetReached
from courtroom.engine.events import Called
from courtroom.engine.exchange import Exchange
from courtroom.engine.payments import Payments, in_sum
from courtroom.engine.services import Asked, Services

Keep = Callable[[Asked[Any], Called], Awaitable[None]]


@dataclass(frozen=True)
class AskedBeside:
    """What came of questions that were asked beside a run."""

    calls: tuple[Called | None, ...]
    """In the order of the questions; None where the budget had no room."""
    stopped: str = ""


def spent_with(payments: Payments, run: str) -> Spent:
    """What a run has used up, together with all that was asked beside it: that stops at the run's budget too."""
    paid = in_sum(one for beside in (False, True) for one in payments.of(run, beside=beside).values())
    money = payments.known_money(run) + payments.known_money(run, beside=True)
    return Spent(paid.calls, paid.tokens, money, paid.number)


async def ask_beside(services: Services, questions: Sequence[Asked[Any]], keep: Keep) -> AskedBeside:
    """Ask all at once, within the budget that each question's setup has; `keep` puts a call on record as soon as it is answered."""

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
