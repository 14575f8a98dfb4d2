"""What went wrong with a call: whether it may pass, how long to wait, and what a user is told."""

from __future__ import annotations

import json
import logging
import re

from tenacity import RetryCallState, wait_exponential_jitter

from courtroom.models.card import provider
from courtroom.models.errors import CannotSee, ModelError, ModelRefused
from courtroom.models.keys import key_name, scrubbed
from courtroom.models.request import Request

log = logging.getLogger(__name__)

LONGEST_WAIT_S = 60.0
_backoff = wait_exponential_jitter(multiplier=0.5, max=20, jitter=0.5)
_PICTURES = re.compile(r"image|picture|vision|visual|multi-?modal", re.IGNORECASE)
_KEYS = re.compile(r"api[ _-]?key", re.IGNORECASE)
_TOO_LONG = re.compile(r"context (length|window|size)|too many tokens|prompt is too long", re.IGNORECASE)
_FORM = re.compile(r"response_format|json_schema|response_schema|structured output", re.IGNORECASE)


class Incomplete(Exception):
    """A reply that ended before its end, or holds no answer."""


class Unstreamed(Incomplete):
    """A reply to a request for a stream that is none."""


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error came with, if any."""
    status = getattr(error, "status_code", None)
    return status if isinstance(status, int) else None


def may_pass(error: BaseException) -> bool:
    """Whether trying again can help: rate limit, time-out, server's fault, a broken line or body."""
    if isinstance(error, (TimeoutError, json.JSONDecodeError, ConnectionError, Incomplete)):
        return True
    status = status_of(error)
    return status in (408, 409, 425, 429) or (status is not None and status >= 500)


def refuses_form(error: BaseException) -> bool:
    """Whether a provider refuses to be told the answer's JSON schema."""
    return status_of(error) in (400, 422) and bool(_FORM.search(str(error)))


def wait(state: RetryCallState) -> float:
    """Seconds until the next attempt: none to ask in another way, else as the provider says, else ever longer."""
    error = state.outcome.exception() if state.outcome else None
    if isinstance(error, Unstreamed) or (error and refuses_form(error)):
        return 0.0
    headers = getattr(error, "litellm_response_headers", None) or {}  # LiteLLM empties those of `response`
    try:
        return max(0.0, min(float(headers["retry-after"]), LONGEST_WAIT_S))
    except (KeyError, ValueError):
        return float(_backoff(state))


def note(model: str, state: RetryCallState) -> None:
    """Log an attempt that will be followed by another."""
    error = state.outcome.exception() if state.outcome else None
    pause = state.next_action.sleep if state.next_action else 0.0
    log.info("%s: attempt %d: %s; again in %.1f s", model, state.attempt_number, scrubbed(repr(error)), pause)


def sentence(error: Exception, request: Request) -> ModelError:
    """What a user is told; the log has the rest, without secrets."""
    model, status, detail = request.spec.id, status_of(error), scrubbed(str(error))
    log.warning("%s: %s: %s", model, type(error).__name__, detail)
    if isinstance(error, TimeoutError) or status == 408:
        return ModelError(f"{model} did not answer within {request.spec.timeout_s:g} s. Try again, or allow more time.")
    if status == 429:
        return ModelError(f"{model} allows no more calls for now. Wait a little, or lower the calls at once.")
    if status in (401, 403) or (status == 400 and _KEYS.search(detail)):
        if there := request.spec.connection:
            return ModelRefused(f"The key for {model} at {there} was refused. Ask the server's owner for another.")
        name = key_name(provider(model))
        return ModelRefused(f"The key for {model} was refused. Set {name}, or type it on the Setup page.")
    if status is not None and status < 500 and _TOO_LONG.search(detail):
        return ModelRefused(f"What is asked is too long for {model}. Take a model with a longer context.")
    if request.has_media and (status in (400, 415, 422) or (status is not None and _PICTURES.search(detail))):
        return CannotSee(f"{model} does not take pictures.")
    if not provider(model):
        return ModelRefused(f"{model} names no provider. Write it as provider/model, such as openai/gpt-4o-mini.")
    if status == 404:
        return ModelRefused(f"{model} is not known to its provider. Check the model's id.")
    if status is None or status >= 500:
        return ModelError(f"{model} could not be reached, or failed. Check the server, then continue.")
    return ModelRefused(f"{model} refused the request: {detail[:200]}")
