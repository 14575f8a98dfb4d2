"""The providers that models are asked at, each with the names of its key and its address in the environment.

No other is asked. LiteLLM knows more than a hundred, and where one has no key of its own it takes `OPENAI_API_KEY`
for it, or an address out of the model's id; for those listed here both are given by us, so that neither happens. A
provider that is missing here can be reached by way of a LiteLLM proxy as a connection.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Provider:
    """Where a provider's key and address stand in the environment; the first that is set counts."""

    keys: tuple[str, ...]
    addresses: tuple[str, ...]
    near: bool = False
    """A server of one's own, at a known place on this machine unless an address is set; it needs no key."""
    unplaced: bool = False
    """It has no address of its own: one must be set."""


_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
PROVIDERS: Mapping[str, Provider] = {
    name: Provider(
        keys=tuple(given.pop("keys", (f"{name.upper()}_API_KEY",))),
        addresses=tuple(given.pop("addresses", (f"{name.upper()}_API_BASE",))),
        **given,
    )
    for name, given in _TABLE.items()
}
