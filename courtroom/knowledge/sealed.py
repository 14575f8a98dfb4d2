"""A folder of files that are used only where they are, to the byte, what was written.

An engine's own files can end a process or give wrong results where a crash or a disk has damaged them. What they were is
therefore written down beside them, last and at once; a folder without that, or with other files, is made anew.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from pydantic import ValidationError

from courtroom.strict import Strict

SEAL = "sealed.json"
AT_ONCE = 1 << 20


class Seal(Strict):
    """What a sealed folder holds."""

    version: int
    """Of the records that are in it."""
    count: int
    """Of records."""
    made_with: str
    """Names the engine, its parameters and the embedding: what was made with others is made anew."""
    folder: str = ""
    """Where the files are, within the folder of the seal."""
    files: dict[str, tuple[int, str]]
    """Size in bytes and checksum (XXH3, 64 bits) of each file by its path in the folder."""


def files_of(folder: Path) -> dict[str, tuple[int, str]]:
    """Size and checksum of each file below a folder; locks, which are empty, are left out."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name != SEAL and path.suffix != ".lock")
    return {path.relative_to(folder).as_posix(): (path.stat().st_size, checksum(path)) for path in found}


def checksum(path: Path) -> str:
    """Of a whole file."""
    import xxhash  # only where an index is on disk

    made, place = xxhash.xxh3_64(), memoryview(bytearray(AT_ONCE))
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(place):
            made.update(place[:size])
    return made.hexdigest()


def whole(folder: Path, files: dict[str, tuple[int, str]]) -> bool:
    """Whether each of these files is there as it was written. Others are not looked at."""
    for name, (size, written) in files.items():
        path = folder / name
        if not path.is_file() or path.stat().st_size != size or checksum(path) != written:
            return False
    return True


def read_seal(folder: Path) -> Seal | None:
    """The seal of a folder; None where there is none that can be read."""
    try:
        return Seal.model_validate_json((folder / SEAL).read_bytes())
    except (OSError, ValidationError):
        return None


def write_seal(folder: Path, seal: Seal) -> None:
    """Put a seal in place of the one that is there, at once."""
    with NamedTemporaryFile(dir=folder, prefix=".seal-", delete=False) as file:
        file.write(seal.model_dump_json().encode())
    os.replace(file.name, folder / SEAL)
