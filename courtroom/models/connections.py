"""Connections: servers that the owner of this one lists, each with its address and its key.

A setup names a connection and can't say where it leads. They come from the file that `COURTROOM_CONNECTIONS` names
(TOML, or JSON of the same form) and from Streamlit's secrets:

    [connections.lab]
    provider = "hosted_vllm"
    address = "http://10.0.0.5:8000/v1"
    key_from = "LAB_KEY"        # the environment's name of the key; or `key = "..."`; or neither
"""

import json
import os
import re
import tomllib
from collections import UserDict
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from pydantic import Field, SecretStr, ValidationError, field_validator

from courtroom.cases.checks import explain
from courtroom.errors import CourtroomError
from courtroom.models.keys import PROVIDERS, hide
from courtroom.models.spec import NotAllowed
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
