"""Any model that LiteLLM can reach. The one place where calls leave the process, and the one place that retries."""

from __future__ import annotations

import asyncio
import inspect
import json
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from tenacity import AsyncRetrying, retry_if_exception, stop_after_attempt

from courtroom.errors import MediaError
from courtroom.media import MediaStore
from courtroom.models.card import card, load, provider
from courtroom.models.errors import ModelError
from courtroom.models.failures import Incomplete, Unstreamed, may_pass, note, refuses_form, sentence, wait
from courtroom.models.keys import credentials
from courtroom.models.prices import price
from courtroom.models.request import Reply, Request, Usage, Watch, schema_of
from courtroom.models.spec import ModelSpec
from courtroom.models.wire import to_wire


class LiteLLMModel:
    """Asks over the network. Keys come from the environment, or from `KEYS` for one browser session.

    `ModelSpec.attempts` bounds the calls that a server sees for one request: nothing below this class retries.
    """

    def __init__(self, media: MediaStore) -> None:
        self._media = media
        # One thread: many members look at the same video at once, and it is to be decoded once.
        self._encoder = ThreadPoolExecutor(1, thread_name_prefix="media")
        self._lacking: set[tuple[str, str]] = set()
        """Models found not to stream, or not to take a JSON schema."""

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
        try:
            messages = await self._messages(request)
            async for attempt in attempts:
                with attempt:
                    number, began = attempt.retry_state.attempt_number, time.perf_counter()
                    # The last attempt asks for the whole answer: not every server that says so can stream.
                    streams = watch if number < spec.attempts and (spec.id, "stream") not in self._lacking else None
                    async with asyncio.timeout(spec.timeout_s):
                        reply = await _ask({**self._parameters(request), "messages": messages}, streams)
                    took = round(time.perf_counter() - began, 4)
                    return reply.model_copy(update={"latency_s": took, "attempts": number})
        except MediaError as error:
            raise ModelError(str(error)) from error
        except Exception as error:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
            raise sentence(error, request) from None  # the cause may hold a key, and a log would print it
        raise AssertionError("the last attempt returns or raises")

    async def warm(self) -> None:
        """Import LiteLLM, off the loop's thread."""
        if not load.cache_info().currsize:
            await asyncio.to_thread(load)

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
        """Whether to try again; what the model was found to lack is left out from then on."""
        if isinstance(error, Unstreamed):
            self._lacking.add((spec.id, "stream"))
        elif refuses_form(error) and spec.structured == "auto" and (spec.id, "schema") not in self._lacking:
            self._lacking.add((spec.id, "schema"))
            return True
        return may_pass(error)


async def _ask(parameters: dict[str, Any], watch: Watch | None) -> Reply:
    if watch is not None:
        return await _stream(parameters, watch)
    whole = await load().acompletion(**parameters)
    if not whole.choices:
        raise Incomplete("the reply holds no answer")
    choice = whole.choices[0]
    cost = (whole._hidden_params or {}).get("response_cost")
    if not cost and price(parameters["model"]) is None:
        cost = None  # LiteLLM gives 0 for some models that it has no price for
    return _reply(choice.message.content or "", choice.finish_reason, whole.usage, cost)


async def _stream(parameters: dict[str, Any], watch: Watch) -> Reply:
    stream = await load().acompletion(stream=True, stream_options={"include_usage": True}, **parameters)
    text, usage = "", None
    async for chunk in stream:
        for choice in chunk.choices:
            if choice.delta.content:
                text += choice.delta.content
                watch(text)
        usage = getattr(chunk, "usage", None) or usage
    # LiteLLM ends each stream with a “stop” of its own; these say how the provider ended it, if it did.
    finish = stream.received_finish_reason or stream.intermittent_finish_reason
    if not finish:
        raise Incomplete("the stream broke off") if text else Unstreamed("the reply was no stream")
    return _reply(text, finish, usage, _cost(parameters["model"], usage))


def _cost(model: str, usage: Any) -> float | None:
    """US dollars, with the provider's discount for cached tokens; None where no price is known."""
    told = getattr(usage, "cost", None)
    if isinstance(told, (int, float)):
        return float(told)
    if usage is None or price(model) is None:
        return None
    return float(sum(load().cost_per_token(model=model, usage_object=usage)))


def _reply(text: str, finish: str | None, usage: Any, cost: float | None) -> Reply:
    details = getattr(usage, "prompt_tokens_details", None)
    return Reply(
        text=text.encode(errors="replace").decode(),  # half a surrogate pair can't be stored
        usage=Usage(
            prompt=getattr(usage, "prompt_tokens", 0) or 0,
            completion=getattr(usage, "completion_tokens", 0) or 0,
            cached=getattr(details, "cached_tokens", 0) or 0,
        ),
        cost=cost,
        finish=finish or "stop",
    )
