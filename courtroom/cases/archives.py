"""ZIP files that are read without trust: nothing is unpacked to disk, nothing unpacks to more than it says."""

from __future__ import annotations

import io
import lzma
import stat
import struct
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import IO

from courtroom.errors import CaseError

MAX_UNPACKED = 500 * 2**20
MAX_MEMBERS = 2_000
MAX_RATIO = 200
"""A member that unpacks to more than this many times its packed size is taken for a bomb (above 1 MB)."""

_BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, OSError, RuntimeError, NotImplementedError, ValueError, struct.error),
)
"""What reading a damaged, locked or strangely packed member raises."""


class Archive:
    """A ZIP file whose list of members has been found harmless.

    Args:
        data: its content, or where it lies.
        members: how many files it may hold, if not the usual number.
        unpacked: how many bytes it may unpack to, if not the usual number.

    Raises:
        CaseError: no ZIP file, too many members, too large unpacked, paths or links that lead out of it, a lock.
    """

    def __init__(self, name: str, data: bytes | Path, members: int | None = None, unpacked: int | None = None) -> None:
        self.name = name
        self._most, self._largest = members or MAX_MEMBERS, unpacked or MAX_UNPACKED
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
        except _BROKEN as error:
            raise CaseError(f"{name} is no ZIP file, or it is cut off. Pack it again.") from error
        if not all(member.filename for member in self._zip.infolist()):
            raise CaseError(f"{name} is a damaged ZIP file: one of its files has no name. Pack it again.")
        files = (member for member in self._zip.infolist() if not member.is_dir())
        self._members = {str(PurePosixPath(member.filename)): member for member in files}
        self._check(self._zip.infolist())

    def paths(self) -> list[PurePosixPath]:
        """All files but those that a system has put there for itself."""
        paths = map(PurePosixPath, self._members)
        return [path for path in paths if not any(part.startswith((".", "__MACOSX")) for part in path.parts)]

    def read(self, path: PurePosixPath) -> bytes | None:
        """A member's content; None where there is no such member.

        Raises:
            CaseError: it is damaged.
        """
        member = self._members.get(str(path))
        if member is None:
            return None
        try:
            with self._zip.open(member) as file:
                # Asked for a number of bytes, zipfile unpacks no more than that, whatever the member really holds.
                return file.read(member.file_size)
        except _BROKEN as error:
            raise CaseError(f"{path} in {self.name} is damaged. Pack it again.") from error

    def size(self, path: PurePosixPath) -> int:
        """How many bytes a member unpacks to."""
        return self._members[str(path)].file_size

    def open(self, path: PurePosixPath) -> IO[bytes]:
        """A member to be read bit by bit.

        Raises:
            CaseError: it is damaged.
        """
        try:
            return self._zip.open(self._members[str(path)])
        except _BROKEN as error:
            raise CaseError(f"{path} in {self.name} is damaged. Pack it again.") from error

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        name = self.name
        if len(members) > self._most:
            raise CaseError(f"{name} holds {len(members):,} files; {self._most:,} are allowed. Split it.")
        if sum(member.file_size for member in members) > self._largest:
            raise CaseError(f"{name} unpacks to more than {self._largest // 2**20:,} MB. Split it.")
        for member in members:
            text = repr(member.filename[:80])
            if leads_out(member.filename) or stat.S_ISLNK(member.external_attr >> 16):
                raise CaseError(f"{name} holds a path or link that leads out of it ({text}). Pack it again without.")
            if member.file_size > 2**20 and member.file_size > MAX_RATIO * max(1, member.compress_size):
                raise CaseError(f"{name} holds a file that unpacks to far more than it should ({text}). Leave it out.")
            if member.flag_bits & 0x1:
                raise CaseError(f"{name} is locked with a password. Pack it again without.")


def leads_out(name: str) -> bool:
    """Whether a path leads out of its folder, on any system."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]
