"""The nearest by meaning: few vectors compared one by one, many in Chroma's graph; made anew by itself where it fails."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from courtroom.errors import CourtroomError
from courtroom.knowledge.changes import FEW, NOTHING, Changed, Records
from courtroom.knowledge.chroma_apart import Broken
from courtroom.knowledge.embedding import DEFAULT, Embedding, Vectors
from courtroom.knowledge.facets import ALL, Facets, Filter
from courtroom.knowledge.graph import Batch, DiskGraph, ServerGraph, VectorGraph, engine
from courtroom.knowledge.sealed import Seal
from courtroom.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
"""How many texts of how many are taken in."""
SHARE = 10
"""The graph takes in what is newer as soon as that is more than a tenth of it."""
OTHER = "@2"
"""Behind the id of a record's text in its other language."""


def index_name(collection: str, embedding: str) -> str:
    """The name of a collection's index: each embedding has its own, so that none has to give way to another."""
    if embedding.startswith(DEFAULT):
        return collection
    return f"{collection}-{hashlib.sha256(embedding.encode()).hexdigest()[:12]}"


class VectorIndex:
    """Nearest neighbours by cosine. Deleting its folder loses nothing; several processes may share it.

    A graph holds the records as they were at some version. What was written since is compared one by one, and what was
    taken out since is passed over; as soon as that is much, the graph takes it in.

    Args:
        few: up to so many records there is no graph.
    """

    def __init__(self, settings: Settings, collection: str, embedding: Embedding, few: int = FEW) -> None:
        self._settings, self._embedding, self._few = settings, embedding, few
        self._folder = settings.chroma / collection  # its own: mending one collection leaves the others alone
        self._graph: VectorGraph = (
            ServerGraph(settings, collection) if settings.chroma_host else DiskGraph(self._folder, collection)
        )
        self._lock = threading.RLock()
        self._base: Seal | None = None
        self._version = NOTHING  # of the records, as this process has them
        self._hidden: set[str] = set()  # records that are in the graph, and differ now or are gone
        self._fresh: dict[str, tuple[Vectors, Facets]] = {}
        self._rows: Any = None  # of what is fresh, shape (records, dimensions)
        self._syncing: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def wake(self, records: Records) -> None:
        """In a new process, have what reads the graph start: it takes longest.

        Raises:
            CourtroomError: Chroma fails even on an index made anew.
        """
        if self._version == NOTHING:
            await self._mending(lambda: self._do(partial(self._begin, records), locked=False))

    async def search(
        self, text: str, k: int, records: Records, exclude: Sequence[str] = (), only: Filter = ALL
    ) -> list[tuple[str, float]]:
        """The k records closest to a text with their cosine similarity, closest first.

        Args:
            records: what is on record; the index is brought up to it first.

        Raises:
            CourtroomError: Chroma fails even on an index made anew.
        """

        async def look() -> list[tuple[str, float]]:
            # At once, as a new process loads what embeds while Chroma's loads the graph.
            _, (vector,) = await asyncio.gather(self._sync(records), self._embedding.embed([text]))
            return await self._do(lambda: self._nearest(vector, k, frozenset(exclude), only))

        return await self._mending(look)

    async def bring_up(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        """Take in what has changed, so that no search has to wait for that.

        Raises:
            CourtroomError: Chroma fails even on an index made anew.
        """
        await self._mending(lambda: self._sync(records, progress))

    def fault(self, records: Records) -> str:
        """What is wrong with the graph, as a sentence; empty where nothing is. Nothing is brought up to date."""
        try:
            seal = self._graph.seal(self._made_with)
            if seal is None:
                return ""
            if seal.version > records.version():
                return "It is from after the records."
            self._graph.check(seal)
        except Broken:
            return "It does not open."
        return ""

    def discard(self) -> None:
        """Make it anew at the next search."""
        with self._lock:
            self._graph.discard()
            self._forget()

    def close(self) -> None:
        """Let go of the graph; a search opens it again."""
        with self._lock:
            self._graph.close()
            self._forget()

    async def _sync(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        # One search brings it up to date, and those beside it wait: hundreds of runs may begin at once.
        async with self._syncing.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            version = await self._do(partial(self._begin, records), locked=False)
            if version != self._version:
                await self._bring_up_to(records, version, progress)
            if self._base is not None:
                await self._do(partial(self._graph.check, self._base))

    async def _bring_up_to(self, records: Records, version: int, progress: Progress) -> None:
        changed = await asyncio.to_thread(records.changed, self._version)
        if len(self._fresh) + len(changed.texts) > max(self._few, (self._base.count if self._base else 0) // SHARE):
            await self._take_in(records, version, progress)
            changed = await asyncio.to_thread(records.changed, self._version)
        vectors = await self._embedding.embed(list(changed.texts.values()))
        await self._do(lambda: self._note(changed, vectors, version))

    async def _take_in(self, records: Records, version: int, progress: Progress) -> None:
        """Have the graph hold all records; where another process does so, wait for it and look again."""
        loop = asyncio.get_running_loop()

        def batches(changed: Changed, size: int) -> Iterator[Batch]:
            names = list(changed.texts)
            parts = [names[start : start + size] for start in range(0, len(names), size)]
            embedded = map(partial(embed, changed), parts)
            coming = next(embedded)
            for number, part in enumerate(parts):
                progress(number * size, len(names))
                vectors, coming = coming.result(), next(embedded, coming)  # the next while the graph takes these in
                yield Batch(part, vectors, [changed.facets[name] for name in part])

        def embed(changed: Changed, part: list[str]) -> Future[Vectors]:
            texts = [changed.texts[name] for name in part]
            return asyncio.run_coroutine_threadsafe(self._embedding.embed(texts), loop)

        from filelock import FileLock  # only where an index is on disk

        def work() -> None:
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            with FileLock(self._folder.with_name(f"{self._folder.name}.lock")):
                self._load(version)
                changed = records.changed(self._version)
                if len(changed.texts) > self._few:
                    gone = [name + mark for name in changed.touched for mark in ("", OTHER)] if self._base else []
                    made = Seal(version=version, count=0, made_with=self._made_with, files={})
                    self._graph.write(made, gone, len(changed.texts), partial(batches, changed))
                    self._load(version)

        await self._do(work, locked=False)

    async def _mending(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do all of it; where Chroma fails, do all of it again on an index opened anew, then on one made anew."""
        broken: Broken | None = None
        for mend in (None, self.close, self.discard):
            try:
                if mend:
                    await self._do(mend)
                return await work()
            except Broken as error:
                log.exception("the index %s failed", self._folder.name)
                broken = error
        host, port = self._settings.chroma_host, self._settings.chroma_port
        if host:
            raise CourtroomError(
                f"The Chroma server at {host}:{port} does not answer. Start it, then try again."
            ) from broken
        raise CourtroomError(
            "The search index can't be written. Check that the disk has space and that the folder "
            f"{self._folder} may be written to, then try again."
        ) from broken

    async def _do(self, work: Callable[[], T], *, locked: bool = True) -> T:
        return await asyncio.to_thread(self._guarded, work, locked)

    # --- within; blocking, called in threads ----------------------------------------------------------------

    @property
    def _made_with(self) -> str:
        return f"{engine()}; {self._embedding.name}"

    def _guarded(self, work: Callable[[], T], locked: bool) -> T:
        try:
            if not locked:
                return work()
            with self._lock:
                return work()
        except Broken:
            raise
        except OSError as error:
            raise Broken(str(error)) from error

    def _begin(self, records: Records) -> int:
        """The version of the records; the first time, what the graph holds is seen, and what reads it starts."""
        version = records.version()
        if self._version == NOTHING:
            with self._lock:
                if records.count() > self._few or self._folder.exists() or self._settings.chroma_host:
                    self._load(version)
        return version

    def _load(self, version: int) -> None:
        """Begin with what the graph holds, where it can be used."""
        self._forget()
        self._base = self._graph.seal(self._made_with)
        if self._base is not None and self._base.version > version:  # an older store was put back
            self._graph.discard()
            self._base = None
        if self._base is not None:
            self._graph.wake()
        self._version = self._base.version if self._base else NOTHING

    def _forget(self) -> None:
        self._base, self._version, self._hidden, self._fresh, self._rows = None, NOTHING, set(), {}, None

    def _note(self, changed: Changed, vectors: Vectors, version: int) -> None:
        if self._base is not None:
            self._hidden |= changed.touched
        for name in changed.touched:
            self._fresh.pop(name, None)
            self._fresh.pop(name + OTHER, None)
        for name, vector in zip(changed.texts, vectors, strict=True):
            self._fresh[name] = (vector, changed.facets[name])
        self._rows, self._version = None, version

    def _nearest(self, vector: Vectors, k: int, exclude: frozenset[str], only: Filter) -> list[tuple[str, float]]:
        found = [pair for pair in self._compared(vector, only) if pair[0] not in exclude]
        if self._base is not None and self._base.count:
            wanted = k + len(exclude)
            while True:
                got = self._graph.nearest(self._base, vector, wanted, only)
                here = [
                    pair for pair in got if pair[0] not in exclude and pair[0].removesuffix(OTHER) not in self._hidden
                ]
                if len(here) >= k or len(got) < wanted:
                    break
                wanted *= 2
            found += here
        # Of equals the smaller id comes first, in whatever order they were written.
        return sorted(((name, round(cosine, 6)) for name, cosine in found), key=lambda pair: (-pair[1], pair[0]))[:k]

    def _compared(self, vector: Vectors, only: Filter) -> list[tuple[str, float]]:
        import numpy as np

        if not self._fresh:
            return []
        if self._rows is None:
            # In double precision a cosine does not depend on how many rows stand beside its own.
            self._rows = np.stack([row for row, _ in self._fresh.values()]).astype(np.float64)
        cosines = self._rows @ vector.astype(np.float64)
        return [
            (name, float(cosine))
            for (name, (_, facets)), cosine in zip(self._fresh.items(), cosines, strict=True)
            if only is ALL or only.admits(facets)
        ]
