"""OpenTelemetry's semantic conventions for generative AI, and sending by OTLP: what live telemetry and exported runs share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from courtroom.models.card import provider
from courtroom.models.spec import OFFLINE, PERSON
from courtroom.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.resources import Resource

SCHEMA = "https://opentelemetry.io/schemas/1.41.0"
PROVIDERS: Mapping[str, str] = {
    "azure": "azure.ai.openai", "azure_ai": "azure.ai.inference", "bedrock": "aws.bedrock", "gemini": "gcp.gemini",
    "mistral": "mistral_ai", "vertex_ai": "gcp.vertex_ai", "watsonx": "ibm.watsonx.ai", "xai": "x_ai",
}  # fmt: skip
"""Providers that the conventions call otherwise than LiteLLM does."""
PLAIN = frozenset({"content-type", "content-encoding", "user-agent"})
"""Headers that say what is sent, and nothing of who sends it."""


def provider_name(model: str) -> str:
    """A model's provider, as the conventions name it."""
    if model in (OFFLINE, PERSON):
        return f"courtroom.{model}"
    named = provider(model)
    return PROVIDERS.get(named, named) or "unknown"


def resource() -> Resource:
    """Which service it is."""
    from opentelemetry.sdk.resources import Resource

    return Resource.create({"service.name": "courtroom", "service.version": __version__})


def staying(to_another: bool) -> Any:
    """A `requests` session that follows no redirect.

    Args:
        to_another: whether it sends elsewhere than the variables `OTEL_EXPORTER_OTLP_*` say. That address then gets nothing
            of what they say: no header, no certificate.
    """
    import requests

    class Staying(requests.Session):
        def request(self, *args: Any, **given: Any) -> Any:
            if to_another:
                given["cert"] = None
                given["headers"] = {
                    name: value for name, value in given.get("headers", {}).items() if name.lower() in PLAIN
                }
            return super().request(*args, **{**given, "allow_redirects": False})

    return Staying()
