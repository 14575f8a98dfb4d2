"""The models that this server can reach now: of providers whose key is set, and of servers that list their own."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from courtroom.models.connections import Connections
from courtroom.models.context import NEAR, context_in, told, whole
from courtroom.models.local import model_files
from courtroom.models.providers import PROVIDERS
from courtroom.models.spec import ID
from courtroom.strict import Strict

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


@dataclass(frozen=True)
class _Place:
    """A server that lists its models."""

    provider: str
    address: str
    key: str
    connection: str = ""


def offers(
    connections: Connections, typed: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> tuple[Offer, ...]:
    """All models that can be asked now. Asks servers over the network and may load LiteLLM: call it in a thread.

    A key goes to the address beside which it is set, no redirect is followed, and no question is asked of a model.

    Args:
        typed: keys typed for this session, by the environment's names.
    """
    places, hosted = list[_Place](), list[str]()
    for name, provider in PROVIDERS.items():
        key, address = _first(provider.keys, typed, environment), _first(provider.addresses, environment)
        if address or name in NEAR:
            places.append(_Place(name, (address or NEAR[name]).rstrip("/"), key))
        elif key and not provider.near and not provider.unplaced:
            hosted.append(name)
    places += [_Place(one.provider, one.address, one.secret, name) for name, one in connections.items()]
    with ThreadPoolExecutor(8, thread_name_prefix="offers") as pool:
        listed = [offer for found in pool.map(_listed, places) for offer in found]
    own = [Offer(id=name, size=file.size, context=file.slot, sees=False) for name, file in model_files().items()]
    return tuple(dict.fromkeys((*own, *listed, *(_hosted(hosted) if hosted else ()))))


def _first(names: tuple[str, ...], *where: Mapping[str, str]) -> str:
    return next((value for given in where for name in names if (value := given.get(name, "").strip())), "")


def _hosted(providers: list[str]) -> Iterator[Offer]:
    """The chat models that LiteLLM lists for providers."""
    from courtroom.models.card import load

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


def _listed(place: _Place) -> list[Offer]:
    """What a server lists; nothing where it does not answer, or with something else."""
    is_ollama = place.provider in ("ollama", "ollama_chat")
    url = f"{place.address.removesuffix('/v1')}/api/tags" if is_ollama else f"{place.address}/models"
    try:
        entries = told(url, place.key)["models" if is_ollama else "data"][:MOST_LISTED]
        return [offer for entry in entries if (offer := _of(place, entry, is_ollama)) is not None]
    except (KeyError, TypeError, AttributeError):
        return []


def _of(place: _Place, entry: Mapping[str, Any], is_ollama: bool) -> Offer | None:
    name = str(entry.get("name" if is_ollama else "id", ""))
    model = name if name.startswith(f"{place.provider}/") else f"{place.provider}/{name}"
    if not name or len(model) > 200 or not ID.fullmatch(model):
        return None
    return Offer(id=model, connection=place.connection, context=context_in(entry))


def _million(price: Any) -> float | None:
    return round(price * 1e6, 6) if isinstance(price, int | float) else None
