"""Texts as vectors of an encoder that runs on this machine: those of the papers, by sentence-transformers or spaCy.

Both libraries come with the extra `embeddings`. Which encoders can be chosen is a fixed list, and none is ever downloaded
from here: whoever makes a setup can't have this server load what its owner has not put there.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal

from courtroom.knowledge.embedding import Vectors
from courtroom.models.errors import ModelError

log = logging.getLogger(__name__)

AT_ONCE = 8
"""Texts in one batch: long ones take much memory."""
MISSING = "It needs the extra `embeddings`: pip install 'courtroom[embeddings]'."


@dataclass(frozen=True)
class Encoder:
    """One encoder that can be chosen."""

    library: Literal["sentence_transformers", "spacy"]
    model: str
    """As its library names it."""
    of: str
    """Whose encoder it is, and how much of a text it reads."""


LOCAL: Mapping[str, Encoder] = {
    "local/longformer": Encoder(
        "sentence_transformers", "allenai/longformer-base-4096", "CyberJurors' encoder; reads 4,096 tokens"
    ),
    "local/qwen3-embedding-8b": Encoder(
        "sentence_transformers", "Qwen/Qwen3-Embedding-8B", "VERDICT's encoder; needs a GPU; reads 32,768 tokens"
    ),
    "local/qwen3-embedding-0.6b": Encoder(
        "sentence_transformers", "Qwen/Qwen3-Embedding-0.6B", "the small one of VERDICT's family; reads 32,768 tokens"
    ),
    "local/en-core-web-sm": Encoder("spacy", "en_core_web_sm", "Courtroom-LLM's encoder; English; reads whole texts"),
}
"""By the name under which it is chosen."""

Encode = Callable[[list[str]], Any]


class LocalEncoder:
    """An encoder of the list. A text that is longer than it reads is cut at its end, by its own tokenizer."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._encode: Encode | None = None

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions).

        Raises:
            ModelError: the library or the model is not there.
        """
        return await asyncio.to_thread(self._embed, list(texts))

    def _embed(self, texts: list[str]) -> Vectors:
        import numpy as np

        known = LOCAL[self.name]
        with self._lock:
            try:
                if self._encode is None:
                    self._encode = {"spacy": by_spacy, "sentence_transformers": by_transformer}[known.library](
                        known.model
                    )
                vectors = np.asarray(self._encode(texts), np.float32)
            except ModuleNotFoundError as error:
                raise ModelError(f"The encoder {self.name} can't be loaded. {MISSING}") from error
            except Exception as error:
                log.warning("%s: %r", self.name, error)
                raise ModelError(
                    f"The encoder {self.name} gave no vectors. Check that its model {known.model} is downloaded and fits into "
                    "memory, then try again; the log has the rest."
                ) from error
        return np.asarray(vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12), np.float32)


def by_transformer(model: str) -> Encode:
    """An encoder of sentence-transformers; it reads as many tokens as its model takes."""
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(model, local_files_only=True)
    return lambda texts: loaded.encode(texts, batch_size=AT_ONCE, show_progress_bar=False)


def by_spacy(model: str) -> Encode:
    """An encoder of spaCy: the mean of its words' vectors."""
    import spacy

    loaded = spacy.load(model)
    return lambda texts: [loaded(text[: loaded.max_length]).vector for text in texts]


def installed(name: str) -> bool:
    """Whether the library of a local encoder is there; nothing is loaded for that."""
    return find_spec(LOCAL[name].library) is not None
