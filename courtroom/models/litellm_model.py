"""Any model that LiteLLM can reach. The one place where calls leave the process, and the one place that retries."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import re
import time
from typing import Any

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from courtroom.case import Medium
from courtroom.media import MediaStore
from courtroom.models.card import card, load
from courtroom.models.errors import CannotSee, ModelError, ModelRefused
from courtroom.models.keys import KEYS
from courtroom.models.request import Reply, Request, Usage, Watch, schema_of
from courtroom.models.spec import ModelSpec
from courtroom.models.wire import to_wire

log = logging.getLogger(__name__)

SECRETS = re.compile(r"\b(sk|pk|key|bearer|token)[-_ :=]+\S{6,}", re.IGNORECASE)
LONGEST_WAIT_S = 60.0
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)


class LiteLLMModel:
    """Asks over the network. Keys come from the environment, or from `KEYS` for one browser session."""

    def __init__(self, media: MediaStore) -> None:
        self._media = media

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """See `Model.answer`."""
        spec = request.spec
        litellm = await asyncio.to_thread(load) if not load.cache_info().currsize else load()
        parameters = {**_parameters(spec), **_keys(spec.id), **_schema(request)}
        messages = to_wire(request.messages, self._media)
        attempts = AsyncRetrying(
            stop=stop_after_attempt(spec.attempts), wait=_wait, retry=retry_if_exception(_may_pass), reraise=True
        )
        try:
            async for attempt in attempts:
                with attempt:
                    began = time.perf_counter()
                    async with asyncio.timeout(spec.timeout_s):
                        reply = await _ask(litellm, messages, parameters, watch)
                    took, number = time.perf_counter() - began, attempt.retry_state.attempt_number
                    return reply.model_copy(update={"latency_s": round(took, 4), "attempts": number})
        except Exception as error:
            raise _sentence(error, request) from error
        raise AssertionError("the last attempt returns or raises")

    async def warm(self) -> None:
        """Import LiteLLM, off the loop's thread."""
        await asyncio.to_thread(load)


async def _ask(litellm: Any, messages: list[dict[str, Any]], parameters: dict[str, Any], watch: Watch | None) -> Reply:
    if watch is not None:
        reply = await _stream(litellm, messages, parameters, watch)
        if reply is not None:
            return reply
    whole = await litellm.acompletion(messages=messages, **parameters)
    choice = whole.choices[0]
    return Reply(
        text=choice.message.content or "",
        usage=_usage(whole),
        cost=(whole._hidden_params or {}).get("response_cost"),
        finish=choice.finish_reason or "stop",
    )


async def _stream(
    litellm: Any, messages: list[dict[str, Any]], parameters: dict[str, Any], watch: Watch
) -> Reply | None:
    """The answer as it streams in; None where the server does not stream."""
    stream = await litellm.acompletion(
        messages=messages, stream=True, stream_options={"include_usage": True}, **parameters
    )
    text, usage, finish = "", Usage(), ""
    async for chunk in stream:
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            if choice.delta.content:
                text += choice.delta.content
                watch(text)
        if getattr(chunk, "usage", None):
            usage = _usage(chunk)
    if not text:
        return None
    known = card(parameters["model"])
    cost = None
    if known and known.get("input_cost_per_token") is not None:
        cost = usage.prompt * known["input_cost_per_token"] + usage.completion * known["output_cost_per_token"]
    return Reply(text=text, usage=usage, cost=cost, finish=finish or "stop")


def _usage(reply: Any) -> Usage:
    usage = getattr(reply, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Usage(
        prompt=getattr(usage, "prompt_tokens", 0) or 0,
        completion=getattr(usage, "completion_tokens", 0) or 0,
        cached=getattr(details, "cached_tokens", 0) or 0,
    )


def _parameters(spec: ModelSpec) -> dict[str, Any]:
    given = {
        "model": spec.id,
        "temperature": spec.temperature,
        "max_tokens": spec.max_tokens,
        "top_p": spec.top_p,
        "timeout": spec.timeout_s,
        "num_retries": 0,
        "max_retries": 0,
        **spec.extra,
    }
    return {name: value for name, value in given.items() if value is not None}


def _keys(model: str) -> dict[str, str]:
    """Key and address typed for this session; else LiteLLM takes them from the environment."""
    provider = (model.partition("/")[0] if "/" in model else "openai").upper().replace("-", "_")
    typed = KEYS.get()
    found: dict[str, str] = {}
    if key := typed.get(f"{provider}_API_KEY"):
        found["api_key"] = key
    if base := typed.get(f"{provider}_API_BASE"):
        found["api_base"] = base
    has_base = base or os.environ.get(f"{provider}_API_BASE") or os.environ.get(f"{provider}_BASE_URL")
    if provider == "OPENAI" and has_base and not key and not os.environ.get("OPENAI_API_KEY"):
        found["api_key"] = "not-needed"  # a server of one's own takes any
    return found


def _schema(request: Request) -> dict[str, Any]:
    spec = request.spec
    known = card(spec.id) if spec.structured == "auto" else None
    if spec.structured == "yes" or (known and known.get("supports_response_schema")):
        name = request.task.answer.__name__
        schema = {"name": name, "schema": json.loads(schema_of(request.task.answer))}
        return {"response_format": {"type": "json_schema", "json_schema": schema}}
    return {}


def _status(error: BaseException) -> int | None:
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def _may_pass(error: BaseException) -> bool:
    """Whether trying again can help: rate limit, time-out, server's fault, a broken line or body."""
    if isinstance(error, (TimeoutError, json.JSONDecodeError, ConnectionError)):
        return True
    status = _status(error)
    return status in (408, 409, 425, 429) or (status is not None and status >= 500)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    try:
        return min(float(headers["retry-after"]), LONGEST_WAIT_S)
    except (KeyError, ValueError):
        return float(_backoff(state))


def _sentence(error: Exception, request: Request) -> ModelError:
    """What a user is told; the log has the rest, without secrets."""
    model, status = request.spec.id, _status(error)
    detail = _scrubbed(str(error))
    log.warning("%s: %s: %s", model, type(error).__name__, detail)
    has_media = any(isinstance(part, Medium) for message in request.messages for part in message.parts)
    if has_media and status in (400, 404, 415, 422):
        return CannotSee(f"{model} does not take pictures.")
    if status in (401, 403):
        return ModelRefused(f"{model} refused the key. Set the provider's key in the environment, or on the Setup page.")
    if status == 404:
        return ModelRefused(f"{model} is not known to its provider. Check the model's id.")
    if isinstance(error, TimeoutError) or status == 408:
        return ModelError(f"{model} did not answer within {request.spec.timeout_s:g} s. Try again, or allow more time.")
    if status == 429:
        return ModelError(f"{model} allows no more calls for now. Wait a little, or lower the calls at once.")
    if status is None or status >= 500:
        return ModelError(f"{model} could not be reached, or failed. Check the server, then continue.")
    return ModelRefused(f"{model} refused the request: {detail[:200]}")


def _scrubbed(text: str) -> str:
    for value in (*KEYS.get().values(), *(v for k, v in os.environ.items() if k.endswith(("_KEY", "_TOKEN")) and v)):
        text = text.replace(value, "…")
    return SECRETS.sub("…", text)
