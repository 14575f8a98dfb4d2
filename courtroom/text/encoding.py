"""Text in whatever encoding a program saved it, found by its mark or its bytes, or as a person says; as UTF-8."""

import codecs
import io
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import chain
from typing import IO, Any

from courtroom.errors import CaseError
from courtroom.language import N_

LOOKED_AT = 2**18
"""Bytes from which an encoding is found."""
ENCODINGS: Mapping[str, str] = {
    "": N_("as the file looks"),
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "gb18030": "GB18030",
    "big5": "Big5",
    "cp932": "Shift JIS",
    "cp949": "CP949",
    "cp1252": "Windows-1252",
    "cp1250": "Windows-1250",
    "cp1251": "Windows-1251",
    "mac-roman": "Mac Roman",
}
"""The encodings that a page offers, by Python's names; any other that Python knows can be given too."""
_MARKS = {
    "utf-8": (codecs.BOM_UTF8,),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),  # the one begins as a mark of UTF-16 does
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
}
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1f]")
_OF_SEVERAL_BYTES = ("gb18030", "big5", "big5hkscs", "cp932", "shift_jis", "cp949", "euc_kr", "euc_jp", "iso2022_jp")
_UNREADABLE = "courtroom-unreadable"
codecs.register_error(_UNREADABLE, lambda error: ("\udcff", getattr(error, "end", 0)))


class _Pieces(io.RawIOBase):
    """Pieces of which none is empty, as a file."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces, self._rest = pieces, memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        self._rest = self._rest or memoryview(next(self._pieces, b""))
        given = self._rest[: len(buffer)]
        self._rest = self._rest[len(given) :]
        buffer[: len(given)] = given
        return len(given)


def rejoined(begin: bytes, file: IO[bytes]) -> io.BufferedReader:
    """What was read of a file already, and then the file."""
    pieces = chain([begin] if begin else [], iter(partial(file.read, LOOKED_AT), b""))
    return io.BufferedReader(_Pieces(pieces), LOOKED_AT)


def _recoded(file: io.BufferedReader, encoding: str) -> Iterator[bytes]:
    """A file's text as UTF-8; what is no text in its encoding is a byte that is none in UTF-8 either."""
    text = io.TextIOWrapper(file, encoding, _UNREADABLE, newline="")
    first = text.read(2**16).removeprefix("\ufeff")
    for piece in chain([first] if first else [], iter(partial(text.read, 2**16), "")):
        yield piece.encode("utf-8", "surrogateescape")


def in_utf8(file: IO[bytes], encoding: str = "") -> tuple[io.BufferedReader, str]:
    """Return a file as UTF-8 without a mark, and what to tell of its encoding; empty where it needs no word. What
    can't be decoded stays as bytes that are no UTF-8; what `peek` gives is at least a few lines of it. `encoding`: as
    a person says; empty: found from the bytes. Raises `CaseError`: there is no such encoding, or it is a pointer of
    Git LFS."""
    begin = file.read(LOOKED_AT)
    refuse_pointer(begin)
    chosen = _known(encoding) if encoding else _found(begin)
    if chosen == "utf-8":
        return rejoined(begin.removeprefix(codecs.BOM_UTF8), file), ""
    named = ENCODINGS.get(chosen, chosen.upper())
    remark = f"The file was read as {named}. If letters are wrong in it, say its encoding, or save it as UTF-8."
    pieces = _Pieces(_recoded(rejoined(begin, file), chosen))
    return io.BufferedReader(pieces, LOOKED_AT), "" if encoding else remark


def decoded(data: bytes, encoding: str = "") -> tuple[str, str]:
    """Return a whole file's text, and what to tell of its encoding. Raises `CaseError`: it is not in the encoding."""
    file, remark = in_utf8(io.BytesIO(data), encoding)
    try:
        return file.read().decode(), remark
    except UnicodeDecodeError as error:
        said = ENCODINGS.get(encoding, encoding) if encoding else "UTF-8"
        raise CaseError(f"it is not {said} text. Say its encoding, or save it as UTF-8.") from error


def refuse_pointer(begin: bytes) -> None:
    """Raise `CaseError` where a file begins as what Git LFS leaves in place of a file that was not fetched."""
    if begin.startswith(b"version https://git-lfs.github.com/spec/"):
        raise CaseError("it is a pointer of Git LFS and not the file itself. Fetch it with `git lfs pull`.")


def _known(name: str) -> str:
    try:
        found = codecs.lookup(name)
        b"a\xff".decode(found.name, _UNREADABLE)  # refused by codecs that are no encodings of text
    except (LookupError, ValueError, TypeError) as error:
        raise CaseError(
            f"There is no encoding “{name[:40]}”. Known are {', '.join(filter(None, ENCODINGS))}."
        ) from error
    return "utf-8" if found.name == "utf-8-sig" else found.name


def _found(begin: bytes) -> str:
    if marked := [encoding for encoding, marks in _MARKS.items() if begin.startswith(marks)]:
        return marked[0]
    even, odd = begin[::2].count(0), begin[1::2].count(0)
    if max(even, odd) * 3 > len(begin):  # most letters have a zero byte on one side
        width = "32" if min(even, odd) * 5 > len(begin) else "16"
        return f"utf-{width}-{'be' if not begin[0] else 'le'}"
    text = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode(begin, len(begin) < LOOKED_AT)
    bad = sum("\udc80" <= character <= "\udcff" for character in text)
    good = sum(character > "\x7f" for character in text) - bad
    if good >= 2 * bad or _CONTROL.search(begin):  # a few damaged places, told by their lines; or no text at all
        return "utf-8"
    import chardet  # only files that are no UTF-8 need it

    lines = b"\n".join(line for line in begin.split(b"\n") if not line.isascii())
    guess = _known(chardet.detect(lines, encoding_era=chardet.EncodingEra.MODERN_WEB)["encoding"] or "cp1252")
    # A name or two is little to go by, but letters of one byte seldom come in pairs alone.
    if guess not in _OF_SEVERAL_BYTES:
        with suppress(UnicodeDecodeError):
            lines.decode("gb2312")
            return "gb18030"
    return guess
