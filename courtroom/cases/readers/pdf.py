"""The text of a PDF, with a remark by page on what members will not read; and pages as pictures."""

import io
import logging
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

from courtroom.cases.archives import refusing
from courtroom.cases.labelled import LONGEST
from courtroom.errors import CaseError
from courtroom.media.pictures import as_png

MAX_SHOWN = 5
"""Words that a remark names."""
LEAST_ROWS = 3
"""Rows with a second column, from which a page counts as one with columns."""
LEAST_LETTERS = 12
"""Of a row of a column of prose, on average; a table's cells have fewer."""
MAX_NESTED = 20
"""Fields within fields."""
COLUMN_PT = 3.0
"""The beginnings of a column's rows lie this near to each other."""

DRAWN_DPI = 150
MAX_DRAWN_PX = 2_000
"""Of the longer side of a page that is drawn."""
_DRAWING = Lock()
"""PDFium draws for one thread at a time."""

MARKS = ("/StrikeOut", "/Redact", "/Stamp", "/Ink", "/FileAttachment", "/Caret")
SHOWS_TEXT = (b"Tj", b"TJ", b"'", b'"')
"""The operators of a PDF that draw text."""
REMARKS: Mapping[str, str] = tomllib.loads(Path(__file__).with_name("pdf.toml").read_text(encoding="utf-8"))

_SPLIT = re.compile(r"([^\W\d_]+)-\n([^\W\d_]+)")
_HYPHEN = re.compile(r"(?<=\w)-\n(?=\w)")
_HYPHENS = re.compile("[\u00ad\u2010\u2011]\n")
_SOFT = re.compile(r"(?<=[^\W\d_])\u00ad(?=[^\W\d_])")
_UNKNOWN = re.compile(r"[\ue000-\uf8ff\U000f0000-\U0010fffd\x00]")
_IMAGE = re.compile(rb"/([^\s/<>\[\]()]+)\s+Do\b|\bBI\b.*?\bID\s", re.DOTALL)
MAX_RAISED_PT = 7.0
MAX_RAISED_BYTES = 6
"""Of a mark of up to three figures, in a font with two bytes for each."""


@dataclass(frozen=True)
class PdfText:
    """The text of each page of a PDF, and remarks with the numbers of the pages."""

    pages: tuple[str, ...]
    by_page: dict[str, list[int]]
    """By the name of a remark in `REMARKS`."""
    remarks: tuple[str, ...]

    def told(self, name: str, *without: str) -> tuple[str, ...]:
        """All remarks as sentences, but for those that no longer hold."""
        pages = {what: ", ".join(map(str, numbers)) for what, numbers in self.by_page.items() if what not in without}
        lines = (REMARKS[what].format(pages=f"{name}, page {numbers}") for what, numbers in pages.items())
        return (*lines, *self.remarks)


def read_pages(name: str, data: bytes) -> PdfText:
    """Return the text of each page of a PDF. Raises `CaseError`: it is locked or damaged."""
    from pypdf import PdfReader  # only those who bring a PDF wait for it

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    pages: list[str] = []
    added: list[str] = []
    remarked: dict[str, list[int]] = {}
    with refusing(f"{name} can't be read as PDF. Check that it opens elsewhere, or paste its text."):
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise CaseError(f"{name} is locked with a password. Save it without one.")
        for number, page in enumerate(reader.pages, start=1):
            text, filled_in, told = _page(page)
            pages.append(text)
            added.append(filled_in)
            for remark in told:
                remarked.setdefault(remark, []).append(number)
            if sum(map(len, pages)) > 2 * LONGEST:
                break  # too long in any case, and the document itself says so
    whole = _SOFT.sub("", _HYPHENS.sub("-\n", "\f".join(pages)))
    joined: list[str] = []
    text = _SPLIT.sub(lambda found: _joined(found, whole, joined), whole)
    remarks: list[str] = []
    if joined:
        shown = ", ".join(joined[:MAX_SHOWN]) + (" ..." if len(joined) > MAX_SHOWN else "")
        remarks.append(f"Words that {name} divides at a line's end were joined: {shown}.")
    text = _HYPHEN.sub("-", text)
    # Lines of a printed page are joined to paragraphs.
    paragraphs = (re.sub(r"(?<![.!?:。！？])\n(?!\n)", " ", page) for page in text.split("\f"))
    parts = ("\n\n".join(filter(None, pair)) for pair in zip(paragraphs, added, strict=True))
    return PdfText(tuple(parts), remarked, tuple(remarks))


def page_pictures(name: str, data: bytes, numbers: Sequence[int]) -> Iterator[bytes]:
    """Give pages of a PDF, by number from 1, as PNG. Raises `CaseError`: a page can't be drawn."""
    import pypdfium2  # its PDFium runs no scripts

    try:
        with _DRAWING, closing(pypdfium2.PdfDocument(data)) as document:
            for number in numbers:
                page = document[number - 1]
                scale = min(DRAWN_DPI / 72, MAX_DRAWN_PX / max(page.get_size()))
                yield as_png(page.render(scale=scale).to_pil())
    except pypdfium2.PdfiumError as error:
        raise CaseError(f"A page of {name} can't be drawn. Take a picture of it, and bring that.") from error


def _joined(found: re.Match[str], whole: str, joined: list[str]) -> str:
    """A divided word: put together, unless its second part has a capital, or it has its hyphen elsewhere too."""
    first, second = found.groups()
    if not second[0].islower() or re.search(rf"\b{first}-{second}\b", whole):
        return f"{first}-{second}"
    joined.append(first + second)
    return first + second


@dataclass(frozen=True)
class Row:
    """What is drawn at one height, one part after the other: where each begins, in points, and its letters."""

    down: float
    parts: list[tuple[float, int]]

    def edges(self) -> set[int]:
        """Where parts begin within the row, about."""
        return {round(across / COLUMN_PT) for across, _ in self.parts[1:]}


def _page(page: Any) -> tuple[str, str, list[str]]:
    """A page's text, what was filled in and noted on it, and what is to be remarked on."""
    rows: list[Row] = []
    remarks: list[str] = []

    def visit(operator: bytes, operands: list[Any], page: list[float], text: list[float]) -> None:
        if operator == b"Ts" and float(operands[0]) > 0:
            remarks.append("raised")
        if operator in SHOWS_TEXT:
            across = page[0] * text[4] + page[2] * text[5] + page[4]
            down = page[1] * text[4] + page[3] * text[5] + page[5]
            shown = operands[-1] if isinstance(operands[-1], list) else [operands[-1]]
            letters = sum(len(part) for part in shown if isinstance(part, bytes | str))
            if rows and 1 < down - rows[-1].down < MAX_RAISED_PT and letters <= MAX_RAISED_BYTES:
                remarks.append("raised")
            if not rows or abs(rows[-1].down - down) > 1:
                rows.append(Row(down, []))
            rows[-1].parts.append((across, letters))

    found = page.extract_text(visitor_operand_before=visit)
    text, unknown = _readable(found)
    contents = page.get_contents()
    drawn = contents.get_data() if contents is not None else b""
    if not text.strip() and drawn.strip():
        remarks.append("scan")
    elif _shows_picture(drawn, page.get("/Resources"), MAX_NESTED):
        remarks.append("pictures")
    if unknown:
        remarks.append("unknown")
    if _has_columns(rows):
        remarks.append("columns")
    filled_in = "\n".join(_filled_in(page))
    if filled_in:
        remarks.append("fields")
    if any(_is_mark(annotation.get_object()) for annotation in page.get("/Annots") or ()):
        remarks.append("marks")
    return text, filled_in, [*dict.fromkeys(remarks)]


def _readable(text: str) -> tuple[str, int]:
    """A text with its unknown signs marked, and how many; two halves of a character become one."""
    whole = text.encode("utf-16", errors="surrogatepass").decode("utf-16", errors="replace")
    marked, private = _UNKNOWN.subn("\ufffd", whole)
    return marked, private + whole.count("\ufffd")


def _has_columns(rows: list[Row]) -> bool:
    """Whether lines of prose begin at one place within the rows: a second column, drawn row by row."""
    starts = Counter(edge for row in rows for edge in row.edges())
    edge, count = max(starts.items(), key=lambda item: item[1], default=(0, 0))
    if count < max(LEAST_ROWS, len(rows) / 4):
        return False
    divided = [row for row in rows if edge in row.edges()]
    parts = [(round(across / COLUMN_PT) < edge, letters) for row in divided for across, letters in row.parts]
    left = sum(letters for is_left, letters in parts if is_left)
    return min(left, sum(letters for _, letters in parts) - left) >= LEAST_LETTERS * count


def _shows_picture(content: bytes, resources: Any, depth: int) -> bool:
    """Whether a page, or a part of one, shows a picture, and does not only have one at hand."""
    objects: Any = resources.get_object().get("/XObject") if resources else None
    for name in set(_IMAGE.findall(content)):
        drawn: Any = objects.get_object().get(f"/{name.decode('latin-1')}") if objects else None
        drawn = {} if drawn is None else drawn.get_object()
        if not name or drawn.get("/Subtype") == "/Image":
            return True
        own = drawn.get("/Resources") or resources
        if drawn.get("/Subtype") == "/Form" and depth and _shows_picture(drawn.get_data(), own, depth - 1):
            return True
    return False


def _is_mark(item: Any) -> bool:
    """Whether something that is laid over a page says more than the text that is read of it."""
    kind = item.get("/Subtype")
    return kind in MARKS or (kind == "/FreeText" and not str(item.get("/Contents") or "").strip())


def _filled_in(page: Any) -> Iterator[str]:
    """The values of a page's fields and the texts of its notes, a line each."""
    for annotation in page.get("/Annots") or ():
        item = annotation.get_object()
        kind = item.get("/Subtype")
        if kind == "/Widget":
            names, shown = _field(item)
            words = ", ".join(str(one).lstrip("/") for one in shown if one is not None and str(one) != "/Off")
            if words.strip():
                yield _readable(f"{'.'.join(names)}: {words}".replace("\r\n", "\n").replace("\r", "\n"))[0]
        elif kind not in ("/Popup", "/Link") and str(item.get("/Contents") or "").strip():
            yield _readable(str(item["/Contents"]).replace("\r\n", "\n").replace("\r", "\n"))[0]


def _field(item: Any) -> tuple[list[str], list[Any]]:
    """The names of a field from the outermost on, and its values as they are shown; its parents may hold both."""
    names: list[str] = []
    value: Any = None
    shown: dict[str, str] = {}
    for _ in range(MAX_NESTED):
        names = [str(item["/T"]), *names] if item.get("/T") else names
        button = item.get("/FT") == "/Btn" and "/AS" in item
        value = (item.get("/AS") if button else item.get("/V")) if value is None else value
        choices = [pair.get_object() for pair in item.get("/Opt") or ()]
        shown |= {str(pair[0]): str(pair[1]) for pair in choices if isinstance(pair, list) and len(pair) > 1}
        if "/Parent" not in item:
            break
        item = item["/Parent"].get_object()
    if isinstance(value, dict):  # a signature
        value = value.get("/Name")
    return names, [shown.get(str(one), one) for one in (value if isinstance(value, list) else [value])]
