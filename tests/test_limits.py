"""Calls at once, requests and tokens a minute, and `Retry-After`: what a real server sees of them.

A minute is two seconds here. Calls are counted within a quarter of one, so that a busy machine does no harm.
"""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.errors import ModelError
from courtroom.models.limits import CallLimits, Limits, Slot
from courtroom.models.litellm_model import LiteLLMModel
from courtroom.models.local import LocalServers, _Process, _Server
from courtroom.models.pool import ModelPool
from courtroom.models.request import Message, Reply, Request
from courtroom.models.spec import ModelSpec
from tests.openai_server import OpenAIServer
from tests.say import question, there

MINUTE_S = 2.0


class Clocked(OpenAIServer):
    """A server with a note of when calls left for it, and how long they are in tokens.

    When they arrive says less: a machine that stands still for a second has them all arrive together.
    """

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.came: list[tuple[float, int]] = []

    def most(self, what: int | None = None) -> int:
        """The most calls, or tokens, within a quarter of a minute."""
        return max(
            sum(1 if what is None else tokens for at, tokens in self.came if start <= at < start + MINUTE_S / 4)
            for start, _ in self.came
        )


class NotedLimits(Limits):
    """Limits that note each turn they give."""

    def __init__(self, came: list[tuple[float, int]], minute_s: float = MINUTE_S) -> None:
        super().__init__(minute_s)
        self._came = came

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[Slot]:
        async with super().turn(request) as slot:
            self._came.append((slot.entered_at, slot.prompt_tokens))
            yield slot


async def pool_at(server: Clocked, folder: Path, minute_s: float = MINUTE_S) -> ModelPool:
    pool = ModelPool(MediaStore(folder), there(server), NotedLimits(server.came, minute_s))
    await pool.warm()
    return pool


def questions(number: int, run: str = "0", **spec: object) -> list[Request]:
    return [
        question(connection="test", tag=f"{run}/{n}", text=f"Say word {n} of run {run}.", **spec) for n in range(number)
    ]


async def asked(pool: ModelPool, *requests: Request) -> list[Reply]:
    return list(await asyncio.gather(*(pool.answer(request) for request in requests)))


async def test_tokens_a_minute_hold_over_all_runs_but_one_longer_call_is_made(tmp_path: Path) -> None:
    long = "word " * 400
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        requests = [
            question(connection="test", tag=f"{n}", text=f"{n} {long}", tokens_per_minute=3_000, max_tokens=16)
            for n in range(8)
        ]
        await asked(pool, *requests)
    assert len(server.came) == 8
    assert server.most(1) <= 3_300
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        await asked(pool, question(connection="test", text="word " * 400, tokens_per_minute=10))
    assert len(server.came) == 1


async def test_the_stricter_of_two_runs_limits_holds_for_both(tmp_path: Path) -> None:
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        await asked(pool, *questions(3, "0", requests_per_minute=6), *questions(7, "1", requests_per_minute=600))
    assert server.most() <= 6


async def test_a_limit_goes_with_the_run_that_gave_it_and_holds_for_its_model_alone(tmp_path: Path) -> None:
    with Clocked(delay=0.3) as server:
        pool = await pool_at(server, tmp_path, 1.0)
        await asked(pool, *questions(2, "0", concurrency=1))
        assert server.most_open == 1
        await asked(pool, *questions(3, "1", concurrency=8))
        assert server.most_open == 1
        await asyncio.sleep(1.0)
        await asked(pool, *questions(8, "2", concurrency=8))
    assert server.most_open == 8
    with Clocked(delay=0.3) as server:
        pool = await pool_at(server, tmp_path)
        slow = questions(2, "0", id="openai/one", concurrency=1)
        await asked(pool, *slow, *questions(4, "1", id="openai/two", concurrency=4))
    assert server.most_open == 5


async def test_one_calls_retry_after_holds_for_all_callers(tmp_path: Path) -> None:
    refused: list[float] = []

    def answer(body: dict[str, Any]) -> web.Response | None:
        if refused:
            return None
        refused.append(time.monotonic())
        error = {"error": {"message": "slow down"}}
        return web.json_response(error, status=429, headers={"Retry-After": "1"})

    with Clocked(answer=answer) as server:
        pool = await pool_at(server, tmp_path)
        first = asyncio.create_task(asked(pool, *questions(1, "0")))
        while not refused:
            await asyncio.sleep(0.01)
        while next(iter(pool._online._limits._limiters.values()))._under_way:
            await asyncio.sleep(0.01)
        await asked(pool, *questions(9, "1"))
        await first
    later = [at for at, _ in server.came[1:]]
    assert len(later) == 10
    assert min(later) - refused[0] > 0.7


async def test_waiting_for_a_turn_counts_neither_for_the_time_out_nor_for_the_latency(tmp_path: Path) -> None:
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        spec = {"requests_per_minute": 1, "timeout_s": 1.5, "attempts": 1}
        replies = await asked(pool, *questions(2, **spec))
    assert server.came[1][0] - server.came[0][0] > MINUTE_S / 2
    assert all(reply.latency_s < 1.5 and reply.attempts == 1 for reply in replies)


async def test_a_call_that_is_cancelled_while_it_waits_leaves_its_place(tmp_path: Path) -> None:
    with Clocked(delay=0.2) as server:
        pool = await pool_at(server, tmp_path)
        calls = [asyncio.create_task(pool.answer(request)) for request in questions(4, concurrency=1)]
        while not server.open:
            await asyncio.sleep(0.01)
        for call in calls[1:3]:
            call.cancel()
        done = await asyncio.gather(*calls, return_exceptions=True)
        again = await asked(pool, *questions(1, "1", concurrency=1))
    assert [isinstance(one, Reply) for one in done] == [True, False, False, True]
    assert len(again) == 1
    assert len(server.came) == 3


async def test_each_attempt_is_a_request_that_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    with Clocked(faults=1.0, only=("cut body",)) as server:
        model = LiteLLMModel(MediaStore(tmp_path), there(server), NotedLimits(server.came))
        spec = {"requests_per_minute": 2, "attempts": 4}
        await asyncio.gather(model.answer(question(connection="test", **spec)), return_exceptions=True)  # type: ignore[arg-type]
    assert len(server.came) == 4
    assert server.most() <= 2


def test_limits_are_no_part_of_an_answers_key_nor_of_old_setups() -> None:
    strict = {"requests_per_minute": 1, "tokens_per_minute": 1_000, "concurrency": 1}
    assert question().key == question(**strict).key
    assert "per_minute" not in ModelSpec().model_dump_json()
    with pytest.raises(ValueError, match="requests_per_minute"):
        ModelSpec(requests_per_minute=0)


# --- a server that is slow ----------------------------------------------------------------------------------------


async def test_a_server_with_two_slots_gives_each_answer_once_though_most_wait_longer_than_the_time_out(
    tmp_path: Path,
) -> None:
    with Clocked(delay=0.1, slots=2) as server:
        pool = await pool_at(server, tmp_path)
        replies = await asked(pool, *questions(60, timeout_s=1.5))
        lowered = pool.limits.limiter(("test", "openai/any"))._adapted
    assert [reply.attempts for reply in replies] == [1] * 60
    assert server.stats()["repeated"] == 0
    assert lowered < 60


async def test_an_answer_may_take_longer_than_the_time_out_or_is_asked_for_as_a_stream(
    tmp_path: Path,
) -> None:
    async def streamed() -> None:
        shown: list[str] = []
        with Clocked(pace=0.2, answer=lambda body: '{"word": "' + 400 * "a" + '"}') as server:
            pool = await pool_at(server, tmp_path)
            reply = await pool.answer(questions(1, timeout_s=1.0)[0], shown.append)
        assert len(reply.text) > 400
        assert reply.latency_s > 1.0
        assert reply.attempts == 1

    async def whole() -> None:
        with Clocked(delay=2.0) as server:
            pool = await pool_at(server, tmp_path)
            reply = await pool.answer(questions(1, timeout_s=1.0)[0])
        assert reply.attempts == len(server.came) == 1

    async def whole_in_vain() -> None:
        with TooSlowForWholeAnswers() as server:
            pool = await pool_at(server, tmp_path)
            first, second = questions(2, timeout_s=0.3)
            replies = [await pool.answer(first), await pool.answer(second)]
        assert [reply.attempts for reply in replies] == [2, 1]

    await asyncio.gather(streamed(), whole(), whole_in_vain())


class TooSlowForWholeAnswers(Clocked):
    """A server that is heard in time only where its answer streams in."""

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if "stream" not in await request.json():
            await asyncio.sleep(3600)
        return await super()._chat(request)


class HangsOnce(Clocked):
    """A server that loses the first call that asks for the word 0."""

    lost = False

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if not self.lost and "Say word 0 of run 0." in await request.text():
            self.lost = True
            await asyncio.sleep(3600)
        return await super()._chat(request)


async def test_a_call_that_the_server_has_lost_is_asked_again_though_it_answers_others(tmp_path: Path) -> None:
    with HangsOnce(delay=0.02) as server:
        pool = await pool_at(server, tmp_path)
        lost = asyncio.create_task(pool.answer(questions(1, timeout_s=0.2, max_tokens=64)[0]))
        run = 0
        while not lost.done() and run < 2000:
            run += 1
            await asked(pool, *questions(1, str(run), timeout_s=20.0))
        assert run > 1
        assert (await lost).attempts == 2


async def test_calls_at_once_are_halved_once_for_calls_sent_together_and_grow_while_answers_come_in_time() -> None:
    limiter = Limits().limiter("a model")

    async def slot() -> Slot:
        slot = Slot(CallLimits(8, None, None), lambda: 1, 16)
        await limiter.enter(slot)
        return slot

    async def ends(slots: list[Slot], in_time: bool) -> None:
        for each in slots:
            each.in_time = in_time
            limiter.leave(each)

    await ends([await slot() for _ in range(8)], in_time=False)
    calls = [asyncio.create_task(slot()) for _ in range(60)]
    at_once, slowed_to = [], []
    while calls:
        await asyncio.sleep(0.01)
        started = [call for call in calls if call.done()]
        at_once.append(len(started))
        slowed_to.append(limiter.slowed_to)
        calls = [call for call in calls if not call.done()]
        await ends([await call for call in started], in_time=True)
    assert at_once[:5] == [4, 5, 6, 7, 8]
    assert slowed_to[:5] == [4, 5, 6, 7, None]


async def test_a_server_that_takes_only_so_many_calls_at_once_is_asked_no_more_than_it_takes_for_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)

    def answer(body: dict[str, Any]) -> web.Response | None:
        return None if server.open <= 4 else web.json_response({"error": {"message": "busy"}}, status=429)

    with Clocked(delay=0.05, answer=answer) as server:
        pool = await pool_at(server, tmp_path)
        replies = await asked(pool, *questions(40, attempts=20))
    assert len(replies) == 40
    assert server.calls < 40 * 3


@pytest.mark.parametrize(
    "after", ["1e9", "inf", "99999999999999999999", "Fri, 31 Dec 9999 23:59:59 GMT", "-5", "nan", "soon"]
)
async def test_a_huge_or_senseless_retry_after_holds_nobody_for_longer_than_a_bound(
    after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)
    monkeypatch.setattr(failures, "LONGEST_WAIT_S", 0.2)
    calls = count()

    def answer(body: dict[str, Any]) -> web.Response | None:
        if next(calls) < 3:
            error = {"error": {"message": "slow down"}}
            return web.json_response(error, status=429, headers={"Retry-After": after})
        return None

    with Clocked(answer=answer) as server:
        pool = await pool_at(server, tmp_path)
        async with asyncio.timeout(60):  # without the bound it waits for years
            replies = await asked(pool, *questions(8))
    assert len(replies) == 8
    assert server.calls == 11


async def test_calls_of_one_server_do_not_slow_those_of_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that answers each call with 429 brings its own calls down to one at a time, and nobody else's."""
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)

    def answer(body: dict[str, Any]) -> web.Response | None:
        refuses = body["model"] == "bad"
        return web.json_response({"error": {"message": "no"}}, status=429) if refuses else None

    with Clocked(answer=answer, delay=0.1) as server:
        pool = await pool_at(server, tmp_path)
        bad = [pool.answer(one) for one in questions(8, "0", id="openai/bad", attempts=3)]
        failed = asyncio.gather(*bad, return_exceptions=True)
        await asked(pool, *questions(20, "1", id="openai/good"))
        good = pool.limits.limiter(("test", "openai/good"))
        assert all(isinstance(one, ModelError) for one in await failed)
        assert pool.limits.limiter(("test", "openai/bad"))._adapted == 1
    assert good._adapted == math.inf


async def test_an_idle_process_of_a_small_model_takes_the_call_that_it_has_read_most_of() -> None:
    servers, order = LocalServers(), list[tuple[str, str]]()
    servers._servers["local/small.gguf"] = _Server([_Process(None, name) for name in ("one", "two")])  # type: ignore[arg-type]

    async def ask(begin: str, name: str, until: asyncio.Event) -> None:
        message = Message("user", (begin * 500, name))
        async with servers.turn("local/small.gguf", [message]):
            order.append((servers.address("local/small.gguf"), name))
            await until.wait()

    first, second, at_once = asyncio.Event(), asyncio.Event(), asyncio.Event()
    at_once.set()
    async with asyncio.TaskGroup() as group:
        group.create_task(ask("a", "a-1", first))
        group.create_task(ask("b", "b-1", second))
        await asyncio.sleep(0)
        given_up = group.create_task(ask("b", "b-0", at_once))
        for name in ("a-2", "b-2", "b-3"):
            group.create_task(ask(name[0], name, at_once))
        await asyncio.sleep(0)
        given_up.cancel()
        second.set()
        await asyncio.sleep(0)
        first.set()
    assert order[:3] == [("one/v1", "a-1"), ("two/v1", "b-1"), ("two/v1", "b-2")]
    assert sorted(order[3:]) == [("one/v1", "a-2"), ("two/v1", "b-3")]
