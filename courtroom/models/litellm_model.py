"""Any model that LiteLLM can reach. The one place where calls leave the process, and the one place that retries."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from courtroom.errors import MediaError
from courtroom.media import MediaStore
from courtroom.models.bounds import BOUND, Bound, Overlong
from courtroom.models.card import card, load, provider
from courtroom.models.errors import ModelError
from courtroom.models.failures import (
    EmptyStream,
    Incomplete,
    NoAnswer,
    Unstreamed,
    Unwilling,
    breaks_stream,
    may_pass,
    note,
    refuses_form,
    sentence,
    wait,
)
from courtroom.models.keys import credentials
from courtroom.models.limits import Limits
from courtroom.models.prices import price
from courtroom.models.request import REFUSAL, Reply, Request, Usage, Watch, schema_of
from courtroom.models.spec import ModelSpec
from courtroom.models.warm import is_ready, ready
from courtroom.models.wire import to_wire

log = logging.getLogger(__name__)

BROKEN_STREAMS = 2
"""After so many in a row a model is asked for whole answers, for as long as the process lives."""
MOST_TOKENS = 10**8
MOST_MONEY = 10**4
"""In US dollars. What a server says beyond these of a single call is not believed."""


class LiteLLMModel:
    """Asks over the network. Keys come from the environment, or from `KEYS` for one browser session.

    `ModelSpec.attempts` bounds the calls that a server sees for one request: nothing below this class retries. Each
    attempt waits for its turn; that wait counts neither for the time-out nor for the latency.
    """

    def __init__(self, media: MediaStore, limits: Limits | None = None) -> None:
        self._media, self._limits = media, limits or Limits()
        # One thread: many members look at the same video at once, and it is to be decoded once.
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="media")
        self._lacking: set[tuple[str, str]] = set()
        """Models found not to stream, or not to take a JSON schema."""
        self._broken: Counter[str] = Counter()
        """How many streams of a model broke in a row."""

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """See `Model.answer`."""
        await self.warm()
        spec = request.spec
        attempts = AsyncRetrying(
            stop=stop_after_attempt(spec.attempts),
            wait=wait,
            retry=retry_if_exception(partial(self._worth_another, spec)),
            before_sleep=partial(note, spec.id),
            reraise=True,
        )
        number, told = 0, list[Reply]()
        try:
            messages = await self._messages(request)
            async for attempt in attempts:
                with attempt:
                    async with self._limits.turn(request) as turn:
                        number, began = attempt.retry_state.attempt_number, time.perf_counter()
                        # The last attempt asks for the whole answer: not every server that says so can stream.
                        streams = watch if number < spec.attempts and (spec.id, "stream") not in self._lacking else None
                        async with asyncio.timeout(spec.timeout_s):
                            reply = await self._ask(request, messages, streams, told)
                        took = round(time.perf_counter() - began, 4)
                        turn.reply = _in_all(told, reply, latency_s=took, attempts=number)
                        return turn.reply
        except MediaError as error:
            raise ModelError(str(error)) from error
        except Exception as error:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
            failure = sentence(error, request)
            failure.paid = _in_all(told, Reply(text=""), attempts=number)
            raise failure from None  # the cause may hold a key, and a log would print it
        raise AssertionError("the last attempt returns or raises")

    async def warm(self) -> None:
        """Load all that a call needs, off the loop's thread."""
        if not is_ready():
            await asyncio.to_thread(ready)

    async def _ask(
        self, request: Request, messages: list[dict[str, Any]], watch: Watch | None, told: list[Reply]
    ) -> Reply:
        """One call. What it used up is added to `told` as soon as the provider has told it, whatever comes of it."""
        spec = request.spec
        bound = Bound(spec.max_tokens, watch is not None)
        BOUND.set(bound)
        parameters = {**self._parameters(request), "messages": messages}
        if watch is None:
            return await _whole(parameters, bound, told)
        began = False

        def heard(text: str) -> None:
            nonlocal began
            began = True
            watch(text)

        try:
            reply = await _stream(parameters, bound, told, heard)
        except Unstreamed:
            self._lacking.add((spec.id, "stream"))
            raise
        except (Exception, asyncio.CancelledError) as error:
            if began or breaks_stream(error):
                self._broken[spec.id] += 1
                if self._broken[spec.id] >= BROKEN_STREAMS:
                    self._lacking.add((spec.id, "stream"))
            raise
        self._broken[spec.id] = 0
        return reply

    async def _messages(self, request: Request) -> list[dict[str, Any]]:
        if not request.has_media:
            return to_wire(request.messages, self._media)
        work = partial(to_wire, request.messages, self._media)
        return await asyncio.get_running_loop().run_in_executor(self._encoder, work)

    def _parameters(self, request: Request) -> dict[str, Any]:
        spec = request.spec
        given: dict[str, Any] = {
            **spec.extra,
            "model": spec.id,
            "temperature": spec.temperature,
            "max_tokens": spec.max_tokens,
            "top_p": spec.top_p,
            "timeout": spec.timeout_s,
            "num_retries": 0,
            "max_retries": 0,
            **credentials(provider(spec.id)),
        }
        known = card(spec.id) if spec.structured == "auto" and (spec.id, "schema") not in self._lacking else None
        if spec.structured == "yes" or (known and known.get("supports_response_schema")):
            answer = request.task.form
            form = {"name": answer.__name__, "schema": json.loads(schema_of(answer))}
            given["response_format"] = {"type": "json_schema", "json_schema": form}
        return {name: value for name, value in given.items() if value is not None}

    def _worth_another(self, spec: ModelSpec, error: BaseException) -> bool:
        """Whether to try again; a schema that was refused is left out from then on."""
        if refuses_form(error) and spec.structured == "auto" and (spec.id, "schema") not in self._lacking:
            self._lacking.add((spec.id, "schema"))
            return True
        return may_pass(error)


async def _whole(parameters: dict[str, Any], bound: Bound, told: list[Reply]) -> Reply:
    whole = await load().acompletion(**parameters)
    if whole is None:
        raise Unwilling("the request could not be processed")
    told.append(_used(parameters["model"], getattr(whole, "usage", None)))
    if not whole.choices:
        raise NoAnswer("the reply holds no answer")
    choice = whole.choices[0]
    message = choice.message
    text, refusal = message.content or "", (message.provider_specific_fields or {}).get("refusal")
    thought = getattr(message, "reasoning_content", None) or ""
    if len(text) + len(thought) > bound.characters:
        raise Overlong(f"{len(text) + len(thought)} characters")
    if refusal and not text:
        return _reply(str(refusal), REFUSAL)
    return _reply(text, choice.finish_reason)


async def _stream(parameters: dict[str, Any], bound: Bound, told: list[Reply], watch: Watch) -> Reply:
    stream = await load().acompletion(stream=True, stream_options={"include_usage": True}, **parameters)
    if stream is None:
        raise Unwilling("the request could not be processed")
    text, thought, called, usage = "", 0, False, None
    try:
        async for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            for choice in chunk.choices[:1]:
                thought += len(getattr(choice.delta, "reasoning_content", None) or "")
                called = called or bool(choice.delta.tool_calls)
                if choice.delta.content:
                    text += choice.delta.content
                    watch(text)
            if len(text) + thought > bound.characters:
                raise Overlong(f"more than {bound.characters} characters")
    finally:
        told.append(_used(parameters["model"], usage))
    # LiteLLM ends each stream with a “stop” of its own; these say how the provider ended it, if it did.
    finish = stream.received_finish_reason or stream.intermittent_finish_reason
    if not finish:
        raise Incomplete("the stream broke off") if text else Unstreamed("the reply was no stream")
    if finish == "stop" and not (text or thought or called):
        raise EmptyStream("the stream ended without a word")  # LiteLLM drops a refusal from a stream
    return _reply(text, finish)


def _used(model: str, usage: Any) -> Reply:
    """What one call used up, as far as the provider tells and can be believed."""
    details = getattr(usage, "prompt_tokens_details", None)
    counted = Usage(
        prompt=_count(getattr(usage, "prompt_tokens", 0)),
        completion=_count(getattr(usage, "completion_tokens", 0)),
        cached=_count(getattr(details, "cached_tokens", 0)),
    )
    return Reply(text="", usage=counted, cost=_cost(model, usage))


def _count(told: object) -> int:
    return told if isinstance(told, int) and 0 <= told <= MOST_TOKENS else 0


def _cost(model: str, usage: Any) -> float | None:
    """US dollars, with the provider's discount for cached tokens; None where no price is known."""
    told = _money(getattr(usage, "cost", None))
    if told is not None or usage is None or price(model) is None:
        return told
    try:
        return _money(sum(load().cost_per_token(model=model, usage_object=usage)))
    except Exception:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
        log.warning("%s: no cost can be worked out of %r", model, usage, exc_info=True)
        return None


def _money(told: object) -> float | None:
    if not isinstance(told, (int, float)) or not math.isfinite(told) or not 0 <= told <= MOST_MONEY:
        return None
    return float(told)


def _in_all(told: list[Reply], reply: Reply, **more: object) -> Reply:
    """A reply with what all calls for it used up."""
    usage = Usage(
        prompt=sum(each.usage.prompt for each in told),
        completion=sum(each.usage.completion for each in told),
        cached=sum(each.usage.cached for each in told),
    )
    costs = [each.cost for each in told]
    cost = None if None in costs else sum(cost for cost in costs if cost is not None)
    return reply.model_copy(update={"usage": usage, "cost": cost, **more})


def _reply(text: str, finish: str | None) -> Reply:
    text = text.encode(errors="replace").decode()  # half a surrogate pair can't be stored
    return Reply(text=text, finish=finish or "stop")
