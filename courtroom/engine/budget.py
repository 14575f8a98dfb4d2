"""What a run may spend, and what a person may spend in a month: reserved before a call, settled after it."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from courtroom.accounts import AccountStore, this_month
from courtroom.engine.errors import BudgetReached
from courtroom.engine.setup import Budget
from courtroom.models.card import Price
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


_RAISE = "Raise it and continue; nothing is lost."
_FIRST = 256
"""Tokens that an answer is taken to have while a run has none to go by."""


@dataclass(frozen=True)
class Need:
    """What one call may take, in tokens and US dollars."""

    prompt: int = 0
    longest: int = 0
    """Tokens that the answer may have at most. Both are 0 for who costs nothing."""
    price: Price | None = None
    model: str = ""


@dataclass(eq=False)
class Reserved:
    """A call's part of the budget while it is under way."""

    need: Need
    tokens: int
    money: float | None


@dataclass
class Spent:
    """What a run has used up. A call is counted when it starts; its tokens and money are reserved then, and settled after.

    A reservation is for the longest answer that the model may give, so that calls at once can't overshoot together. When
    that does not fit, a call waits for those under way, as they mostly take less than was reserved. When nothing is under
    way any more, what a call will probably take decides: so a budget can be used up to its end, one call at a time there,
    and is overshot at most by what the estimate of one call was wrong.

    Deadlock is impossible: a call waits only while another one holds a reservation, and that is given back when the call
    ends, however it ends.
    """

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    number: int = 0
    """Of the last payment on record that is counted here."""
    _open: set[Reserved] = field(default_factory=set)
    _settled: asyncio.Event = field(default_factory=asyncio.Event)
    _answers: list[int] = field(default_factory=lambda: [0, 0])
    _longer: float = 1.0
    """How many times as many tokens as estimated a prompt had, at most."""
    _costs: dict[str, float] = field(default_factory=dict)
    """The dearest call so far of each model."""

    def reserve(self, need: Need, budget: Budget) -> Reserved | asyncio.Event:
        """Room for one more call; or, where there may be some later, what to wait for before asking again.

        Raises:
            BudgetReached: there is none, and no call under way could leave any.
        """
        if budget.calls is not None and self.calls >= budget.calls:
            raise BudgetReached(f"The budget of {budget.calls:,} calls is used up. {_RAISE}")
        for name, used, limit in (("tokens", self.tokens, budget.tokens), ("US$", self.money, budget.money)):
            if limit is not None and used >= limit:
                raise BudgetReached(
                    f"The budget of {_described(name, limit)} is used up ({_described(name, used)}). {_RAISE}"
                )
        most, probable = self._takes(need, need.longest), self._takes(need, self._usual(need))
        if not self._fits(most, budget):
            if any(held.tokens for held in self._open):
                return self._settled
            if not self._fits(probable, budget, unknown_fits=True):
                raise BudgetReached(self._too_small(probable, budget))
        self.calls += 1
        held = Reserved(need, *most)
        self._open.add(held)
        return held

    def settle(self, held: Reserved, paid: Payment | None) -> None:
        """Give the reservation back; what the call took is used up. None: it failed, or another's answer was taken."""
        self._open.discard(held)
        if paid is not None:
            self.tokens += paid.tokens
            self.money += paid.cost or 0.0
            self._answers[0] += 1
            self._answers[1] += paid.completion
            if held.need.prompt:
                self._longer = max(self._longer, paid.prompt / held.need.prompt)
            self._costs[held.need.model] = max(self._costs.get(held.need.model, 0.0), paid.cost or 0.0)
        self._settled.set()
        self._settled = asyncio.Event()

    def add(self, paid: Payment) -> None:
        """Count a payment of this run that was under way when it was taken up; one that is counted stays counted once."""
        if paid.number > self.number:
            self.calls += paid.calls
            self.tokens += paid.tokens
            self.money += paid.cost or 0.0

    def _usual(self, need: Need) -> int:
        number, tokens = self._answers
        return min(need.longest, tokens // number if number else _FIRST)

    def _takes(self, need: Need, answer: int) -> tuple[int, float | None]:
        """Tokens and US dollars of a call whose answer has so many tokens; None where the cost is not known yet."""
        prompt = round(need.prompt * self._longer)
        if need.price is not None:
            return prompt + answer, need.price.of(prompt, answer)
        return prompt + answer, self._costs.get(need.model) if need.longest else 0.0

    def _fits(self, takes: tuple[int, float | None], budget: Budget, *, unknown_fits: bool = False) -> bool:
        tokens, money = takes
        if budget.tokens is not None and self.tokens + sum(held.tokens for held in self._open) + tokens > budget.tokens:
            return False
        if budget.money is None:
            return True
        if money is None:
            return unknown_fits  # such a call is made alone, and then its model's cost is known
        return self.money + sum(held.money or 0.0 for held in self._open) + money <= budget.money

    def _too_small(self, takes: tuple[int, float | None], budget: Budget) -> str:
        tokens, money = takes
        if budget.tokens is not None and self.tokens + tokens > budget.tokens:
            name, limit, used, more = "tokens", float(budget.tokens), float(self.tokens), float(tokens)
        else:
            name, limit, used, more = "US$", budget.money or 0.0, self.money, money or 0.0
        return (
            f"The budget of {_described(name, limit)} has no room for the next call: {_described(name, used)} are used, and it "
            f"takes about {_described(name, more)}. {_RAISE}"
        )


def _described(name: str, amount: float) -> str:
    return f"{amount:,.0f} tokens" if name == "tokens" else f"US$ {amount:.4g}"


FRESH_S = 5.0
"""For so long what was read of the month counts; what is paid in this process is counted at once."""


@dataclass
class MonthlyBudget:
    """A person's money for this month: reserved and settled as a run's is, see `Spent`."""

    limit: float
    """US dollars."""
    spent: Spent = field(default_factory=Spent)

    def reserve(self, need: Need) -> Reserved | asyncio.Event:
        """Room for one more call, or what to wait for before asking again."""
        budget = Budget.model_construct(money=self.limit)
        try:
            return self.spent.reserve(need, budget)
        except BudgetReached as reached:
            raise BudgetReached(
                f"This person's runs may cost US$ {self.limit:,.2f} a month, and US$ {self.spent.money:,.2f} are spent. "
                "Ask an owner of this server for more, or go on next month; nothing is lost."
            ) from reached

    def settle(self, held: Reserved, paid: Payment | None) -> None:
        self.spent.settle(held, paid)


class MonthlyBudgets:
    """The monthly budgets of all whose runs are driven in this process."""

    def __init__(self, database: Database) -> None:
        self._database, self._accounts = database, AccountStore(database)
        self._known: dict[str, tuple[float, MonthlyBudget | None, Spent]] = {}

    async def of(self, account: str) -> MonthlyBudget | None:
        """The monthly budget of an account; None where its money has no limit."""
        known = self._known.get(account)
        if known is None or time.monotonic() - known[0] > FRESH_S:
            limit, money = await asyncio.to_thread(self._read, account)
            spent = self._known[account][2] if account in self._known else Spent()
            spent.money = money
            known = (time.monotonic(), None if limit is None else MonthlyBudget(limit, spent), spent)
            self._known[account] = known
        return known[1]

    def payer(self, run: str) -> str:
        """The account of whose a run is; empty where it is nobody's."""
        row = self._database.row("SELECT account FROM ownership WHERE kind = 'run' AND id = ?", (run,))
        return str(row["account"]) if row else ""

    def _read(self, account: str) -> tuple[float | None, float]:
        limit = self._accounts.budget(account)
        return limit, 0.0 if limit is None else self._accounts.spent(account)
