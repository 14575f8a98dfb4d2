"""Indexes of the supplied knowledge, made once in a process: each new store would make the same ones again."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.knowledge.index import VectorIndex
from courtroom.settings import Settings, from_environment


class ReadyIndexes:
    """Puts a copy of a ready index where a new store would make its own; it is brought up to date like any other."""

    def __init__(self, home: Path) -> None:
        self._home = home
        self._lock = threading.Lock()
        self._waiting: set[Path] = set()
        """Folders of indexes that new stores do not have yet."""
        self._put: set[Path] = set()
        """Indexes of these stores. One that is deleted later is made anew."""

    def expect(self, settings: Settings) -> None:
        """A store is about to be made."""
        if not settings.database.exists() and not settings.chroma.exists():
            self._waiting.add(settings.chroma)

    def put(self, folder: Path) -> None:
        """Put a collection's index into its folder, if its store is new and has none."""
        if folder.parent not in self._waiting:
            return
        with self._lock:
            if not self._home.exists():
                self._make()
            ready = self._home / "chroma" / folder.name
            if ready.exists() and not folder.exists() and folder not in self._put:
                shutil.copytree(ready, folder)
            self._put.add(folder)

    def _make(self) -> None:
        house = Courthouse(Settings(home=self._home))
        self._waiting.discard(house.settings.chroma)
        house.runner.do(house.knowledge.warm(tuple(house.knowledge.collections))).result()
        house.close()


@pytest.fixture(scope="session", autouse=True)
def indexes_are_ready(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """New stores get copies of ready indexes."""
    ready = ReadyIndexes(tmp_path_factory.mktemp("indexes") / "home")
    make, connect = Courthouse.__init__, VectorIndex._connect

    def made(house: Courthouse, settings: Settings | None = None, **given: Any) -> None:
        settings = settings or from_environment()
        ready.expect(settings)
        make(house, settings, **given)

    def connected(index: VectorIndex) -> Any:
        if not index._settings.chroma_host:
            ready.put(index._folder)
        return connect(index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Courthouse, "__init__", made)
        patch.setattr(VectorIndex, "_connect", connected)
        yield
