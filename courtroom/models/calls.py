"""One call of LiteLLM, whole or streamed, read within bounds."""

import logging
import math
from typing import Any, NamedTuple

from courtroom.models.bounds import Bound, Overlong
from courtroom.models.card import load
from courtroom.models.failures import EmptyStream, Incomplete, NoAnswer, Unstreamed, Unwilling
from courtroom.models.prices import price
from courtroom.models.request import REFUSAL, Reply, Usage, Watch

log = logging.getLogger(__name__)

MOST_TOKENS = 10**8
MOST_MONEY = 10**4
"""In US dollars. What a server says beyond these of a single call is not believed."""


class Used(NamedTuple):
    """What one call used up, as far as the provider says and can be believed: tokens and US dollars."""

    prompt: int
    completion: int
    cached: int
    cost: float | None


async def whole(parameters: dict[str, Any], bound: Bound, used: list[Used]) -> Reply:
    """A whole answer. What it used up is added to `used` as soon as the provider has said it."""
    answer = await load().acompletion(**parameters)
    if answer is None:
        raise Unwilling("the request could not be processed")
    used.append(_used(parameters["model"], getattr(answer, "usage", None)))
    if not answer.choices:
        raise NoAnswer("the reply holds no answer")
    choice = answer.choices[0]
    message = choice.message
    text, refusal = message.content or "", (message.provider_specific_fields or {}).get("refusal")
    thought = getattr(message, "reasoning_content", None) or ""
    if len(text) + len(thought) > bound.characters:
        raise Overlong(f"{len(text) + len(thought)} characters")
    if refusal and not text:
        return _reply(str(refusal), REFUSAL, _answered_by(answer))
    return _reply(text, choice.finish_reason, _answered_by(answer))


async def streamed(parameters: dict[str, Any], bound: Bound, used: list[Used], watch: Watch) -> Reply:
    """An answer that streams in. What it used up is added to `used`, whatever comes of it."""
    stream = await load().acompletion(stream=True, stream_options={"include_usage": True}, **parameters)
    if stream is None:
        raise Unwilling("the request could not be processed")
    text, thought, called, usage, answered_by = "", 0, False, None, dict[str, str]()
    try:
        async for chunk in stream:
            usage = getattr(chunk, "usage", None) or usage
            answered_by = _answered_by(chunk) | answered_by  # what came first counts: the last chunks are LiteLLM's own
            for choice in chunk.choices[:1]:
                thought += len(getattr(choice.delta, "reasoning_content", None) or "")
                called = called or bool(choice.delta.tool_calls)
                if choice.delta.content:
                    text += choice.delta.content
                    watch(text)
            if len(text) + thought > bound.characters:
                raise Overlong(f"more than {bound.characters} characters")
    except BaseException:
        if usage is not None:
            used.append(_used(parameters["model"], usage))
        raise
    used.append(_used(parameters["model"], usage))
    # LiteLLM ends each stream with a “stop” of its own; these say how the provider ended it, if it did.
    finish = stream.received_finish_reason or stream.intermittent_finish_reason
    if not finish:
        raise Incomplete("the stream broke off") if text else Unstreamed("the reply was no stream")
    if finish == "stop" and not (text or thought or called):
        raise EmptyStream("the stream ended without a word")  # LiteLLM drops a refusal from a stream
    return _reply(text, finish, answered_by)


def _used(model: str, usage: Any) -> Used:
    return Used(
        prompt=_count(getattr(usage, "prompt_tokens", 0)),
        completion=_count(getattr(usage, "completion_tokens", 0)),
        cached=_count(getattr(getattr(usage, "prompt_tokens_details", None), "cached_tokens", 0)),
        cost=_cost(model, usage),
    )


def _count(value: Any) -> int:
    """A whole number of tokens, also where it is written as 11.0; 0 for anything else."""
    is_number = isinstance(value, (int, float)) and 0 <= value <= MOST_TOKENS
    return int(value) if is_number and value == int(value) else 0


def _cost(model: str, usage: Any) -> float | None:
    """US dollars, with the provider's discount for cached tokens; None where no price is known."""
    cost = _money(getattr(usage, "cost", None))
    if cost is not None or usage is None or price(model) is None:
        return cost
    try:
        return _money(sum(load().cost_per_token(model=model, usage_object=usage)))
    except Exception:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
        log.warning("%s: no cost can be worked out of %r", model, usage, exc_info=True)
        return None


def _money(value: object) -> float | None:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= MOST_MONEY:
        return None
    return float(value)


def in_all(used: list[Used], reply: Reply, **more: object) -> Reply:
    """A reply with what all calls for it used up."""
    costs = [each.cost for each in used]
    cost = None if None in costs else sum(cost for cost in costs if cost is not None)
    usage = Usage(
        prompt=sum(each.prompt for each in used),
        completion=sum(each.completion for each in used),
        cached=sum(each.cached for each in used),
    )
    return reply.model_copy(update={"usage": usage, "cost": cost, **more})


def _reply(text: str, finish: str | None, answered_by: dict[str, str]) -> Reply:
    text = text.encode(errors="replace").decode()  # half a surrogate pair can't be stored
    return Reply(text=text, finish=finish or "stop", **answered_by)


def _answered_by(answer: Any) -> dict[str, str]:
    """Which model answers, as its provider says."""
    hidden = (
        getattr(answer, "_hidden_params", None) or {}
    )  # there in a stream, where LiteLLM puts the id that was asked for
    model = hidden.get("provider_response_model") or getattr(answer, "model", None)
    names = {"model": model, "fingerprint": getattr(answer, "system_fingerprint", None)}
    return {field: str(value) for field, value in names.items() if value}
