"""Where a model is asked and with which key. A key goes to the address that it was set for, and nowhere else.

Addresses are settings of the server's owner: the provider's own, the environment's (`OPENAI_API_BASE`), or that of a
connection which the owner lists. A key comes from beside the address, or is typed by the person who drives a run.

The providers that models are asked at stand in `providers.toml`, each with the names of its key and its address in the
environment. No other is asked. LiteLLM knows more than a hundred, and where one has no key of its own it takes
`OPENAI_API_KEY` for it, or an address out of the model's id; for those listed there both are given by us, so that
neither happens. A provider that is missing can be reached by way of a LiteLLM proxy as a connection.
"""

import base64
import html
import json
import os
import re
import tomllib
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from urllib.parse import quote, quote_plus


@dataclass(frozen=True)
class Provider:
    """Where a provider's key and address stand in the environment; the first that is set counts."""

    keys: tuple[str, ...]
    addresses: tuple[str, ...]
    near: bool = False
    """A server of one's own, at a known place on this machine unless an address is set; it needs no key."""
    unplaced: bool = False
    """It has no address of its own: one must be set."""


_TABLE = tomllib.loads(Path(__file__).with_name("providers.toml").read_text(encoding="utf-8"))
PROVIDERS: Mapping[str, Provider] = {
    name: Provider(
        keys=tuple(given.pop("keys", (f"{name.upper()}_API_KEY",))),
        addresses=tuple(given.pop("addresses", (f"{name.upper()}_API_BASE",))),
        **given,
    )
    for name, given in _TABLE.items()
}

KEYS: ContextVar[Mapping[str, str]] = ContextVar("KEYS", default={})  # noqa: B039  never changed in place here
"""Keys typed by the person who drives a run, in memory only: names as in the environment (`OPENAI_API_KEY`), or
`typed_name` of a connection, to values. Set for the task that drives the run."""

NO_KEY = "not-needed"
"""What is sent as a key to a server of one's own; LiteLLM insists on one."""

_SECRET_NAMES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD", "_APIKEY")
_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai)[-_][\w*.-]{6,}"
    r"|\bAIza[\w-]{10,}"
    r"|\bbearer\s+[\w*.~+/=-]{6,}"
    r"|(?<=://)[^/\s@]+(?=@)"
    r"|(?<=key=)[^&\s\"']+",
    re.IGNORECASE,
)
_hidden: set[str] = set()


def key_name(provider: str) -> str:
    """The environment's name for a provider's key."""
    known = PROVIDERS.get(provider)
    return known.keys[0] if known else f"{provider.upper().replace('-', '_')}_API_KEY"


def typed_name(connection: str) -> str:
    """The name under which a key for a connection is typed."""
    return f"connections.{connection}"


def first_set(names: tuple[str, ...], *where: Mapping[str, str]) -> str:
    """Return the first of these that the environment has, or else these; empty where there is none."""
    # The environment's `get` raises and catches an error within.
    found = (given[name].strip() for given in where or (os.environ,) for name in names if name in given)
    return next(filter(None, found), "")


def hide(secret: str) -> None:
    """Have a secret scrubbed from now on, wherever it may turn up."""
    if len(secret) >= 6:
        _hidden.add(secret)


def scrubbed(text: str) -> str:
    """A text without any key that we know of, nor anything that looks like one."""
    return _LOOKS_SECRET.sub("…", without_secrets(text))


def secret_forms() -> tuple[str, ...]:
    """All keys that we know of now, as they are and as servers write them; the longest first."""
    names = (name for name in os.environ if name.upper().endswith(_SECRET_NAMES))  # only their values are decoded
    there = {value for name in names if len(value := os.environ.get(name, "")) >= 8}
    typed = {value for value in KEYS.get().values() if len(value) >= 6}
    return _written(frozenset(there | typed | _hidden) - {NO_KEY})


def without_secrets(text: str, forms: tuple[str, ...] | None = None) -> str:
    """A text without any key that we know of; all else stays as it came. `forms`: `secret_forms()`, where it was taken
    before."""
    for form in secret_forms() if forms is None else forms:  # each a plain search: many times faster than one pattern
        if form in text:
            text = text.replace(form, "…")
    return text


def without_beginnings(text: str, forms: tuple[str, ...]) -> str:
    """What has come of an answer so far, less what may turn out to be the beginning of a key."""
    text = without_secrets(text, forms)
    for form in forms:
        at = text.find(form[:4], max(0, len(text) - len(form) + 1))
        while at >= 0:
            if form.startswith(text[at:]):
                return text[:at]
            at = text.find(form[:4], at + 1)
    return text


@lru_cache(maxsize=64)
def _written(secrets: frozenset[str]) -> tuple[str, ...]:
    written = {form for secret in secrets for form in _forms(secret)}
    return tuple(sorted(written, key=lambda form: (-len(form), form)))


def _forms(secret: str) -> set[str]:
    raw = secret.encode()
    quoted = (quote(secret, safe=""), quote(secret), quote_plus(secret))
    plain = {secret, *quoted, *(form.lower() for form in quoted if form != secret), json.dumps(secret)[1:-1]}
    return plain | {json.dumps(secret, ensure_ascii=False)[1:-1], html.escape(secret), raw.hex(), *_in_base64(raw)}


def _in_base64(raw: bytes) -> set[str]:
    """What of it stands in base64 of anything that it is part of, at each of the three places where it may begin."""
    found = set()
    for offset, unsure in ((0, 0), (1, 2), (2, 3)):
        padded = bytes(offset) + raw
        for encoded in (base64.b64encode(padded), base64.urlsafe_b64encode(padded)):
            sure = encoded.decode().rstrip("=")
            core = sure[unsure : len(sure) - (len(padded) % 3 > 0)]
            if len(core) >= 6:
                found.add(core)
    return found
