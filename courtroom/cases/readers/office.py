"""What office programs and mail make, as texts and pictures. No macro is run, no link followed."""

import email
import email.policy
import io
import re
from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from email.message import MIMEPart
from pathlib import PurePath, PurePosixPath
from typing import Any

from courtroom.cases.archives import Archive, refusing
from courtroom.cases.labelled import LONGEST
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.text.encoding import decoded

MAX_UNPACKED = 100 * 2**20
MAX_MEMBERS = 5_000
UNREADABLE = N_("{name} can't be read. Check that it opens elsewhere, or save it as PDF.")
ELSEWHERE = N_("{name}: a picture that lies elsewhere was not fetched. Bring it as a file.")
_DECLARES = re.compile(b"<!(?:doctype|entity)", re.IGNORECASE)
"""Begins a declaration in XML, such as of an entity; office programs write none."""
_NOT_COMPUTED = re.compile(rb"</f>(?:<v\s*/>|<v></v>|</c>)")


@dataclass
class Found:
    """Texts and pictures, each with its place in the file; empty where it is the whole file."""

    texts: list[tuple[str, str]] = field(default_factory=list)
    pictures: list[tuple[str, bytes]] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)


def read(name: str, data: bytes) -> Found:
    """Read a file of an office program, by its ending. Raises `CaseError`: it is damaged or locked, unpacks to too
    much, or declares entities."""
    ending = PurePath(name).suffix.lower()
    with refusing(UNREADABLE.format(name=name)):
        if ending not in PACKED:
            return READERS[ending](name, data)
        if data.startswith(b"\xd0\xcf\x11\xe0"):
            raise CaseError(f"{name} is locked with a password, or of an old form. Save it anew, without a password.")
        if not data.startswith(b"PK"):
            raise CaseError(UNREADABLE.format(name=name))
        with closing(Archive(name, data, files=MAX_MEMBERS, room=MAX_UNPACKED)) as archive:
            _check(archive)
            return PACKED[ending](archive, data)


def _check(archive: Archive) -> None:
    """Refuse a packed file that declares entities before a library unpacks it."""
    for path in archive.paths():
        if path.suffix.lower() in (".xml", ".rels", ".vml"):
            text = archive.read(path)
            if _DECLARES.search(text) or _DECLARES.search(text.replace(b"\0", b"")):
                raise CaseError(f"{archive.name} declares entities in {path}, as no office program does. Save it anew.")


def _docx(archive: Archive, data: bytes) -> Found:
    import mammoth

    made = mammoth.convert_to_html(io.BytesIO(data), external_file_access=False)
    name = archive.name
    found = html(name, made.value)
    if any("image" in one.message for one in made.messages):
        found.remarks.append(ELSEWHERE.format(name=name))
    beside = (path for path in archive.paths() if re.match(r"word/(comments|header\d*|footer\d*)\.xml$", str(path)))
    if any(b"<w:t" in archive.read(path) for path in beside):
        found.remarks.append(f"{name}: comments, headers and footers were not taken over. Paste them, if they matter.")
    return found


def _xlsx(archive: Archive, data: bytes) -> Found:
    from openpyxl import load_workbook

    found, length = Found(), 0
    book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
    with closing(book):
        for sheet in book.worksheets:
            sheet.reset_dimensions()  # what a sheet says of its size need not be so
            rows: list[str] = []
            for row in sheet.iter_rows(values_only=True):
                if any(cell is not None for cell in row):
                    rows.append(" | ".join("" if cell is None else str(cell) for cell in row))
                    length += len(rows[-1])
                if length > LONGEST:
                    break  # the caller refuses it
            found.texts.append((f"sheet {sheet.title}", "\n".join(rows)))
    name, paths = archive.name, archive.paths()
    media = [path for path in paths if path.is_relative_to("xl/media")]
    found.pictures = [(f"picture {n}", archive.read(path)) for n, path in enumerate(media, start=1)]
    sheets = (path for path in paths if path.is_relative_to("xl/worksheets") and path.suffix == ".xml")
    if any(_NOT_COMPUTED.search(archive.read(path)) for path in sheets):
        told = f"{name}: some cells hold formulas without a result. Open it, save it, and bring it again."
        found.remarks.append(told)
    return found


def _pptx(archive: Archive, data: bytes) -> Found:
    from pptx import Presentation

    found = Found()
    for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, start=1):
        lines: list[str] = []
        for shape in _shapes(slide.shapes):
            if shape.has_text_frame:
                lines.append(shape.text_frame.text)
            elif shape.has_table:
                lines += (" | ".join(cell.text for cell in row.cells) for row in shape.table.rows)
            elif hasattr(shape, "image"):
                found.pictures.append((f"slide {number}", shape.image.blob))
            else:
                told = f"{archive.name}, slide {number}: {shape.name[:80]} was not taken over. Take a picture of it."
                found.remarks.append(told)
        if slide.has_notes_slide and (notes := slide.notes_slide.notes_text_frame) is not None:
            lines.append(notes.text)
        found.texts.append((f"slide {number}", "\n".join(filter(str.strip, lines))))
    return found


def _shapes(shapes: Any) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes"):
            yield from _shapes(shape.shapes)
        elif shape.shape_type is not None:
            yield shape


def _rtf(name: str, data: bytes) -> Found:
    from striprtf.striprtf import rtf_to_text

    rtf = data.decode("latin-1")
    if not rtf.lstrip().startswith("{\\rtf"):
        raise CaseError(f"{name} is no RTF. Save it anew, or bring it under its own ending.")
    remarks = [f"{name}: its pictures were not taken over. Bring them as files."] if "\\pict" in rtf else []
    text: str = rtf_to_text(rtf, errors="replace")
    return Found([("", text)], remarks=remarks)


def _html(name: str, data: bytes) -> Found:
    text, remark = decoded(data)
    found = html(name, text)
    return Found(found.texts, found.pictures, [*filter(None, [remark]), *found.remarks])


def html(name: str, source: str) -> Found:
    """Return the text of a page with its headings, lists and tables as in Markdown, and the pictures that are in it."""
    from bs4 import BeautifulSoup
    from markdownify import MarkdownConverter

    found = Found()
    soup = BeautifulSoup(source, "html.parser")
    for tag in soup(["script", "style", "template", "title"]):
        tag.decompose()
    for tag in soup("img"):
        address, description = str(tag.get("src") or ""), str(tag.get("alt") or "")
        if inside := re.match(r"data:image/[\w.+-]+;base64,", address):
            place = f"picture {len(found.pictures) + 1}"
            found.pictures.append((place, b64decode(address[inside.end() :])))
            tag.replace_with(f"[{place}]")
        else:
            if not address.startswith("cid:"):  # a mail's own, which come as attachments
                found.remarks.append(ELSEWHERE.format(name=name))
            tag.replace_with(description)
    converter = MarkdownConverter(
        heading_style="ATX", escape_asterisks=False, escape_underscores=False, escape_misc=False
    )
    text = converter.convert_soup(soup)
    found.texts.append(("", re.sub(r"\n{3,}", "\n\n", text).strip()))
    found.remarks = list(dict.fromkeys(found.remarks))
    return found


def read_letter(name: str, data: bytes) -> tuple[str, list[tuple[str, bytes]], list[str]]:
    """Return the text of a mail with its head, its attachments by name, and remarks. Raises `CaseError`: it is no mail."""
    with refusing(f"{name} can't be read as mail. Save it again from the mail program, or paste it."):
        letter = email.message_from_bytes(data, policy=email.policy.default)
        head = [f"{field}: {letter[field]}" for field in ("From", "To", "Cc", "Date", "Subject") if letter[field]]
        if not head:
            raise CaseError(f"{name} is no mail: it has no sender and no subject. Save it again from the mail program.")
        body = letter.get_body(("plain", "html"))
        found = Found([("", "")])
        if body is not None:
            text = body.get_content()
            found = html(name, text) if body.get_content_type() == "text/html" else Found([("", text)])
        attached = [*_attached(letter, body)]
    return "\n".join((*head, "", found.texts[0][1].strip())), attached, found.remarks


def _attached(letter: MIMEPart, body: MIMEPart | None) -> Iterator[tuple[str, bytes]]:
    """The attachments, and the pictures within the text."""
    for number, part in enumerate(_leaves(letter), start=1):
        name = PurePosixPath(part.get_filename() or "").name
        if part.get_content_type() == "message/rfc822":
            yield f"{name or f'letter {number}'}.eml".replace(".eml.eml", ".eml"), part.get_content().as_bytes()
        elif part is not body and (part.is_attachment() or part.get_content_maintype() == "image"):
            content = part.get_content()
            data = content.encode() if isinstance(content, str) else content
            yield name or f"picture {number}.{part.get_content_subtype()}", data


def _leaves(part: MIMEPart) -> Iterator[MIMEPart]:
    if not part.is_multipart() or part.get_content_type() == "message/rfc822":
        yield part
        return
    for inner in part.iter_parts():
        yield from _leaves(inner)


PACKED = {".docx": _docx, ".docm": _docx, ".xlsx": _xlsx, ".xlsm": _xlsx, ".pptx": _pptx}
READERS = {".rtf": _rtf, ".html": _html, ".htm": _html}
ENDINGS = (*PACKED, *READERS)
