"""What a run may spend, and what a person may spend in a month: reserved before a call, settled after it."""

from __future__ import annotations

import asyncio
import math
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial

from courtroom.accounts import AccountStore, this_month
from courtroom.declarations.setup import Budget
from courtroom.engine.errors import BudgetReached
from courtroom.models.card import Price
from courtroom.models.request import Reply
from courtroom.store.connection import StoredRow
from courtroom.store.database import Database, Tables, insert


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
    estimated: bool = False
    """Whether a provider did not count the tokens, so that they and the cost are about so much."""
    cached: int = 0
    """Of the prompts' tokens, those that the provider read from its cache."""
    written: int = 0
    """Of these, those that it wrote to its cache."""
    batched: int = 0
    """Tokens of calls that went by the provider's batch."""

    @classmethod
    def of(cls, reply: Reply | None) -> Payment:
        """One call by what its provider said; None where the provider said nothing."""
        if reply is None:
            return cls(calls=1)
        usage = reply.usage
        batched = usage.prompt + usage.completion if reply.by_batch else 0
        return cls(calls=1, attempts=reply.attempts, cost=reply.cost, batched=batched, **dict(usage))

    @property
    def tokens(self) -> int:
        """Prompt and answer together."""
        return self.prompt + self.completion


def in_sum(payments: Iterable[Payment]) -> Payment:
    every = tuple(payments)
    costs = [one.cost for one in every]
    return Payment(
        **{name: sum(getattr(one, name) for one in every) for name in _SUMMED},
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        number=max((one.number for one in every), default=0),
        estimated=any(one.estimated for one in every),
    )


class Payments(Tables):
    """Payments on disk. They stay whatever becomes of the run's events. Methods may be called from any thread."""

    def put(self, paid: Iterable[tuple[Payer, str, Payment]], *, in_month: bool = True) -> None:
        """Put payments on disk: who paid, under which answer's key, and what. `in_month`: whether they count in the
        month of whose the run is; not those of an imported run."""
        every, now = tuple(paid), time.time()
        costly = [(payer.run, one) for payer, _, one in every if in_month and one.cost]
        month = [(this_month(), one.cost, one.estimated, run) for run, one in costly]
        rows = (
            {"run": payer.run, "path": payer.path, "beside": payer.beside, "key": key, "at": now}
            | {name: getattr(one, name) for name in _PAID}
            for payer, key, one in every
        )
        with self._database.transaction() as db:
            insert(db, "payments", rows)
            db.executemany(
                "INSERT INTO spending (account, month, money, estimated)"
                " SELECT account, ?, ?, ? FROM ownership WHERE kind = 'run' AND id = ? AND account <> ''"
                " ON CONFLICT (account, month) DO UPDATE SET money = spending.money + excluded.money,"
                " estimated = CASE WHEN excluded.estimated = 1 THEN 1 ELSE spending.estimated END",
                month,
            )

    def of(self, run: str, *, beside: bool = False) -> Mapping[str, Payment]:
        """What a run was billed, by path; or all that was asked beside it."""
        sql = f"SELECT path, {_SUMS} FROM payments WHERE run = ? AND beside = ? GROUP BY path"
        rows = self._database.execute(sql, (run, beside))
        return {row["path"]: _payment(row) for row in rows}

    def found(self, payer: Payer, key: str) -> Payment | None:
        """What a run has paid at a path for the answer under a key; None where it has paid nothing."""
        row = self._database.row(
            f"SELECT {_SUMS} FROM payments WHERE run = ? AND path = ? AND key = ? AND beside = ?",
            (payer.run, payer.path, key, payer.beside),
        )
        return _payment(row) if row["calls"] else None

    def spent(self, run: str, *, with_beside: bool = False) -> Spent:
        """Return what a run has used up, as far as prices are known; also what was asked beside it, if that counts."""
        row = self._database.row(
            "SELECT coalesce(sum(calls), 0), coalesce(sum(prompt + completion), 0), coalesce(sum(cost), 0.0),"
            " coalesce(max(number), 0) FROM payments WHERE run = ? AND beside <= ?",
            (run, with_beside),
        )
        return Spent(*tuple(row))


_SUMMED = ("calls", "attempts", "prompt", "completion", "cached", "written", "batched")
_PAID = (*_SUMMED, "cost", "estimated")
_SUMS = (
    f"{', '.join(f'sum({name}) AS {name}' for name in _SUMMED)}, max(number) AS number, max(estimated) AS estimated,"
    " CASE WHEN count(cost) = count(*) THEN sum(cost) END AS cost"
)


def _payment(row: StoredRow) -> Payment:
    return Payment(**{name: row[name] for name in (*_SUMMED, "cost", "number")}, estimated=bool(row["estimated"]))


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
    tokens: int = 0
    money: float | None = 0.0


@dataclass
class Spent:
    """What a run has used up. A call is counted when it starts; tokens and money are reserved then, settled after.

    A reservation is for the longest answer that the model may give, so that calls at once can't overshoot together.
    When that does not fit, a call waits for those under way, as they mostly take less. When none is under way any
    more, what a call will probably take decides: so a budget can be used up to its end, one call at a time there,
    and is overshot at most by what the estimate of one call was wrong.

    Deadlock is impossible: a call waits only while another one holds a reservation, which is given back when that
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
        """Room for one more call; or, where there may be some later, what to wait for before asking again. Raises
        `BudgetReached`: there is none, and no call under way could leave any."""
        if budget.calls is not None and self.calls >= budget.calls:
            raise BudgetReached(f"The budget of {budget.calls:,} calls is used up. {_RAISE}")
        for name, used, limit in (("tokens", self.tokens, budget.tokens), ("US$", self.money, budget.money)):
            if limit is not None and used >= limit:
                raise BudgetReached(
                    f"The budget of {_described(name, limit)} is used up ({_described(name, used)}). {_RAISE}"
                )
        held = Reserved(need)
        if budget.tokens is not None or budget.money is not None:
            held.tokens, held.money = self._takes(need, need.longest)
            in_tokens = self.tokens + sum(other.tokens for other in self._open) + held.tokens
            in_money = self.money + sum(other.money or 0.0 for other in self._open) + (held.money or 0.0)
            is_over = budget.tokens is not None and in_tokens > budget.tokens
            if is_over or budget.money is not None and (held.money is None or in_money > budget.money):
                if any(other.tokens for other in self._open):
                    return self._settled
                number, tokens = self._answers
                probable = self._takes(need, min(need.longest, tokens // number if number else _FIRST))
                cost = probable[1] or 0.0  # a call of unknown cost is made alone, and then its model's cost is known
                for name, used, more, limit in (
                    ("tokens", self.tokens, probable[0], budget.tokens),
                    ("US$", self.money, cost, budget.money),
                ):
                    if limit is not None and used + more > limit:
                        takes = f"{_described(name, used)} are used, and it takes about {_described(name, more)}"
                        why = (
                            f"The budget of {_described(name, limit)} has no room for the next call: {takes}. {_RAISE}"
                        )
                        raise BudgetReached(why)
        self.calls += 1
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
        """Count a payment of this run that was under way when it was taken up; once, if it is counted already."""
        if paid.number > self.number:
            self.calls += paid.calls
            self.tokens += paid.tokens
            self.money += paid.cost or 0.0

    def _takes(self, need: Need, answer: int) -> tuple[int, float | None]:
        """Tokens and US dollars of a call whose answer has so many tokens; None where the cost is not known yet."""
        prompt = round(need.prompt * self._longer)
        if need.price is not None:
            return prompt + answer, need.price.of(prompt, answer)
        return prompt + answer, self._costs.get(need.model) if need.longest else 0.0


def _described(name: str, amount: float) -> str:
    return f"{amount:,.0f} tokens" if name == "tokens" else f"US$ {amount:.4g}"


FRESH_S = 5.0
"""For so long what was read of the month counts; what is paid in this process is counted at once."""


@dataclass
class SpentInMonth(Spent):
    """What a person's runs have used up this month in this process, and what they may cost."""

    limit: float | None = None
    """US dollars."""
    read_at: float = -math.inf
    """When that was read, by a clock that nobody sets."""

    def reserve(self, need: Need, budget: Budget) -> Reserved | asyncio.Event:
        """Room for one more call in the month's limit, whatever a run's own budget is; see `Spent.reserve`."""
        try:
            return super().reserve(need, Budget.model_construct(money=self.limit))
        except BudgetReached as reached:
            raise BudgetReached(
                f"This person's runs may cost US$ {self.limit:,.2f} a month, and US$ {self.money:,.2f} are spent. "
                "Ask an owner of this server for more, or go on next month; nothing is lost."
            ) from reached


class MonthlyBudgets:
    """The monthly budgets of all whose runs are driven in this process."""

    def __init__(self, database: Database) -> None:
        self._database, self._accounts = database, AccountStore(database)
        self._known = defaultdict[str, SpentInMonth](SpentInMonth)

    async def of(self, account: str) -> SpentInMonth | None:
        """What an account has spent this month; None where its money has no limit."""
        spent = self._known[account]
        if time.monotonic() - spent.read_at > FRESH_S:
            spent.limit = await asyncio.to_thread(self._accounts.budget, account)
            spent.money = (await asyncio.to_thread(self._accounts.spent, account)).money
            spent.read_at = time.monotonic()
        return None if spent.limit is None else spent

    def of_run(self, run: str) -> Callable[[], Awaitable[SpentInMonth | None]] | None:
        """Return what looks up the month of whose a run is; None where it is nobody's."""
        row = self._database.row("SELECT account FROM ownership WHERE kind = 'run' AND id = ?", (run,))
        return partial(self.of, row["account"]) if row and row["account"] else None
