"""Imports of datasets that go on while a person does something else."""

import hashlib
import logging
import threading
from contextlib import suppress
from contextvars import copy_context
from dataclasses import dataclass, field
from pathlib import Path

from courtroom.access import Access, for_server, needs
from courtroom.cases.readers.tables import NumberedLabels
from courtroom.datasets.importing import Import, Imported, Order, Progress
from courtroom.datasets.store import Datasets
from courtroom.errors import CourtroomError
from courtroom.media.store import MediaStore
from courtroom.store.connection import passing

log = logging.getLogger(__name__)


@dataclass
class ImportProgress:
    """How far an import is, and what has come of it."""

    order: Order
    taken: int = 0
    refused: int = 0
    share: float = 0.0
    running: bool = True
    error: str = ""
    asks: tuple[str, ...] = ()
    """Numbers that stand for labels, whose names a person must give before it can go on."""
    done: Imported | None = None
    stopped: threading.Event = field(default_factory=threading.Event, repr=False)


class DatasetImports:
    """All imports that this process works on, by the datasets' names. `uploads`: where files wait to be taken in."""

    def __init__(self, datasets: Datasets, media: MediaStore, uploads: Path) -> None:
        self._datasets, self._media, self._uploads = datasets, media, uploads
        self.under_way: dict[str, ImportProgress] = {}
        self._threads: list[threading.Thread] = []

    @needs(Access.RUN)
    def run(self, order: Order, progress: Progress = lambda taken, refused, share: None) -> Imported:
        """Import to the end, in the caller's own thread; see `Import`."""
        return Import(self._datasets, self._media, order, progress).run()

    @needs(Access.RUN)
    def begin(self, order: Order) -> ImportProgress:
        """Import in the background. Raises `CourtroomError`: a dataset of this name is being imported."""
        before = self.under_way.get(order.name)
        if before is not None and before.running:
            raise CourtroomError(f"“{order.name}” is being imported. Wait for it, or give another name.")
        self._datasets.claim(order.name)  # here, as the thread works for nobody
        state = self.under_way[order.name] = ImportProgress(order)
        work = for_server(copy_context()).run
        thread = threading.Thread(target=work, args=(self._work, state), name=f"import-{order.name}", daemon=True)
        self._threads.append(thread)
        thread.start()
        return state

    @needs(Access.RUN)
    def keep(self, name: str, data: bytes) -> Path:
        """An upload as a file, under its content, so that its import can be gone on with after a restart."""
        folder = self._uploads / hashlib.sha256(data).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / Path(name).name
        if not path.exists():
            part = path.with_name(f"{path.name}.part")  # one name: what a killed process left is written over
            part.write_bytes(data)
            part.replace(path)
        return path

    def wait(self) -> None:
        for thread in self._threads:
            thread.join()

    def close(self) -> None:
        """Stop imports after the chunk that they are in; they can be gone on with."""
        for state in self.under_way.values():
            state.stopped.set()
        self.wait()
        self._threads.clear()

    def _work(self, state: ImportProgress) -> None:
        def progress(taken: int, refused: int, share: float) -> None:
            state.taken, state.refused, state.share = taken, refused, share

        try:
            state.done = Import(self._datasets, self._media, state.order, progress, state.stopped.is_set).run()
            if (source := Path(state.order.source)).is_relative_to(self._uploads):
                source.unlink(missing_ok=True)
                with suppress(OSError):  # the same content under another name lies there too
                    source.parent.rmdir()
        except CourtroomError as error:
            state.error = str(error)
            state.asks = error.values if isinstance(error, NumberedLabels) else ()
        except Exception as error:
            why = passing(error).partition(";")[0]
            state.error = f"{why or 'The import stopped; the log says why'}. Go on with it: what is in stays in."
            log.exception("import of %s", state.order.name)
        finally:
            state.running = False
