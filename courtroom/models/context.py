"""What a server tells of itself: which models it has, and how many tokens one of them holds."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from courtroom.models.keys import NO_KEY
from courtroom.models.route import Route

WAIT_S = 2.0
MOST_BYTES = 2_000_000
NEAR = {"ollama": "http://127.0.0.1:11434", "ollama_chat": "http://127.0.0.1:11434"}
"""Servers of one's own that are looked for where no address is set."""


def served_context(way: Route) -> int | None:
    """How many tokens a model holds, prompt and answer together, as its server says; None where it does not say.

    llama.cpp tells it at `/props`, Ollama at `/api/show`, vLLM and others beside the model's name. Blocks: call it in a thread.
    """
    provider, _, name = way.model.partition("/")
    address = (way.address or NEAR.get(provider, "")).rstrip("/")
    if not address:
        return None
    key, root = "" if way.key == NO_KEY else way.key, address.removesuffix("/v1")
    if provider in NEAR:
        about = told(f"{root}/api/show", key, {"model": name})
        return next(filter(None, _ollama_contexts(about)), None)
    try:
        context = whole(told(f"{root}/props", key)["default_generation_settings"]["n_ctx"])
        if context:
            return context
    except (KeyError, TypeError):
        pass  # it is another server than llama.cpp's
    try:
        entries = told(f"{address}/models", key)["data"]
        return next((context_in(entry) for entry in entries if entry["id"] in (name, way.model)), None)
    except (KeyError, TypeError, AttributeError):
        return None


def _ollama_contexts(about: Any) -> Iterator[int | None]:
    known = about.get("model_info") if isinstance(about, Mapping) else None
    for name, value in known.items() if isinstance(known, Mapping) else ():
        if str(name).endswith(".context_length"):
            yield whole(value)


def context_in(entry: Mapping[str, Any]) -> int | None:
    """The context of a model in a server's list."""
    return whole(entry.get("max_model_len")) or whole(entry.get("context_length"))


def whole(number: Any) -> int | None:
    """A number of tokens that can be believed; None for anything else."""
    return number if isinstance(number, int) and 0 < number < 10**9 else None


def told(url: str, key: str, question: Mapping[str, str] | None = None) -> Any:
    """What a server answers, as JSON; None where it does not answer in time, or with something else.

    A key goes to the address beside which it is set, and no redirect is followed.

    Args:
        question: is posted; without one it is a plain look-up.
    """
    import httpx

    headers = {"Authorization": f"Bearer {key}"} if key else {}
    how = {"method": "POST", "json": question} if question else {"method": "GET"}
    try:
        # To read the certificates of authorities takes 30 ms, and is of use to `https` alone.
        with httpx.stream(
            **how, url=url, headers=headers, timeout=WAIT_S, follow_redirects=False, verify=url.startswith("https:")
        ) as answer:
            body = b""
            for part in answer.iter_bytes():
                body += part
                if len(body) > MOST_BYTES:
                    return None
            answer.raise_for_status()
        return json.loads(body)
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, RecursionError):
        return None
