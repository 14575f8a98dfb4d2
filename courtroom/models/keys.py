"""Keys typed for one browser session. They live in memory only, with the runs that were started with them."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar

KEYS: ContextVar[Mapping[str, str]] = ContextVar("KEYS", default={})  # noqa: B039  never changed in place
"""Names as in the environment (`OPENAI_API_KEY`, `OPENAI_API_BASE`) to values; set for the task that drives a run."""
