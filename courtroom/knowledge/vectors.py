"""Vectors on disk: what was embedded once is not embedded, or billed, again."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

from courtroom.knowledge.embedding import Embedding, Vectors
from courtroom.store.database import Database, marks

if TYPE_CHECKING:
    import numpy as np

    Half = np.ndarray[tuple[int], np.dtype[np.float16]]


class Remembered:
    """An embedding whose vectors are kept, in half precision, whether they were just made or read."""

    def __init__(self, embedding: Embedding, database: Database) -> None:
        self._embedding, self._database = embedding, database

    @property
    def name(self) -> str:
        """The embedding's own name."""
        return self._embedding.name

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions).

        Raises:
            ModelError: an embedding model gave no vectors.
        """
        import numpy as np

        if not texts:
            return await self._embedding.embed(texts)
        digests, known = await asyncio.to_thread(self._known, texts)
        new = {digest: text for digest, text in zip(digests, texts, strict=True) if digest not in known}
        if new:
            made = (await self._embedding.embed(list(new.values()))).astype(np.float16)
            await asyncio.to_thread(self._write, list(new), made)
            known.update(zip(new, made, strict=True))
        return await asyncio.to_thread(_stacked, [known[digest] for digest in digests])

    def _known(self, texts: Sequence[str]) -> tuple[list[bytes], dict[bytes, Half]]:
        digests = [hashlib.sha256(text.encode()).digest() for text in texts]
        return digests, self._read(digests)

    def _read(self, digests: Sequence[bytes]) -> dict[bytes, Half]:
        import numpy as np

        known = {}
        for start in range(0, len(digests), 500):
            some = digests[start : start + 500]
            rows = self._database.connection.execute(
                f"SELECT digest, vector FROM vectors WHERE embedding = ? AND digest IN ({marks(some)})",
                (self.name, *some),
            )
            known.update({row["digest"]: np.frombuffer(row["vector"], np.float16) for row in rows})
        return known

    def _write(self, digests: Sequence[bytes], made: np.ndarray[tuple[int, int], np.dtype[np.float16]]) -> None:
        with self._database.transaction() as db:
            db.executemany(
                "INSERT INTO vectors VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
                [(self.name, digest, vector.tobytes()) for digest, vector in zip(digests, made, strict=True)],
            )


def _stacked(rows: list[Half]) -> Vectors:
    import numpy as np

    return np.stack(rows).astype(np.float32)
