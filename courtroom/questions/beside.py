"""Questions that are asked beside a run, driven or not: nothing of them is written into the run."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from pydantic import BaseModel

from courtroom.access import Access, Resource, acting_account, acts, needs
from courtroom.declarations.setup import Member, Setup
from courtroom.engine.budget import Payer, Spent
from courtroom.engine.court import Court, RunInput, hear
from courtroom.engine.errors import Abstained, BudgetReached, NotOnRecord, QuorumLost
from courtroom.engine.events import Called
from courtroom.engine.exchange import Exchange
from courtroom.engine.ledger import Ledger
from courtroom.engine.record import Record
from courtroom.engine.runner import Runner
from courtroom.engine.services import Asked, Services
from courtroom.errors import CourtroomError
from courtroom.evaluation.rehearsal import Estimate, LoadCount, Recorded
from courtroom.media.medium import Medium
from courtroom.models.keys import KEYS
from courtroom.models.prompts import Renders, answer_form
from courtroom.models.request import Message, Request
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Room, Task
from courtroom.questions.asides import Aside
from courtroom.sharing import NOBODYS, changing, take

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

A = TypeVar("A", bound=BaseModel)
T = TypeVar("T")
Keys = Mapping[str, str] | None
"""Of providers, as the person typed them who asks."""
ANY_NUMBER = 10**6
"""Of failed answers: each of them is asked anew, once."""
PROMPTS = Path(__file__).parent / "prompts"


def prompt(name: str) -> str:
    """Read a prompt that is the same for every question."""
    return (PROMPTS / f"{name}.md").read_text(encoding="utf-8")


class TaskInWords(Task[A]):
    """A question with a text of its own."""

    def text(self) -> str:
        """Return the question without the form of its answer; by default the prompt of its name."""
        return prompt(self.name)

    def before(self, *, sees: bool) -> tuple[str | Medium, ...]:
        """Return what is shown before it, with its pictures."""
        return ()


@dataclass(frozen=True)
class After(Renders):
    """Messages, as their model takes them, and behind them a question in words."""

    messages: tuple[Message, ...]

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> Sequence[Message]:
        assert isinstance(task, TaskInWords)
        asked = task.text() + answer_form(task.form, room)
        return *self.messages, Message("user", (*task.before(sees=sees), asked))


def by_role(role: str, task: TaskInWords[A], spec: ModelSpec, setup: Setup, path: str) -> Asked[A]:
    """Return a question to a model that has no seat in a hearing, behind the prompt of its role."""
    member = Member(id=role, role=role, name=role.capitalize(), spec=spec)
    return Asked(member, task, setup, After((Message("system", (prompt(role),)),)), seed=0, path=path, stage="")


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
    keys: Keys,
    failures: Mapping[str, int],
    spent: Spent | None = None,
    keep: Callable[[Asked[Any], Called], Awaitable[None]] | None = None,
) -> Future[AskedBeside]:
    """Ask all at once, within the budget that each question's setup has.

    Args:
        record: of the run beside which they are asked, or the name under which what belongs to no run is paid.
        failures: how often a question, by its path, failed.
        spent: what counts in the questions' budget; what the run has spent, where there is none.
        keep: puts more on record than the answers, which always are, as soon as one is there.
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
        store, run = runner.store, record.run.id if isinstance(record, Record) else record
        if isinstance(record, Record):
            await runner.warm(runner.procedures[record.run.procedure], record.setup)
        root = await asyncio.to_thread(store.root, run)
        services = Services(
            Ledger(run, root, failures=failures, paid=lambda *at: store.payments.found(Payer(run, at[0], True), at[1])),
            runner.asker,
            runner.capabilities,
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


@needs(Access.RUN)
def ask_outside_runs(
    house: Courthouse, what: str, questions: Sequence[Asked[Any]], keys: Keys
) -> list[dict[str, Any] | str]:
    """Ask what belongs to no run, all within one budget; it counts in the month of the person who acts. Return each
    answer, or a sentence that says why there is none.

    Answers are on record, so that the same is asked and paid for once; whoever asks again has each that failed asked anew.
    """
    person = acting_account()
    payer = f"{what}-{person.id if person else NOBODYS}"
    take(house.database, Resource(kind="run", id=payer))
    failed = dict.fromkeys((one.path for one in questions), ANY_NUMBER)
    asked = ask_beside(house.runner, payer, questions, keys, failed, Spent()).result()
    return [(one.error if one.value is None else one.value) if one else asked.stopped for one in asked.calls]


def replay(house: Courthouse, record: Record) -> Mapping[str, Asked[Any]]:
    """The questions of a run by path: those alone whose answers are found again under the same keys."""
    run, asked = record.run, dict[str, Asked[Any]]()
    procedure, on_record = house.procedures[run.procedure], Recorded(house.answers.of(run).reply)
    failed = [call for call in record.calls if call.value is None]
    ledger = Ledger(run.id, house.store.root(run.id), events=failed, seen=partial(house.store.retrieval, run.id))
    services = Services(ledger, on_record, house.capabilities, asking=lambda one: asked.update({one.path: one}))
    setup = record.setup.complete(record.case, run.seed)
    court = Court[Any, Any](RunInput(procedure, record.case, setup, run.seed, record.interventions), services)
    with suppress(NotOnRecord, QuorumLost, Abstained):  # the run went no further
        _in_loop(hear(court, procedure.deliberate))
    answered = {event.path for event in ledger.new if isinstance(event, Called)}
    return {path: one for path, one in asked.items() if path in answered}


def _in_loop(work: Coroutine[Any, Any, T]) -> T:
    """What work comes to in a loop of its own, as the person who acts, also in the threads that it starts."""
    with acts(acting_account()):
        return asyncio.run(work)


@dataclass(frozen=True)
class Question:
    """A question that is to be asked beside a run."""

    asked: Asked[Any]
    kept: Callable[..., Aside | None]
    """What is kept of an answer, given as `called`; None where it is on record already."""
    tokens: int = 0
    """An answer has about so many."""


def ask_and_keep(house: Courthouse, record: Record, questions: Iterable[Question], keys: Keys) -> Future[AskedBeside]:
    """Ask within the run's budget as it is now, for a person may have raised it; each answer is on disk at once."""
    run, by_path = record.run, {one.asked.path: one for one in questions}
    at = RunInput(house.procedures[run.procedure], record.case, record.setup, run.seed, record.interventions)
    budget = at.at(len(record.stages)).setup.budget

    async def keep(asked: Asked[Any], called: Called) -> None:
        if aside := by_path[asked.path].kept(called=called):
            await house.writer.do(partial(house.asides.add, run.id, aside))

    failed = Counter(one.called.path for _, one in house.asides.of(run.id) if one.called.value is None)
    put = [replace(one.asked, setup=one.asked.setup.model_copy(update={"budget": budget})) for one in by_path.values()]
    return ask_beside(house.runner, record, put, keys, failed, keep=keep)


@dataclass(frozen=True)
class Plan:
    """What is to be asked beside a run."""

    record: Record
    questions: Sequence[Question]
    estimate: Estimate
    left_out: tuple[str, ...] = ()
    """A sentence for each reason why something can't be asked."""


class Plans:
    """What plans questions and estimates them before it asks."""

    what: ClassVar[str]
    """What of a run is made, one at a time."""

    def __init__(self, house: Courthouse) -> None:
        self._house, self._asides = house, house.asides  # its engine starts when it is first needed
        self.under_way: dict[str, Future[AskedBeside]] = {}
        """What goes on beside each run, or was the last, in this process."""

    @needs(Access.RUN)
    def start(self, plan: Plan, keys: Keys = None) -> Future[AskedBeside]:
        """Ask what was planned, within the run's budget."""
        run = plan.record.run.id
        changing(self._house.database, "ask", Resource(kind="run", id=run), self.what)
        before = self.under_way.get(run)
        if before is not None and not before.done():
            raise CourtroomError("Questions about this run are being asked already. Wait until they are answered.")
        self.under_way[run] = ask_and_keep(self._house, plan.record, plan.questions, keys)
        return self.under_way[run]

    def _planned(self, record: Record, questions: Sequence[Question], left_out: Iterable[str]) -> Plan:
        """Estimate what questions take, with their prompts as they will be sent."""
        run, on_record, capabilities = record.run.id, self._house.answers.reply, self._house.capabilities
        services = Services(Ledger(run, self._house.store.root(run)), Recorded(on_record), capabilities)
        count, found = LoadCount(capabilities.connections), 0

        async def requests() -> list[Request]:
            return [await Exchange(services, one.asked).request() for one in questions]

        for one, request in zip(questions, _in_loop(requests()), strict=True):
            is_found = on_record(request.key) is not None
            found += is_found
            count.add(request, completion=None if is_found else one.tokens)
        return Plan(record, questions, Estimate(count.loads, len(questions), found), tuple(left_out))
