"""Files of strangers: each is read as what it is, or refused in a sentence that says where; never a traceback.

What any one reader makes of a wrong field is in `tests/test_case_files.py`; here is what is meant to hurt.
"""

from __future__ import annotations

import io
import json
import stat
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom.cases.files import Package, read_each, read_upload
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import read_value, read_values
from courtroom.engine.interventions import read_actions
from courtroom.errors import CaseError, CourtroomError
from courtroom.knowledge.bases import Kind
from courtroom.settings import Settings

MANY_DIGITS = "9" * 5_000
DEEP = "[" * 100_000
DEEP_OBJECT = '{"a":' * 100_000
HUGE = "x" * 2_000_000


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("home")))
    yield house
    house.close()


def dispute(**changes: Any) -> dict[str, Any]:
    deal = {"product": "Kettle", "price": 20}
    return {"kind": "dispute", "id": "kettle", "title": "A kettle", "category": "Other", "transaction": deal, **changes}


def cail(number: int) -> dict[str, Any]:
    meta = {
        "relevant_articles": [264],
        "accusation": ["盗窃"],
        "criminals": ["王某"],
        "term_of_imprisonment": {"death_penalty": False, "life_imprisonment": False, "imprisonment": number},
    }
    return {"fact": f"被告人王某于第{number}日在公交车上扒窃他人钱包一个，内有现金若干。", "meta": meta}


def lines(*rows: Any) -> bytes:
    return "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows).encode()


def refused(name: str, data: bytes) -> str:
    """The sentence with which a whole file, or its only case, is refused."""
    with pytest.raises(CaseError) as caught:
        read_upload(name, data)
    told = str(caught.value)
    assert len(told) < 2_000, "a sentence, not the file"
    return told


JSON_BOMBS = {
    "many digits": MANY_DIGITS,
    "many digits in a field": json.dumps(dispute(price=0)).replace('"price": 0', f'"price": {MANY_DIGITS}'),
    "deep list": DEEP,
    "deep object": DEEP_OBJECT,
    "not closed": '{"kind": "dispute", "id": "',
    "NUL": '{"kind": "dispute"\x00}',
    "only a NUL": "\x00",
    "a name twice and nothing else": '{"kind": "dispute", "kind": "criminal"}',
    "infinity": json.dumps(dispute(transaction={"product": "x", "price": 1})).replace(
        '"price": 1', '"price": Infinity'
    ),
    "not a number": json.dumps(dispute(transaction={"product": "x", "price": 1})).replace('"price": 1', '"price": NaN'),
    "half a character": '{"kind": "dispute", "id": "\\ud800"}',
    "a huge text": json.dumps(dispute(title=HUGE)),
    "a huge name": json.dumps({"kind": "dispute", HUGE: 1}),
    "true": "true",
    "a text": '"a case"',
    "nested lists": "[[[{}]]]",
}


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "case.zip"])
@pytest.mark.parametrize("bomb", JSON_BOMBS.values(), ids=JSON_BOMBS.keys())
def test_json_that_is_meant_to_hurt_is_refused_in_a_sentence(bomb: str, name: str) -> None:
    data = bomb.encode()
    refused(name, zipped(("case.json", data)) if name == "case.zip" else data)


@pytest.mark.parametrize("into", ["statutes", "charges", "cases"])
@pytest.mark.parametrize("bomb", JSON_BOMBS.values(), ids=JSON_BOMBS.keys())
def test_an_import_into_the_knowledge_base_refuses_the_same(house: Courthouse, bomb: str, into: Kind) -> None:
    for name in ("a.json", "a.jsonl"):
        with pytest.raises(CourtroomError) as caught:
            house.imports.begin(into, name, bomb.encode())
        assert len(str(caught.value)) < 2_000
    report = house.knowledge.precedents.import_file(bomb.encode())
    assert (report.taken, bool(report.problems)) == ((), True)
    assert house.imports.pending() == []


@pytest.mark.parametrize("bomb", [MANY_DIGITS, DEEP, DEEP_OBJECT], ids=["digits", "list", "object"])
def test_what_the_shell_is_given_is_text_where_it_can_be_no_value(bomb: str) -> None:
    assert read_value(bomb) == bomb
    assert read_values(bomb)
    with pytest.raises(CourtroomError):
        read_actions(bomb)


def test_of_a_name_that_stands_twice_the_last_counts() -> None:
    text = json.dumps(dispute())[:-1] + ', "title": "Another"}'
    assert [package.case.title for package in read_upload("a.json", text.encode())] == ["Another"]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "gb18030", "latin-1"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt", "a.md", "a.csv"])
def test_another_encoding_is_refused_and_never_taken_for_text(name: str, encoding: str) -> None:
    body = "ü" if encoding == "latin-1" else "盗窃"
    text = json.dumps(dispute(title=body), ensure_ascii=False) if "json" in name else f"text,label\n{body} and more,1\n"
    data = text.encode(encoding)
    told = refused(name, data)
    assert any(word in told for word in ("UTF-8", "not valid JSON", "can't be read", "NUL")), told


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.csv", "a.txt"])
def test_a_byte_order_mark_is_no_part_of_the_text(name: str) -> None:
    body = json.dumps(dispute()) if "json" in name else "text,label\ngood,yes\nbad,no\n"
    (package,) = read_upload(name, b"\xef\xbb\xbf" + body.encode())
    assert "\ufeff" not in package.case.model_dump_json()


def test_cail_as_it_is_handed_around_json_lines_named_json(house: Courthouse) -> None:
    data = lines(*(cail(number) for number in range(1, 6)))
    packages = read_upload("train.json", data)
    assert [package.case.kind for package in packages] == ["criminal"] * 5
    assert [p.case.model_dump() for p in packages] == [p.case.model_dump() for p in read_upload("train.jsonl", data)]
    digest = house.imports.begin("cases", "train.json", data)
    assert [job.total for job in house.imports.pending()] == [5]
    house.imports.give_up(digest)
    (packed,) = {len(read_upload("c.zip", zipped(("case.json", data))))}
    assert packed == 5
    one = read_upload("one.json", lines(cail(1)) + b"\n")
    assert len(one) == 1


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
@pytest.mark.parametrize("bad", ["{", '{"fact": }', "no json at all", MANY_DIGITS, DEEP, "[]", '{"fact": 3}', "\x00"])
def test_a_bad_line_in_the_middle_is_told_by_its_number_and_the_others_are_read(name: str, bad: str) -> None:
    found = list(read_each(name, lines(cail(1), cail(2), bad, cail(3))))
    assert [isinstance(one, Package) for one in found] == [True, True, False, True]
    assert f"{name}, line 3" in str(found[2])


def test_a_bad_first_line_does_not_hide_the_others() -> None:
    found = list(read_each("a.json", lines('{"fact": ', cail(1), cail(2))))
    assert [isinstance(one, Package) for one in found] == [False, True, True]
    assert "a.json, line 1" in str(found[0])


def test_json_that_is_written_over_several_lines_is_one_document() -> None:
    for indent in (None, 0, 1, 4):
        assert len(read_upload("a.json", json.dumps(dispute(), indent=indent).encode())) == 1
        both = json.dumps([dispute(), dispute(id="other")], indent=indent)
        assert len(read_upload("a.json", both.encode())) == 2
    a_line_each = "[\n" + ",\n".join(json.dumps(cail(number)) for number in range(3)) + "\n]"
    assert len(read_upload("a.json", a_line_each.encode())) == 3
    broken = a_line_each.replace("]}}\n]", "")
    assert "not valid JSON" in refused("a.json", broken[:-40].encode())


def test_labelled_lines_named_json_are_one_task() -> None:
    rows = [{"text": f"Text {number}", "label": "good" if number % 2 else "bad"} for number in range(6)]
    (package,) = read_upload("mood.json", lines(*rows))
    assert package.case.kind == "labelled"
    assert package.case.model_dump()["labels"] == read_upload("mood.jsonl", lines(*rows))[0].case.model_dump()["labels"]


def test_statutes_are_read_from_lines_and_from_a_list(house: Courthouse) -> None:
    rows = [{"number": number, "text": f"第{number}条的内容。"} for number in (264, 265)]
    digests = {
        house.imports.begin("statutes", name, data)
        for name, data in (("a.json", lines(*rows)), ("a.jsonl", lines(*rows)), ("b.json", json.dumps(rows).encode()))
    }
    assert len(digests) == 1, "they are the same records"
    house.imports.give_up(digests.pop())
    with pytest.raises(CourtroomError, match="a.jsonl, line 2"):
        house.imports.begin("statutes", "a.jsonl", lines(rows[0], f'{{"number": {MANY_DIGITS}}}'))


FORMULAS = ('=HYPERLINK("http://evil.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1")


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_table_s_formula_stays_text(formula: str) -> None:
    out = io.StringIO()
    import csv

    csv.writer(out).writerows([("text", "label"), (formula, "yes"), ("plain", "no")])
    (package,) = read_upload("a.csv", out.getvalue().encode())
    assert formula.strip() in package.case.model_dump_json().replace('\\"', '"')


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


def link(name: str, to: str) -> tuple[zipfile.ZipInfo, bytes]:
    member = zipfile.ZipInfo(name)
    member.create_system = 3
    member.external_attr = (stat.S_IFLNK | 0o777) << 16
    return member, to.encode()


CASE = ("case.json", json.dumps(dispute()).encode())
ZIPS = {
    "a link to a file": zipped(CASE, link("photo.png", "/etc/passwd")),
    "a link as the case": zipped(link("case.json", "/etc/passwd")),
    "a link to a folder": zipped(CASE, link("media", "/")),
    "an absolute path": zipped(CASE, ("/etc/cron.d/evil", b"x")),
    "a path that leads out": zipped(CASE, ("../../evil", b"x")),
    "a path that leads out late": zipped(CASE, ("a/b/../../../evil", b"x")),
    "a path of another system": zipped(CASE, ("C:\\evil", b"x")),
    "a path with backslashes": zipped(CASE, ("..\\evil", b"x")),
    "zeros": zipped(CASE, ("big.png", bytes(60_000_000))),
    "nothing": zipped(),
    "cut off": zipped(CASE)[:-10],
}


@pytest.mark.parametrize("data", ZIPS.values(), ids=ZIPS.keys())
def test_a_zip_that_is_meant_to_hurt_is_refused_and_nothing_is_unpacked(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused("a.zip", data)
    assert list(tmp_path.rglob("*")) == []


def test_a_case_that_names_a_file_outside_gets_none(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    folder = tmp_path / "case"
    folder.mkdir()
    for name in ("../secret.png", str(tmp_path / "secret.png")):
        piece = {"id": "buyer-1", "side": "buyer", "text": "x", "media": [{"id": "m1", "kind": "image", "file": name}]}
        (folder / "case.json").write_text(json.dumps(dispute(evidence=[piece])))
        try:
            (package,) = read_upload("case", folder)
        except CaseError:
            continue
        assert package.files == {}
