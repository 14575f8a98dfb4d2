"""Calls at once, requests and tokens a minute, and `Retry-After`: what a real server sees of them.

A minute is two seconds here. The server counts within a quarter of one, so that calls that are late on a busy machine
do no harm.
"""

from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from tenacity import wait_none

from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.limits import Limits
from courtroom.models.litellm_model import LiteLLMModel
from courtroom.models.pool import ModelPool
from courtroom.models.request import Reply, Request
from courtroom.models.spec import ModelSpec
from tests.openai_server import OpenAIServer
from tests.say import question, there

MINUTE_S = 2.0


class Clocked(OpenAIServer):
    """A server that notes when calls come, and how long they are in tokens."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.came: list[tuple[float, int]] = []
        own = self.answer

        def answer(body: dict[str, Any]) -> str | web.Response | None:
            self.came.append((time.monotonic(), len(str(body["messages"])) // 4))
            return own(body)

        self.answer = answer

    def most(self, what: int | None = None) -> int:
        """The most calls, or tokens, within a quarter of a minute."""
        return max(
            sum(1 if what is None else tokens for at, tokens in self.came if start <= at < start + MINUTE_S / 4)
            for start, _ in self.came
        )


async def pool_at(server: OpenAIServer, folder: Path) -> ModelPool:
    pool = ModelPool(MediaStore(folder), there(server), Limits(MINUTE_S))
    await pool.warm()
    return pool


def questions(number: int, run: str = "0", **spec: object) -> list[Request]:
    return [
        question(connection="test", tag=f"{run}/{n}", text=f"Say word {n} of run {run}.", **spec) for n in range(number)
    ]


async def asked(pool: ModelPool, *requests: Request) -> list[Reply]:
    return list(await asyncio.gather(*(pool.answer(request) for request in requests)))


async def test_requests_a_minute_hold_over_all_runs(tmp_path: Path) -> None:
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        two = questions(6, "0", requests_per_minute=8) + questions(6, "1", requests_per_minute=8)
        replies = await asked(pool, *two)
    assert len(replies) == len(server.came) == 12
    assert server.most() <= 8


async def test_tokens_a_minute_hold_over_all_runs(tmp_path: Path) -> None:
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


async def test_one_call_longer_than_a_minutes_tokens_is_made_all_the_same(tmp_path: Path) -> None:
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        await asked(pool, question(connection="test", text="word " * 400, tokens_per_minute=10))
    assert len(server.came) == 1


async def test_the_stricter_of_two_runs_limits_holds_for_both(tmp_path: Path) -> None:
    with Clocked() as server:
        pool = await pool_at(server, tmp_path)
        await asked(pool, *questions(3, "0", requests_per_minute=6), *questions(7, "1", requests_per_minute=600))
    assert server.most() <= 6


async def test_a_limit_goes_with_the_run_that_gave_it(tmp_path: Path) -> None:
    with Clocked(delay=0.3) as server:
        pool = await pool_at(server, tmp_path)
        await asked(pool, *questions(2, "0", concurrency=1))
        assert server.most_open == 1
        await asked(pool, *questions(3, "1", concurrency=8))
        assert server.most_open == 1
        await asyncio.sleep(MINUTE_S)
        await asked(pool, *questions(8, "2", concurrency=8))
    assert server.most_open == 8


async def test_models_do_not_wait_for_each_other(tmp_path: Path) -> None:
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
        return web.json_response(error, status=429, headers={"Retry-After": "2"})

    with Clocked(answer=answer) as server:
        pool = await pool_at(server, tmp_path)
        first = asyncio.create_task(asked(pool, *questions(1, "0")))
        while not refused:
            await asyncio.sleep(0.01)
        while next(iter(pool._online._limits._doors.values()))._under_way:
            await asyncio.sleep(0.01)
        await asked(pool, *questions(9, "1"))
        await first
    later = [at for at, _ in server.came[1:]]
    assert len(later) == 10
    assert min(later) - refused[0] > 1.5


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
    monkeypatch.setattr(failures, "_backoff", wait_none())
    with Clocked(faults=1.0, only=("cut body",)) as server:
        model = LiteLLMModel(MediaStore(tmp_path), there(server), Limits(MINUTE_S))
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
