"""Chroma in a process of its own: what ends Chroma does not end the app, and Chroma never sees the app's memory.

Run as a script, it reads pickled requests from its standard input and writes JSON; nothing of what it writes is ever
unpickled. It knows nothing of the program but this file.
"""

from __future__ import annotations

import json
import os
import pickle
import select
import shutil
import sqlite3
import struct
import sys
import tempfile
from contextlib import closing
from typing import Any, BinaryIO

SIZE = struct.Struct(">Q")
"""Before each request and each reply: its length in bytes."""
NEVER, AT_ONCE = 1_000_000_000, 2
"""After how many changes Chroma writes its graph down."""
NEAR = 4
"""So many times the number that is wanted is looked through before a filter is left to Chroma."""
IDLE_S = 900.0
"""A process that is asked nothing for so long ends. A new one starts when it is needed."""


class Server:
    """One collection, in one folder."""

    def __init__(self) -> None:
        self._client: Any = None
        self._collection: Any = None
        self._view: tempfile.TemporaryDirectory[str] | None = None

    def ready(self) -> str:
        """The version of Chroma."""
        import chromadb

        return str(chromadb.__version__)

    def make(self, folder: str, name: str, hnsw: dict[str, Any]) -> None:
        """Open a folder to write to it. Until `finish`, vectors are put into Chroma's log alone."""
        self._connect(folder)
        made = self._client.get_or_create_collection(
            name, embedding_function=None, configuration={"hnsw": hnsw | {"sync_threshold": NEVER}}
        )
        made.modify(configuration={"hnsw": {"sync_threshold": NEVER}})
        self.open(folder, name)  # only then does it hold

    def finish(self, folder: str, name: str) -> int:
        """Make the graph of what is in the log, and write it down whole. How many vectors are in it."""
        self._collection.modify(configuration={"hnsw": {"sync_threshold": AT_ONCE}})
        self.open(folder, name)
        some = self._collection.get(limit=1, include=["embeddings"])["embeddings"]
        if len(some):
            self._collection.query(query_embeddings=some, n_results=1)  # the first use makes the graph
        count = int(self._collection.count())
        self.close()
        with closing(sqlite3.connect(os.path.join(folder, "chroma.sqlite3"), isolation_level=None)) as log:
            # All of it is in the graph, and it is as large as the graph. The last one stays: numbers go on from there.
            log.execute("DELETE FROM embeddings_queue WHERE seq_id < (SELECT max(seq_id) FROM embeddings_queue)")
            log.execute("VACUUM")
        return count

    def open(self, folder: str, name: str) -> int:
        """Open a folder that is there, and how many vectors are in it."""
        self._connect(folder)
        self._collection = self._client.get_collection(name, embedding_function=None)
        return int(self._collection.count())

    def look(self, folder: str, name: str) -> int:
        """Open a folder without a change to it: Chroma writes to its SQLite file even where it only answers questions."""
        self.close()
        if self._view is not None:
            self._view.cleanup()
        self._view = tempfile.TemporaryDirectory(prefix="courtroom-graph-")
        for path, _, files in os.walk(folder):
            seen = os.path.join(self._view.name, os.path.relpath(path, folder))
            os.makedirs(seen, exist_ok=True)
            for file in files:
                place = shutil.copyfile if file.endswith(".sqlite3") else os.symlink
                place(os.path.join(path, file), os.path.join(seen, file))
        return self.open(self._view.name, name)

    def upsert(self, ids: list[str], vectors: Any, metadatas: list[dict[str, Any]]) -> None:
        """Write vectors, an array of shape (ids, dimensions)."""
        self._collection.upsert(ids=ids, embeddings=vectors, metadatas=metadatas)

    def delete(self, ids: list[str]) -> None:
        """Take vectors out; ids that are not there do no harm."""
        self._collection.delete(ids=ids)

    def query(self, vector: Any, k: int, marks: list[str], days: tuple[int, int] | None) -> list[tuple[str, float]]:
        """The k nearest that have all these marks and a day between these two, ids with cosine distances."""
        conditions: list[dict[str, Any]] = [{mark: True} for mark in marks]
        if days is not None:
            conditions += [{"day": {"$gte": days[0]}}, {"day": {"$lte": days[1]}}]
        if not conditions:
            return self._found(vector, k, None)[0]
        # Chroma's own filter looks at each record first. Where many fit, some of the nearest do, and they are found sooner.
        near, data = self._found(vector, min(NEAR * k, int(self._collection.count())), None, "metadatas")
        fitting = [
            pair
            for pair, one in zip(near, data, strict=True)
            if all(one.get(mark) for mark in marks) and (days is None or days[0] <= one["day"] <= days[1])
        ]
        if len(fitting) >= k:
            return fitting[:k]
        return self._found(vector, k, conditions[0] if len(conditions) == 1 else {"$and": conditions})[0]

    def _found(
        self, vector: Any, k: int, where: dict[str, Any] | None, *more: str
    ) -> tuple[list[tuple[str, float]], list[dict[str, Any]]]:
        found = self._collection.query(
            query_embeddings=[vector], n_results=k, where=where, include=["distances", *more]
        )
        data = found["metadatas"][0] if more else []
        return list(zip(found["ids"][0], found["distances"][0], strict=True)), data

    def close(self) -> None:
        """Write down what is not written yet, and let go of the files."""
        client, self._client, self._collection = self._client, None, None
        if client is not None:
            from chromadb.api.shared_system_client import SharedSystemClient

            client.close()
            # Else Chroma gives out again what was open.
            SharedSystemClient._identifier_to_system.clear()
            SharedSystemClient._identifier_to_refcount.clear()

    def _connect(self, folder: str) -> None:
        import chromadb
        from chromadb.config import Settings

        self.close()
        self._client = chromadb.PersistentClient(folder, settings=Settings(anonymized_telemetry=False))


def serve(given: BinaryIO, out: BinaryIO) -> None:
    """Answer requests until there are none."""
    server = Server()
    while select.select([given], [], [], IDLE_S)[0] and (request := _read(given)) is not None:
        what, arguments = request
        try:
            reply: dict[str, Any] = {"value": getattr(server, what)(*arguments)}
        except BaseException as error:  # noqa: BLE001  a panic in Chroma's Rust is no Exception
            reply = {"error": f"{type(error).__name__}: {error}"}
        body = json.dumps(reply).encode()
        out.write(SIZE.pack(len(body)) + body)
        out.flush()


def _read(given: BinaryIO) -> Any:
    """The next request; None where there is none any more."""
    head = _exactly(given, SIZE.size)
    return pickle.loads(_exactly(given, SIZE.unpack(head)[0])) if head else None  # noqa: S301  of the app itself


def _exactly(given: BinaryIO, size: int) -> bytes:
    parts: list[bytes] = []
    while size and (part := given.read(size)):
        parts.append(part)
        size -= len(part)
    return b"" if size else b"".join(parts)


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what Chroma prints must not get between the replies
    serve(open(0, "rb", buffering=0), replies)  # noqa: SIM115  for the process's life; unbuffered, so that `select` sees all
    sys.exit(0)
