"""What went wrong with a call: whether it may pass, how long to wait, and what a user is shown."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import re
import time
from collections.abc import Iterator
from email.utils import parsedate_to_datetime

from tenacity import RetryCallState, wait_exponential_jitter

from courtroom.models.bounds import Overlong
from courtroom.models.card import provider
from courtroom.models.errors import (
    BrokenOff,
    CannotSee,
    Filtered,
    Garbled,
    ModelError,
    ModelRefused,
    RateLimited,
    Runaway,
    ServerFailed,
    TimedOut,
    Unreachable,
)
from courtroom.models.keys import key_name, scrubbed
from courtroom.models.request import Request

log = logging.getLogger(__name__)

LONGEST_WAIT_S = 60.0
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)
_PICTURES = re.compile(r"image|picture|vision|visual|multi-?modal", re.IGNORECASE)
_KEYS = re.compile(r"api[ _-]?key", re.IGNORECASE)
_TOO_LONG = re.compile(r"context (length|window|size)|too many tokens|prompt is too long", re.IGNORECASE)
_FORM = re.compile(
    r"response_format|json.?schema|response_schema|structured.?output|guided.?decoding|grammar", re.IGNORECASE
)
_NO_LINE = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror", "SSLError", "ClientSSLError")
_FILTER = re.compile(
    r"content[ _](management[ _])?(policy|filter)|safety (system|settings)|moderation|flagged|ContentPolicyViolation",
    re.IGNORECASE,
)


class Incomplete(Exception):
    """A reply that ended before its end."""


class NoAnswer(Incomplete):
    """A whole reply with no answer in it."""


class Unstreamed(Incomplete):
    """A reply to a request for a stream that is none."""


class EmptyStream(Incomplete):
    """A stream that ended without a word. Asked for as a whole, the reply may say why."""


class Unwilling(Exception):
    """A 422, of which LiteLLM says nothing."""

    status_code = 422


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error came with, if any. LiteLLM gives a 500 to much that came with none."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    return status if status != 500 or _is(error, "HTTPStatusError") else None


def may_pass(error: BaseException) -> bool:
    """Whether trying again can help: rate limit, time-out, server's fault, a broken line or body."""
    if _is(error, Overlong.__name__):
        return False
    if isinstance(error, (TimeoutError, json.JSONDecodeError, ConnectionError, Incomplete)):
        return True
    status = getattr(error, "status_code", None)
    return isinstance(status, int) and (status in (408, 409, 425, 429) or status >= 500)


def refuses_form(error: BaseException) -> bool:
    """Whether a provider refuses to be given the answer's JSON schema."""
    return isinstance(error, Unwilling) or (status_of(error) in (400, 422) and bool(_FORM.search(str(error))))


def breaks_stream(error: BaseException) -> bool:
    """Whether a stream of which nothing was heard failed as a stream: for no reason that would hold for any call."""
    if isinstance(error, (TimeoutError, asyncio.CancelledError)) or status_of(error) is not None:
        return False
    return not _is(error, *_NO_LINE)


def wait(state: RetryCallState) -> float:
    """Seconds until the next attempt: none to ask in another way, else as the provider says, else ever longer."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, (Unstreamed, EmptyStream)) or (error and refuses_form(error)):
        return 0.0
    seconds = retry_after(error)
    return float(_backoff(state)) if seconds is None else seconds


def retry_after(error: BaseException | None) -> float | None:
    """Seconds for which the provider wants no call; None where it does not say."""
    headers = getattr(error, "litellm_response_headers", None) or {}  # LiteLLM empties those of `response`
    text = _seconds(str(headers.get("retry-after", "")))
    return None if text is None else min(text, LONGEST_WAIT_S)


def _seconds(text: str) -> float | None:
    """What a `Retry-After` asks for, in seconds or as a date; None where it is neither, or already past."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return seconds if seconds >= 0 and not math.isnan(seconds) else None


def _is(error: BaseException, *names: str) -> bool:
    """Whether an error, or one that it came of, is of a class with one of these names."""
    return any(kind.__name__ in names for link in _chain(error) for kind in type(link).__mro__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(20):  # a chain can be a ring
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def note(model: str, state: RetryCallState) -> None:
    """Log an attempt that will be followed by another."""
    error = state.outcome.exception() if state.outcome else None
    pause = state.next_action.sleep if state.next_action else 0.0
    log.info("%s: attempt %d: %s; again in %.1f s", model, state.attempt_number, scrubbed(repr(error)), pause)


def sentence(error: Exception, request: Request) -> ModelError:
    """What a user is shown; the log has the rest, without secrets."""
    model, status, detail = request.spec.id, status_of(error), scrubbed(str(error))
    log.warning("%s: %s: %s", model, type(error).__name__, detail)
    if isinstance(error, TimeoutError) or status == 408:
        return TimedOut(f"{model} did not answer within {request.spec.timeout_s:g} s. Try again, or allow more time.")
    if status == 504:
        return TimedOut(f"The server of {model} got no answer from the model in time (status 504). Try again later.")
    if status == 429:
        return RateLimited(f"{model} allows no more calls for now. Wait a little, or lower the calls at once.")
    if status is not None and status < 500:
        return _refusal(model, status, detail, request)
    if request.has_media and status is not None and _PICTURES.search(detail):
        return CannotSee(f"{model} does not take pictures.")
    if not provider(model):
        return ModelRefused(f"{model} names no provider. Write it as provider/model, such as openai/gpt-4o-mini.")
    if status is not None:
        return ServerFailed(f"The server of {model} failed (status {status}). Look at its log, then continue.")
    return _without_status(error, model)


def _refusal(model: str, status: int, detail: str, request: Request) -> ModelError:
    """Of a reply that says no."""
    if 300 <= status < 400:
        return ModelRefused(
            f"The server of {model} sends calls on to another address, which is not followed. Set that address instead."
        )
    if _FILTER.search(detail):
        return Filtered(
            f"The provider's filter refused what {model} was asked. Change the case's words, or take another model."
        )
    if status in (401, 403) or (status == 400 and _KEYS.search(detail)):
        if there := request.spec.connection:
            return ModelRefused(f"The key for {model} at {there} was refused. Ask the server's owner for another.")
        name = key_name(provider(model))
        return ModelRefused(f"The key for {model} was refused. Set {name}, or type it on the Setup page.")
    if _TOO_LONG.search(detail):
        return ModelRefused(f"What is asked is too long for {model}. Take a model with a longer context.")
    if request.has_media and (status in (400, 415, 422) or _PICTURES.search(detail)):
        return CannotSee(f"{model} does not take pictures.")
    if not provider(model):
        return ModelRefused(f"{model} names no provider. Write it as provider/model, such as openai/gpt-4o-mini.")
    if status == 404:
        return ModelRefused(f"{model} is not known to its provider. Check the model's id.")
    return ModelRefused(f"{model} refused the request: {detail[:200] or 'it did not say why'}")


def _without_status(error: Exception, model: str) -> ModelError:
    """Of a call that came to no HTTP status, or to a reply that makes no sense."""
    if _is(error, "Overlong"):
        return Runaway(f"{model} sent far more than the longest answer allows, so it was cut. Take another model.")
    if _is(error, *_NO_LINE):
        return Unreachable(f"{model} could not be reached: no connection. Check the server and its address.")
    broken = isinstance(error, Incomplete) and not isinstance(error, NoAnswer)
    if broken or _is(error, "ReadError", "WriteError", "RemoteProtocolError", "ConnectionError"):
        return BrokenOff(f"The reply of {model} broke off. Check the server and the line to it, then continue.")
    return Garbled(f"What came from the server of {model} is no whole reply of a model. Check its address and its log.")
