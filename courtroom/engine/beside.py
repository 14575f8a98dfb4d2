"""Questions asked beside a run: their answers are kept and paid for like any, and nothing of the run changes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.engine.asked import Asked
from courtroom.engine.errors import BudgetReached
from courtroom.engine.events import Called
from courtroom.engine.exchange import Exchange
from courtroom.engine.services import Services

Keep = Callable[[Asked[Any], Called], Awaitable[None]]


@dataclass(frozen=True)
class Outcome:
    """What came of questions that were asked beside a run."""

    calls: tuple[Called | None, ...]
    """In the order of the questions; None where the budget had no room."""
    stopped: str = ""
    """Why some were not asked; empty where all were."""


async def ask_beside(services: Services, questions: Sequence[Asked[Any]], keep: Keep) -> Outcome:
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
    return Outcome(tuple(None if isinstance(result, BaseException) else result for result in results), stopped)
