"""A scene as it is sent to browsers, worked out once for all who look at the same record."""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from hashlib import blake2b

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import language
from courtroom.room.reading import read
from courtroom.room.scene import RoomScene, scene

MOST = 30
"""Scenes that are kept, at most."""


class DrawnScene:
    """A scene, its digest and its text; both differ by language, and are made when they are first needed."""

    def __init__(self, shown: RoomScene) -> None:
        self.scene = shown
        self._texts: dict[str, str] = {}
        self._versions: dict[str, str] = {}

    @property
    def text(self) -> str:
        """The scene as it is read, as JSON."""
        if (text := self._texts.get(language())) is None:
            shown = read(self.scene.model_dump(mode="json", exclude_defaults=True))
            text = self._texts[language()] = json.dumps(shown, ensure_ascii=False)
        return text

    @property
    def version(self) -> str:
        """A digest of the scene as it is read: the same where nothing is different."""
        if (version := self._versions.get(language())) is None:
            content = f"{language()}\n{self.scene.model_dump_json(exclude_defaults=True)}"
            version = self._versions[language()] = blake2b(content.encode(), digest_size=8).hexdigest()
        return version


class Scenes:
    """The scenes of the runs that are looked at. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Record, DrawnScene]] = OrderedDict()

    def of(self, record: Record, procedure: Procedure) -> DrawnScene:
        """The scene of a record, made once for each state of it.

        Args:
            procedure: as it is about the record's case.
        """
        with self._lock:
            kept = self._kept.get(record.run.id)
            if kept is None or kept[0] is not record:
                kept = self._kept[record.run.id] = (record, DrawnScene(scene(record, procedure)))
            self._kept.move_to_end(record.run.id)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
            return kept[1]
