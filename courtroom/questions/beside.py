"""Questions that are asked beside a run, driven or not: nothing of them is written into the run."""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from pydantic import BaseModel

from courtroom.access import Access, needs
from courtroom.engine.budget import Payer, Spent
from courtroom.engine.errors import BudgetReached
from courtroom.engine.events import Called
from courtroom.engine.exchange import Exchange
from courtroom.engine.ledger import Ledger
from courtroom.engine.record import Record
from courtroom.engine.runner import Runner
from courtroom.engine.services import Asked, Services
from courtroom.errors import CourtroomError
from courtroom.evaluation.rehearsal import Estimate, LoadCount, Recorded
from courtroom.models.keys import KEYS
from courtroom.models.prompts import answer_form
from courtroom.models.request import Message
from courtroom.models.task import Room, Task
from courtroom.questions.asides import Aside, failures

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

Keep = Callable[[Asked[Any], Called], Awaitable[None]]
"""Puts a call on record as soon as it is answered."""
A = TypeVar("A", bound=BaseModel)
About = TypeVar("About")
PROMPTS = Path(__file__).parent / "prompts"


def prompt(name: str) -> str:
    """Read a prompt that is the same for every question."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


class TaskInWords(Task[A]):
    """A question with a text of its own."""

    @abstractmethod
    def text(self) -> str:
        """Return the question without the form of its answer."""


@dataclass(frozen=True)
class After:
    """Messages, and behind them a question in words."""

    messages: tuple[Message, ...]

    @property
    def without_media(self) -> After:
        """Itself: the messages are as their model takes them."""
        return self

    @property
    def fresh(self) -> After:
        return self

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> Sequence[Message]:
        assert isinstance(task, TaskInWords)
        return *self.messages, Message("user", (task.text() + answer_form(task.form, room),))


@dataclass(frozen=True)
class AskedBeside:
    """What came of questions that were asked beside a run."""

    calls: tuple[Called | None, ...]
    """In the order of the questions; None where the budget had no room."""
    stopped: str = ""


def ask_beside(
    runner: Runner,
    record: Record | str,
    questions: Sequence[Asked[Any]],
    failures: Mapping[str, int],
    keep: Keep | None = None,
    keys: Mapping[str, str] | None = None,
    spent: Spent | None = None,
) -> Future[AskedBeside]:
    """Ask all at once, within the budget that each question's setup has.

    Args:
        record: of the run beside which they are asked, or the name under which what belongs to no run is paid.
        failures: how often a question, by its path, failed.
        keep: puts more on record than the answers, which always are.
        keys: what the person typed who asks.
        spent: what counts in the questions' budget; what the run has spent, where there is none.
    """

    async def one(services: Services, asked: Asked[Any]) -> Called:
        exchange: Exchange[Any] = Exchange(services, asked)
        try:
            await exchange.run()
        finally:
            called = exchange.called()
            if keep and (called.asked or called.value is not None):
                await keep(asked, called)
        return called

    async def ask() -> AskedBeside:
        KEYS.set(keys or {})
        store = runner.store
        if isinstance(record, Record):
            await runner.warm(runner.procedures[record.run.procedure], record.setup)
        run = record.run.id if isinstance(record, Record) else record
        root = await asyncio.to_thread(store.root, run)
        ledger = Ledger(
            run,
            root,
            failures=failures,
            paid=lambda path, key: store.payments.found(Payer(run, path, beside=True), key),
        )
        services = Services(
            ledger=ledger,
            asker=runner.asker,
            capabilities=runner.capabilities,
            people=runner.people,
            spent=await asyncio.to_thread(store.payments.spent, run, with_beside=True) if spent is None else spent,
            month=await asyncio.to_thread(store.monthly_budgets.of_run, run),
            beside=True,
        )
        results = await asyncio.gather(*(one(services, asked) for asked in questions), return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, BudgetReached):
                raise result
        stopped = next((str(result) for result in results if isinstance(result, BudgetReached)), "")
        return AskedBeside(tuple(None if isinstance(result, BaseException) else result for result in results), stopped)

    return runner.do(ask())


class AsksBeside(Generic[About]):
    """What asks questions beside runs."""

    def __init__(self, house: Courthouse) -> None:
        self._house = house  # its engine starts when it is first needed
        self._procedures, self._store, self._asides = house.procedures, house.store, house.asides
        self._answers, self._capabilities, self._writer = house.answers, house.capabilities, house.writer

    def _ask(
        self, record: Record, questions: Mapping[str, tuple[About, Asked[Any]]], keys: Mapping[str, str] | None
    ) -> Future[AskedBeside]:
        """Ask questions, by their paths, each with what it is about; each answer is on disk at once."""
        run = record.run.id

        async def keep(asked: Asked[Any], called: Called) -> None:
            if aside := self._aside(run, questions[asked.path][0], asked, called):
                await self._writer.do(partial(self._asides.add, run, aside))

        failed = failures(one for _, one in self._asides.of(run))
        return ask_beside(self._house.runner, record, [asked for _, asked in questions.values()], failed, keep, keys)

    @abstractmethod
    def _aside(self, run: str, about: About, asked: Asked[Any], called: Called) -> Aside | None:
        """Return what is kept of an answer; None where it is on record already."""


@dataclass(frozen=True)
class Plan(Generic[About]):
    """What is to be asked beside a run."""

    record: Record
    questions: Mapping[str, tuple[About, Asked[Any]]]
    """By their paths, each with what it is about."""
    estimate: Estimate
    left_out: tuple[str, ...] = ()
    """A sentence for each reason why something can't be asked."""


class Plans(AsksBeside[About]):
    """What plans questions and estimates them before it asks."""

    what: ClassVar[str]
    """What of a run is made, one at a time."""

    def __init__(self, house: Courthouse) -> None:
        super().__init__(house)
        self.under_way: dict[str, Future[AskedBeside]] = {}
        """What goes on beside each run, or was the last, in this process."""

    @needs(Access.RUN)
    def start(self, plan: Plan[About], keys: Mapping[str, str] | None = None) -> Future[AskedBeside]:
        """Ask what was planned, within the run's budget."""
        run = plan.record.run.id
        self._asides.changing(run, self.what)
        before = self.under_way.get(run)
        if before is not None and not before.done():
            raise CourtroomError("Questions about this run are being asked already. Wait until they are answered.")
        self.under_way[run] = self._ask(plan.record, plan.questions, keys)
        return self.under_way[run]

    async def _estimate(self, run: str, questions: Iterable[tuple[Asked[Any], int]]) -> Estimate:
        """Estimate what questions take, with their prompts as they will be sent; each with the tokens of its answer."""
        services = Services(Ledger(run, self._store.root(run)), Recorded(self._answers.reply), self._capabilities)
        count, calls, found = LoadCount(self._capabilities.connections), 0, 0
        for asked, tokens in questions:
            request = await Exchange(services, asked).request()
            is_found = self._answers.reply(request.key) is not None
            calls, found = calls + 1, found + is_found
            count.add(request, completion=None if is_found else tokens)
        return Estimate(count.loads, calls, found)
