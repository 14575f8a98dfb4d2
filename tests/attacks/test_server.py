"""Attacks of a model's server: whatever it does, one answer of one member is affected at most, and the run says why.

All runs of a small jury are heard at once, each against one mode of the server; each test looks at one of them.
"""

import asyncio
import gc
import re
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from timeit import timeit
from typing import Any

import pytest
from aiohttp import web

from courtroom import ModelSpec, Record
from courtroom.engine.events import Called
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.card import load
from courtroom.models.pool import ModelPool
from courtroom.models.request import ModelError
from tests.attacks.hostile_server import ATTACKS, LATE, USAGE, Attack, HostileServer, say
from tests.openai_server import OpenAIServer, _completion
from tests.say import ask, question, there
from tests.toy import CASE, Bench, ToySetup

pytestmark = pytest.mark.filterwarnings("ignore:Pydantic serializer warnings:UserWarning", "ignore::ResourceWarning")

BAD = "juror-02"
GOOD = ModelSpec(id="openai/good", timeout_s=60)


def spec(name: str, attack: Attack, whose: object) -> ModelSpec:
    """The hostile model, with an id of its own: what is found out about one must not help another.

    A mode that is slow in streams alone has the time of all others where answers come whole.
    """
    timeout_s = attack.timeout_s if attack.error or whose is True else GOOD.timeout_s
    given = {"max_tokens": attack.max_tokens, "timeout_s": timeout_s, "attempts": 1 if whose == "all" else 3}
    return ModelSpec(id=f"openai/{slug(name)}+{whose}", concurrency=512, **given)


def slug(name: str) -> str:
    return re.sub(r"\W+", "-", name)


@dataclass
class Heard:
    """All runs: by attack, and whether answers stream."""

    server: HostileServer
    runs: dict[tuple[str, bool], Record] = field(default_factory=dict)
    lost: dict[str, Record] = field(default_factory=dict)
    """Those where all members have the hostile model; one for each reason."""
    pauses: list[float] = field(default_factory=list)
    """Seconds of its own work between two turns of the engine's loop, whatever else the machine does."""
    million: float = 0.0
    """Seconds of work that a million additions take here, right after the runs."""
    grown: int = 0
    """Bytes by which the process has grown at most."""

    def called(self, name: str, streams: bool) -> Called:
        """The call that the hostile model answered."""
        (called,) = self.runs[name, streams].calls_of(BAD)
        return called

    def seen(self, name: str, streams: bool) -> int:
        """Requests that the server saw from it."""
        return len(self.server.bodies[f"{slug(name)}+{streams}"])


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Heard]:
    load()
    gc.freeze()  # as a courthouse does once it is warm: what other tests have left is not walked while it works
    with pytest.MonkeyPatch.context() as patch, HostileServer({slug(n): a.mode for n, a in ATTACKS.items()}) as server:
        patch.setattr(failures, "backoff_s", lambda number: 0.0)
        patch.setattr(failures, "LONGEST_WAIT_S", 0.05)
        patch.setenv("OPENAI_API_BASE", server.url)
        found = Heard(server)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for streams in (False, True):
            hear_all(found, tmp_path_factory.mktemp("heard"), streams)
            found.million = max(found.million, timeit("total += 1", "total = 0", timer=time.thread_time))
        found.grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
        yield found


def hear_all(found: Heard, folder: Path, streams: bool) -> None:
    """One run an attack where one member meets it, and, where answers come whole, those where all do; all at once."""
    bench = Bench(folder, online=ModelPool(MediaStore(folder)), streaming=streams)
    bench.runner.watch(turn(found.pauses))
    started: dict[str, tuple[Any, Any]] = {}
    plain = ToySetup(size=2, rounds=1, quorum=0.5, model=GOOD)
    one_of_each = {attack.error: name for name, attack in ATTACKS.items() if attack.error and not streams}
    for name, attack in ATTACKS.items():
        meet: list[Any] = [(found.runs, (name, streams), {"members": {BAD: spec(name, attack, streams)}})]
        if name in one_of_each.values():
            meet.append((found.lost, name, {"model": spec(name, attack, "all")}))
        for records, key, change in meet:
            run = bench.store.create("toy", CASE, plain.model_copy(update=change), 0)
            bench.runner.go(run)
            started[run] = records, key
    for run, (records, key) in started.items():
        bench.runner.wait(run, 120)
        records[key] = bench.runner.record(run)
    bench.close()


async def turn(pauses: list[float]) -> None:
    last = time.thread_time()
    while True:
        await asyncio.sleep(0.005)
        now = time.thread_time()
        pauses.append(now - last)
        last = now


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("name", ATTACKS)
def test_one_member_is_affected_and_the_run_says_why(name: str, streams: bool, heard: Heard) -> None:
    """And it counts what was paid."""
    attack, record, called = ATTACKS[name], heard.runs[name, streams], heard.called(name, streams)
    assert record.run.status == "done", record.run.reason
    assert record.run.verdict.outcome == "buyer"
    if attack.error:
        assert called.value is None
        assert re.search(attack.error, called.error), called.error
        assert len(called.error) < 1_000
        assert record.run.verdict.counts == {"buyer": 1, "seller": 0}
    else:
        assert called.value["side"] == "buyer"
        assert record.run.verdict.counts == {"buyer": 2, "seller": 0}
    seen = heard.seen(name, streams)
    assert seen <= 6
    assert called.attempts == (3 if attack.error == LATE and not attack.told else seen)
    if attack.told:
        tokens = called.prompt_tokens, called.completion_tokens
        assert tokens == (seen * USAGE["prompt_tokens"], seen * USAGE["completion_tokens"])
    assert 0 <= called.prompt_tokens < 10_000
    assert called.cost is None or called.cost >= 0


def test_where_all_members_meet_it_the_run_stops_and_the_loop_goes_on(heard: Heard) -> None:
    """With a plain sentence; and memory stays small under all of it."""
    assert heard.lost
    for name, record in heard.lost.items():
        assert (record.run.status, record.failed) == ("failed", 2), name
        assert "Only 0 of 2 members could vote" in record.run.reason
    assert max(heard.pauses) < 100 * heard.million
    assert heard.grown < 2**29


def test_a_cut_answer_is_asked_for_with_more_room(heard: Heard) -> None:
    """And not told to be shorter."""
    asked = heard.server.bodies[f"{slug('cut at the longest answer')}+False"]
    assert [body["max_tokens"] for body in asked] == [64, 128, 256]
    assert len({str(body["messages"]) for body in asked}) == 1
    assert len(set(heard.called("cut at the longest answer", False).keys)) == 3


async def unencrypted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
    writer.close()


async def test_an_absent_or_unencrypted_server_could_not_be_reached(tmp_path: Path, monkeypatch: Any) -> None:
    """Where its address promises encryption; it is told from one that fails."""
    for scheme, listens in (("http", False), ("https", False), ("https", True)):
        async with await asyncio.start_server(unencrypted, "127.0.0.1", 0) as server:
            monkeypatch.setenv("OPENAI_API_BASE", f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
            if not listens:
                server.close()
            with pytest.raises(ModelError, match="could not be reached"):
                await ModelPool(MediaStore(tmp_path)).answer(question(attempts=1))


WAITS = {"Fri, 31 Dec 9999 23:59:59 GMT": 60.0, "Sat, 99 Foo 2026": -1, "Wed, 21 Oct 2015 07:28:00 GMT": -1}
WAITS |= {"2": 2.0, "1e308": 60.0, "nan": -1, "-5": -1, "soon": -1}


@pytest.mark.parametrize("told", WAITS)
def test_when_to_come_again_is_taken_within_reason(told: str, monkeypatch: pytest.MonkeyPatch) -> None:
    busy = Exception()
    busy.litellm_response_headers = {"retry-after": told}  # type: ignore[attr-defined]
    monkeypatch.setattr(failures, "backoff_s", lambda number: -1)
    monkeypatch.setattr(failures, "LONGEST_WAIT_S", 60.0)
    assert failures.Attempts(ModelSpec(id="openai/busy")).pause_s(busy) == WAITS[told]


async def test_what_failed_calls_cost_counts_and_comes_with_the_error(tmp_path: Path) -> None:
    modes = {"dear": say(None, usage={**USAGE, "cost": 0.5}), "endless": say("buyer " * 2_000)}
    with HostileServer(modes) as server:
        reply = await ask(server, tmp_path, lambda text: None, id="openai/dear", attempts=2)
        with pytest.raises(ModelError) as caught:
            await ask(server, tmp_path, id="openai/endless", attempts=2, max_tokens=16)
    assert (reply.attempts, reply.cost, reply.usage.prompt) == (2, 1.0, 22)
    assert (caught.value.paid.usage.completion, caught.value.paid.attempts) == (USAGE["completion_tokens"], 1)


async def test_a_server_s_cookie_is_not_kept(tmp_path: Path) -> None:
    def marking(body: dict[str, Any]) -> web.Response:
        reply = _completion(body, '{"side": "buyer"}', "stop", None)
        return web.json_response(reply, headers={"Set-Cookie": "mark=you-again; Path=/; Max-Age=99999"})

    with OpenAIServer(answer=marking) as server:
        model = ModelPool(MediaStore(tmp_path), there(server))
        for number in range(3):
            await model.answer(question(tag=str(number), connection="test"), (lambda text: None) if number else None)
        await model.close()
    assert len(server.headers) >= 3
    assert not [headers for headers in server.headers if "Cookie" in headers]
