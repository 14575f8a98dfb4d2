"""The providers that models are asked at, each with the names of its key and its address in the environment.

No other is asked. LiteLLM knows more than a hundred, and where one has no key of its own it takes `OPENAI_API_KEY`
for it, or an address out of the model's id; for those listed here both are given by us, so that neither happens. A
provider that is missing here can be reached by way of a LiteLLM proxy as a connection.
"""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Provider:
    """Where a provider's key and address stand in the environment; the first that is set counts."""

    keys: tuple[str, ...]
    addresses: tuple[str, ...]
    near: bool = False
    """A server of one's own, at a known place on this machine unless an address is set; it needs no key."""
    unplaced: bool = False
    """It has no address of its own: one must be set."""


def _usual(name: str, **differs: bool) -> Provider:
    return Provider((f"{name.upper()}_API_KEY",), (f"{name.upper()}_API_BASE",), **differs)


_COHERE = Provider(("COHERE_API_KEY", "CO_API_KEY"), ("COHERE_API_BASE",))
_OLLAMA = _usual("ollama", near=True)
_USUAL = (
    "cerebras", "dashscope", "deepinfra", "deepseek", "featherless_ai", "github", "groq", "hyperbolic", "minimax",
    "mistral", "moonshot", "nebius", "novita", "nvidia_nim", "sambanova", "volcengine", "xai", "zai",
)  # fmt: skip

PROVIDERS: Mapping[str, Provider] = {
    "openai": Provider(("OPENAI_API_KEY",), ("OPENAI_BASE_URL", "OPENAI_API_BASE")),
    "anthropic": Provider(("ANTHROPIC_API_KEY",), ("ANTHROPIC_API_BASE", "ANTHROPIC_BASE_URL")),
    "gemini": Provider(("GEMINI_API_KEY", "GOOGLE_API_KEY"), ("GEMINI_API_BASE",)),
    "openrouter": Provider(("OPENROUTER_API_KEY", "OR_API_KEY"), ("OPENROUTER_API_BASE",)),
    "cohere": _COHERE,
    "cohere_chat": _COHERE,
    "fireworks_ai": Provider(("FIREWORKS_AI_API_KEY", "FIREWORKS_API_KEY"), ("FIREWORKS_API_BASE",)),
    "perplexity": Provider(("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"), ("PERPLEXITY_API_BASE",)),
    "together_ai": Provider(
        ("TOGETHER_AI_API_KEY", "TOGETHERAI_API_KEY", "TOGETHER_API_KEY"), ("TOGETHER_AI_API_BASE",)
    ),
    **{name: _usual(name) for name in _USUAL},
    "azure": Provider(("AZURE_API_KEY", "AZURE_OPENAI_API_KEY"), ("AZURE_API_BASE",), unplaced=True),
    "azure_ai": _usual("azure_ai", unplaced=True),
    "ollama": _OLLAMA,
    "ollama_chat": _OLLAMA,
    "llamafile": _usual("llamafile", near=True),
    "hosted_vllm": _usual("hosted_vllm", near=True, unplaced=True),
    "lm_studio": _usual("lm_studio", near=True, unplaced=True),
    "xinference": _usual("xinference", near=True, unplaced=True),
    "litellm_proxy": _usual("litellm_proxy", unplaced=True),
}
