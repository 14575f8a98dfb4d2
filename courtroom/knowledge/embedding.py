"""Texts as vectors: an embedded default that needs no network, or any LiteLLM embedding model."""

from __future__ import annotations

import asyncio
import logging
import math
import re
from collections import Counter
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
_CHINESE = re.compile(r"[\u3400-\u9fff]+")
_NO_LETTER = re.compile(r"[^a-z]+")


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
    """Hashed words, Chinese ones weighted by how rare they are, with pairs of characters and runs of letters.

    It is lexical: it finds texts that use the same or similarly spelt words, and knows no synonyms. The weights are
    the inverse document frequencies that come with jieba.
    """

    name = f"{DEFAULT}-2"

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
def _hashers() -> tuple[Any, Any, Any]:
    from sklearn.feature_extraction.text import HashingVectorizer

    shape: dict[str, Any] = {"n_features": DIMENSIONS, "alternate_sign": True, "norm": None, "dtype": np.float32}
    one_word = HashingVectorizer(analyzer=lambda word: [word], **shape)
    pairs = HashingVectorizer(analyzer=_pairs, **shape)
    spelt = HashingVectorizer(analyzer="char_wb", ngram_range=(3, 4), **shape)
    return one_word, pairs, spelt


@cache
def _rarities() -> tuple[dict[str, float], float]:
    from importlib.resources import files

    table = files("jieba").joinpath("analyse", "idf.txt").read_text(encoding="utf-8")
    rarity = {word: float(weight) for word, weight in (line.split(" ") for line in table.splitlines())}
    return rarity, float(np.median(list(rarity.values())))


def _pairs(text: str) -> list[str]:
    return [run[i : i + 2] for run in _CHINESE.findall(text) for i in range(len(run) - 1)]


@lru_cache(maxsize=65536)
def _place(word: str) -> tuple[int, float]:
    """Where a word's weight is added, and with which sign."""
    hashed = _hashers()[0].transform([word])
    return int(hashed.indices[0]), float(hashed.data[0])


@lru_cache(maxsize=4096)
def _hashed(text: str) -> Vectors:
    _, pairs, spelt = _hashers()
    rarity, median = _rarities() if is_chinese(text) else ({}, 1.0)
    by_word = np.zeros(DIMENSIONS, np.float32)
    for word, count in Counter(words(text)).items():
        place, sign = _place(word)
        by_word[place] += sign * math.log1p(count) * rarity.get(word, median)
    # Pairs of characters help where words are segmented otherwise; spelling helps European inflections.
    by_part = pairs.transform([text]) + spelt.transform([_NO_LETTER.sub(" ", text.lower())])
    return _unit(_unit(by_word) + 0.5 * _unit(_damped(by_part.toarray()[0])))


def _damped(vector: Any) -> Vectors:
    return np.asarray(np.sign(vector) * np.log1p(np.abs(vector)), np.float32)


def _unit(vector: Any) -> Vectors:
    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)
