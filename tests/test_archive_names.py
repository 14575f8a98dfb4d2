"""Names in a case and in its ZIP or folder: written otherwise, they are found; where it is not sure, all are told."""

import io
import json
import unicodedata
import zipfile
from pathlib import Path
from typing import Any

import pytest

from courtroom.cases.checks import check
from courtroom.cases.files import read_each, read_folder, read_upload
from courtroom.errors import CaseError
from tests.pictures import png

CASE: dict[str, Any] = {
    "kind": "dispute", "id": "lamp", "title": "The lamp", "category": "Home & Lifestyle",
    "transaction": {"product": "Lamp", "description": "New.", "price": 25, "currency": "EUR"},
}  # fmt: skip


def case(file: str) -> str:
    media = [{"id": "m1", "kind": "image", "file": file, "description": "The lamp."}]
    pieces = [
        {"id": "buyer-1", "side": "buyer", "text": "Broken.", "media": media},
        {"id": "seller-1", "side": "seller", "text": "No."},
    ]
    return json.dumps({**CASE, "evidence": pieces})


def packed(members: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def without_flag(data: bytes, name: str, encoding: str) -> bytes:
    """The same ZIP as a system of another language writes it, in its own encoding without a flag that says so."""
    written = name.encode(encoding)
    placeholder = b"n" * len(written)
    assert data.count(placeholder) == 2
    return data.replace(placeholder, written)


def errors(data: bytes) -> list[str]:
    (package,) = read_upload("case.zip", data)
    return [one.message for one in check(package.case, package.files, package.there) if one.severity == "error"]


@pytest.mark.parametrize(
    ("named", "there"),
    [
        ("media/café.png", unicodedata.normalize("NFD", "media/café.png")),
        ("media/photo.png", "media/PHOTO.PNG"),
        ("media/my%20photo.png", "media/my photo.png"),
        ("media\\photo.png", "media/photo.png"),
        ("media/STRASSE.png", "media/straße.png"),
    ],
)
def test_a_name_that_is_written_otherwise_is_found(tmp_path: Path, named: str, there: str) -> None:
    assert errors(packed({"case.json": case(named), there: png()})) == []
    (tmp_path / "case.json").write_text(case(named))
    path = tmp_path / there.replace("\\", "/")
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(png())
    assert list(read_folder(tmp_path).files) == [named]


@pytest.mark.parametrize(("name", "encoding"), [("照片.png", "gbk"), ("照片.png", "utf-8"), ("café.png", "cp1252")])
def test_a_name_in_the_encoding_of_its_system_is_found(name: str, encoding: str) -> None:
    data = packed({"case.json": case(name), "n" * len(name.encode(encoding)): png()})
    assert errors(without_flag(data, name, encoding)) == []


def test_a_zip_of_windows_is_one_case_with_its_media() -> None:
    assert errors(packed({"Lamp\\case.json": case("media/photo.png"), "Lamp\\media\\photo.png": png()})) == []
    (package,) = read_upload(
        "case.zip", packed({"case.json": case("photo.png"), "PHOTO.png": png((9, 9)), "photo.png": png()})
    )
    assert package.files == {"photo.png": png()}, "a name as it is goes before one that is alike"


def test_two_files_that_a_name_can_mean_are_listed(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"case.json": case("photo.PNG"), "Photo.png": png(), "photo.png": png((3, 3))}
    (message,) = errors(packed(files))
    assert message.endswith("These files are there: Photo.png, photo.png.")
    for name, data in files.items():
        (tmp_path / name).write_bytes(data if isinstance(data, bytes) else data.encode())
    assert read_folder(tmp_path).files == {}
    assert "photo.png" in read_folder(tmp_path).there


def test_a_name_never_leads_out_of_its_folder(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    inner = tmp_path / "case"
    inner.mkdir()
    for name in ("%2e%2e/secret.png", "..\\SECRET.png", "%2e%2e%5csecret.png"):
        (inner / "case.json").write_text(case(name))
        assert read_folder(inner).files == {}


def test_two_files_of_one_name_in_a_zip_are_refused() -> None:
    with pytest.raises(
        CaseError, match=r"holds two files of the name media/photo.png\. Pack it again with one of them"
    ):
        errors(
            packed({"case.json": case("media/photo.png"), "media/photo.png": png(), "media\\photo.png": png((3, 3))})
        )


def test_a_json_file_that_is_no_case_is_told() -> None:
    data = packed({"lamp.json": case("photo.png"), "package.json": '{"name": "x", "version": "1"}', "photo.png": png()})
    (package,) = read_upload("cases.zip", data)
    assert package.remarks == ("package.json in cases.zip is no case, and was left out.",)
    with pytest.raises(CaseError, match="package.json"):
        read_upload("cases.zip", packed({"package.json": '{"name": "x"}'}))
    data = packed({"lamp.json": case("photo.png"), "other.json": '{"kind": "dispute", "id": ', "photo.png": png()})
    found = list(read_each("cases.zip", data))
    assert "other.json: it is not valid JSON" in " ".join(str(one) for one in found if isinstance(one, CaseError))


@pytest.mark.parametrize(("name", "is_told"), [("receipt.jpg", True), ("statement.txt", True), ("photo.png", False)])
def test_a_file_that_no_piece_names_is_told(name: str, is_told: bool) -> None:
    data = packed({"case.json": case("photo.png"), "photo.png": png(), name: b"Paid" if is_told else png()})
    (package,) = read_upload("cases.zip", data)
    assert [f"were left out: {name}." in remark for remark in package.remarks] == [True] * is_told
