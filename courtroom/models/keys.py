"""Keys typed for one browser session. They live in memory only, with the runs that were started with them."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextvars import ContextVar

KEYS: ContextVar[Mapping[str, str]] = ContextVar("KEYS", default={})  # noqa: B039  never changed in place
"""Names as in the environment (`OPENAI_API_KEY`, `OPENAI_API_BASE`) to values; set for the task that drives a run."""

NO_KEY = "not-needed"
"""What is sent as a key to a server of one's own; LiteLLM insists on one."""

_LOOKS_SECRET = re.compile(
    r"\b(?:sk|pk|rk|gsk|hf|xai)[-_][\w*.-]{6,}"
    r"|\bAIza[\w-]{10,}"
    r"|\bbearer\s+[\w*.~+/=-]{6,}"
    r"|(?<=://)[^/\s@]+(?=@)"
    r"|(?<=key=)[^&\s\"']+",
    re.IGNORECASE,
)


def key_name(provider: str) -> str:
    """The environment's name for a provider's key."""
    return f"{provider.upper().replace('-', '_')}_API_KEY"


def credentials(provider: str) -> dict[str, str]:
    """Key and address typed for this session, as LiteLLM's parameters; it takes what is missing from the environment.

    The environment's key is never sent to a typed address: who runs the server need not be who sits at the browser.
    """
    typed, name = KEYS.get(), key_name(provider)
    at = name.replace("_API_KEY", "_API_BASE")
    key, base = typed.get(name, "").strip(), typed.get(at, "").strip()
    if base:
        return {"api_base": base, "api_key": key or NO_KEY}
    if key:
        return {"api_key": key}
    if provider == "openai" and not os.environ.get(name) and (os.environ.get(at) or os.environ.get("OPENAI_BASE_URL")):
        return {"api_key": NO_KEY}
    return {}


def scrubbed(text: str) -> str:
    """A text without any key that we know of, nor anything that looks like one."""
    known = [value for name, value in os.environ.items() if name.endswith(("_KEY", "_TOKEN", "_SECRET"))]
    for value in (*KEYS.get().values(), *known):
        if len(value) >= 6 and value != NO_KEY:
            text = text.replace(value, "…")
    return _LOOKS_SECRET.sub("…", text)
