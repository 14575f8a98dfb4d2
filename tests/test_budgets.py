"""Budgets of tokens and money, with many members at once and a real server."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from courtroom.access import Access, acts
from courtroom.accounts import AccountStore, Identity
from courtroom.engine import budget
from courtroom.engine.budget import Need, Payment, Reserved, Spent
from courtroom.engine.errors import BudgetReached
from courtroom.engine.record import Record
from courtroom.engine.setup import Budget
from courtroom.media.store import MediaStore
from courtroom.models.pool import ModelPool
from courtroom.models.spec import ModelSpec
from tests.driving import until
from tests.openai_server import OpenAIServer, refusal
from tests.toy import CASE, Bench, ToySetup

JURY = 17


class Hearings:
    """A store, a runner and a server."""

    def __init__(self, folder: Path, server: OpenAIServer) -> None:
        self.server, pool = server, ModelPool(MediaStore(folder))
        self.bench = Bench(folder, online=pool)
        self.bench.runner.do(pool.warm()).result()

    def planned(
        self, model: str = "openai/any", *, budget: Budget | None = None, rounds: int = 3, seed: int = 0, **spec: Any
    ) -> str:
        given = ModelSpec(id=model, attempts=1, **spec)
        setup = ToySetup(size=JURY, rounds=rounds, budget=budget or Budget(), quorum=0, model=given)
        return self.bench.store.create("toy", CASE, setup, seed)

    def hear(self, model: str = "openai/any", **given: Any) -> Record:
        return self.bench.go_on(self.planned(model, **given))


@contextmanager
def hearings(folder: Path, **server: Any) -> Iterator[Hearings]:
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(**server) as real:
        real.known(patch)
        held = Hearings(folder, real)
        yield held
        held.bench.close()


def is_used_up(amount: float, spent: list[float], rest: float) -> bool:
    """Whether the calls took all of the budget that the dearest of them would fit, and at most a rest more."""
    return amount - max(spent) <= sum(spent) <= amount + rest


def tokens(record: Record) -> list[float]:
    return [call.prompt_tokens + call.completion_tokens for call in record.calls]


def costs(*records: Record) -> list[float]:
    return [call.cost or 0.0 for record in records for call in record.calls]


def test_members_at_once_do_not_overshoot_a_budget_of_tokens_and_it_can_be_raised(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.05) as held:
        record = held.hear(budget=Budget(tokens=2_000), max_tokens=64)
        assert record.run.status == "paused"
        assert record.run.reason.startswith("The budget of 2,000 tokens ")
        assert "Raise it and continue" in record.run.reason
        assert held.server.most_open > 1
        assert is_used_up(2_000, tokens(record), 20)
        assert held.server.calls < 3 * JURY
        setup = record.setup.model_copy(update={"budget": Budget(tokens=1_000_000)})
        held.bench.store.replace_setup(record.run.id, setup)
        assert held.bench.go_on(record.run.id).run.status == "done"
        assert held.server.calls == 3 * JURY


def test_members_at_once_do_not_overshoot_a_budget_of_money(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.05) as held:
        record = held.hear("openai/gpt-4o-mini", budget=Budget(money=0.0004), max_tokens=64)
        assert record.run.status == "paused"
        assert "The budget of US$ 0.0004 " in record.run.reason
        assert is_used_up(0.0004, costs(record), 0.000_008)
        assert len([cost for cost in costs(record) if cost]) > 2


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
        assert sum(tokens(record)) < 6_000
        assert any("No price is known for openai/any" in text for text in record.notes)


def test_calls_that_fail_give_back_what_was_reserved(tmp_path: Path) -> None:
    number = itertools.count()
    with hearings(tmp_path, answer=lambda body: refusal(400, "no") if next(number) < 12 else None) as held:
        record = held.hear(budget=Budget(tokens=2_000), max_tokens=64)
        assert record.run.status == "paused"
        assert record.failed == 12
        assert is_used_up(2_000, tokens(record), 20)


def test_a_run_that_waits_for_room_can_be_stopped_and_run_on(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.3) as held:
        run = held.planned(budget=Budget(tokens=6_000), rounds=1, max_tokens=3_000)
        held.bench.runner.go(run)
        until(lambda: held.server.open, "a call")
        held.bench.runner.stop(run)
        assert held.bench.store.status(run) == "paused"
        held.server.delay = 0.0
        assert held.bench.go_on(run).run.status == "done"


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
        runs = []
        for seed, person in enumerate((bea, bea, cem)):
            with acts(person):
                runs.append(held.planned("openai/gpt-4o-mini", rounds=1, seed=seed, max_tokens=64))
        first, second, others = runs
        for run in runs:
            held.bench.runner.go(run)
        for run in runs:
            held.bench.runner.wait(run, 60)
        stopped = [store.run(run) for run in (first, second) if store.run(run).status == "paused"]
        assert stopped
        assert all("US$ 0.00 a month" in row.reason and "Ask an owner" in row.reason for row in stopped)
        spent = costs(*(held.bench.runner.record(run) for run in (first, second)))
        assert is_used_up(0.0004, spent, 0.000_008)
        assert accounts.spent(bea.id) == pytest.approx(sum(spent))
        assert store.run(others).status == "done"
        store.delete(first)
        assert accounts.spent(bea.id) == pytest.approx(sum(spent))  # what is spent is not had back by deleting runs
        accounts.allow(bea.id, None)
        monkeypatch.setattr(budget, "FRESH_S", 0.0)
        assert held.bench.go_on(second).run.status == "done"


async def test_at_the_end_one_call_at_a_time_is_made_while_what_it_will_probably_take_fits() -> None:
    spent, budget, need = Spent(), Budget(tokens=1_000), Need(prompt=100, longest=2_000, model="m")
    for _ in range(6):
        held = granted(spent, need, budget)
        assert isinstance(spent.reserve(need, budget), asyncio.Event)
        spent.settle(held, Payment(calls=1, prompt=100, completion=50))
    with pytest.raises(BudgetReached, match=r"900 tokens are used, and it takes about 150 tokens\."):
        spent.reserve(need, budget)
    spent, need = Spent(), Need(prompt=100, longest=10, model="m")
    spent.settle(granted(spent, need, budget), Payment(calls=1, prompt=200, completion=10))
    assert granted(spent, need, budget).tokens == 210, "prompts that take more are estimated higher"
    spent = Spent(tokens=900)
    granted(spent, Need(), budget)
    with pytest.raises(BudgetReached, match="has no room for the next call"):  # a person is not waited for
        spent.reserve(Need(prompt=100, longest=400, model="m"), budget)
