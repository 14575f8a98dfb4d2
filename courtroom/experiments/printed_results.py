"""The results of an experiment as text, kept beside the store: they are worked out again only where something changed."""

import glob
import hashlib
import os
from collections.abc import Callable
from pathlib import Path

from courtroom.experiments.store import ExperimentStore, StoredExperiment
from courtroom.version import __version__

FOLDER = "results"
PROGRAM = (Path(__file__).parent, Path(__file__).parents[1] / "evaluation")
"""What works results out: where a file of it is newer, they are worked out again."""


class PrintedResults:
    """Texts of results, in a folder of their own that may be removed at any time. `home`: where the store keeps its files."""

    def __init__(self, home: Path, store: ExperimentStore) -> None:
        self._folder = home / FOLDER
        self._store = store

    def text(self, kept: StoredExperiment, form: str, make: Callable[[], str]) -> str:
        """The text that was made last, where nothing has changed since; else a new one. `form`: in which form it is, e.g. `json`."""
        file = self._folder / f"{kept.id}.{form}"
        wanted = self._fingerprint(kept)
        was, _, text = file.read_text("utf-8").partition("\n") if file.is_file() else ("", "", "")
        if was == wanted:
            return text
        text = make()
        self._folder.mkdir(parents=True, exist_ok=True)
        written = file.with_name(f"{file.name}.{os.getpid()}")  # two processes may print the same results at once
        written.write_text(f"{wanted}\n{text}", "utf-8", newline="\n")
        written.replace(file)
        return text

    def forget(self, experiment: str) -> None:
        for file in self._folder.glob(f"{glob.escape(experiment)}.*"):
            file.unlink(missing_ok=True)

    def _fingerprint(self, kept: StoredExperiment) -> str:
        newest = max(path.stat().st_mtime_ns for folder in PROGRAM for path in folder.rglob("*.py"))
        digest = hashlib.sha256(f"{__version__} {newest} {kept.model_dump_json()}".encode())
        for line in self._store.lines(kept.id):
            digest.update(line.encode())
        return digest.hexdigest()
