"""Texts as vectors: an embedded default that needs no network, or any LiteLLM embedding model."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from tenacity import retry, retry_if_exception, stop_after_attempt, wait_exponential_jitter

from courtroom.models.card import load
from courtroom.models.errors import ModelError
from courtroom.models.failures import Incomplete, may_pass
from courtroom.models.keys import scrubbed
from courtroom.text import is_chinese, words

log = logging.getLogger(__name__)

Vectors = NDArray[np.float32]
DIMENSIONS = 1024
DEFAULT = "hashed-ngrams"
AT_ONCE = 100  # texts in one call: providers limit them
KEPT = 20_000  # vectors kept in memory


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
    """Hashed words, in English and Chinese; texts without Chinese also by their runs of 3 and 4 letters.

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
        """Vectors of length 1; a text that was asked for lately is not asked for again.

        Raises:
            ModelError: no vectors could be had.
        """
        known = {text: self._known[text] for text in texts if text in self._known}
        new = list(dict.fromkeys(text for text in texts if text not in known))
        for start in range(0, len(new), AT_ONCE):
            batch = new[start : start + AT_ONCE]
            try:
                vectors = await self._ask(batch)
            except Exception as error:  # noqa: BLE001  whatever a provider's client raises, a user is told one sentence
                log.warning("%s: %s", self.name, scrubbed(repr(error)))
                raise ModelError(
                    f"The embedding model {self.name} gave no vectors. Check its id, its key and its server, then try again."
                ) from None  # the cause may hold a key, and a log would print it
            known.update(zip(batch, vectors, strict=True))
        self._known.update(known)
        for text in list(self._known)[:-KEPT]:
            del self._known[text]
        return np.stack([known[text] for text in texts])

    @retry(
        retry=retry_if_exception(may_pass),
        stop=stop_after_attempt(5),
        wait=wait_exponential_jitter(multiplier=0.5, max=20),
        reraise=True,
    )
    async def _ask(self, texts: list[str]) -> Vectors:
        litellm = await asyncio.to_thread(load)
        reply = await litellm.aembedding(model=self.name, input=texts, num_retries=0, max_retries=0, timeout=60)
        vectors = np.array([item["embedding"] for item in reply.data], np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise Incomplete(f"{len(texts)} texts were sent, vectors of shape {vectors.shape} came back")
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), np.float32)


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
