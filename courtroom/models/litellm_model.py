"""Any model that LiteLLM can reach. The one place where calls leave the process, and the one place that retries."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from courtroom.errors import MediaError
from courtroom.media.store import MediaStore
from courtroom.models.bounds import BOUND, Bound
from courtroom.models.calls import in_all, streamed, whole
from courtroom.models.capabilities import Capabilities
from courtroom.models.card import card, load
from courtroom.models.connections import Connections
from courtroom.models.errors import ModelError
from courtroom.models.failures import Unstreamed, breaks_stream, may_pass, note, refuses_form, sentence, wait
from courtroom.models.keys import secret_forms, without_beginnings, without_secrets
from courtroom.models.limits import Limits, Turns
from courtroom.models.request import Reply, Request, Watch
from courtroom.models.route import route
from courtroom.models.schema import schema_of
from courtroom.models.spec import ModelSpec, NotAllowed
from courtroom.models.warm import is_ready, ready
from courtroom.models.wire import to_wire

SCHEMA = "schema"
"""The name under which it is kept that a model takes no JSON schema."""
BROKEN_STREAMS = 2
"""After so many in a row a model is asked for whole answers, for as long as the process lives."""


class LiteLLMModel:
    """Asks over the network, where the server's owner says (`route`).

    `ModelSpec.attempts` bounds the calls that a server sees for one request: nothing below this class retries. Each
    attempt waits for its turn; that wait counts neither for the time-out nor for the latency.
    """

    def __init__(
        self,
        media: MediaStore,
        connections: Connections | None = None,
        limits: Turns | None = None,
        capabilities: Capabilities | None = None,
    ) -> None:
        self._media, self._capabilities = media, capabilities
        self._connections, self._limits = connections or Connections(), limits or Limits()
        # One thread: many members look at the same video at once, and it is to be decoded once.
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="media")
        self._lacking: set[tuple[str, str, str]] = set()
        """Connections and models found not to stream, or not to take a JSON schema."""
        self._broken: Counter[tuple[str, str]] = Counter()
        """How many streams of a model broke in a row."""

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """See `Model.answer`."""
        await self.warm()
        spec = request.spec.checked()
        attempts = AsyncRetrying(
            stop=stop_after_attempt(spec.attempts),
            wait=wait,
            retry=retry_if_exception(partial(self._worth_another, spec)),
            before_sleep=partial(note, spec.id),
            reraise=True,
        )
        number, replies = 0, list[Reply]()
        try:
            messages = await self._messages(request)
            if self._capabilities and await self._capabilities.recall(spec, SCHEMA) is False:
                self._lacking.add((spec.connection, spec.id, SCHEMA))
            async for attempt in attempts:
                with attempt:
                    async with self._limits.turn(request) as turn:
                        number, began = attempt.retry_state.attempt_number, time.perf_counter()
                        parameters = {**self._parameters(request), "messages": messages}
                        secrets = secret_forms()
                        # The last attempt asks for the whole answer: not every server that says so can stream.
                        is_whole = number == spec.attempts or self._lacks(spec, "stream")
                        async with asyncio.timeout(spec.timeout_s):
                            reply = await self._ask(
                                spec, parameters, None if is_whole else _careful(watch, secrets), replies
                            )
                        took = round(time.perf_counter() - began, 4)
                        reply = in_all(replies, reply, latency_s=took, attempts=number)
                        signed, turn.usage = _signed(reply, request, secrets), reply.usage
                        if self._capabilities and self._lacks(spec, SCHEMA):
                            await self._capabilities.remember(spec, SCHEMA, False)
                        return signed
        except (NotAllowed, ModelError):
            raise
        except MediaError as error:
            raise ModelError(str(error)) from error
        except Exception as error:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
            failure = sentence(error, request)
            failure.paid = in_all(replies, Reply(text=""), attempts=number)
            raise failure from None  # the cause may hold a key, and a log would print it
        raise AssertionError("the last attempt returns or raises")

    async def warm(self) -> None:
        """Load all that a call needs, off the loop's thread."""
        if not is_ready():
            await asyncio.to_thread(ready)

    async def _ask(
        self, spec: ModelSpec, parameters: dict[str, Any], watch: Watch | None, replies: list[Reply]
    ) -> Reply:
        """One call. What it used up is added to `replies` as soon as the provider has said it, whatever comes of it."""
        bound = Bound(spec.max_tokens, watch is not None)
        before = BOUND.set(bound)
        try:
            if watch is None:
                return await whole(parameters, bound, replies)
            return await self._streamed(spec, parameters, bound, replies, watch)
        finally:
            BOUND.reset(before)

    async def _streamed(
        self, spec: ModelSpec, parameters: dict[str, Any], bound: Bound, replies: list[Reply], watch: Watch
    ) -> Reply:
        """A streamed call; a model whose streams keep breaking is not asked for one again."""
        began, model = False, (spec.connection, spec.id)

        def heard(text: str) -> None:
            nonlocal began
            began = True
            watch(text)

        try:
            reply = await streamed(parameters, bound, replies, heard)
        except Unstreamed:
            self._lacking.add((*model, "stream"))
            raise
        except (Exception, asyncio.CancelledError) as error:
            if began or breaks_stream(error):
                self._broken[model] += 1
                if self._broken[model] >= BROKEN_STREAMS:
                    self._lacking.add((*model, "stream"))
            raise
        self._broken[model] = 0
        return reply

    async def close(self) -> None:
        """End the thread that reads pictures and videos, and close the connections made on this loop.

        LiteLLM keeps its clients by the loop's address, which a later loop may get.
        """
        self._encoder.shutdown()
        if load.cache_info().currsize:
            kept = load().in_memory_llm_clients_cache.cache_dict
            for key in [key for key in kept if str(key).endswith(f"-{id(asyncio.get_running_loop())}")]:
                client = kept.pop(key)
                if inspect.iscoroutinefunction(getattr(client, "close", None)):
                    await client.close()

    async def _messages(self, request: Request) -> list[dict[str, Any]]:
        if not request.has_media:
            return to_wire(request.messages, self._media)
        work = partial(to_wire, request.messages, self._media)
        return await asyncio.get_running_loop().run_in_executor(self._encoder, work)

    def _parameters(self, request: Request) -> dict[str, Any]:
        spec = request.spec
        extra: dict[str, Any] = dict(spec.extra)
        if (tokens := extra.pop("thinking_budget", None)) is not None:
            extra["thinking"] = {"type": "enabled", "budget_tokens": tokens}
        given: dict[str, Any] = {
            **extra,
            "temperature": spec.temperature,
            "max_tokens": spec.max_tokens,
            "top_p": spec.top_p,
            "timeout": spec.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            **route(spec, self._connections).parameters(),
        }
        if self._wants_schema(spec):
            answer = request.task.form
            form = {"name": answer.__name__, "schema": json.loads(schema_of(answer)), "strict": True}
            given["response_format"] = {"type": "json_schema", "json_schema": form}
        return {name: value for name, value in given.items() if value is not None}

    def _wants_schema(self, spec: ModelSpec) -> bool:
        """As set; else unless its card says no. A model without a card is asked, and asked no more when it refuses."""
        if spec.structured != "auto":
            return spec.structured == "yes"
        known = card(spec.id)
        return not self._lacks(spec, SCHEMA) and (known is None or bool(known.get("supports_response_schema")))

    def _worth_another(self, spec: ModelSpec, error: BaseException) -> bool:
        """Whether to try again; a schema that was refused is left out from then on."""
        if refuses_form(error) and spec.structured == "auto" and not self._lacks(spec, SCHEMA):
            self._lacking.add((spec.connection, spec.id, SCHEMA))
            return True
        return may_pass(error)

    def _lacks(self, spec: ModelSpec, what: str) -> bool:
        return (spec.connection, spec.id, what) in self._lacking


def _careful(watch: Watch | None, secrets: tuple[str, ...]) -> Watch | None:
    """Is shown what streams in without any key that the server may echo."""
    return None if watch is None else lambda text: watch(without_beginnings(text, secrets))


def _signed(reply: Reply, request: Request, secrets: tuple[str, ...]) -> Reply:
    """A reply with where it was asked for, and without any key that the server may have echoed."""
    values = {
        name: without_secrets(getattr(reply, name), secrets) for name in ("text", "finish", "model", "fingerprint")
    }
    return reply.model_copy(update={**values, "connection": request.spec.connection, "address": request.address})
