"""Budgets of tokens and money, with many members at once and a real server."""

import asyncio
import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.access import Access, Account, acts
from courtroom.accounts import AccountStore, Identity
from courtroom.engine import budget
from courtroom.engine.budget import Need, Payment, Reserved, Spent
from courtroom.engine.errors import BudgetReached
from courtroom.engine.record import Record
from courtroom.engine.setup import Budget
from courtroom.media.store import MediaStore
from courtroom.models.pool import ModelPool
from courtroom.models.spec import ModelSpec
from tests.openai_server import OpenAIServer
from tests.toy import CASE, Bench, ToySetup

JURY = 17


class Hearings:
    """A store, a runner and a server."""

    def __init__(self, folder: Path, server: OpenAIServer) -> None:
        self.server = server
        self.bench = Bench(folder)
        self.bench.model = ModelPool(MediaStore(folder))  # type: ignore[assignment]
        self.bench.runner.close()
        self.bench.runner = self.bench.new_runner()
        self.bench.runner.do(self.bench.model.warm()).result()  # type: ignore[attr-defined]

    def hear(self, model: str = "openai/any", *, budget: Budget, rounds: int = 3, **spec: Any) -> Record:
        given = ModelSpec(id=model, attempts=1, **spec)
        setup = ToySetup(size=JURY, rounds=rounds, budget=budget, quorum=0, model=given)
        return self.on(self.bench.store.create("toy", CASE, setup, 0))

    def on(self, run: str) -> Record:
        self.bench.runner.go(run)
        self.bench.runner.wait(run, 60)
        return self.bench.runner.record(run)


@contextmanager
def hearings(folder: Path, **server: Any) -> Iterator[Hearings]:
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(**server) as real:
        real.known(patch)
        held = Hearings(folder, real)
        yield held
        held.bench.close()


def tokens(record: Record) -> int:
    return sum(call.prompt_tokens + call.completion_tokens for call in record.calls)


def dearest(record: Record) -> int:
    return max(call.prompt_tokens + call.completion_tokens for call in record.calls)


def test_members_at_once_do_not_overshoot_a_budget_of_tokens_and_it_can_be_raised(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.05) as held:
        record = held.hear(budget=Budget(tokens=2_000), max_tokens=64)
        assert record.run.status == "paused"
        assert record.run.reason.startswith("The budget of 2,000 tokens ")
        assert "Raise it and continue" in record.run.reason
        assert held.server.most_open > 1
        assert 2_000 - dearest(record) <= tokens(record) <= 2_000 + 20
        asked = held.server.calls
        setup = record.setup.model_copy(update={"budget": Budget(tokens=1_000_000)})
        held.bench.store.replace_setup(record.run.id, setup)
        whole = held.on(record.run.id)
        assert whole.run.status == "done"
        assert held.server.calls == 3 * JURY
        assert held.server.calls > asked


def test_members_at_once_do_not_overshoot_a_budget_of_money(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.05) as held:
        record = held.hear("openai/gpt-4o-mini", budget=Budget(money=0.0004), max_tokens=64)
        costs = [call.cost or 0.0 for call in record.calls]
        assert record.run.status == "paused"
        assert "The budget of US$ 0.0004 " in record.run.reason
        assert 0.0004 - max(costs) <= sum(costs) <= 0.0004 * 1.02
        assert len([cost for cost in costs if cost]) > 2


def test_where_the_budget_is_far_away_all_members_are_asked_at_once(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.5) as held:
        record = held.hear(budget=Budget(tokens=10_000_000, money=1_000.0), rounds=1, model="openai/gpt-4o-mini")
        assert record.run.status == "done"
        assert held.server.most_open > JURY / 2


def test_a_run_is_not_stopped_while_answers_under_way_can_leave_room(tmp_path: Path) -> None:
    """The longest answers of all would take ten times the budget; those that come fit it."""
    with hearings(tmp_path, delay=0.02) as held:
        record = held.hear(budget=Budget(tokens=6_000, money=1.0), rounds=1, max_tokens=3_000)
        assert record.run.status == "done"
        assert held.server.calls == JURY
        assert tokens(record) < 6_000
        assert any("No price is known for openai/any" in text for text in record.notes)


def test_calls_that_fail_give_back_what_was_reserved(tmp_path: Path) -> None:
    number = itertools.count()

    def failing(body: dict[str, Any]) -> web.Response | None:
        return web.json_response({"error": {"message": "no"}}, status=400) if next(number) < 12 else None

    with hearings(tmp_path, answer=failing) as held:
        record = held.hear(budget=Budget(tokens=2_000), max_tokens=64)
        assert record.run.status == "paused"
        assert record.failed == 12
        assert 2_000 - dearest(record) <= tokens(record) <= 2_000 + 20


def test_a_run_that_waits_for_room_can_be_stopped_and_run_on(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.3) as held:
        given = ModelSpec(id="openai/any", max_tokens=3_000)
        setup = ToySetup(size=JURY, rounds=1, budget=Budget(tokens=6_000), model=given)
        run = held.bench.store.create("toy", CASE, setup, 0)
        held.bench.runner.go(run)
        while not held.server.open:
            time.sleep(0.01)
        held.bench.runner.stop(run)
        assert held.bench.store.status(run) == "paused"
        held.server.delay = 0.0
        assert held.on(run).run.status == "done"


def reply(prompt: int, completion: int) -> Payment:
    return Payment(calls=1, prompt=prompt, completion=completion)


def granted(spent: Spent, need: Need, budget: Budget) -> Reserved:
    room = spent.reserve(need, budget)
    assert isinstance(room, Reserved)
    return room


def test_the_runs_of_a_person_stop_together_at_the_money_of_the_month(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with hearings(tmp_path, delay=0.05) as held:
        store, accounts = held.bench.store, AccountStore(held.bench.database)
        bea, cem = (accounts.arrive(Identity(issuer="https://id.example", subject=name)) for name in ("bea", "cem"))
        for one in (bea, cem):
            accounts.give(one.id, Access.RUN)
        accounts.allow(bea.id, 0.0004)
        model = ModelSpec(id="openai/gpt-4o-mini", attempts=1, max_tokens=64)

        def planned(person: Account, seed: int) -> str:
            with acts(person):
                return store.create("toy", CASE, ToySetup(size=JURY, rounds=1, quorum=0, model=model), seed)

        first, second, others = planned(bea, 1), planned(bea, 2), planned(cem, 3)
        for run in (first, second, others):
            held.bench.runner.go(run)
        for run in (first, second, others):
            held.bench.runner.wait(run, 60)
        stopped = [store.run(run) for run in (first, second) if store.run(run).status == "paused"]
        assert stopped
        assert all("US$ 0.00 a month" in row.reason and "Ask an owner" in row.reason for row in stopped)
        costs = [call.cost or 0.0 for run in (first, second) for call in held.bench.runner.record(run).calls]
        assert 0.0004 - max(costs) <= sum(costs) <= 0.0004 * 1.02
        assert accounts.spent(bea.id) == pytest.approx(sum(costs))
        assert store.run(others).status == "done"
        store.delete(first)
        assert accounts.spent(bea.id) == pytest.approx(sum(costs))  # what is spent is not had back by deleting runs
        accounts.allow(bea.id, None)
        monkeypatch.setattr(budget, "FRESH_S", 0.0)
        assert held.on(second).run.status == "done"


async def test_at_the_end_one_call_at_a_time_is_made_while_what_it_will_probably_take_fits() -> None:
    spent, budget, need = Spent(), Budget(tokens=1_000), Need(prompt=100, longest=2_000, model="m")
    for _ in range(6):
        held = granted(spent, need, budget)
        assert isinstance(spent.reserve(need, budget), asyncio.Event)
        spent.settle(held, reply(100, 50))
    with pytest.raises(BudgetReached, match=r"900 tokens are used, and it takes about 150 tokens\."):
        spent.reserve(need, budget)
    spent, need = Spent(), Need(prompt=100, longest=10, model="m")
    spent.settle(granted(spent, need, budget), reply(200, 10))
    assert granted(spent, need, budget).tokens == 210, "prompts that take more are estimated higher"
    spent = Spent(tokens=900)
    granted(spent, Need(), budget)
    with pytest.raises(BudgetReached, match="has no room for the next call"):  # a person is not waited for
        spent.reserve(Need(prompt=100, longest=400, model="m"), budget)
