"""Where one model is asked, and with which key."""

import asyncio
import os
from dataclasses import dataclass, field

from courtroom.models.card import load, provider
from courtroom.models.connections import Connections
from courtroom.models.keys import KEYS, NO_KEY, PROVIDERS, first_set, hide, typed_name
from courtroom.models.local import LOCAL_SERVERS
from courtroom.models.request import ModelError
from courtroom.models.spec import FILES, LOCAL, NO_SERVER, ModelSpec, NotAllowed


@dataclass(frozen=True)
class Route:
    """One way to a model. It says all that LiteLLM would else look for by itself."""

    model: str
    """As LiteLLM takes it, the provider first."""
    address: str
    """Empty: the provider's own."""
    key: str = field(repr=False)

    def parameters(self) -> dict[str, str]:
        return {"model": self.model, "api_key": self.key, **({"api_base": self.address} if self.address else {})}


def route(spec: ModelSpec, connections: Connections, *, typed: bool = True) -> Route:
    """Where a model is asked and with which key. LiteLLM must be loaded. `typed`: whether a key that was typed for the
    run counts, before the environment's. Raises `NotAllowed`: it may not be asked; `ModelError`: it has no provider, no
    address, or no key."""
    spec.checked()
    keys = KEYS.get() if typed else {}
    if spec.connection:
        there = connections.named(spec.connection)
        # The owner's key for it counts alone: what a person typed is for another one.
        key = there.secret or keys.get(typed_name(spec.connection), "").strip() or NO_KEY
        hide(key)
        return Route(f"{there.provider}/{spec.id.removeprefix(f'{there.provider}/')}", there.address, key)
    if spec.id.startswith(LOCAL):
        return Route(f"{FILES}{spec.id.removeprefix(LOCAL)}", LOCAL_SERVERS.address(spec.id), NO_KEY)
    served_by = provider(spec.id)
    if not served_by:
        raise ModelError(f"{spec.id} names no provider. Write it as provider/model, such as openai/gpt-4o-mini.")
    known = PROVIDERS.get(served_by)
    if known is None:
        raise NotAllowed(
            f"{spec.id} can't be asked: it belongs to {served_by}. The server's owner can list a server as a "
            f"connection."
        )
    address = first_set(known.addresses)
    if known.unplaced and not address:
        raise ModelError(f"There is no address for {spec.id}. Set {known.addresses[0]}, or list a connection.")
    key = first_set(known.keys, keys, os.environ)
    if not key and not known.near and not address:
        raise ModelError(f"There is no key for {spec.id}. Set {known.keys[0]}, or type it on the Setup page.")
    hide(key)  # what is sent may come back after whoever typed it has gone
    return Route(spec.id, address, key or NO_KEY)


async def address(spec: ModelSpec, connections: Connections) -> str:
    """Where a model is asked, without any credentials; empty for its provider's own address, or where it can't be."""
    if spec.id not in NO_SERVER and spec.connection:
        return connections[spec.connection].address if spec.connection in connections else ""
    if spec.id in NO_SERVER or spec.id.startswith(LOCAL):
        return ""
    name, slash, _ = spec.id.partition("/")
    found = PROVIDERS.get(name) if slash else None
    if found is None and any(first_set(one.addresses) for one in PROVIDERS.values()):
        await asyncio.to_thread(load)  # takes long the first time
        found = PROVIDERS.get(provider(spec.id))
    return first_set(found.addresses) if found else ""
