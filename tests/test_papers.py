"""Papers: what offices, phones and chats make is read into pieces, each with where it comes from; sets of them become cases."""

import io
import json
import zipfile
from pathlib import Path

import pytest
from PIL import Image

from courtroom import CaseError, Courthouse
from courtroom.cases.drafts import Draft, Drafts
from courtroom.cases.files import Package
from courtroom.cases.kinds import case_kinds
from courtroom.cases.papers import Piece, read_papers
from tests.paper_sets import SETS
from tests.papers import WECHAT, WHATSAPP, mail, picture, sheets, slides, telegram, with_member, word, zipped


def pieces(name: str, data: bytes) -> list[tuple[str, str]]:
    """Source and text of each piece; a picture's text is its size."""
    return [(one.source, one.text or size(one)) for one in read_papers(name, data).pieces]


def size(piece: Piece) -> str:
    image = Image.open(io.BytesIO(piece.medium))
    return f"{image.format} {image.width}x{image.height}"


def test_word_file_keeps_words_tables_and_pictures_in_order() -> None:
    data = word(
        "A_lamp *of* 2024 #1", "It broke.", table=[["Day", "Sum"], ["1", "40"]], shown=picture("lamp"), header="Firm"
    )
    (_, text), shown = pieces("a.docx", data)
    assert text.startswith("A_lamp *of* 2024 #1\n\nIt broke.")
    assert "| 1 | 40 |" in text
    assert text.endswith("[picture 1]")
    assert shown == ("a.docx, picture 1", "PNG 360x200")
    assert "headers and footers were not taken over" in read_papers("a.docx", data).remarks[0]


def test_rtf_html_and_pictures_become_what_models_take() -> None:
    text = rb"{\rtf1\ansi\ansicpg936 The lamp \'b5\'c6 broke.\par}"
    assert pieces("a.rtf", text) == [("a.rtf", "The lamp 灯 broke.\n")]
    page = "<title>x</title><h1>Offer</h1><script>alert(1)</script><p>灯 is new</p><img src='http://a.b/c.png'>"
    assert pieces("a.html", page.encode()) == [("a.html", "# Offer\n\n灯 is new")]
    assert "lies elsewhere was not fetched" in read_papers("a.html", page.encode()).remarks[0]
    for ending, form in (("heic", "HEIF"), ("bmp", "BMP")):
        papers = read_papers(f"a.{ending}", picture("lamp", form))
        assert [size(one) for one in papers.pieces] == ["PNG 360x200"]
        assert papers.remarks == (f"a.{ending} was turned into PNG, which models take.",)


def test_mail_gives_its_text_and_each_attachment() -> None:
    inner = mail("See below.", note_docx=word("It leaks."))
    data = mail("Take it back.", old_eml=inner, photo_png=picture("dry"), run_exe=b"MZ")
    (remark,) = read_papers("a.eml", data).remarks
    assert remark.startswith("a.eml: run.exe can't be read.")
    assert remark.endswith("It was left out.")
    found = pieces("a.eml", data)
    sources = ["a.eml", "a.eml › old.eml", "a.eml › old.eml › note.docx", "a.eml › photo.png"]
    assert [source for source, _ in found] == sources
    assert "Subject: The kettle" in found[0][1]
    assert found[0][1].endswith("Take it back.")
    assert found[2][1] == "It leaks."
    for _ in range(6):
        data = mail("Around it.", inner_eml=data)
    papers = read_papers("a.eml", data)
    assert len(papers.pieces) == 4
    assert "lies too deep in other files" in papers.remarks[0]


def test_chats_come_word_for_word() -> None:
    assert pieces("chat.txt", WHATSAPP.encode()) == [("chat.txt", WHATSAPP)]
    assert pieces("chat.txt", WECHAT.encode("gb18030"))[0][1] == WECHAT
    said = "[2025-03-12T14:05:00] Anna: Look at this\n[2025-03-12T14:07:00] Lin:  (photos/1.jpg)"
    assert pieces("result.json", telegram())[0][1].strip() == said
    exported = zipped({"_chat.txt": WHATSAPP.encode(), "IMG-1.jpg": picture("dry", "JPEG")})
    assert [source for source, _ in pieces("chat.zip", exported)] == ["chat.zip › _chat.txt", "chat.zip › IMG-1.jpg"]


ENTITIES = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "bbbbbbbbbb"><!ENTITY c "&b;&b;&b;&b;">]><a>&c;</a>'


@pytest.mark.parametrize("declared", [ENTITIES, ENTITIES.decode().encode("utf-16")])
@pytest.mark.parametrize(
    ("name", "data", "member"),
    [
        ("a.docx", word("A lamp."), "word/document.xml"),
        ("a.xlsx", sheets(A=[[1]]), "xl/workbook.xml"),
        ("a.pptx", slides("A lamp."), "ppt/presentation.xml"),
    ],
)
def test_office_file_that_means_harm_is_refused(name: str, data: bytes, member: str, declared: bytes) -> None:
    with pytest.raises(CaseError, match="declares entities"):
        read_papers(name, with_member(data, member, declared))
    with pytest.raises(CaseError, match="unpacks to far more than it should"):
        read_papers(name, with_member(data, "big.png", b"\0" * 2**23))


def test_picture_that_lies_elsewhere_is_not_fetched() -> None:
    data = word("A lamp.", shown=picture("lamp"))
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        relations = archive.read("word/_rels/document.xml.rels")
    (target,) = [one for one in relations.split(b'"') if one.startswith(b"media/")]
    linked = with_member(data, "word/_rels/document.xml.rels", b'file:///etc/passwd" TargetMode="External', target)
    linked = with_member(linked, "word/document.xml", b"r:link=", b"r:embed=")
    papers = read_papers("a.docx", linked)
    assert [one.text for one in papers.pieces] == ["A lamp."]
    assert papers.remarks


@pytest.mark.parametrize("ending", ["docx", "xlsx", "pptx", "eml", "heic", "pdf", "zip", "exe"])
def test_damaged_paper_is_refused_with_one_sentence(ending: str) -> None:
    with pytest.raises(CaseError, match=r"^a\."):
        read_papers(f"a.{ending}", b"\x89\x00 nothing of the kind")


FILLED = {
    "dispute": {"category": "Other", "transaction.product": "It"},
    "criminal": {"matter": "criminal", "charge": "Theft", "facts": "It happened."},
    "civil": {"matter": "civil", "charge": "Money", "facts": "It happened."},
    "question": {"question": "What is to be done?", "parties": "Shopkeepers"},
}


def placed(drafts: Drafts, draft: Draft, kind: str) -> Package:
    """The case whose pieces were given to the first and the second side in turn."""
    named = "trial" if kind in ("criminal", "civil") else kind
    draft = draft.model_copy(update={"kind": named, "values": {"title": "Papers", "language": "en", **FILLED[kind]}})
    sides = list(case_kinds()[named].places(draft.values))[:2]
    pieces = (one.model_copy(update={"place": sides[number % 2]}) for number, one in enumerate(draft.pieces))
    return drafts.package(draft.model_copy(update={"pieces": tuple(pieces)}))


@pytest.mark.parametrize("name", SETS)
def test_set_becomes_a_case_with_every_piece_in_it(house: Courthouse, tmp_path: Path, name: str) -> None:
    papers = SETS[name]
    drafts = Drafts(tmp_path / "drafts")
    draft = drafts.add(drafts.begin("en"), [read_papers(name, data) for name, data in papers.files.items()])
    texts = {piece.source: piece.text for piece in draft.pieces if not piece.file}
    assert set(texts) == set(papers.texts)
    assert all(sentence in texts[source] for source, said in papers.texts.items() for sentence in said)
    assert [piece.source for piece in draft.pieces if piece.file] == papers.pictures
    case = house.library.add(placed(drafts, draft, papers.kind))
    whole = json.dumps(case.model_dump(mode="json"), ensure_ascii=False)
    for source, text in texts.items():
        assert json.dumps(source, ensure_ascii=False)[1:-1] in whole
        assert json.dumps(text.strip(), ensure_ascii=False)[1:-1] in whole
    assert len(list(case.media())) == len(papers.pictures)
    assert all(medium.sha256 for medium in case.media())
