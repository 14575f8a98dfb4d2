"""Texts as vectors: an embedded default that needs no network, or any LiteLLM embedding model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tenacity import retry, stop_after_attempt, wait_exponential_jitter

from courtroom.models.card import load
from courtroom.text import is_chinese, words

Vectors = NDArray[np.float32]
DIMENSIONS = 1024
DEFAULT = "hashed-ngrams"


class Embedding(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Names model and version: vectors of another name can't be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""
        ...


class HashedNgrams:
    """Hashed words, word pairs and characters, in English and Chinese.

    It is lexical: it finds texts that use the same or similarly spelt words, and knows no synonyms.
    """

    name = f"{DEFAULT}-1"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, 1024); a text without a word is the zero vector."""
        return np.stack([_hashed(text) for text in texts]) if texts else np.zeros((0, DIMENSIONS), np.float32)


class LiteLLMEmbedding:
    """Any embedding model that LiteLLM can reach."""

    def __init__(self, model: str) -> None:
        self.name = model
        self._known: dict[str, Vectors] = {}

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1; each text is asked for once."""
        new = list(dict.fromkeys(text for text in texts if text not in self._known))
        if new:
            vectors = await self._ask(new)
            vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
            self._known.update(zip(new, vectors, strict=True))
        return np.stack([self._known[text] for text in texts])

    @retry(stop=stop_after_attempt(5), wait=wait_exponential_jitter(multiplier=0.5, max=20), reraise=True)
    async def _ask(self, texts: list[str]) -> Vectors:
        litellm = await asyncio.to_thread(load)
        reply = await litellm.aembedding(model=self.name, input=texts, num_retries=0, max_retries=0, timeout=60)
        return np.array([item["embedding"] for item in reply.data], np.float32)


def embedding_of(name: str) -> Embedding:
    """The embedding of a name: the default, or a LiteLLM model id."""
    return HashedNgrams() if name == DEFAULT else LiteLLMEmbedding(name)


@cache
def _hashers() -> tuple[Any, Any]:
    from sklearn.feature_extraction.text import HashingVectorizer

    whole = HashingVectorizer(analyzer=words, n_features=DIMENSIONS, alternate_sign=True, norm=None, dtype=np.float32)
    spelt = HashingVectorizer(
        analyzer="char_wb", ngram_range=(3, 4), n_features=DIMENSIONS, alternate_sign=True, norm=None, dtype=np.float32
    )
    return whole, spelt


@lru_cache(maxsize=4096)
def _hashed(text: str) -> Vectors:
    whole, spelt = _hashers()
    by_word = _unit(whole.transform([text]).toarray()[0])
    # Chinese words carry nearly all; spelling helps European inflections.
    by_spelling = 0 if is_chinese(text) else 0.5 * _unit(spelt.transform([text.lower()]).toarray()[0])
    return _unit(by_word + by_spelling)


def _unit(vector: Any) -> Vectors:
    damped = np.sign(vector) * np.log1p(np.abs(vector))
    length = float(np.linalg.norm(damped))
    return np.asarray(damped / length if length else damped, np.float32)
