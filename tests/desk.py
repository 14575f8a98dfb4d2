"""A folder with files, and the datasets that are imported from it: the fixture `desk`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from courtroom.datasets import Datasets, Row
from courtroom.datasets.importing import Import, Imported, Order, Progress
from courtroom.media.store import MediaStore
from courtroom.settings import Settings
from courtroom.store.opening import open_store


class Desk:
    """A folder with files, and the datasets that are imported from it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "files"
        self.folder.mkdir()
        self.database = open_store(Settings(home=folder).database)
        self.datasets = Datasets(self.database)
        self.media = MediaStore(folder / "media")

    def write(self, name: str, content: Any) -> Path:
        """Write bytes and texts as they are, lists as JSON lines or an array by the name, other things as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, list) and name.endswith((".jsonl", "query.json")):
            content = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in content)
        elif not isinstance(content, bytes | str):
            content = json.dumps(content, ensure_ascii=False)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def take(self, source: Path | None = None, **given: Any) -> Imported:
        """Import a file, or the whole folder."""
        return self.run(Order(source=str(source or self.folder), name=given.pop("name", "set"), **given))

    def run(
        self, order: Order, progress: Progress = lambda *told: None, stopped: Callable[[], bool] = lambda: False
    ) -> Imported:
        return Import(self.datasets, self.media, order, progress, stopped).run()

    def rows(self, name: str = "set") -> list[Row]:
        return list(self.datasets.rows(name))
