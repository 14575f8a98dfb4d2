"""LiteLLM, imported where it is first needed, and its local cards of models."""

import gc
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, wraps
from typing import Any

from courtroom.media.medium import Medium
from courtroom.models.request import Message
from courtroom.models.spec import FILES, LOCAL, NO_SERVER, ModelSpec
from courtroom.settings import from_environment

COLLECTED_AFTER = 10_000
"""New objects after which Python looks for cycles. By its own 700 every other call of LiteLLM has it look."""


@cache
def load() -> Any:
    """LiteLLM with everything off that we don't use. Takes about 1.5 s the first time: call it in a thread."""
    for name in ("MODEL_COST_MAP", "ANTHROPIC_BETA_HEADERS"):
        os.environ.setdefault(f"LITELLM_LOCAL_{name}", "True")  # no look-up on the network
    # Among so many new objects each collection holds up every thread for half a second. What was imported stays for
    # good, and later collections need not walk it.
    gc.disable()
    try:
        import litellm
        import pyrate_limiter  # noqa: F401  else the first call waits for it
        from litellm.anthropic_beta_headers_manager import reload_beta_headers_config

        import courtroom.models.transport  # noqa: F401  binds what comes in
    finally:
        gc.freeze()
        gc.enable()
    gc.set_threshold(COLLECTED_AFTER, *gc.get_threshold()[1:])
    reload_beta_headers_config()  # read now, and kept: later the environment may be another one
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    litellm.callbacks = [name for name in from_environment().callbacks.split(",") if name]
    # What a callback sends elsewhere holds no prompt and no answer. Without one, LiteLLM would copy each for nothing.
    litellm.turn_off_message_logging = bool(litellm.callbacks)
    _send_nothing_on(litellm)
    _ask_once()
    return litellm


def _send_nothing_on(litellm: Any) -> None:
    """A server that is asked can't send the question, or the key with it, on to another, nor mark who asks by a cookie.

    Where the host changes httpx takes `Authorization` out, but leaves `api-key`, `x-api-key` and the question in.
    LiteLLM has no setting for this, so what makes its clients is wrapped.
    """
    from http.cookiejar import DefaultCookiePolicy

    from litellm.llms.custom_httpx.http_handler import AsyncHTTPHandler, HTTPHandler
    from litellm.llms.openai.common_utils import BaseOpenAILLM

    def staying(make: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(make)
        def made(*args: Any, **kwargs: Any) -> Any:
            client = make(*args, **kwargs)
            if client is not None:
                client.follow_redirects = False
                client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
            return client

        return made

    for handler in (AsyncHTTPHandler, HTTPHandler):
        setattr(handler, "create_client", staying(handler.create_client))  # noqa: B010  not a type that mypy knows
    for name in ("_get_async_http_client", "_get_sync_http_client"):
        setattr(BaseOpenAILLM, name, staticmethod(staying(getattr(BaseOpenAILLM, name))))
    litellm.in_memory_llm_clients_cache.flush_cache()  # those made at its import


def _ask_once() -> None:
    """A call is one request: what is asked again is up to us, as it may have to be paid for.

    `max_retries=0` goes with each call, but LiteLLM drops it for providers that do not list it as theirs, and
    OpenAI's client would then ask up to three times.
    """
    from litellm.llms.openai.openai import OpenAIChatCompletion

    make = OpenAIChatCompletion._get_openai_client

    @wraps(make)
    def once(*args: Any, **kwargs: Any) -> Any:
        return make(*args, **{**kwargs, "max_retries": 0})

    setattr(OpenAIChatCompletion, "_get_openai_client", once)  # noqa: B010  not a type that mypy knows


@cache
def provider(model: str) -> str:
    """Who serves a model id, in LiteLLM's words, e.g. `openai`. Empty for one it can't place."""
    litellm = load()
    with suppress(litellm.BadRequestError):
        return str(litellm.get_llm_provider(model)[1])
    return ""


BATCHING = frozenset({"openai", "anthropic"})
"""Providers that take calls by batch."""


def takes_batches(spec: ModelSpec) -> bool:
    """Whether a model's provider takes calls by batch. Imports LiteLLM: call it in a thread."""
    return not spec.connection and not free(spec.id) and provider(spec.id) in BATCHING


@cache
def card(model: str) -> dict[str, Any] | None:
    """What LiteLLM knows of a model: prices, vision, JSON schema. None for one it does not know.

    Looked up in its table, as `get_model_info` asks a running Ollama over the network, and takes every
    Hugging Face model to be free.
    """
    table: dict[str, dict[str, Any]] = load().model_cost
    served_by = provider(model)
    name = model.removeprefix(f"{served_by}/")
    entries = (table.get(key) for key in (f"{served_by}/{name}", model, name) if served_by)
    return next(
        (dict(one) for one in entries if one and str(one.get("litellm_provider", "")).startswith(served_by)), None
    )


IMAGE_TOKENS = 1_000
"""About what providers count for one picture of 1,024 pixels (their tiles give 765 to 1,600)."""


@dataclass(frozen=True)
class Price:
    """US dollars a token."""

    prompt: float
    completion: float
    read: float
    """Of a prompt's tokens that the provider reads from its cache."""
    written: float
    """Of those that it writes there."""

    def of(self, prompt: int, completion: int, read: int = 0, written: int = 0) -> float:
        """US dollars for so many tokens. `read`, `written`: tokens of the prompt, from the cache and to it."""
        whole = prompt - read - written
        return self.prompt * whole + self.read * read + self.written * written + self.completion * completion


def free(model: str) -> bool:
    """Whether nobody is paid for a model: the offline one, a person, or a file of this machine."""
    return model in NO_SERVER or model.startswith((LOCAL, FILES))


def price(model: str, *, by_batch: bool = False) -> Price | None:
    """The price from LiteLLM's local card; None where it is unknown. Imports LiteLLM: call it in a thread. `by_batch`:
    for calls that go by batch where the provider takes such: half, unless its card says otherwise."""
    if free(model):
        return Price(0.0, 0.0, 0.0, 0.0)
    known = card(model) or {}
    if known.get("input_cost_per_token") is None or known.get("output_cost_per_token") is None:
        return None
    by_batch = by_batch and provider(model) in BATCHING

    def rate(name: str, otherwise: float) -> float:
        single = known.get(name, otherwise)
        return float(known.get(f"{name}_batches", single / 2) if by_batch else single)

    prompt = float(known["input_cost_per_token"])
    return Price(
        rate("input_cost_per_token", prompt),
        rate("output_cost_per_token", 0.0),
        rate("cache_read_input_token_cost", prompt),
        rate("cache_creation_input_token_cost", prompt),
    )


def estimate_tokens(text: str) -> int:
    """About 4 characters of ASCII a token, and one token for any other character."""
    ascii_characters = sum(character < "\x80" for character in text) if not text.isascii() else len(text)
    return ascii_characters // 4 + (len(text) - ascii_characters) + 1


def estimate_prompt_tokens(messages: Iterable[Message]) -> int:
    """About how many tokens a prompt has, its media included."""
    return sum(part_tokens(part) for message in messages for part in message.parts)


def part_tokens(part: str | Medium) -> int:
    """About how many tokens a part of a prompt has."""
    return estimate_tokens(part) if isinstance(part, str) else IMAGE_TOKENS * part.pictures
