"""What a run has paid for is counted once and for good: after a kill, a stop, a budget, a failure that is asked again."""

import asyncio
import signal
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.engine.answers import AnswerStore, Arrived
from courtroom.engine.budget import in_sum
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.engine.record import Record
from courtroom.engine.setup import Budget
from courtroom.models.errors import ModelError
from courtroom.models.request import Reply, Request, Usage
from courtroom.settings import Settings
from tests import forks
from tests.kills import die_when
from tests.openai_server import OpenAIServer
from tests.test_resilience import environment, result
from tests.toy import Bench, CastVote, Scripted, ToySetup, side_by_member, toy

NONSENSE = "I would rather not say."


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home", Scripted(side_by_member))
    yield bench
    bench.close()


def on(bench: Bench, run: str, budget: Budget | None = None) -> Record:
    """Go on with a run until it settles; with another budget, if one is given."""
    if budget is not None:
        bench.store.replace_setup(run, bench.runner.record(run).setup.model_copy(update={"budget": budget}))
    return bench.go_on(run)


# --- kills and stops ----------------------------------------------------------------------------------------


def shell_that_dies(answers: int, *words: str) -> None:
    """The command of the shell; the process is dead as soon as so many answers are on disk, before anything else happens."""
    kept = [0]
    keep = AnswerStore.keep

    def counted(store: AnswerStore, arrived: Iterable[Arrived]) -> None:
        keep(store, arrived)
        kept[0] = store._database.connection.execute("SELECT count(*) FROM answers").fetchone()[0]

    AnswerStore.keep = counted  # type: ignore[method-assign]
    die_when(lambda: kept[0] >= answers)
    forks.shell(*words)


@pytest.mark.kills
@pytest.mark.parametrize("nonsense", [0, 3])
def test_what_was_paid_in_processes_that_were_killed_before_they_wrote_the_event_is_counted(
    tmp_path: Path, nonsense: int
) -> None:
    with OpenAIServer(answer=lambda body: NONSENSE if server.calls <= nonsense else None) as server:
        run = ("run", "oak-table", "--procedure", "debate", "--set", "rounds=1", "--model", "openai/any", "--json")
        for last in (1, 2, 3):
            with forks.Fork(shell_that_dies, last, *run, environment=environment(tmp_path, server.url)) as process:
                process.finish()
                assert process.returncode == -signal.SIGKILL
            assert server.calls == last
            house = Courthouse(Settings(home=tmp_path))
            (row,) = house.store.runs()
            run = ("resume", row.id, "--json")
            assert house.record(row.id).asked == last, "counted before the run goes on"
            house.close()
        done = result(forks.run(*run, environment=environment(tmp_path, server.url)))
        house = Courthouse(Settings(home=tmp_path))
        record = house.record(row.id)
        replies = [house.answers.reply(key) for call in record.calls for key in call.keys]
        completion = sum(reply.usage.completion for reply in replies if reply)
        house.close()
        assert done["status"] == "done", done["reason"]
        assert (record.asked, record.recorded) == (server.calls, 0)
        assert sum(call.asked for call in record.calls) == server.calls
        assert record.tokens == (server.prompt_tokens, completion)
        assert done["asked"] == server.calls - 3, "the command counts what it asked itself"
        assert done["tokens"] == {"prompt": server.prompt_tokens, "completion": completion}


def test_an_unreadable_answer_is_counted_although_the_budget_ends_before_it_is_asked_again(bench: Bench) -> None:
    bench.model.reply = lambda request: NONSENSE if len(request.messages) == 2 else side_by_member(request)
    record = bench.hear(ToySetup(rounds=1, budget=Budget(calls=3)))
    assert record.run.status == "paused"
    assert (record.asked, record.tokens) == (3, (30, 3))
    assert record.cost == pytest.approx(0.03)
    record = on(bench, record.run.id, Budget(calls=5))
    assert "5 calls is used up" in record.run.reason
    assert record.asked == len(bench.model.history) == 5
    record = on(bench, record.run.id, Budget())
    assert record.run.status == "done"
    assert record.asked == len(bench.model.history) == 6
    assert (record.recorded, sum(call.asked for call in record.calls)) == (0, 6)


def test_a_call_that_was_under_way_when_its_run_was_stopped_counts_against_the_budget(bench: Bench) -> None:
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


def test_what_a_failed_call_cost_stays_although_its_event_was_never_written(bench: Bench) -> None:
    def failing(request: Request) -> Exception:
        failure = ModelError("The server is down.")
        failure.paid = Reply(text="", usage=Usage(prompt=5, completion=2), cost=0.5, attempts=4)
        return failure

    bench.model.reply = failing
    run = bench.hear(ToySetup(rounds=1)).run.id
    bench.database.connection.execute("DELETE FROM events")
    record = bench.runner.record(run)
    assert (record.calls, record.asked, record.tokens, record.cost) == ((), 3, (15, 6), 1.5)
    assert in_sum(record.paid.values()).attempts == 12


def test_a_fork_pays_nothing_for_what_its_parent_paid_and_a_deleted_run_comes_back_with_what_it_paid(
    bench: Bench,
) -> None:
    record = bench.hear()
    fork = on(bench, bench.start(parent=record.run.id))
    assert (fork.asked, fork.recorded, fork.cost, fork.tokens) == (0, 6, 0, (0, 0))
    deleted = bench.store.delete(record.run.id)
    assert bench.database.connection.execute("SELECT count(*) FROM payments").fetchone()[0] == 0
    bench.store.restore(deleted)
    assert bench.runner.record(record.run.id).paid == record.paid


# --- who failed is asked again ------------------------------------------------------------------------------


def test_who_gave_answers_that_can_not_be_read_is_asked_again_when_the_run_goes_on(bench: Bench) -> None:
    bench.model.reply = lambda request: NONSENSE
    record = bench.hear(ToySetup(rounds=1))
    assert (record.run.status, record.asked) == ("failed", 9)
    assert record.run.reason.endswith("then continue: those who failed are asked again.")
    record = on(bench, record.run.id)
    assert (record.run.status, record.asked) == ("failed", 18)
    bench.model.reply = side_by_member
    record = on(bench, record.run.id)
    assert record.run.status == "done"
    assert record.asked == len(bench.model.history) == 21
    again = on(bench, bench.start(ToySetup(rounds=1), parent=record.run.id))
    assert (again.run.verdict, again.asked) == (record.run.verdict, 0), "a fork finds the answer on record"
    assert [call.keys for call in again.calls] == [call.keys for call in record.calls]
    assert {len(call.keys) for call in again.calls} == {7}


def test_a_process_that_ends_while_it_asks_again_goes_on_where_it_was(bench: Bench) -> None:
    bench.model.reply = lambda request: NONSENSE
    run = bench.hear(ToySetup(rounds=1, size=1)).run.id
    assert on(bench, run, Budget(calls=4)).asked == 4
    bench.runner.close()
    bench.runner = bench.new_runner()
    record = on(bench, run, Budget(calls=20))
    assert (record.run.status, record.asked) == ("failed", 6), "the second series is the one that was begun"


async def one_after_the_other(court: Court[Case, ToySetup]) -> Verdict:
    """Nobody's answer can be missed."""
    await court.stage("Round 1", "round")
    votes = [await court.ask(juror, CastVote()) for juror in court.panel("juror")]
    return Verdict(outcome=votes[-1].side)


def test_who_failed_where_there_is_no_vote_is_asked_again(tmp_path: Path) -> None:
    down = True

    def failing(request: Request) -> str | Exception:
        return ModelError("It is down.") if down and request.tag.endswith("juror-02") else '{"side": "seller"}'

    procedures = {"toy": replace(toy(tmp_path), deliberate=one_after_the_other)}
    bench = Bench(tmp_path, Scripted(failing), procedures=procedures)
    record = bench.hear()
    assert record.run.reason == "The run can't go on without this answer. It is down."
    down = False
    assert on(bench, record.run.id).run.status == "done"
    assert [request.tag[-9:] for request in bench.model.history] == [f"/juror-0{number}" for number in (1, 2, 2, 3)]
    bench.close()


def test_what_follows_from_an_answer_that_came_after_all_is_on_record_with_what_it_cost(bench: Bench) -> None:
    down = {("juror-03", 1), ("juror-03", 2), ("juror-02", 2)}

    def failing(request: Request) -> str | Exception:
        missing = (request.tag[-8:], request.task.round) in down
        return ModelError("It is down.") if missing else side_by_member(request)

    bench.model.reply = failing
    record = bench.hear(ToySetup(quorum=0.5))
    assert "1 of 3 members could vote in Round 2" in record.run.reason
    assert record.asked == 6
    down = {("juror-03", 1)}
    record = on(bench, record.run.id)
    assert record.run.status == "done"
    assert [call.stage for call in record.calls if call.value is None] == ["round-1"], "that abstention was borne"
    assert record.asked == len(bench.model.history) == 8
