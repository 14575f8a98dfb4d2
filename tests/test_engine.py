"""The engine, driven by a scripted model and a real server: where a run pauses, and who looks on of it.

What it has paid for is counted once and for good, after a kill, a stop or a failure; where its budget ends it stops.
"""

import asyncio
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from courtroom import Budget, Case, Court, Courthouse, Lesson, ModelSpec, Put, Record, Search, Settings, Verdict
from courtroom.access import Access, Account, acts
from courtroom.accounts import AccountStore, Identity
from courtroom.courthouse import LatestRecords
from courtroom.engine import budget
from courtroom.engine.answers import AnswerStore
from courtroom.engine.budget import Need, Payment, Reserved, Spent
from courtroom.engine.errors import BudgetReached, NoSuchRun
from courtroom.engine.run import Control
from courtroom.media.store import MediaStore
from courtroom.models.pool import ModelPool
from courtroom.models.request import ModelError
from tests import forks
from tests.kills import die_after
from tests.openai_server import OpenAIServer
from tests.test_resilience import environment, record_of, result, runs
from tests.toy import CASE, Bench, ToySetup, side_by_member, toy

NONSENSE = "I would rather not say."


def shell_that_dies(*words: str) -> None:
    """The command of the shell; the process is dead as soon as an answer is on disk, before anything else happens."""
    die_after(1, ((AnswerStore, "keep"),))
    forks.shell(*words)


@pytest.mark.kills
def test_what_killed_processes_paid_is_counted(tmp_path: Path) -> None:
    with OpenAIServer(answer=lambda body: NONSENSE if server.calls <= 3 else None) as server:
        run = ("run", "oak-table", "--procedure", "debate", "--set", "rounds=1", "--model", "openai/any", "--json")
        for last in (1, 2, 3):
            with forks.Fork(shell_that_dies, *run, environment=environment(tmp_path, server.url)) as process:
                assert process.finish().returncode == -signal.SIGKILL
            assert server.calls == last
            (begun,) = runs(tmp_path)
            run = ("resume", begun, "--json")
            assert record_of(tmp_path, begun).asked == last, "counted before the run goes on"
        done = result(forks.run(*run, environment=environment(tmp_path, server.url)))
        house = Courthouse(Settings(home=tmp_path))
        record = house.record(begun)
        replies = [house.answers.reply(key) for call in record.calls for key in call.keys]
        completion = sum(reply.usage.completion for reply in replies if reply)
        house.close()
        assert done["status"] == "done", done["reason"]
        assert (record.asked, record.recorded) == (server.calls, 0)
        assert sum(call.asked for call in record.calls) == server.calls
        assert record.tokens == (server.prompt_tokens, completion)
        assert done["asked"] == server.calls - 3, "the command counts what it asked itself"
        told = {"prompt": server.prompt_tokens, "completion": completion, "cached": record.spent.cached}
        assert done["tokens"] == told


def test_an_unreadable_answer_counts_in_the_budget(bench: Bench) -> None:
    bench.model.reply = lambda request: NONSENSE if len(request.messages) == 2 else side_by_member(request)
    record = bench.hear(ToySetup(rounds=1, budget=Budget(calls=3)))
    assert record.run.status == "paused"
    assert (record.asked, record.tokens) == (3, (30, 3))
    assert record.cost == pytest.approx(0.03)
    record = bench.go_on(record.run.id, Budget(calls=5))
    assert "5 calls is used up" in record.run.reason
    assert record.asked == len(bench.model.history) == 5
    record = bench.go_on(record.run.id, Budget())
    assert record.run.status == "done"
    assert record.asked == len(bench.model.history) == 6
    assert (record.recorded, sum(call.asked for call in record.calls)) == (0, 6)


def test_a_call_under_way_at_a_stop_counts(bench: Bench) -> None:
    bench.model.hold, bench.model.tokens = asyncio.Event(), 10_000
    run = bench.start(ToySetup(budget=Budget(tokens=25_000)))
    bench.runner.go(run)
    assert bench.model.asked.wait(30)
    bench.runner.stop(run)
    bench.runner.go(run)
    bench.let_go(run)
    bench.runner.wait(run, 30)
    record = bench.runner.record(run)
    assert "25,000 tokens is used up" in record.run.reason
    assert (record.asked, record.tokens) == (3, (30_000, 3))


def test_who_gave_unreadable_answers_is_asked_again(bench: Bench) -> None:
    bench.model.reply = lambda request: NONSENSE
    record = bench.hear(ToySetup(rounds=1))
    assert (record.run.status, record.asked) == ("failed", 9)
    assert record.run.reason.endswith("then continue: those who failed are asked again.")
    record = bench.go_on(record.run.id)
    assert (record.run.status, record.asked) == ("failed", 18)
    bench.model.reply = side_by_member
    record = bench.go_on(record.run.id)
    assert record.run.status == "done"
    assert record.asked == len(bench.model.history) == 21
    again = bench.go_on(bench.start(ToySetup(rounds=1), parent=record.run.id))
    assert (again.run.verdict, again.asked) == (record.run.verdict, 0), "a fork finds the answer on record"
    assert [call.keys for call in again.calls] == [call.keys for call in record.calls]
    assert {len(call.keys) for call in again.calls} == {7}


JURY = 17


@contextmanager
def hearings(folder: Path, **server: Any) -> Iterator[tuple[OpenAIServer, Bench]]:
    """A server, and a store with a runner that asks it."""
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(**server, known_to=patch) as real:
        pool = ModelPool(MediaStore(folder))
        bench = Bench(folder, online=pool)
        bench.runner.do(pool.warm()).result()
        yield real, bench
        bench.close()


def planned(bench: Bench, model: str = "openai/any", *, seed: int = 0, **knobs: Any) -> str:
    """A run of the jury, whose answers are short."""
    given = ModelSpec(id=model, attempts=1, max_tokens=64)
    return bench.store.create("toy", CASE, ToySetup(size=JURY, quorum=0, model=given, **knobs), seed)


def is_used_up(amount: float, spent: list[float], rest: float) -> bool:
    """Whether the calls took all of the budget that the dearest of them would fit, and at most a rest more."""
    return amount - max(spent) <= sum(spent) <= amount + rest


def tokens(record: Record) -> list[float]:
    return [call.prompt_tokens + call.completion_tokens for call in record.calls]


def test_members_at_once_do_not_overshoot_a_token_budget(tmp_path: Path) -> None:
    with hearings(tmp_path, delay=0.05) as (server, bench):
        record = bench.go_on(planned(bench, rounds=3, budget=Budget(tokens=2_000)))
        assert record.run.status == "paused"
        assert record.run.reason.startswith("The budget of 2,000 tokens ")
        assert "Raise it and continue" in record.run.reason
        assert server.most_open > 1
        assert is_used_up(2_000, tokens(record), 20)
        assert server.calls < 3 * JURY
        assert bench.go_on(record.run.id, Budget(tokens=1_000_000)).run.status == "done"
        assert server.calls == 3 * JURY


def granted(spent: Spent, need: Need, budget: Budget) -> Reserved:
    room = spent.reserve(need, budget)
    assert isinstance(room, Reserved)
    return room


def test_a_persons_runs_stop_at_the_months_money(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with hearings(tmp_path, delay=0.05) as (_, bench):
        store, accounts = bench.store, AccountStore(bench.database)
        bea, cem = (accounts.arrive(Identity(issuer="https://id.example", subject=name)) for name in ("bea", "cem"))
        for one in (bea, cem):
            accounts.give(one.id, Access.RUN)
        accounts.allow(bea.id, 0.0004)
        begun = []
        for seed, person in enumerate((bea, bea, cem)):
            with acts(person):
                begun.append(planned(bench, "openai/gpt-4o-mini", rounds=1, seed=seed))
        first, second, others = begun
        for run in begun:
            bench.runner.go(run)
        for run in begun:
            bench.runner.wait(run, 60)
        stopped = [store.run(run) for run in (first, second) if store.run(run).status == "paused"]
        assert stopped
        assert all("US$ 0.00 a month" in row.reason and "Ask an owner" in row.reason for row in stopped)
        records = [bench.runner.record(run) for run in (first, second)]
        spent = [call.cost or 0.0 for record in records for call in record.calls]
        assert is_used_up(0.0004, spent, 0.000_008)
        assert accounts.spent(bea.id).money == pytest.approx(sum(spent))
        assert store.run(others).status == "done"
        store.delete(first)
        still_spent = accounts.spent(bea.id).money
        assert still_spent == pytest.approx(sum(spent)), "what is spent is not had back by deleting runs"
        accounts.allow(bea.id, None)
        monkeypatch.setattr(budget, "FRESH_S", 0.0)
        assert bench.go_on(second).run.status == "done"


async def test_at_a_budgets_end_calls_are_made_singly() -> None:
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


@pytest.mark.parametrize(
    ("control", "reason", "tallies"),
    [
        (Control(stage="round 1"), "Round 2", 1),
        (Control(breaks=("round",)), "after the round", 1),
        (Control(breaks=("change",)), "juror-01 changed from seller to buyer", 1),
        (Control(breaks=("consensus",)), "consensus", 2),
    ],
)
def test_a_run_pauses_where_it_is_told_and_goes_on(bench: Bench, control: Control, reason: str, tallies: int) -> None:
    record = bench.hear(ToySetup(consensus=0.9), control=control)
    assert record.run.status == "paused"
    assert reason in record.run.reason
    assert len(record.tallies) >= tallies
    assert control.stage is None or [stage.name for stage in record.stages] == ["Round 1"]
    assert bench.go_on(record.run.id, control=Control()).run.status == "done"
    assert len(bench.model.history) == 6


def test_after_a_lost_quorum_only_those_who_failed_are_asked(bench: Bench) -> None:
    down = ModelError("The server is down.")
    bench.model.reply = lambda request: side_by_member(request) if request.tag.endswith("juror-03") else down
    record = bench.hear()
    assert record.run.status == "failed"
    assert "1 of 3 members could vote in Round 1" in record.run.reason
    bench.model.reply = side_by_member
    assert bench.go_on(record.run.id).run.status == "done"
    asked = Counter(request.tag for request in bench.model.history)
    assert (asked["0/juror-03"], asked["0/juror-01"]) == (2, 3)


def test_what_a_lesson_rests_on_is_on_disk_first(bench: Bench, tmp_path: Path) -> None:
    async def look_and_learn(court: Court[Case, ToySetup]) -> Verdict:
        await court.stage("Learning", "round")
        (hit,) = await court.retrieve("look", Search(collection="precedents", text="kettle", k=1))
        await court.learn("put", Lesson(phase="norms", ops=(Put(collection="precedents", record={"id": hit.id}),)))
        return Verdict(outcome="learned")

    bench.procedures = {"toy": replace(toy(tmp_path), deliberate=look_and_learn)}
    bench.runner.close()
    bench.runner = bench.new_runner()
    seen: list[str] = []
    bench.shelf.teach = lambda run, *_: seen.extend(event.path for _, event in bench.store.events(run))
    bench.hear()
    assert "learning/look" in seen


LONG_S = 3600.0


def test_what_one_has_read_is_kept_from_strangers(bench: Bench) -> None:
    ada, ben = (Account(id=name, name=name, access=Access.RUN) for name in ("ada", "ben"))
    latest = LatestRecords(bench.runner.record, bench.store)
    with acts(ada):
        run = bench.start()
        assert latest.of(run, LONG_S).run.id == run
    with acts(ben), pytest.raises(NoSuchRun):
        latest.of(run, LONG_S)
    record = latest.of(bench.hear().run.id)
    budget = record.setup.budget.model_copy(update={"calls": 99})
    bench.store.replace_setup(record.run.id, record.setup.model_copy(update={"budget": budget}))
    assert latest.of(record.run.id).setup.budget.calls == 99
