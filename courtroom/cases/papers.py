"""Papers that people have, such as letters, chats, tables and scans, read into pieces: texts and pictures."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Any

from courtroom.cases.archives import Archive
from courtroom.cases.labelled import LONGEST
from courtroom.cases.readers import office
from courtroom.cases.readers.pdf import page_pictures, read_pages
from courtroom.errors import CaseError, CourtroomError
from courtroom.media.medium import MediumKind
from courtroom.media.pictures import ENDINGS as MEDIA
from courtroom.media.pictures import sniff, turned
from courtroom.text.encoding import decoded

MAX_PAPER_BYTES = 50 * 2**20
MAX_PIECES = 300
"""Of one file."""
MAX_NESTED = 3
"""A letter within a letter within a letter."""
PLAIN = (".txt", ".md", ".csv", ".tsv")
TURNED = (".heic", ".heif", ".avif", ".tif", ".tiff", ".bmp")
OFFICE = (*office.ENDINGS, ".eml")
"""Files that hold texts, and may hold pictures."""
ENDINGS = frozenset(
    {*PLAIN, *TURNED, *OFFICE, ".pdf", ".json", ".zip", *(one for endings in MEDIA.values() for one in endings)}
)
"""Of all files that can be brought as papers."""


@dataclass(frozen=True)
class Piece:
    """A part of somebody's papers: a text, or a picture or video."""

    source: str
    """The file, and the page, sheet, slide or attachment in it."""
    text: str = ""
    medium: bytes = b""

    @property
    def form(self) -> tuple[MediumKind, str]:
        """What its medium is, and the ending under which such a file is kept."""
        found = sniff(self.medium[:16])
        return (found[0], MEDIA[found[1]][0]) if found and found[1] in MEDIA else ("image", ".png")


@dataclass(frozen=True)
class Papers:
    """What a file holds, in order, and what of it could not be taken over."""

    pieces: tuple[Piece, ...]
    remarks: tuple[str, ...] = ()


def read_papers(name: str, data: bytes, encoding: str = "", depth: int = 0) -> Papers:
    """Read a file into pieces. Nothing in it is run, and nothing that it refers to is fetched.

    Args:
        name: the file's name; its ending says how it is read.
        encoding: of a plain text, as a person says; empty: found from the bytes.
        depth: in how many other files it lies.
    """
    if len(data) > MAX_PAPER_BYTES:
        raise CaseError(f"{name} has {len(data) / 2**20:.0f} MB; {MAX_PAPER_BYTES // 2**20} MB are allowed. Split it.")
    if depth > MAX_NESTED:
        raise CaseError(f"{name} lies too deep in other files. Bring it by itself.")
    papers = _read(name, data, encoding, depth)
    pieces = tuple(piece for piece in papers.pieces if piece.medium or piece.text.strip())
    if not pieces:
        why = f"{name} holds nothing that can be read: no text, and no picture. Check that it opens elsewhere."
        raise CaseError(why)
    if len(pieces) > MAX_PIECES:
        raise CaseError(f"{name} holds {len(pieces)} pieces; {MAX_PIECES} are allowed. Split it.")
    if (length := sum(len(piece.text) for piece in pieces)) > LONGEST:
        raise CaseError(f"{name} has {length:,} characters or more; {LONGEST:,} are allowed. Split it.")
    return replace(papers, pieces=pieces)


def _read(name: str, data: bytes, encoding: str, depth: int) -> Papers:
    ending = PurePath(name).suffix.lower()
    if ending in PLAIN:
        text, remark = decoded(data, encoding)
        return Papers((Piece(name, text),), (f"{name}: {remark}",) if remark else ())
    if ending == ".json":
        return Papers((Piece(name, _telegram(name, data)),))
    if ending == ".pdf":
        return _pdf(name, data)
    if ending == ".zip":
        with closing(Archive(name, data)) as archive:
            return _together([], [(str(path), archive.read(path)) for path in archive.paths()], name, depth)
    if ending == ".eml":
        text, attached, told = office.read_letter(name, data)
        letter = _together([Piece(name, text)], attached, name, depth)
        return replace(letter, remarks=(*told, *letter.remarks))
    if ending in office.ENDINGS:
        found = office.read(name, data)
        pieces, remarks = [Piece(_in(name, place), text=text) for place, text in found.texts], [*found.remarks]
        for place, picture in found.pictures:
            pieces += _pictures(_in(name, place), picture, remarks)
        return Papers(tuple(pieces), tuple(remarks))
    if ending in TURNED or sniff(data[:16]):
        remarks = []
        if not (pieces := _pictures(name, data, remarks)):
            raise CaseError(remarks[0])
        return Papers(tuple(pieces), tuple(remarks))
    raise CaseError(f"{name} can't be read. Bring one of {', '.join(sorted(ENDINGS))}.")


def _in(name: str, place: str) -> str:
    return f"{name}, {place}" if place else name


def _together(pieces: list[Piece], files: list[tuple[str, bytes]], outer: str, depth: int) -> Papers:
    """Read the files that lie in another; one that can't be read is left out, with a remark."""
    remarks: list[str] = []
    for name, data in files:
        try:
            found = read_papers(name, data, depth=depth + 1)
        except CourtroomError as error:
            remarks.append(f"{outer}: {error} It was left out.")
            continue
        pieces += [replace(piece, source=f"{outer} › {piece.source}") for piece in found.pieces]
        remarks += found.remarks
        if len(pieces) > MAX_PIECES:
            break  # the caller refuses it
    return Papers(tuple(pieces), tuple(remarks))


def _pictures(source: str, data: bytes, remarks: list[str]) -> list[Piece]:
    """A picture or video as models take it; another one as PNG, page by page. Why it is none is a remark."""
    medium = sniff(data[:16])
    if medium and medium[1] in MEDIA:
        return [Piece(source, medium=data)]
    try:
        pages = turned(data, source)
    except CourtroomError as error:
        remarks.append(str(error))
        return []
    remarks.append(f"{source} was turned into PNG, which models take.")
    if len(pages) == 1:
        return [Piece(source, medium=pages[0])]
    return [Piece(f"{source}, page {number}", medium=page) for number, page in enumerate(pages, start=1)]


def _pdf(name: str, data: bytes) -> Papers:
    """Each page as text; as a picture too where it shows more than its text says."""
    read = read_pages(name, data)
    shown = sorted({*read.by_page.get("scan", ()), *read.by_page.get("pictures", ())})
    if len(shown) > MAX_PIECES:
        raise CaseError(f"{name} has {len(shown)} pages with pictures; {MAX_PIECES} are allowed. Split it.")
    drawn = dict(zip(shown, page_pictures(name, data, shown), strict=True))
    pieces: list[Piece] = []
    for number, text in enumerate(read.pages, start=1):
        source = f"{name}, page {number}"
        pieces.append(Piece(source, text=text))
        if number in drawn:
            pieces.append(Piece(source, medium=drawn[number]))
    return Papers(tuple(pieces), read.told(name, "scan", "pictures"))


def _telegram(name: str, data: bytes) -> str:
    """The lines of a chat that Telegram exported as JSON."""
    try:
        content = json.loads(data)
        messages = [one for one in content["messages"] if one.get("text") or one.get("file") or one.get("photo")]
        return "\n".join(f"[{one.get('date', '')}] {one.get('from') or ''}: {''.join(_words(one))}" for one in messages)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise CaseError(f"{name} is no chat that Telegram exported. A case as JSON goes to “Upload a case”.") from error


def _words(message: dict[str, Any]) -> Iterator[str]:
    parts = message.get("text") or ""
    for part in [parts] if isinstance(parts, str) else parts:
        yield part if isinstance(part, str) else part["text"]
    if sent := message.get("photo") or message.get("file"):
        yield f" ({sent})"
