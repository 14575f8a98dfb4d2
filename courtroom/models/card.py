"""LiteLLM, imported where it is first needed, and its local cards of models."""

from __future__ import annotations

import os
from functools import cache
from typing import Any


@cache
def load() -> Any:
    """LiteLLM with everything off that we don't use. Takes about 1.5 s the first time: call it in a thread."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # no look-up on the network at import
    import litellm

    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.turn_off_message_logging = True
    litellm.drop_params = True
    return litellm


@cache
def card(model: str) -> dict[str, Any] | None:
    """What LiteLLM knows of a model: prices, vision, JSON schema. None for one it does not know."""
    try:
        return dict(load().get_model_info(model))
    except Exception:  # noqa: BLE001  LiteLLM raises a bare Exception for a model that it does not know
        return None
