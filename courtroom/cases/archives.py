"""Packed files that are read without trust: nothing leads out of them, and what comes out of them has a bound."""

import gzip
import io
import lzma
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any
from urllib.parse import unquote

from courtroom.errors import CaseError, CourtroomError

MAX_UNPACKED = 500 * 2**20
MAX_MEMBERS = 2_000
MAX_RATIO = 200
"""A member that unpacks to more than this many times its packed size is taken for a bomb (above 1 MB)."""
FREE = 4 * 2**20
"""Of a stream, so many bytes may come out whatever the ratio."""
UTF8_NAME = 0x800
"""The flag of a member whose name says of itself that it is UTF-8; zipfile takes others for CP437."""
NAME_ENCODINGS = ("utf-8", "gb18030", "cp1252", "shift_jis", "euc_kr", "big5")
MAX_STREAM = 200 * 2**30
BLOCK = 2**16
MAX_SPACE = 2**20
"""Bytes of white space, one after the other, that no real file has."""

BROKEN = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    *(EOFError, OSError, RuntimeError, NotImplementedError, ValueError, struct.error),
)
"""What reading a damaged, locked or strangely packed member raises."""
Beside = Callable[[str], bytes | None]
"""A file by its path from a folder, such as a medium by its path in the case; None where there is none."""


@contextmanager
def refusing(sentence: str) -> Iterator[None]:
    """Refuse a file with this sentence, whatever a library raises that reads it. A refusal is passed on."""
    try:
        yield
    except CourtroomError:
        raise
    except Exception as error:  # noqa: BLE001  a damaged file makes libraries raise anything
        raise CaseError(sentence) from error


class UnpacksTooMuch(CourtroomError):
    """A file gives far more than its size; nothing of it is imported."""


@dataclass
class UnpackLimit:
    """Counts what comes out of a packed file: at most `MAX_STREAM` bytes, and `MAX_RATIO` times what was read."""

    name: str
    packed: Callable[[], int]
    unpacked: int = 0

    def add(self, size: int) -> None:
        """Count bytes that come out, before room is made for them; raises `UnpacksTooMuch`."""
        self.unpacked += size
        if self.unpacked > min(MAX_STREAM, FREE + MAX_RATIO * self.packed()):
            raise UnpacksTooMuch(f"{self.name} unpacks to far more than it should. Get the file again from its source.")


class BoundedReader(io.RawIOBase):
    """Reads a file, unpacked, under an `UnpackLimit`. `packed`: whether it is packed with gzip."""

    def __init__(self, name: str, file: IO[bytes], packed: bool) -> None:
        self.packed, self._space = file, 0
        self._file = gzip.GzipFile(fileobj=file) if packed else file
        self._limit = UnpackLimit(name, file.tell)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(min(len(buffer), BLOCK))
        buffer[: len(data)] = data
        self._limit.add(len(data))
        self._space = self._space + len(data) if data.isspace() else 0
        if self._space > MAX_SPACE:
            raise UnpacksTooMuch(f"{self._limit.name} is filled with white space. Get the file again from its source.")
        return len(data)

    def close(self) -> None:
        super().close()
        self.packed.close()


class Archive:
    """A ZIP file whose list of members has been found harmless.

    Args:
        files: how many it may hold.
        room: how many bytes it may unpack to.
        ratio: how many times its packed size a member may unpack to.

    Raises:
        CaseError: it is no ZIP file, too large, locked, or a path or link leads out of it.
    """

    def __init__(
        self, name: str, data: bytes | Path, files: int = MAX_MEMBERS, room: int = MAX_UNPACKED, ratio: int = MAX_RATIO
    ) -> None:
        self.name, self._ratio, self._most, self._largest = name, ratio, files, room
        with refusing(f"{name} is no ZIP file, or it is cut off. Pack it again."):
            self._zip = zipfile.ZipFile(io.BytesIO(data) if isinstance(data, bytes) else data)
        self._members: dict[str, zipfile.ZipInfo] = {}
        self._folded: dict[str, set[str]] = {}
        try:
            self._list(self._zip.infolist())
        except CaseError:
            self.close()
            raise

    def close(self) -> None:
        self._zip.close()

    def paths(self) -> list[PurePosixPath]:
        """All files but those that a system has put there for itself."""
        return [path for path in map(PurePosixPath, self._members) if not is_hidden(path)]

    def read(self, path: PurePosixPath) -> bytes:
        """Return a member's content. Raises `CaseError`: it is damaged."""
        member = self._members[str(path)]
        with refusing(f"{path} in {self.name} is damaged. Pack it again."), self._zip.open(member) as file:
            # Asked for a number of bytes, zipfile unpacks no more than that, whatever the member really holds.
            return file.read(member.file_size)

    def find(self, name: str, folder: PurePosixPath) -> bytes | None:
        """Return the only member of a name in a folder, however it is written; None where there is none."""
        path = str(folder / name)
        names = {path} & self._members.keys() or self._folded.get(folded(path), set())
        return self.read(PurePosixPath(*names)) if len(names) == 1 else None

    def sizes(self, path: PurePosixPath) -> tuple[int, int]:
        """How many bytes a member unpacks to, and how many it takes in the file."""
        member = self._members[str(path)]
        return member.file_size, member.compress_size

    def open(self, path: PurePosixPath) -> IO[bytes]:
        """A member to be read bit by bit. Raises `CaseError`: it is damaged."""
        with refusing(f"{path} in {self.name} is damaged. Pack it again."):
            return self._zip.open(self._members[str(path)])

    def _list(self, members: list[zipfile.ZipInfo]) -> None:
        name = self.name
        if not all(member.filename for member in members):
            raise CaseError(f"{name} is a damaged ZIP file: one of its files has no name. Pack it again.")
        if len(members) > self._most:
            raise CaseError(f"{name} holds {len(members):,} files; {self._most:,} are allowed. Split it.")
        if sum(member.file_size for member in members) > self._largest:
            raise CaseError(f"{name} unpacks to more than {self._largest // 2**20:,} MB. Split it.")
        for member in members:
            text = repr(member.filename[:80])
            if leads_out(member.filename) or stat.S_ISLNK(member.external_attr >> 16):
                raise CaseError(f"{name} holds a path or link that leads out of it ({text}). Pack it again without.")
            if member.file_size > 2**20 and member.file_size > self._ratio * max(1, member.compress_size):
                raise CaseError(f"{name} holds a file that unpacks to far more than it should ({text}). Leave it out.")
            if member.flag_bits & 0x1:
                raise CaseError(f"{name} is locked with a password. Pack it again without.")
            if member.is_dir():
                continue
            path = str(PurePosixPath(member.filename.replace("\\", "/")))
            if path in self._members:
                raise CaseError(f"{name} holds two files of the name {path[:80]}. Pack it again with one of them.")
            self._members[path] = member
            for spelling in _spellings(path, utf8=bool(member.flag_bits & UTF8_NAME)):
                self._folded.setdefault(folded(spelling), set()).add(path)


def is_hidden(path: PurePath) -> bool:
    """Whether a system has put a file there for itself."""
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)


def leads_out(name: str) -> bool:
    """Whether a path leads out of its folder, on any system."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]


def folded(name: str) -> str:
    """Return a key that is the same for all ways to write a path: capitals, composed letters, backslashes, `%20`."""
    path = PurePosixPath(unquote(name).replace("\\", "/"))
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", str(path)).casefold())


def _spellings(name: str, utf8: bool) -> Iterator[str]:
    """A member's name as its ZIP says it, and as the systems of other languages may have meant it."""
    yield name
    with suppress(UnicodeEncodeError):
        written = b"" if utf8 else name.encode("cp437")
        for encoding in NAME_ENCODINGS:
            with suppress(UnicodeDecodeError):
                yield written.decode(encoding)


def read_within(top: Path, folder: Path, name: str) -> bytes | None:
    """Return a file by its path from a folder, however that is written; None where that is not sure, or leads out."""
    if leads_out(name) or leads_out(folded(name)):
        return None
    path = folder / name
    if not path.is_file():
        path = folder
        for part in PurePosixPath(folded(name)).parts:
            alike = [child for child in path.iterdir() if folded(child.name) == part] if path.is_dir() else []
            if len(alike) != 1:
                return None
            path = alike[0]
    path = path.resolve()
    return path.read_bytes() if path.is_relative_to(top.resolve()) and path.is_file() else None
