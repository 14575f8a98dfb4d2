"""Where models are asked: the servers that the owner of this one lists, and the way to one model, with its key.

A setup names a connection and can't say where it leads. They come from the file that `COURTROOM_CONNECTIONS` names
(TOML, or JSON of the same form) and from Streamlit's secrets:

    [connections.lab]
    provider = "hosted_vllm"
    address = "http://10.0.0.5:8000/v1"
    key_from = "LAB_KEY"        # the environment's name of the key; or `key = "..."`; or neither
"""

import asyncio
import json
import os
import re
import tomllib
from collections import UserDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator

from courtroom.cases.checks import explain
from courtroom.errors import CourtroomError
from courtroom.models.card import load, provider
from courtroom.models.keys import KEYS, NO_KEY, PROVIDERS, first_set, hide, typed_name
from courtroom.models.local import ADDRESS
from courtroom.models.request import ModelError
from courtroom.models.spec import FILES, LOCAL, NO_SERVER, ModelSpec, NotAllowed
from courtroom.strict import Strict

NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,59}")


class Connection(Strict):
    """One server: whose protocol it speaks, where it is, and where its key is."""

    provider: str = Field(description="Whose protocol it speaks, as LiteLLM names it: `openai`, `ollama` ...")
    address: str = Field(description="As in `OPENAI_API_BASE`: `http://10.0.0.5:8000/v1`.")
    key_from: str = Field(default="", description="The environment's name of the key.")
    key: SecretStr | None = None

    @field_validator("provider")
    @classmethod
    def _known(cls, provider: str) -> str:
        if provider not in PROVIDERS:
            raise ValueError("must be a provider that a model id can begin with, such as openai, ollama or hosted_vllm")
        return provider

    @field_validator("address")
    @classmethod
    def _plain(cls, address: str) -> str:
        parts = urlsplit(address)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("must be an address such as http://10.0.0.5:8000/v1")
        if parts.username or parts.password or parts.query or parts.fragment:
            raise ValueError(
                "must hold no user, no password and nothing after `?` or `#`; a key goes into key or key_from"
            )
        return address.rstrip("/")

    @property
    def secret(self) -> str:
        """The key that the owner gave; empty where there is none."""
        return self.key.get_secret_value() if self.key else os.environ.get(self.key_from, "") if self.key_from else ""


class Connections(UserDict[str, Connection]):
    """The connections of this server, by name."""

    def __init__(self, listed: Mapping[str, Connection] | None = None) -> None:
        super().__init__(listed or {})
        for connection in self.values():
            hide(connection.secret)

    def named(self, name: str) -> Connection:
        """A connection. Raises `NotAllowed`: the owner lists none of this name."""
        if name not in self:
            known = f"It has: {', '.join(self)}." if self else "Its owner lists none."
            raise NotAllowed(f"There is no connection “{name}” on this server. {known} Choose another in the setup.")
        return self[name]

    @classmethod
    def read(cls, path: Path | None, secrets: Mapping[str, Any] | None = None) -> Self:
        """Those of the file, and those among Streamlit's secrets. `secrets`: by name; Streamlit keeps connections of
        its own in the same place, so that one without provider and address is none of ours. Raises `CourtroomError`:
        the file can't be read, or a connection does not fit; the sentence holds no key."""
        ours = {name: entry for name, entry in (secrets or {}).items() if {"provider", "address"} <= set(entry)}
        listed = {name: _checked("the secrets", name, entry) for name, entry in ours.items()}
        if path is not None:
            listed |= {name: _checked(str(path), name, entry) for name, entry in _entries(path).items()}
        return cls(listed)


def _entries(path: Path) -> Mapping[str, Any]:
    try:
        text = path.read_text(encoding="utf-8")
        given = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
        entries = given["connections"]
        if isinstance(entries, dict):
            return entries
    except OSError as error:
        raise CourtroomError(f"COURTROOM_CONNECTIONS: {path} can't be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError):
        pass  # the parser's own message may hold a key
    raise CourtroomError(f"COURTROOM_CONNECTIONS: {path} is not TOML or JSON with [connections.NAME] in it.")


def _checked(where: str, name: str, entry: Any) -> Connection:
    if not NAME.fullmatch(name):
        raise CourtroomError(f"Connections in {where}: a name has letters, digits, `.`, `_` and `-` only.")
    try:
        return Connection.model_validate(dict(entry) if isinstance(entry, Mapping) else entry)
    except ValidationError as error:
        raise CourtroomError(f"Connection “{name}” in {where}: {' '.join(explain(error))}") from None


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
    """Where a model is asked and with which key. LiteLLM must be loaded.

    Args:
        typed: whether a key that was typed for the run counts, before the environment's.

    Raises:
        NotAllowed: it may not be asked.
        ModelError: it has no provider, no address, or no key.
    """
    spec.checked()
    keys = KEYS.get() if typed else {}
    if spec.connection:
        there = connections.named(spec.connection)
        # The owner's key for it counts alone: what a person typed is for another one.
        key = there.secret or keys.get(typed_name(spec.connection), "").strip() or NO_KEY
        hide(key)
        return Route(f"{there.provider}/{spec.id.removeprefix(f'{there.provider}/')}", there.address, key)
    if spec.id.startswith(LOCAL):
        return Route(f"{FILES}{spec.id.removeprefix(LOCAL)}", ADDRESS.get(), NO_KEY)
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
