"""The nearest by meaning: few vectors are compared one by one, many are in Chroma. It is built again where it fails."""

import asyncio
import hashlib
import logging
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import nullcontext
from functools import partial
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from courtroom.errors import CourtroomError
from courtroom.knowledge.chroma import Batch, Broken, ChromaFolder, ChromaServer, ChromaVectors, engine
from courtroom.knowledge.embedding import DEFAULT, Embedding, Vectors
from courtroom.knowledge.indexed_records import ALL, FACETS, FEW, NOTHING, Changed, Facets, Filter, Records, Seal
from courtroom.settings import Settings

log = logging.getLogger(__name__)

T = TypeVar("T")
Progress = Callable[[int, int], None]
SHARE = 10
"""What is newer is written to Chroma as soon as it is more than a tenth of what Chroma holds."""
OTHER = "@2"


def index_name(collection: str, embedding: str) -> str:
    """The name of a collection's index: each embedding has its own, so that none has to give way to another."""
    if embedding.startswith(DEFAULT):
        return collection
    return f"{collection}-{hashlib.sha256(embedding.encode()).hexdigest()[:12]}"


class VectorIndex:
    """Nearest neighbours by cosine. Deleting its folder loses nothing; several processes may share it.

    Chroma holds the records as they were at one version. Records that were written since are compared one by one, and those
    that were deleted since are skipped; as soon as these are many, and more than `few`, they are written to Chroma.
    """

    def __init__(self, settings: Settings, collection: str, embedding: Embedding, few: int = FEW) -> None:
        self._settings, self._embedding, self._few = settings, embedding, few
        self._folder = settings.chroma / collection  # its own: mending one collection leaves the others alone
        self._chroma: ChromaVectors = (
            ChromaServer(settings, collection) if settings.chroma_host else ChromaFolder(self._folder, collection)
        )
        self._lock = threading.RLock()
        self._seal: Seal | None = None
        self._version = NOTHING  # of the records, as this process has them
        self._outdated: set[str] = set()  # records that Chroma holds, and that were changed or deleted since
        self._newer: dict[str, tuple[Vectors, Facets]] = {}
        self._rows: Any = None  # of what is fresh, shape (records, dimensions)
        self._syncing: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def search(
        self, text: str, k: int, records: Records, exclude: Sequence[str] = (), only: Filter = ALL
    ) -> list[tuple[str, float]]:
        """The k records closest to a text with their cosine similarity, closest first; the index is brought up to the records before."""

        async def search() -> list[tuple[str, float]]:
            # At once: a new process loads the embedding's tables while Chroma reads its files.
            _, (vector,) = await asyncio.gather(self._sync(records), self._embedding.embed([text]))
            return await self._do(lambda: self._nearest(vector, k, frozenset(exclude), only))

        return await self._with_repair(search)

    async def bring_up(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        """Index what has changed, so that no search has to wait for that."""
        await self._with_repair(lambda: self._sync(records, progress))

    def fault(self, records: Records) -> str:
        """What is wrong with the index, as a sentence; empty where nothing is. The index stays as it is."""
        try:
            seal = self._chroma.seal(self._made_with)
            if seal is None:
                return ""
            if seal.version > records.version():
                return "It is from after the records."
            self._chroma.open(seal)
        except Broken:
            return "It does not open."
        return ""

    def discard(self) -> None:
        with self._lock:
            self._chroma.discard()
            self._forget()

    def close(self) -> None:
        with self._lock:
            self._chroma.close()
            self._forget()

    async def _sync(self, records: Records, progress: Progress = lambda done, total: None) -> None:
        # One search brings it up to date, and the others wait: hundreds of runs may begin at once.
        async with self._syncing.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            version = await self._do(partial(self._records_version, records), locked=False)
            if version != self._version:
                await self._bring_up_to(records, version, progress)
            if self._seal is not None:
                await self._do(partial(self._chroma.open, self._seal))

    async def _bring_up_to(self, records: Records, version: int, progress: Progress) -> None:
        changed = await asyncio.to_thread(records.changed, self._version)
        if len(self._newer) + len(changed.texts) > max(self._few, (self._seal.count if self._seal else 0) // SHARE):
            await self._write(records, version, progress)
            changed = await asyncio.to_thread(records.changed, self._version)
        vectors = await self._embedding.embed(list(changed.texts.values()))
        await self._do(lambda: self._keep(changed, vectors, version))

    async def _write(self, records: Records, version: int, progress: Progress) -> None:
        """Write to Chroma what has changed. Where another process does so, wait, then read what it has written."""
        loop = asyncio.get_running_loop()

        def batches(changed: Changed, size: int) -> Iterator[Batch]:
            names = list(changed.texts)
            parts = [names[start : start + size] for start in range(0, len(names), size)]
            embedded = map(partial(embed, changed), parts)
            upcoming = next(embedded)
            for number, part in enumerate(parts):
                progress(number * size, len(names))
                # The next ones are embedded while Chroma indexes these.
                vectors, upcoming = upcoming.result(), next(embedded, upcoming)
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
                    removed = [name + mark for name in changed.touched for mark in ("", OTHER)] if self._seal else []
                    seal = Seal(version=version, count=0, made_with=self._made_with, files={})
                    self._chroma.write(seal, removed, len(changed.texts), partial(batches, changed))
                    self._load(version)

        await self._do(work, locked=False)

    async def _with_repair(self, work: Callable[[], Awaitable[T]]) -> T:
        """Do the work. Where Chroma fails, open the index again and retry; where it fails again, build it again and retry."""
        broken: Broken | None = None
        for repair in (None, self.close, self.discard):
            try:
                if repair:
                    await self._do(repair)
                return await work()
            except Broken as error:
                log.exception("the index %s failed", self._folder.name)
                broken = error
        host, port = self._settings.chroma_host, self._settings.chroma_port
        raise CourtroomError(
            f"The Chroma server at {host}:{port} does not answer. Start it, then try again."
            if host
            else "The search index can't be written. Check that the disk has space and that the folder "
            f"{self._folder} may be written to, then try again."
        ) from broken

    async def _do(self, work: Callable[[], T], *, locked: bool = True) -> T:
        return await asyncio.to_thread(self._guarded, work, locked)

    # --- within; blocking, called in threads ----------------------------------------------------------------

    @property
    def _made_with(self) -> str:
        return f"{engine()}; {self._embedding.name}; {FACETS}"

    def _guarded(self, work: Callable[[], T], locked: bool) -> T:
        try:
            with self._lock if locked else nullcontext():
                return work()
        except OSError as error:
            raise Broken(str(error)) from error

    def _records_version(self, records: Records) -> int:
        version = records.version()
        if self._version == NOTHING:
            with self._lock:
                if records.count() > self._few or self._folder.exists() or self._settings.chroma_host:
                    self._load(version)
        return version

    def _load(self, version: int) -> None:
        self._forget()
        self._seal = self._chroma.seal(self._made_with)
        if self._seal is not None and self._seal.version > version:  # an older store was put back
            self._chroma.discard()
            self._seal = None
        self._version = self._seal.version if self._seal else NOTHING

    def _forget(self) -> None:
        self._seal, self._version, self._outdated, self._newer, self._rows = None, NOTHING, set(), {}, None

    def _keep(self, changed: Changed, vectors: Vectors, version: int) -> None:
        if self._seal is not None:
            self._outdated |= changed.touched
        for name in changed.touched:
            self._newer.pop(name, None)
            self._newer.pop(name + OTHER, None)
        for name, vector in zip(changed.texts, vectors, strict=True):
            self._newer[name] = (vector, changed.facets[name])
        self._rows, self._version = None, version

    def _nearest(self, vector: Vectors, k: int, exclude: frozenset[str], only: Filter) -> list[tuple[str, float]]:
        nearest = [pair for pair in self._compared(vector, only) if pair[0] not in exclude]
        if self._seal is not None and self._seal.count:
            count = k + len(exclude)
            while True:
                hits = self._chroma.nearest(self._seal, vector, count, only)
                current = [(name, cosine) for name, cosine in hits if name.removesuffix(OTHER) not in self._outdated]
                current = [pair for pair in current if pair[0] not in exclude]
                if len(current) >= k or len(hits) < count:
                    break
                count *= 2
            nearest += current
        # Of equals the smaller id comes first, in whatever order they were written.
        return sorted(((name, round(cosine, 6)) for name, cosine in nearest), key=lambda pair: (-pair[1], pair[0]))[:k]

    def _compared(self, vector: Vectors, only: Filter) -> list[tuple[str, float]]:
        import numpy as np

        if not self._newer:
            return []
        if any(row.size != vector.size for row, _ in self._newer.values()):
            raise Broken("another model has the embedding's name now")
        if self._rows is None:
            # In double precision a cosine does not depend on how many other rows there are.
            self._rows = np.stack([row for row, _ in self._newer.values()]).astype(np.float64)
        cosines = self._rows @ vector.astype(np.float64)
        return [
            (name, float(cosine))
            for (name, (_, facets)), cosine in zip(self._newer.items(), cosines, strict=True)
            if only is ALL or only.admits(facets)
        ]
