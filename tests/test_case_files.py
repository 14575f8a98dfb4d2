"""Cases in and out as files: files that mean harm, what the checks find with the mend, languages, prices, labels."""

import json
import re
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom import CaseError, Dispute
from courtroom.cases import files as case_files
from courtroom.cases.checks import check
from courtroom.cases.files import read_each, read_folder, read_upload, write_zip
from courtroom.cases.labelled import LONGEST, Document, LabelledTask
from courtroom.cases.readers.tables import NumberedLabels
from courtroom.media.store import MediaStore
from courtroom.models.rendering import LANGUAGES as NAMES
from courtroom.models.rendering import environment
from courtroom.text.languages import LANGUAGES, language_of
from courtroom.text.prices import currency, price
from tests.attacks.test_files import zipped
from tests.papers import zipped as packed
from tests.pictures import png

WRITTEN = json.loads((Path(__file__).parent / "inputs/written.json").read_text(encoding="utf-8"))
"""How texts and prices are written in many languages and countries."""
TEXTS: dict[str, str] = WRITTEN["texts"]
PHOTO = {"id": "leak", "kind": "image", "file": "photos/leak.png", "description": "A puddle."}


def case(**changes: Any) -> dict[str, Any]:
    about = {"kind": "dispute", "id": "kettle", "title": "The kettle", "category": "Digital & Appliances"}
    claim = {"id": "buyer-1", "side": "buyer", "text": "It leaks.", "media": [{**PHOTO}]}
    evidence = [claim, {"id": "seller-1", "side": "seller", "text": "It did not."}]
    return {**about, "transaction": {"product": "Kettle", "price": 20}, "evidence": evidence, **changes}


def as_json(data: Any) -> bytes:
    return json.dumps(data).encode()


@pytest.mark.parametrize(("changes", "told"), WRITTEN["wrong fields"])
def test_a_wrong_field_is_named_with_the_mend(changes: dict[str, Any], told: str) -> None:
    with pytest.raises(CaseError, match=re.escape(told)):
        read_upload("a.json", as_json(case(**changes)))


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.json", as_json(case())[:100], "a.json: it is not valid JSON at column "),
        ("a.json", b"\xff\x00\x01", "a.json: it is not UTF-8 text. Say its encoding, or save it as UTF-8."),
        ("a.json", b"[]", "a.json holds no case."),
        ("a.json", b"[" * 100_000, "a.json: it is nested too deeply."),
        ("a.jsonl", as_json(case()) + b"\n{", "a.jsonl, line 2: it is not valid JSON at column 2."),
        ("a.zip", zipped(("case.json", as_json(case())))[:-30], "a.zip is no ZIP file, or it is cut off."),
        ("a.zip", zipped(("readme.txt", b"x")), "a.zip holds no case.json."),
    ],
)  # fmt: skip
def test_an_unreadable_file_is_told_with_the_mend(name: str, data: bytes, told: str) -> None:
    with pytest.raises(CaseError) as caught:
        read_upload(name, data)
    assert str(caught.value).startswith(told)


def test_a_dispute_written_in_any_form_reads_back_the_same(tmp_path: Path) -> None:
    plain = case(title="one\u2028two\x85<b>三", jury={"buyer": 9, "seller": 8, "opinions": []}, language="zh-Hant")
    several = [Dispute.model_validate({**plain, "id": name}) for name in ("kettle", "lamp")]
    lines = "\n".join(one.model_dump_json() for one in several)
    listed = f"[{lines.replace(chr(10), ',')}]"
    for name, text in (("cases.jsonl", lines), ("cases.json", listed)):
        assert [package.case for package in read_upload(name, text.encode())] == several
    (package,) = read_upload("case.json", b"\xef\xbb\xbf" + several[0].model_dump_json(indent=2).encode())
    assert package.case == several[0], "a byte order mark does no harm"
    store = MediaStore(tmp_path)
    kept = several[0].with_media(store.keep({"photos/leak.png": png()}))
    (package,) = read_upload("case.zip", write_zip(kept, store))
    assert (package.case, package.files) == (kept, {"photos/leak.png": png()})


def test_a_zip_may_hold_several_case_folders() -> None:
    pictures = {"a": png((10, 10)), "b": png((20, 20))}
    cases = [(f"{name}/case.json", as_json(case(id=name))) for name in pictures]
    data = zipped(*cases, *((f"{name}/photos/leak.png", picture) for name, picture in pictures.items()))
    read = {package.case.id: package.files for package in read_upload("a.zip", data)}
    assert read == {name: {"photos/leak.png": picture} for name, picture in pictures.items()}


def test_a_member_that_lies_or_is_damaged_is_named() -> None:
    data = bytearray(zipped(("case.json", as_json(case())), ("photos/leak.png", bytes(64 * 2**20))))
    at = data.rindex(b"PK\x01\x02")  # the second entry of the list of members says that it holds 100 bytes
    data[at + 24 : at + 28] = struct.pack("<I", 100)
    with pytest.raises(CaseError, match=r"photos/leak.png in a.zip is damaged"):
        read_upload("a.zip", bytes(data))
    data = bytearray(zipped(("case.json", as_json(case())), (zipfile.ZipInfo("photos/leak.png"), png())))  # not packed
    data[data.index(b"\x89PNG") + 40] ^= 0xFF
    with pytest.raises(CaseError, match="photos/leak.png in a.zip is damaged. Pack it again"):
        read_upload("a.zip", bytes(data))


def test_an_upload_may_have_200_megabytes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert case_files.MAX_UPLOAD == 200 * 2**20
    large = tmp_path / "large.json"
    with large.open("wb") as file:
        file.truncate(201 * 2**20)  # a sparse file: no disk is used
    with pytest.raises(CaseError, match="large.json has 201 MB; 200 MB are allowed"):
        read_upload("large.json", large)
    monkeypatch.setattr(case_files, "MAX_UPLOAD", 50)
    for name in ("a.json", "a.jsonl", "a.zip"):
        with pytest.raises(CaseError, match="are allowed. Split it"):
            read_upload(name, as_json(case()))


DEAL = {"product": "Kettle", "price": 20, "description": "Like new."}
SELLER = {"id": "seller-1", "side": "seller", "text": "It left me whole."}


@pytest.mark.parametrize(("pieces", "changes", "told"), WRITTEN["wrong cases"])
def test_what_is_wrong_is_told_with_the_mend(pieces: list[Any], changes: dict[str, Any], told: str) -> None:
    given = [*pieces, *([] if any(piece["side"] == "seller" for piece in pieces) else [SELLER])]
    whole = {"id": "kettle", "title": "Kettle", "category": "Other", "transaction": DEAL, "evidence": given, **changes}
    found = check(Dispute.model_validate(whole), {"lid.png": png(), "../lid.png": png()})
    assert told in [f"{one.severity} {one.field}: {one.message}" for one in found]


@pytest.mark.parametrize("language", TEXTS)
def test_a_text_is_in_the_language_of_most_of_its_words(language: str) -> None:
    (document,) = read_upload("a.txt", TEXTS[language].encode())
    assert document.case.language == language
    record = {"product": "X", "price": "¥5", "buyer_evidence": TEXTS[language] * 2, "category": "Other"}
    (dispute,) = read_upload("a.json", json.dumps(record).encode())
    assert dispute.case.language == language
    table = "text,label\n" + "".join(f'"{TEXTS[language]}",{label}\n' for label in ("joy", "fear"))
    (task,) = read_upload("a.csv", table.encode())
    assert task.case.language == language
    assert language_of(TEXTS[language]) == language
    pieces = [{"id": f"{side}-1", "side": side, "text": TEXTS[language]} for side in ("buyer", "seller")]
    named_x = case(title="X", category="Other", transaction={"product": "X"}, evidence=pieces)
    (package,) = read_upload("a.json", as_json(named_x))
    assert package.case.language == language
    (said,) = read_upload("a.json", as_json({**named_x, "language": "fr"}))
    assert said.case.language == "fr", "what the case says holds"


def test_a_prompt_names_every_language_that_is_found() -> None:
    say = environment(lambda name: "Write in {{ code | language }}.").get_template("say").render
    assert say(code="ar") == "Write in Arabic."
    assert say(code="de-AT") == "Write in German."
    assert say(code="zh-TW") == "Write in Chinese (繁體中文)."
    assert say(code="xx") == "Write in the language of the material (xx)."
    codes = ["zh", "ja", *(code for known in LANGUAGES.values() for code in known.split())]
    assert not [code for code in codes if code not in NAMES]


def read(name: str, text: str | bytes) -> LabelledTask | Document:
    (package,) = read_upload(name, text.encode() if isinstance(text, str) else text)
    return package.case


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "text,label\nx,joy\ny,joy\n", "at least 2"),
        ("a.csv", "text,label\n,joy\n", "Left out, line 2: it lacks its text"),
        ("a.txt", " \n ", "no words"),
        ("a.txt", "long words " * 200_000, f"may have {LONGEST:,}"),
        ("a.pdf", b"not a pdf", "can't be read as PDF"),
    ],
)
def test_what_cannot_be_read_is_said_with_the_files_name(name: str, text: str | bytes, said: str) -> None:
    with pytest.raises(CaseError, match=f"^{name}.*{re.escape(said)}"):
        read(name, text)


def test_a_blind_task_tells_no_label() -> None:
    whole = read("a.csv", "text,label,reason\nso good,joy,because\nso bad,sadness,\n")
    blind = whole.blind()
    assert "because" not in blind.model_dump_json()
    assert {item.label for item in blind.items} == {None}
    assert blind.pool_name == whole.pool_name
    known = [f"{blind.under('joy')}item/1", f"{blind.under('sadness')}item/2"]
    assert [example.id for example in whole.known()] == known
    assert read("a.csv", "text,label\nso good,sadness\nso bad,joy\n").pool_name != whole.pool_name


@pytest.mark.parametrize(("name", "text", "numbers"), WRITTEN["numbered labels"])
def test_numbers_are_no_labels_until_they_are_named(name: str, text: str, numbers: list[str]) -> None:
    with pytest.raises(NumberedLabels, match=rf"^{name}: The labels are numbers \(") as asked:
        read(name, text)
    assert [*asked.value.values] == numbers


def test_columns_pose_the_question_of_their_labels() -> None:
    def question(names: dict[str, str]) -> str:
        (package,) = read_upload("p.tsv", (b"sentence1\tsentence2\tlabel\tidx\nA.\tB.\t0\t0\nC.\tD.\t1\t1\n"), names)
        return package.case.question

    assert "follow" in question({"0": "entailment", "1": "not_entailment"})
    assert "mean the same" in question({"0": "not_equivalent", "1": "equivalent"})
    assert question({"0": "red", "1": "blue"}) == ""


@pytest.mark.parametrize(("text", "amount", "code"), WRITTEN["prices"])
def test_a_price_is_read_as_its_country_writes_it(text: str, amount: float, code: str) -> None:
    assert price(text) == (amount, "")
    assert currency(text) == code


@pytest.mark.parametrize(("text", "amount", "doubt"), WRITTEN["doubtful prices"])
def test_a_price_that_is_not_sure_is_told(text: str, amount: float | None, doubt: str) -> None:
    assert price(text) == (amount, doubt)


@given(
    st.decimals(0, 999_999_999, places=2, allow_nan=False),
    st.sampled_from([(",", "."), (".", ","), ("'", "."), (" ", ",")]),
)
def test_every_amount_comes_back_whatever_marks_it_has(value: object, marks: tuple[str, str]) -> None:
    thousands, decimals = marks
    text = f"{value:,.2f}".replace(".", "D").replace(",", thousands).replace("D", decimals)
    assert price(text) == (float(str(value)), "")


def kettle(file: str) -> str:
    """The case, with this file as its picture."""
    whole = case()
    whole["evidence"][0]["media"][0]["file"] = file
    return json.dumps(whole)


def without_flag(data: bytes, name: str, encoding: str) -> bytes:
    """The same ZIP as a system of another language writes it, in its own encoding without a flag that says so."""
    written = name.encode(encoding)
    placeholder = b"n" * len(written)
    assert data.count(placeholder) == 2
    return data.replace(placeholder, written)


def errors(data: bytes) -> list[str]:
    (package,) = read_upload("case.zip", data)
    return [one.message for one in check(package.case, package.files, package.there) if one.severity == "error"]


@pytest.mark.parametrize(("named", "there"), WRITTEN["names of files"])
def test_a_name_that_is_written_otherwise_is_found(tmp_path: Path, named: str, there: str) -> None:
    assert errors(packed({"case.json": kettle(named), there: png()})) == []
    (tmp_path / "case.json").write_text(kettle(named))
    path = tmp_path / there.replace("\\", "/")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(png())
    assert list(read_folder(tmp_path).files) == [named]


@pytest.mark.parametrize(("name", "encoding"), [("照片.png", "gbk"), ("照片.png", "utf-8"), ("café.png", "cp1252")])
def test_a_name_in_the_encoding_of_its_system_is_found(name: str, encoding: str) -> None:
    data = packed({"case.json": kettle(name), "n" * len(name.encode(encoding)): png()})
    assert errors(without_flag(data, name, encoding)) == []


def test_a_zip_of_windows_is_one_case_with_its_media() -> None:
    assert errors(packed({"Kettle\\case.json": kettle("media/photo.png"), "Kettle\\media\\photo.png": png()})) == []
    data = packed({"case.json": kettle("photo.png"), "PHOTO.png": png((9, 9)), "photo.png": png()})
    (package,) = read_upload("case.zip", data)
    assert package.files == {"photo.png": png()}, "a name as it is goes before one that is alike"


def test_two_files_that_a_name_can_mean_are_listed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"case.json": kettle("photo.PNG"), "Photo.png": png(), "photo.png": png((3, 3))}
    (message,) = errors(packed(files))
    assert message.endswith("These files are there: Photo.png, photo.png.")
    for name, data in files.items():
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    assert read_folder(tmp_path).files == {}
    assert "photo.png" in read_folder(tmp_path).there


def test_two_files_of_one_name_in_a_zip_are_refused() -> None:
    with pytest.raises(CaseError, match=r"holds two files of the name a/photo.png\. Pack it again with one of them"):
        errors(packed({"case.json": kettle("a/photo.png"), "a/photo.png": png(), "a\\photo.png": png((3, 3))}))


def test_a_json_file_that_is_no_case_is_told() -> None:
    names = {"kettle.json": kettle("photo.png"), "photo.png": png()}
    data = packed({**names, "package.json": '{"name": "x", "version": "1"}'})
    (package,) = read_upload("cases.zip", data)
    assert package.remarks == ("package.json in cases.zip is no case, and was left out.",)
    with pytest.raises(CaseError, match="package.json"):
        read_upload("cases.zip", packed({"package.json": '{"name": "x"}'}))
    data = packed({"kettle.json": kettle("photo.png"), "other.json": '{"kind": "dispute", "id": ', "photo.png": png()})
    found = list(read_each("cases.zip", data))
    assert "other.json: it is not valid JSON" in " ".join(str(one) for one in found if isinstance(one, CaseError))


@pytest.mark.parametrize(("name", "is_told"), [("receipt.jpg", True), ("statement.txt", True), ("photo.png", False)])
def test_a_file_that_no_piece_names_is_told(name: str, is_told: bool) -> None:
    data = packed({"case.json": kettle("photo.png"), "photo.png": png(), name: b"Paid" if is_told else png()})
    (package,) = read_upload("cases.zip", data)
    assert [f"were left out: {name}." in remark for remark in package.remarks] == [True] * is_told
