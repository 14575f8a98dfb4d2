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
WHERE = ("default_tenant", "default_database")
"""In which part of its store Chroma keeps collections."""
EACH = 2
"""The fewest changes after which Chroma writes its graph down."""
OPEN = 4
"""Graphs that Chroma holds in memory at most; there is one."""
NEAR = 4
"""So many times the number that is wanted is looked through before a filter is left to Chroma."""
IDLE_S = 900.0
"""A process that is asked nothing for so long ends. A new one starts when it is needed."""


class Server:
    """One collection, in one folder, by Chroma's engine itself: `import chromadb` takes longer than all the rest."""

    def __init__(self) -> None:
        self._engine: Any = None
        self._collection = ""
        self._view: tempfile.TemporaryDirectory[str] | None = None

    def ready(self) -> bool:
        """Whether Chroma can be loaded; it raises where it can't."""
        import chromadb_rust_bindings

        return hasattr(chromadb_rust_bindings, "Bindings")

    def make(self, folder: str, name: str, hnsw: dict[str, Any], every: int) -> None:
        """Open a folder to write to it; the graph is written down whenever so many changes are in it."""
        self._connect(folder)
        configuration = json.dumps({"hnsw": hnsw | {"sync_threshold": max(every, EACH)}})
        made = self._engine.create_collection(name, configuration, None, None, True, *WHERE)
        self._write_down_every(folder, name, str(made.id), max(every, EACH))

    def finish(self, folder: str, name: str) -> int:
        """Write down what is not written yet. How many vectors are in the graph."""
        self._write_down_every(folder, name, self._collection, EACH)
        self._load()
        count = int(self._engine.count(self._collection, *WHERE))
        self.close()
        with closing(sqlite3.connect(os.path.join(folder, "chroma.sqlite3"), isolation_level=None)) as log:
            # All of it is in the graph, and it is as large as the graph. The last one stays: numbers go on from there.
            log.execute("DELETE FROM embeddings_queue WHERE seq_id < (SELECT max(seq_id) FROM embeddings_queue)")
            log.execute("VACUUM")
        return count

    def open(self, folder: str, name: str) -> int:
        """Open a folder that is there, and how many vectors are in it."""
        self._connect(folder)
        self._collection = str(self._engine.get_collection(name, *WHERE).id)
        return int(self._engine.count(self._collection, *WHERE))

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
        count = self.open(self._view.name, name)
        self._load()
        return count

    def upsert(self, ids: list[str], vectors: bytes, metadatas: list[dict[str, Any]]) -> None:
        """Write vectors: their numbers one after the other, in single precision."""
        numbers = memoryview(vectors).cast("f")
        size = len(numbers) // len(ids)
        rows = [numbers[start : start + size] for start in range(0, len(numbers), size)]
        self._engine.upsert(self._collection, ids, rows, metadatas, None, None, *WHERE)

    def delete(self, ids: list[str]) -> None:
        """Take vectors out; ids that are not there do no harm."""
        self._engine.delete(self._collection, ids, None, None, None, *WHERE)

    def query(self, vector: bytes, k: int, marks: list[str], days: tuple[int, int] | None) -> list[tuple[str, float]]:
        """The k nearest that have all these marks and a day between these two, ids with cosine distances."""
        conditions: list[dict[str, Any]] = [{mark: True} for mark in marks]
        if days is not None:
            conditions += [{"day": {"$gte": days[0]}}, {"day": {"$lte": days[1]}}]
        if not conditions:
            return self._found(vector, k, None)[0]
        # Chroma's own filter looks at each record first. Where many fit, some of the nearest do, and they are found sooner.
        held = int(self._engine.count(self._collection, *WHERE))
        near, data = self._found(vector, min(NEAR * k, held), None, "metadatas")
        fitting = [
            pair
            for pair, one in zip(near, data, strict=True)
            if all(one.get(mark) for mark in marks) and (days is None or days[0] <= one["day"] <= days[1])
        ]
        if len(fitting) >= k:
            return fitting[:k]
        return self._found(vector, k, conditions[0] if len(conditions) == 1 else {"$and": conditions})[0]

    def _found(
        self, vector: bytes, k: int, where: dict[str, Any] | None, *more: str
    ) -> tuple[list[tuple[str, float]], list[dict[str, Any]]]:
        narrowed = json.dumps(where) if where else None
        asked = [memoryview(vector).cast("f")]
        found = self._engine.query(self._collection, None, asked, k, narrowed, None, ["distances", *more], *WHERE)
        data = found.metadatas[0] if more else []
        return list(zip(found.ids[0], found.distances[0], strict=True)), data

    def close(self) -> None:
        """Let go of the files."""
        self._engine, self._collection = None, ""

    def _connect(self, folder: str) -> None:
        import chromadb_rust_bindings as chroma

        self.close()
        log = chroma.SqliteDBConfig(
            hash_type=chroma.MigrationHash.MD5,
            migration_mode=chroma.MigrationMode.Apply,
            url=os.path.join(folder, "chroma.sqlite3"),
        )
        self._engine = chroma.Bindings(
            allow_reset=False, sqlite_db_config=log, persist_path=folder, hnsw_cache_size=OPEN
        )

    def _write_down_every(self, folder: str, name: str, collection: str, changes: int) -> None:
        configuration = {"hnsw": {"sync_threshold": changes}, "spann": None, "embedding_function": None}
        self._engine.update_collection(collection, None, None, json.dumps(configuration))
        self.open(folder, name)  # only then does it hold

    def _load(self) -> None:
        """Have the graph in memory, with all that is in the log: reading one vector does so."""
        self._engine.get(self._collection, None, None, 1, 0, None, ["embeddings"], *WHERE)


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
