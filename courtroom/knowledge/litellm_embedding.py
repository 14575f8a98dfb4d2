"""Texts as vectors of any embedding model that LiteLLM can reach."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

from courtroom.knowledge.vectors import of_length_1
from courtroom.models.card import card, load
from courtroom.models.failures import Attempts, Incomplete, again_if_it_may_pass
from courtroom.models.keys import scrubbed
from courtroom.models.request import ModelError
from courtroom.models.route import Connections, route
from courtroom.models.spec import ModelSpec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

log = logging.getLogger(__name__)

AT_ONCE = 100  # texts in one call: providers limit them
NOTHING = "-"
"""Is sent for a text without a word: providers refuse an empty one."""
LONGEST = 8_000
"""Tokens of a text that are sent to a model whose card does not say how many it takes."""
ASCII, OTHER = 1 / 3, 3 / 2
"""Tokens of one character, at most in ordinary text: no tokenizer of a remote model is at hand to count them."""


class LiteLLMEmbedding:
    """Any embedding model that LiteLLM can reach. A text that is longer than the model takes is cut at its end."""

    def __init__(self, model: str) -> None:
        self.name = model

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Vectors of length 1, shape (texts, dimensions)."""
        import numpy as np

        limit = await asyncio.to_thread(longest, self.name)
        texts = [beginning(text, limit) if text.strip() else NOTHING for text in texts]
        vectors = []
        for start in range(0, len(texts), AT_ONCE):
            asked = partial(self._ask, texts[start : start + AT_ONCE])
            try:
                vectors.append(await Attempts(ModelSpec(id=self.name)).made(asked, again_if_it_may_pass))
            except Exception as error:  # noqa: BLE001  clients raise what they like; a user is shown one sentence
                log.warning("%s: %s", self.name, scrubbed(repr(error)))
                raise ModelError(
                    f"The embedding model {self.name} gave no vectors. "
                    "Check its id, its key and its server, then try again."
                ) from None  # the cause may hold a key, and a log would print it
        return np.concatenate(vectors)

    async def _ask(self, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np

        litellm = await asyncio.to_thread(load)
        # It works for all runs, so that no key which was typed for one of them counts.
        where = route(ModelSpec(id=self.name), Connections(), typed=False).parameters()
        reply = await litellm.aembedding(**where, input=texts, num_retries=0, max_retries=0, timeout=60)
        vectors = np.array([item["embedding"] for item in reply.data], np.float32)
        if vectors.ndim != 2 or len(vectors) != len(texts):
            raise Incomplete(f"{len(texts)} texts were sent, vectors of shape {vectors.shape} came back")
        return of_length_1(vectors)


def longest(model: str) -> int:
    """How many tokens of a text a model takes, by its card in LiteLLM. Imports LiteLLM: call it in a thread."""
    known = card(model) or {}
    return int(known.get("max_input_tokens") or known.get("max_tokens") or LONGEST)


def beginning(text: str, tokens: int) -> str:
    """Return the beginning of a text that has at most so many tokens: one is 3 ASCII characters, or 2/3 of another."""
    if len(text) * OTHER <= tokens:
        return text
    spent = accumulate(ASCII if character < "\x80" else OTHER for character in text)
    return text[: sum(so_far <= tokens for so_far in spent)]
