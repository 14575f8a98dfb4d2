"""The models that can be reached now, as providers' cards and servers tell, and how many tokens one of them holds."""

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from courtroom.models.card import load
from courtroom.models.keys import NO_KEY, PROVIDERS, first_set
from courtroom.models.local import model_files
from courtroom.models.route import Connections, Route
from courtroom.models.spec import ID
from courtroom.strict import Strict

WAIT_S = 2.0
MOST_BYTES = 2_000_000
NEAR = dict.fromkeys(("ollama", "ollama_chat"), "http://127.0.0.1:11434")
"""Servers of one's own that are looked for where no address is set."""


def served_context(way: Route) -> int | None:
    """How many tokens a model holds, prompt and answer together, as its server says; None where it does not say.

    llama.cpp tells it at `/props`, Ollama at `/api/show`, vLLM and others beside the model's name. Blocks: call it in
    a thread.
    """
    provider, _, name = way.model.partition("/")
    address = (way.address or NEAR.get(provider, "")).rstrip("/")
    if not address:
        return None
    key, root = "" if way.key == NO_KEY else way.key, address.removesuffix("/v1")
    if provider in NEAR:
        about = told(f"{root}/api/show", key, {"model": name})
        known = about.get("model_info") if isinstance(about, Mapping) else None
        told_of = known.items() if isinstance(known, Mapping) else ()
        contexts = (whole(value) for name, value in told_of if str(name).endswith(".context_length"))
        return next(filter(None, contexts), None)
    with suppress(KeyError, TypeError):  # it is another server than llama.cpp's
        if context := whole(told(f"{root}/props", key)["default_generation_settings"]["n_ctx"]):
            return context
    with suppress(KeyError, TypeError, AttributeError):
        entries = told(f"{address}/models", key)["data"]
        return next((context_in(entry) for entry in entries if entry["id"] in (name, way.model)), None)
    return None


def context_in(entry: Mapping[str, Any]) -> int | None:
    """The context of a model in a server's list."""
    return whole(entry.get("max_model_len")) or whole(entry.get("context_length"))


def whole(number: Any) -> int | None:
    """A number of tokens that can be believed; None for anything else."""
    return number if isinstance(number, int) and 0 < number < 10**9 else None


def told(url: str, key: str, question: Mapping[str, str] | None = None) -> Any:
    """What a server answers, as JSON; None where it does not answer in time, or with something else.

    A key goes to the address beside which it is set, and no redirect is followed. `question`: is posted; without one it
    is a plain look-up."""
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


MOST_LISTED = 500


class Offer(Strict):
    """One model that can be asked."""

    id: str
    connection: str = ""
    prompt_price: float | None = None
    """US dollars for a million tokens; None where it is not known."""
    completion_price: float | None = None
    size: int | None = None
    """Bytes of its file on this machine."""
    context: int | None = None
    """Tokens that it reads at most."""
    sees: bool | None = None
    schema_support: bool | None = None

    def facts(self) -> str:
        """What is known of it, in a line."""
        known = []
        if self.prompt_price is not None and self.completion_price is not None:
            known.append(f"US$ {self.prompt_price:g} / {self.completion_price:g} a million tokens")
        if self.size:
            known.append(f"{self.size / 1e6:,.0f} MB")
        if self.context:
            known.append(f"{self.context:,} tokens of context")
        for has, what in ((self.sees, "pictures"), (self.schema_support, "JSON schema")):
            if has is not None:
                known.append(what if has else f"no {what}")
        return " · ".join(known)


def offers(
    connections: Connections, typed: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> tuple[Offer, ...]:
    """All models that can be asked now. Asks servers over the network and may load LiteLLM: call it in a thread.

    A key goes to the address beside which it is set, no redirect is followed, and no question is asked of a model.
    `typed`: keys typed for this session, by the environment's names."""
    places, hosted = [], list[str]()
    for name, provider in PROVIDERS.items():
        key, address = first_set(provider.keys, typed, environment), first_set(provider.addresses, environment)
        if address or name in NEAR:
            places.append((name, (address or NEAR[name]).rstrip("/"), key, ""))
        elif key and not provider.near and not provider.unplaced:
            hosted.append(name)
    places += [(one.provider, one.address, one.secret, name) for name, one in connections.items()]
    with ThreadPoolExecutor(8, thread_name_prefix="offers") as pool:
        listed = [offer for found in pool.map(_listed, *zip(*places, strict=True)) for offer in found]
    own = [Offer(id=name, size=file.size, context=file.slot, sees=False) for name, file in model_files().items()]
    return tuple(dict.fromkeys((*own, *listed, *(_hosted(hosted) if hosted else ()))))


def _hosted(providers: list[str]) -> Iterator[Offer]:
    table: Mapping[str, Mapping[str, Any]] = load().model_cost
    for name, entry in table.items():
        served_by = str(entry.get("litellm_provider", ""))
        if served_by not in providers or entry.get("mode") != "chat" or not ID.fullmatch(name):
            continue
        yield Offer(
            id=name if name.startswith(f"{served_by}/") else f"{served_by}/{name}",
            prompt_price=_million(entry.get("input_cost_per_token")),
            completion_price=_million(entry.get("output_cost_per_token")),
            context=whole(entry.get("max_input_tokens")),
            sees=bool(entry.get("supports_vision")),
            schema_support=bool(entry.get("supports_response_schema")),
        )


def listing(provider: str, address: str) -> str:
    """Return where a server lists its models."""
    return f"{address.removesuffix('/v1')}/api/tags" if provider in NEAR else f"{address}/models"


def _listed(provider: str, address: str, key: str, connection: str) -> list[Offer]:
    """What a server lists; nothing where it does not answer, or with something else."""
    models, id_ = ("models", "name") if provider in NEAR else ("data", "id")
    found = []
    try:
        for entry in told(listing(provider, address), key)[models][:MOST_LISTED]:
            name = str(entry.get(id_, ""))
            model = f"{provider}/{name.removeprefix(f'{provider}/')}"
            if name and len(model) <= 200 and ID.fullmatch(model):
                found.append(Offer(id=model, connection=connection, context=context_in(entry)))
    except (KeyError, TypeError, AttributeError):
        return []
    return found


def _million(price: Any) -> float | None:
    return round(price * 1e6, 6) if isinstance(price, int | float) else None
