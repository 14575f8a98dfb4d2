"""Experiments by a provider's batch, whatever happens in between; what calls share, and what a verdict costs so."""

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import pytest
from aiohttp import web

from courtroom import Courthouse, ModelSpec
from courtroom.datasets import Row
from courtroom.engine.events import Noted
from courtroom.experiments.spec import Experiment, as_toml, parsed, read_toml
from courtroom.media.store import MediaStore
from courtroom.models import batches, card, failures
from courtroom.models.card import price
from courtroom.models.pool import ModelPool
from courtroom.models.request import Message, Request
from pages.parts.shared.shown import spent_in_words
from tests.docs import ROOT
from tests.driving import arms_of, done, shell, until
from tests.forks import Fork
from tests.kills import go_on_with_experiment
from tests.openai_server import refusal
from tests.provider_server import ProviderServer
from tests.say import SayAWord
from tests.test_experiments import SINGLE, TEXTS, spec
from tests.test_experiments import home as home  # a fixture

CLAUDE, GPT = "anthropic/claude-sonnet-4-5", "openai/gpt-5-mini"
both = pytest.mark.parametrize("model", [CLAUDE, GPT])


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "QUIET_S", 0.1)
    monkeypatch.setattr(batches, "MIN_LOOK_S", 0.05)
    monkeypatch.setattr(failures, "backoff_s", lambda number: 0.0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    with ProviderServer(known_to=monkeypatch) as server:
        yield server


@pytest.fixture
def house(home: Path, tmp_path: Path, server: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    """Closed before its server ends."""
    monkeypatch.setenv("COURTROOM_HOME", str(shutil.copytree(home, tmp_path / "home")))
    with closing(Courthouse()) as house:
        yield house


def by_batch(model: str, **given: Any) -> Experiment:
    """One judge on each of the texts."""
    return spec(arms=arms_of({"one judge": SINGLE}, model=model), batch=True, **given)


@both
def test_ready_calls_go_out_together_at_half_the_price(model: str, house: Courthouse, server: ProviderServer) -> None:
    ways = (by_batch(model), by_batch(model).model_copy(update={"batch": False}))
    estimates = [house.experiments.estimate(experiment).money for experiment in ways]
    found = done(house, by_batch(model))
    records = [house.record(row.run) for row in found.rows]
    assert server.calls == 0
    assert [len(batch.requests) for batch in server.batches.values()] == [len(TEXTS)]
    assert all(row.state == "done" for row in found.rows)
    assert estimates[1] == pytest.approx(2 * estimates[0])
    half = price(model, by_batch=True)
    for record in records:
        assert "tokens by batch, at half the price" in spent_in_words(record)
        assert record.spent.batched == sum(record.tokens)
        assert record.cost == pytest.approx(half.of(*record.tokens, record.spent.cached))


@pytest.mark.parametrize(("model", "status"), [(CLAUDE, 0), (GPT, 500)], ids=["expired", "failed"])
def test_what_fails_goes_with_the_next_batch(model: str, status: int, house: Courthouse, server: Any) -> None:
    server.fate = lambda body: status if "fine day" in str(body) and len(server.batches) == 1 else 200
    found = done(house, by_batch(model))
    assert [len(batch.requests) for batch in server.batches.values()] == [len(TEXTS), 1]
    assert all(row.state == "done" for row in found.rows)


@both
def test_an_experiment_killed_in_a_batch_waits_for_it(model: str, house: Courthouse, server: ProviderServer) -> None:
    server.held = True
    name = house.experiments.begin(by_batch(model))
    house.experiments.store.set_status(name, "running")
    with Fork(go_on_with_experiment, name, 0):  # and is killed
        until(lambda: house.database.row("SELECT 1 FROM batched_calls") is not None, "the batch on record")
    server.held = False
    house.experiments.resume_interrupted()
    house.experiments.wait(name)
    found = house.experiments.results(name)
    assert len(server.batches) == 1
    paid = sum(tokens for how, tokens in server.billed.items() if how.startswith("batch"))
    assert all(row.state == "done" for row in found.rows)
    assert paid == sum(row.outcome.paid_tokens for row in found.rows if row.outcome)


def test_a_call_in_an_ending_batch_is_answered_too(house: Courthouse, server: Any, monkeypatch: Any) -> None:
    """Both went with one batch; the second is made again when the first has its answer, and what failed is forgotten."""

    async def late(taken: batches.Batches, url: str) -> list[httpx.Response]:
        def asked(key: str) -> httpx.Request:
            body = {"model": "gpt-5-mini", "messages": [{"role": "user", "content": key}]}
            return httpx.Request("POST", f"{url}/chat/completions", json=body)

        await asyncio.gather(*(taken._send(key, asked(key)) for key in ("first", "second")))
        taken.answered.clear()  # as in the process that goes on after another
        first = asyncio.create_task(taken._send("first", asked("first")))
        writing, written = asyncio.Event(), house.writer.do

        async def held(write: Callable[[], Any]) -> None:
            writing.set()
            await asyncio.sleep(0)
            await written(write)

        monkeypatch.setattr(house.writer, "do", held)
        await writing.wait()
        return await asyncio.wait_for(asyncio.gather(first, taken._send("second", asked("second"))), timeout=60)

    card.load()
    found = house.runner.do(late(batches.Batches(house.database, house.writer), server.url)).result()
    assert [one.status_code for one in found] == [200, 200]
    assert len(server.batches) == 1


def test_a_batch_that_is_refused_says_why(house: Courthouse, server: ProviderServer) -> None:
    server.refuses = lambda: refusal(401, "this key is wrong")
    found = done(house, by_batch(GPT))
    assert {row.state for row in found.rows} == {"failed"}
    assert "API_KEY" in found.rows[0].reason
    assert not server.batches


@both
def test_a_server_can_send_no_batch_on_to_another(model: str, house: Courthouse, server: ProviderServer) -> None:
    with ProviderServer() as other:
        server.refuses = lambda: web.Response(status=307, headers={"Location": f"{other.url}/batches"})
        assert {row.state for row in done(house, by_batch(model)).rows} == {"failed"}
        assert not other.batches


def test_a_model_without_batches_is_asked_one_by_one(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a note says so."""
    with ProviderServer() as server:
        monkeypatch.setenv("HOSTED_VLLM_API_BASE", server.url)
        record = house.record(done(house, by_batch("hosted_vllm/any")).rows[0].run)
        assert server.calls == len(TEXTS)
        assert not server.batches
    (note,) = [event.text for _, event in record.events if isinstance(event, Noted)]
    assert note == "hosted_vllm/any takes no calls by batch: it is asked one by one, at the full price."


def test_the_file_and_the_shell_say_by_batch(house: Courthouse, tmp_path: Path, server: ProviderServer) -> None:
    file = tmp_path / "feelings.toml"
    file.write_text(as_toml(by_batch(GPT)))
    assert "batch = true" in file.read_text()
    assert read_toml(file).digest == read_toml(file).model_copy(update={"batch": False}).digest
    assert "the time of their batches" in shell("experiment", "run", str(file), "--estimate")
    file.write_text(file.read_text().replace("batch = true\n", ""))
    shell("experiment", "run", str(file), "--batch")
    told = shell("experiment", "status", "feelings")
    assert (server.calls, len(server.batches)) == (0, 1)
    (row,) = house.experiments.store.took(house.experiments.store.experiment("feelings").id).values()
    assert f"and {row.tokens} went by batch." in told


CASE = "The case. " * 600
"""1,500 tokens."""


def asked(model: str, own: str) -> Request:
    messages = (Message("system", ("Be fair.\n",)), Message("user", (f"{CASE}\n", "What all are told.\n", own)))
    return Request(ModelSpec.model_validate({"id": model}), messages, SayAWord(), f"0/{own}")


@both
async def test_calls_at_once_write_shared_parts_once(model: str, tmp_path: Path, monkeypatch: Any) -> None:
    with ProviderServer(keep_bodies=True, delay=0.05, known_to=monkeypatch) as server:
        pool = ModelPool(MediaStore(tmp_path))
        replies = await asyncio.gather(*(pool.answer(asked(model, f"You are juror {n}.\n")) for n in range(5)))
        await pool.close()
    written = [reply.usage.written for reply in replies if reply.usage.written]
    if model == GPT:
        assert not written
        assert all(isinstance(message["content"], str) for body in server.bodies for message in body["messages"])
        return
    assert len(written) == 1
    assert sorted(reply.usage.cached for reply in replies) == [0, *written * 4]
    for body in server.bodies:
        *shared, own = body["messages"][0]["content"]
        assert [part["cache_control"] for part in shared] == [{"type": "ephemeral"}] * 2
        assert "cache_control" not in own
    for used, cost in ((reply.usage, reply.cost) for reply in replies):
        assert cost == pytest.approx(price(CLAUDE).of(used.prompt, used.completion, used.cached, used.written))


PANEL = {"jury_size": 17, "rounds": 3, "consensus": 1.0, "model.vision": "no"}


@pytest.mark.parametrize(
    ("model", "most"),
    [("anthropic/claude-sonnet-5-5", 0.35), ("openai/gpt-5-mini", 0.35), ("anthropic/claude-sonnet-4-5", 0.40)],
)
def test_a_verdict_with_cache_and_batch_costs_what_is_published(
    model: str, most: float, house: Courthouse, server: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "QUIET_S", 0.2)
    case = house.library.case("phone-battery")
    house.datasets.add("one", iter([Row(id=case.id, case=case, category="", split="test")]))
    arm = {"name": "jury", "procedure": "cyberjurors", "model": model, "set": PANEL}
    experiment = parsed({"name": "cost", "dataset": {"name": "one"}, "batch": True, "arms": [arm]}, "here")
    expected = house.experiments.estimate(experiment)
    (row,) = done(house, experiment).rows
    record = house.record(row.run)
    assert (row.state, len(record.tallies), server.calls) == ("done", 3, 0), row.reason
    paid = {name: server.billed[f"batch {name}"] for name in ("full", "read", "written", "completion")}
    prompt, completion = record.tokens
    billed = (sum(paid.values()) - completion, paid["read"], prompt + completion)
    assert (prompt, record.spent.cached, record.spent.batched) == billed
    single, half = price(model), price(model, by_batch=True)
    assert single is not None
    assert half is not None
    assert record.cost == pytest.approx(half.of(prompt, completion, paid["read"], paid["written"]))
    whole, cached = single.of(prompt, completion), single.of(prompt, completion, paid["read"], paid["written"])
    assert record.cost / whole <= most
    assert expected.money == pytest.approx(record.cost, rel=0.5)
    figures = (
        f"| {model} | {paid['full']:,} | {paid['read']:,} | {paid['written']:,} | {completion:,} "
        f"| {whole:.3f} | {cached:.3f} | {record.cost:.3f} | {record.cost / whole:.1%} |"
    )
    print(f"{len(record.calls)} calls in {len(server.batches)} batches, estimated US$ {expected.money:.3f}\n{figures}")
    assert figures in (ROOT / "docs/models.md").read_text("utf-8")
