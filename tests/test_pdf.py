"""PDF documents: their text is read, and what of a page members will not know is told by its number."""

import io
from collections.abc import Sequence
from typing import Any

import pytest
from pypdf import PdfWriter
from pypdf.generic import ArrayObject, DecodedStreamObject, DictionaryObject, FloatObject, NameObject, TextStringObject

from courtroom import CaseError
from courtroom.cases.files import Package, read_upload

SCAN = b"q 200 0 0 200 0 0 cm /Im1 Do Q"


def named(**entries: object) -> DictionaryObject:
    """A dictionary of a PDF; a text that begins with a slash is a name."""

    def made(value: object) -> Any:
        if isinstance(value, str):
            return NameObject(value) if value.startswith("/") else TextStringObject(value)
        if isinstance(value, list):
            return ArrayObject(made(one) for one in value)
        return FloatObject(value) if isinstance(value, float) else value

    return DictionaryObject({NameObject(f"/{name}"): made(value) for name, value in entries.items()})


def stream(content: bytes, **entries: object) -> DecodedStreamObject:
    made = DecodedStreamObject()
    made.set_data(content)
    made.update(named(**entries))
    return made


def lines(*texts: str, across: int = 60) -> bytes:
    """Lines of text, one below the other; a tab begins a second column."""
    drawn = "".join(
        f"1 0 0 1 {across + 260 * column} {760 - 14 * row} Tm ({part}) Tj "
        for row, text in enumerate(texts)
        for column, part in enumerate(text.split("\t"))
    )
    return f"BT /F1 12 Tf {drawn} ET".encode("latin-1")


def pdf(*pages: bytes, fields: Sequence[DictionaryObject] = (), to_unicode: bytes = b"") -> bytes:
    """A PDF with these contents; each page has a picture at hand, and the first one has the fields."""
    writer = PdfWriter()
    font = named(Type="/Font", Subtype="/Type1", BaseFont="/Helvetica", Encoding="/WinAnsiEncoding")
    if to_unicode:
        font[NameObject("/ToUnicode")] = writer._add_object(stream(to_unicode))
    image = stream(
        b"\0", Type="/XObject", Subtype="/Image", Width=1.0, Height=1.0, ColorSpace="/DeviceGray", BitsPerComponent=8.0
    )
    kept = writer._add_object(image)
    for number, content in enumerate(pages):
        page = writer.add_blank_page(595, 842)
        page[NameObject("/Resources")] = named(Font=named(F1=font), XObject=named(Im1=kept))
        page[NameObject("/Contents")] = writer._add_object(stream(content))
        if not number and fields:
            page[NameObject("/Annots")] = ArrayObject(writer._add_object(field) for field in fields)
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def read(data: bytes) -> tuple[str, tuple[str, ...]]:
    (package,) = read_upload("a.pdf", data)
    assert isinstance(package, Package)
    return package.case.text, package.remarks


def cmap(*pairs: tuple[int, str]) -> bytes:
    """What characters of a font mean, in UTF-16."""
    said = " ".join(f"<{code:02X}> <{text.encode('utf-16-be', 'surrogatepass').hex()}>" for code, text in pairs)
    return (
        f"/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def /CMapType 2 def "
        f"1 begincodespacerange <00> <FF> endcodespacerange {len(pairs)} beginbfchar {said} endbfchar endcmap end end"
    ).encode()


JOINED = "Words that a.pdf divides at a line's end were joined: example, älteren."
SCANNED = "a.pdf, page 2, 4: no text can be read there, only pictures, such as a scan."


@pytest.mark.parametrize(
    ("pages", "text", "told"),
    [
        ([lines("The river rose in the night.")], "The river rose in the night.", ""),
        ([lines("from 2019-", "2021 on")], "from 2019-2021 on", ""),
        ([lines("file 17-", "a of")], "file 17-a of", ""),
        ([lines("the Anglo-", "Saxon way")], "the Anglo-Saxon way", ""),
        ([lines("The balance was", "-500 euros")], "The balance was -500 euros", ""),
        ([lines("An exam-", "ple of an \xe4lte-", "ren man")], "An example of an älteren man", JOINED),
        ([lines("A lamp."), SCAN, b"", SCAN], "A lamp.", SCANNED),
    ],
)
def test_a_text_is_read_with_a_word_on_what_is_not_plain(pages: list[bytes], text: str, told: str) -> None:
    found, remarks = read(pdf(*pages))
    assert found.strip() == text
    assert [remark.startswith(told) for remark in remarks] == [True] * bool(told)
    with pytest.raises(CaseError, match="no text, only pictures"):
        read(pdf(SCAN, SCAN))


def test_what_was_filled_in_and_noted_is_read() -> None:
    rect = {"Type": "/Annot", "Rect": [0.0, 0.0, 9.0, 9.0]}
    parent = named(T="buyer", FT="/Tx", V="Anna Müller")
    fields = [
        named(Subtype="/Widget", FT="/Tx", T="sum", V="1,250.00", **rect),
        named(Subtype="/Widget", T="name", Parent=parent, **rect),
        named(Subtype="/Widget", FT="/Btn", T="agreed", AS="/Yes", **rect),
        named(Subtype="/Widget", FT="/Btn", T="refused", AS="/Off", **rect),
        named(Subtype="/Widget", FT="/Ch", T="colours", V=["red", "blue"], **rect),
        named(Subtype="/Widget", FT="/Tx", T="empty", V="", **rect),
        named(Subtype="/FreeText", Contents="Paid in cash.", **rect),
        named(Subtype="/Link", Contents="a link", **rect),
        named(Subtype="/Widget", FT="/Ch", T="colour", V="r", Opt=[["r", "Red"], ["b", "Blue"]], **rect),
        named(Subtype="/Widget", FT="/Sig", T="signed", V=named(Type="/Sig", Name="Ann Lee"), **rect),
    ]
    text, remarks = read(pdf(lines("Name:"), fields=fields))
    added = "sum: 1,250.00\nbuyer.name: Anna Müller\nagreed: Yes\ncolours: red, blue\nPaid in cash."
    added += "\ncolour: Red\nsigned: Ann Lee"
    assert text == f"Name:\n\n{added}"
    assert remarks == ("a.pdf, page 1: what was filled in or noted stands at the end of the page's text.",)


COLUMNS = [
    ("The lamp was bought on", "The seller says that it"),
    ("Monday for 25 euros. It", "left the shop whole and"),
    ("came with a cracked arm", "that the parcel service"),
    ("and the buyer wrote at", "must have dropped it."),
]


def test_columns_that_are_drawn_row_by_row_are_told() -> None:
    rows = lines(*("\t".join(row) for row in COLUMNS))
    assert read(pdf(rows))[1] == (
        "a.pdf, page 1: lines of two columns are read across. Read the text, and paste it where it is mixed up.",
    )
    columns = zip(zip(*COLUMNS, strict=True), (60, 320), strict=True)
    in_order = b" ".join(lines(*column, across=across) for column, across in columns)
    assert read(pdf(in_order))[1] == (), "these are read one after the other"
    assert read(pdf(lines("Item\tPaid", "Lamp\t25", "Bulb\t4", "Post\t5")))[1] == (), "a table is none"


@pytest.mark.parametrize("meant", ["\ud83d", "\ue000"])
def test_a_character_without_a_meaning_is_marked_and_told(meant: str) -> None:
    meanings = cmap(*((ord(letter), letter) for letter in "ofce"), (0x80, meant))
    found, remarks = read(pdf(b"BT /F1 12 Tf 60 760 Td (of\x80ce) Tj ET", to_unicode=meanings))
    assert found == "of\ufffdce"
    assert remarks == (
        "a.pdf, page 1: characters without a known meaning stand as “\ufffd”. Compare them with the page.",
    )
    halves = cmap(*((ord(letter), letter) for letter in "of"), (0x80, "\ud83d"), (0x81, "\ude00"))
    assert read(pdf(b"BT /F1 12 Tf 60 760 Td (of\x80\x81) Tj ET", to_unicode=halves)) == ("of😀", ())


@pytest.mark.parametrize("kind", ["StrikeOut", "FreeText"])
def test_a_mark_that_is_not_in_the_text_is_told(kind: str) -> None:
    mark = named(Type="/Annot", Subtype=f"/{kind}", Rect=[0.0, 0.0, 9.0, 9.0])
    assert "page 1: marks such as lines through a text" in read(pdf(lines("It was paid."), fields=[mark]))[1][0]
