"""Recorded hearings: runs that come with Courtroom. Each is known by its file's hash, so that its answers are trusted."""

import re
import tomllib
from pathlib import Path

from courtroom.errors import CourtroomError
from courtroom.law import Both
from courtroom.strict import Strict

INDEX = "index.toml"
_HASH = re.compile(rb'^\{\s*"sha256":\s*"([0-9a-f]{64})"')
"""How the file of an exported run begins."""


class Recording(Strict):
    """One recorded hearing, as the index has it."""

    file: Path
    sha256: str
    case: str
    """The id of the sample that is heard."""
    title: Both
    sentence: Both
    """What it is about; of a fork, what is different in it."""
    family: str = ""
    """A hearing and its forks have the same; the hearing stands first."""


class Recordings(tuple[Recording, ...]):
    """The recorded hearings in the order of their index."""

    @classmethod
    def read(cls, folder: Path) -> "Recordings":
        """Read the index of a folder; without one there are none. Of each file no more is read than its hash."""
        index = folder / INDEX
        entries = tomllib.loads(index.read_text(encoding="utf-8"))["recording"] if index.is_file() else []
        found = []
        for entry in entries:
            file = folder / entry["file"]
            with file.open("rb") as opened:
                stated = _HASH.match(opened.read(200))
            if stated is None:
                raise CourtroomError(f"{file} is not the file of a run. Export the run again as JSON.")
            found.append(Recording.model_validate({**entry, "file": file, "sha256": stated[1].decode()}))
        return cls(found)

    def family(self, recording: Recording) -> tuple[Recording, ...]:
        """The hearing and its recorded forks."""
        return tuple(one for one in self if one == recording or (one.family and one.family == recording.family))

    @property
    def hearings(self) -> tuple[Recording, ...]:
        """All but the recorded forks."""
        return tuple(one for one in self if self.family(one)[0] == one)

    def of(self, sha256: str | None) -> Recording | None:
        """The one whose file has this hash."""
        return next((recording for recording in self if recording.sha256 == sha256), None)
