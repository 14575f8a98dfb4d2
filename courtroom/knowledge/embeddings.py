"""Which embeddings can be chosen, and what is to be known of each."""

from __future__ import annotations

from courtroom.knowledge.embedding import DEFAULT, Embedding, HashedNgrams
from courtroom.knowledge.local_encoder import LOCAL, LocalEncoder
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec

REMOTE = (
    "openai/text-embedding-3-small",
    "openai/text-embedding-3-large",
    "gemini/gemini-embedding-001",
    "mistral/mistral-embed",
    "ollama/nomic-embed-text",
)
"""LiteLLM ids that pages offer; any other can be written."""
BY_WORDS = (
    "Texts are compared by their words, not by their meaning: two texts that say the same in other words, or in another language, count "
    "as unlike. Personas and norms, for example, share so few words that which norms are chosen is close to chance. Choose an embedding "
    "model where the choice matters."
)
"""What it means where something is selected by the default embedding."""


def embedding_of(name: str) -> Embedding:
    """The embedding of a name: the default, a local encoder, or a LiteLLM model id."""
    if name == DEFAULT:
        return HashedNgrams()
    if name in LOCAL:
        return LocalEncoder(name)
    from courtroom.knowledge.litellm_embedding import (
        LiteLLMEmbedding,  # with what retries calls: most commands ask none
    )

    return LiteLLMEmbedding(name)


def embedding_problem(name: str) -> str:
    """Why this can't be chosen, in words that fit into a sentence; empty where it can."""
    if name in ("", DEFAULT, *LOCAL):
        return ""
    if name.startswith("local/"):
        return f"the local encoders are {', '.join(LOCAL)}"
    if name in (OFFLINE, PERSON):
        return f"“{name}” is no embedding; the one that needs no model is `{DEFAULT}`"
    return ModelSpec.model_construct(id=name).problem()


def about_embedding(name: str) -> str:
    """What a person should know of an embedding, in sentences."""
    if name == DEFAULT:
        return BY_WORDS
    if name in LOCAL:
        return f"{name} runs on this machine: {LOCAL[name].of}. What is longer is cut at its end."
    return (
        f"{name} is asked through LiteLLM, with the key that is set on the server. A text that is longer than the model takes is cut at its "
        "end, at 3 ASCII characters a token, or 2 other characters for 3 tokens."
    )
