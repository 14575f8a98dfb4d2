"""Calls that go out together, by a provider's batch: at half the price, and within a day. Imports httpx.

LiteLLM makes the request and reads the reply as of any call; only what lies between goes another way. The request waits
here until no more come, all go out as one batch, and the reply is what the batch has for it.

LiteLLM's own functions for batches can't make one of Anthropic's, and follow redirects, by which a server could send a
key and questions on to another. So its HTTP client is used, which `card.load` keeps from that.
"""

import asyncio
import json
import logging
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import httpx

from courtroom.store.database import Database, insert
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)

QUIET_S = 1.0
"""A batch goes out when no call has come for so long."""
MAX_BYTES = 100 * 2**20
"""Of one batch; providers take 200 MB and more."""
MIN_LOOK_S, MAX_LOOK_S = 1.0, 60.0
"""How often it is looked whether a batch has ended."""
LOOKS_EACH = 0.05
"""Of the time that it has taken so far."""
TIMEOUT_S = 600.0
"""Of a request about a batch."""
KEPT_S = 30 * 86_400.0
"""For so long providers keep what came of a batch."""
HEADERS = ("authorization", "x-api-key", "anthropic-version", "anthropic-beta", "openai-organization")
"""Of a call, those that go with its batch."""
BATCH: ContextVar[Callable[[httpx.Request], Awaitable[httpx.Response]] | None] = ContextVar("BATCH", default=None)
"""Takes the request of the call under way in this task into a batch; None sends it as it is."""


Result = tuple[int, Any]
"""What a batch has for one of its requests: an HTTP status and a body."""
NOT_ANSWERED: Result = 503, {"error": {"type": "expired", "message": "the batch ended before this was answered"}}


@dataclass(frozen=True)
class Door:
    """Where requests go that can go out as one batch. All methods raise `httpx.HTTPError`."""

    url: str
    """Of a single call."""
    model: str
    headers: tuple[tuple[str, str], ...] = field(repr=False)
    """They hold the key."""

    async def submit(self, bodies: Mapping[str, Any]) -> str:
        """Send a batch out, and return its id."""
        if self._is_anthropic:
            requests = [{"custom_id": key, "params": body} for key, body in bodies.items()]
            return await self._id_of(f"{self.url}/batches", json={"requests": requests})
        order = {"method": "POST", "url": "/v1/chat/completions"}
        lines = "".join(f"{json.dumps({'custom_id': key, **order, 'body': body})}\n" for key, body in bodies.items())
        file = {"file": ("batch.jsonl", lines.encode(), "application/jsonl")}
        sent = await self._id_of(f"{self._base}/files", data={"purpose": "batch"}, files=file)
        batch = {"input_file_id": sent, "endpoint": order["url"], "completion_window": "24h"}
        return await self._id_of(f"{self._base}/batches", json=batch)

    async def results(self, batch: str, keys: Iterable[str]) -> dict[str, Result] | None:
        """Return what a batch has for requests; None while it is under way."""
        if self._is_anthropic:
            told = (await self._ask("GET", f"{self.url}/batches/{batch}")).json()
            if told["processing_status"] != "ended":
                return None
            lines = await self._lines(f"{self.url}/batches/{batch}/results")
            return {line["custom_id"]: _of_anthropic(line["result"]) for line in lines}
        told = (await self._ask("GET", f"{self._base}/batches/{batch}")).json()
        if told["status"] == "failed":  # it was refused as a whole
            why = next(iter((told.get("errors") or {}).get("data") or ()), {"message": "the batch was refused"})
            return dict.fromkeys(keys, (400, {"error": why}))
        if told["status"] not in ("completed", "expired", "cancelled"):
            return None
        found = dict[str, Result]()
        for name in filter(None, (told.get("output_file_id"), told.get("error_file_id"))):
            for line in await self._lines(f"{self._base}/files/{name}/content"):
                reply = line.get("response")
                found[line["custom_id"]] = (reply["status_code"], reply["body"]) if reply else NOT_ANSWERED
        return found

    @property
    def _is_anthropic(self) -> bool:
        return self.url.endswith("/messages")

    @property
    def _base(self) -> str:
        return self.url.removesuffix("/chat/completions")

    async def _id_of(self, url: str, **sent: Any) -> str:
        return str((await self._ask("POST", url, **sent)).json()["id"])

    async def _lines(self, url: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (await self._ask("GET", url)).text.splitlines() if line]

    async def _ask(self, method: str, url: str, **given: Any) -> httpx.Response:
        from litellm.llms.custom_httpx.http_handler import get_async_httpx_client

        client: httpx.AsyncClient = get_async_httpx_client(llm_provider="batches").client
        response = await client.request(method, url, headers=dict(self.headers), timeout=TIMEOUT_S, **given)
        return response.raise_for_status()


def _of_anthropic(result: Mapping[str, Any]) -> Result:
    from litellm.llms.anthropic.common_utils import ANTHROPIC_ERROR_STATUS_CODE_MAP as STATUSES

    if result["type"] == "succeeded":
        return 200, result["message"]
    if result["type"] != "errored":
        return NOT_ANSWERED
    return STATUSES.get(result["error"].get("error", {}).get("type"), 500), result["error"]


@dataclass
class Batch:
    """Calls that wait for one batch, and what it sends, by their keys."""

    door: Door
    id: str = ""
    """Empty until it has gone out."""
    calls: dict[str, asyncio.Future[Result]] = field(default_factory=dict)
    bodies: dict[str, Any] = field(default_factory=dict)
    bytes: int = 0


class Batches:
    """All batches of a process. Lives on the engine's loop.

    Which call went with which batch is on disk before the batch is waited for: a process that goes on after another
    waits for its batches, and pays for nothing twice.
    """

    def __init__(self, database: Database, writer: Writer) -> None:
        self._database, self._writer = database, writer
        self._open: dict[Door, Batch] = {}
        """Those that have not gone out yet."""
        self._out: dict[str, Batch] = {}
        """Those that are waited for, by their ids."""
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()
        """Held from when a batch goes out until it is on record."""
        self.answered: set[str] = set()
        """Calls under way that were given what their batch has; made again, they go with another one."""

    @contextmanager
    def taking(self, key: str) -> Iterator[None]:
        """Take the request of this task's call into a batch. `key`: names it there, and on disk."""
        before = BATCH.set(partial(self._send, key))
        try:
            yield
        finally:
            BATCH.reset(before)

    async def close(self) -> None:
        """Wait for no batch any more; one that is just going out is put on record first."""
        async with self._sending:
            for task in self._tasks:
                task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _send(self, key: str, request: httpx.Request) -> httpx.Response:
        """Return the reply to a call once its batch has ended."""
        content = await request.aread()
        body = json.loads(content)
        headers = tuple((name, request.headers[name]) for name in HEADERS if name in request.headers)
        door, call = Door(str(request.url), body["model"], headers), asyncio.get_running_loop().create_future()
        row = self._database.row("SELECT batch FROM batched_calls WHERE key = ?", (key,))
        if row and key not in self.answered:  # it went out, and was never given its answer
            batch = self._out.get(row["batch"]) or self._begin(Batch(door, row["batch"]))
        else:
            batch = self._open.get(door) or self._begin(Batch(door))
            batch.bodies[key] = body
            batch.bytes += len(content)
        batch.calls[key] = call
        try:
            status, reply = await call
        except httpx.HTTPStatusError as error:
            return httpx.Response(error.response.status_code, text=error.response.text, request=request)
        return httpx.Response(status, json=reply, request=request)

    def _begin(self, batch: Batch) -> Batch:
        # In no call's context: what is sent and read here is no call's, and neither are its bounds.
        task = asyncio.get_running_loop().create_task(self._bring(batch), context=Context())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if batch.id:
            self._out[batch.id] = batch
        else:
            self._open[batch.door] = batch
        return batch

    async def _bring(self, batch: Batch) -> None:
        """Bring a batch to its end, whatever happens to it."""
        try:
            before = -1
            while before < len(batch.calls) and batch.bytes < MAX_BYTES:
                before = len(batch.calls)
                await asyncio.sleep(QUIET_S)
            if not batch.id:
                del self._open[batch.door]
                async with self._sending:
                    batch.id = await batch.door.submit(batch.bodies)
                    await self._writer.do(partial(self._record, batch))
                self._out[batch.id] = batch
            results = await self._follow(batch)
            self._out.pop(batch.id, None)  # a call that comes from here on looks at the batch anew
            for key, call in batch.calls.items():
                if not call.done():
                    self.answered.add(key)
                    call.set_result(results.get(key, NOT_ANSWERED))
            failed = [key for key in batch.calls if results.get(key, NOT_ANSWERED)[0] >= 400]
            await self._writer.do(partial(self._forget, failed))
        except Exception as error:  # noqa: BLE001  the calls have it
            log.warning("a batch of %s could not be brought to its end", batch.door.model, exc_info=True)
            for call in batch.calls.values():
                if not call.done():
                    call.set_exception(error)
        finally:
            if self._out.get(batch.id) is batch:
                del self._out[batch.id]

    async def _follow(self, batch: Batch) -> Mapping[str, Result]:
        """Look at a batch from time to time until it has ended. Trouble that may pass is waited out."""
        began = time.monotonic()
        while True:
            try:
                if (found := await batch.door.results(batch.id, batch.calls)) is not None:
                    return found
            except httpx.TransportError as error:
                log.warning("batch %s could not be looked at: %s", batch.id, error)
            except httpx.HTTPStatusError as error:
                status = error.response.status_code
                if status == 404:  # nobody knows it any more: what it held is asked again
                    return {}
                if status not in (408, 429) and status < 500:
                    raise
                log.warning("batch %s could not be looked at: %s", batch.id, status)
            await asyncio.sleep(min(MAX_LOOK_S, max(MIN_LOOK_S, LOOKS_EACH * (time.monotonic() - began))))

    def _record(self, batch: Batch) -> None:
        now = time.time()
        with self._database.transaction() as db:
            db.execute("DELETE FROM batched_calls WHERE at < ?", (now - KEPT_S,))
            self._forget(batch.bodies)
            insert(db, "batched_calls", ({"key": key, "batch": batch.id, "at": now} for key in batch.bodies))

    def _forget(self, keys: Iterable[str]) -> None:
        self._database.connection.executemany("DELETE FROM batched_calls WHERE key = ?", [(key,) for key in keys])
