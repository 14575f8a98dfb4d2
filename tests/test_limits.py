"""Calls at once, requests and tokens a minute, and `Retry-After`: what a real server sees of them.

A minute is two seconds here. Calls are counted within a quarter of one, so that a busy machine does no harm.
"""

import asyncio
import logging
import math
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.media.store import MediaStore
from courtroom.models.limits import Limits, Slot
from courtroom.models.pool import ModelPool
from courtroom.models.request import ModelError, Reply, Request
from tests.openai_server import OpenAIServer, refusal
from tests.say import question, there

pytestmark = pytest.mark.usefixtures("no_pause")
MINUTE_S = 2.0


class Clocked(OpenAIServer):
    """A server with a note of when calls left for it, and how long they are in tokens.

    When they arrive says less: a machine that stands still for a second has them all arrive together.
    """

    def __init__(self, loses: Callable[[str], bool] = lambda asked: False, **given: Any) -> None:
        super().__init__(**given)
        self.came: list[tuple[float, int]] = []
        self._loses = loses
        """Which calls it never answers."""

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        if self._loses(await request.text()):
            await asyncio.sleep(3600)
        return await super()._chat(request)

    def quarters(self) -> Iterator[list[int]]:
        """Tokens of the calls within a quarter of a minute from each of them."""
        for start, _ in self.came:
            yield [tokens for at, tokens in self.came if start <= at < start + MINUTE_S / 4]


class NotedLimits(Limits):
    """Limits that note each turn they give."""

    def __init__(self, came: list[tuple[float, int]]) -> None:
        super().__init__(MINUTE_S)
        self._came = came

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[Slot]:
        async with super().turn(request) as slot:
            self._came.append((slot.entered_at, slot.prompt_tokens))
            yield slot


@asynccontextmanager
async def clocked(folder: Path, **given: Any) -> AsyncIterator[tuple[Clocked, ModelPool]]:
    """A server, and the pool of a process that asks it."""
    with Clocked(**given) as server:
        pool = ModelPool(MediaStore(folder), there(server), NotedLimits(server.came))
        await pool.warm()
        yield server, pool


def questions(number: int, run: str = "0", **spec: object) -> list[Request]:
    given: dict[str, Any] = {"connection": "test", **spec}
    return [question(tag=f"{run}/{n}", text=f"Say word {n} of run {run}.", **given) for n in range(number)]


async def asked(pool: ModelPool, *requests: Request) -> list[Reply]:
    return list(await asyncio.gather(*(pool.answer(request) for request in requests)))


async def test_tokens_a_minute_hold_over_all_runs_but_one_longer_call_is_made(tmp_path: Path) -> None:
    long = "word " * 400
    given: dict[str, Any] = {"connection": "test", "tokens_per_minute": 3_000, "max_tokens": 16}
    async with clocked(tmp_path) as (server, pool):
        await asked(pool, *(question(tag=f"{n}", text=f"{n} {long}", **given) for n in range(8)))
    assert len(server.came) == 8
    assert max(map(sum, server.quarters())) <= 3_300
    async with clocked(tmp_path) as (server, pool):
        await asked(pool, *questions(1, tokens_per_minute=10))
    assert len(server.came) == 1


async def test_one_calls_retry_after_holds_for_all_callers(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "courtroom")
    refused: list[float] = []

    def answer(body: dict[str, Any]) -> web.Response | None:
        if refused:
            return None
        refused.append(time.monotonic())
        return refusal(429, "slow down", again="1")

    async with clocked(tmp_path, answer=answer) as (server, pool):
        first = asyncio.create_task(asked(pool, *questions(1, "0")))
        while not refused:
            await asyncio.sleep(0.01)
        while next(iter(pool.limits.limiters.values()))._under_way:
            await asyncio.sleep(0.01)
        await asked(pool, *questions(9, "1"))
        await first
    later = [at for at, _ in server.came[1:]]
    assert len(later) == 10
    assert min(later) - refused[0] > 0.7
    assert "again in 1.0 s" in caplog.text


async def test_waiting_for_a_turn_counts_neither_for_the_time_out_nor_for_the_latency(tmp_path: Path) -> None:
    async with clocked(tmp_path) as (server, pool):
        spec = {"requests_per_minute": 1, "timeout_s": 1.5, "attempts": 1}
        replies = await asked(pool, *questions(2, **spec))
    assert server.came[1][0] - server.came[0][0] > MINUTE_S / 2
    assert all(reply.latency_s < 1.5 and reply.attempts == 1 for reply in replies)


async def test_a_server_with_two_slots_gives_each_answer_once(tmp_path: Path) -> None:
    """Though most wait longer than the time-out."""
    async with clocked(tmp_path, delay=0.2, slots=2) as (server, pool):
        replies = await asked(pool, *questions(60, timeout_s=3.0))
        lowered = pool.limits.limiters[("test", "openai/any")]._adapted
    assert [reply.attempts for reply in replies] == [1] * 60
    assert server.stats()["repeated"] == 0
    assert lowered < 60


async def test_an_answer_may_take_longer_than_the_time_out(tmp_path: Path) -> None:
    async with clocked(tmp_path, delay=2.0) as (server, pool):
        reply = await pool.answer(questions(1, timeout_s=1.0)[0])
    assert reply.attempts == len(server.came) == 1


async def test_a_call_that_the_server_has_lost_is_asked_again_though_it_answers_others(tmp_path: Path) -> None:
    once = iter([True])

    def loses(asked: str) -> bool:
        return "Say word 0 of run 0." in asked and next(once, False)

    async with clocked(tmp_path, loses=loses, delay=0.02) as (_, pool):
        lost = asyncio.create_task(pool.answer(questions(1, timeout_s=0.2, max_tokens=64)[0]))
        run = 0
        while not lost.done() and run < 2000:
            run += 1
            await asked(pool, *questions(1, str(run), timeout_s=20.0))
        assert run > 1
        assert lost.done()
        assert lost.result().attempts >= 2  # more where the machine stands still for longer than the time-out


async def test_a_server_that_takes_only_so_many_calls_at_once_is_soon_asked_no_more(tmp_path: Path) -> None:
    def answer(body: dict[str, Any]) -> web.Response | None:
        return None if server.open <= 4 else refusal(429, "busy")

    async with clocked(tmp_path, delay=0.05, answer=answer) as (server, pool):
        await asked(pool, *questions(40, attempts=20))
    assert server.calls < 40 * 3


async def test_calls_of_one_server_do_not_slow_those_of_another(tmp_path: Path) -> None:
    """One that answers each call with 429 brings its own calls down to one at a time, and nobody else's."""

    def answer(body: dict[str, Any]) -> web.Response | None:
        return refusal(429, "no") if body["model"] == "bad" else None

    async with clocked(tmp_path, answer=answer, delay=0.1) as (server, pool):
        bad = [pool.answer(one) for one in questions(8, "0", id="openai/bad", attempts=3)]
        failed = asyncio.gather(*bad, return_exceptions=True)
        await asked(pool, *questions(20, "1", id="openai/good"))
        good = pool.limits.limiters[("test", "openai/good")]
        assert all(isinstance(one, ModelError) for one in await failed)
        assert pool.limits.limiters[("test", "openai/bad")]._adapted == 1
    assert good._adapted == math.inf
