"""Files of strangers: each is read as what it is, or refused in a sentence that says where; never a traceback.

What any one reader makes of a wrong field is in `tests/test_case_files.py`; here is what is meant to hurt.
"""

import csv
import gzip
import io
import json
import re
import resource
import stat
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from courtroom.cases.archives import UnpacksTooMuch
from courtroom.cases.files import Package, read_each, read_folder, read_upload
from courtroom.courthouse import Courthouse
from courtroom.datasets.importing import Order
from courtroom.datasets.records import Reading
from courtroom.datasets.source import parts
from courtroom.engine.changes import read_value, read_values
from courtroom.engine.interventions import read_actions
from courtroom.errors import CaseError, CourtroomError
from courtroom.experiments.written import csv_of
from courtroom.knowledge.bases import Kind
from courtroom.panel.personas import checked, read_panel, write_csv
from courtroom.settings import Settings
from courtroom.text.files import cell_text

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
    term = {"death_penalty": False, "life_imprisonment": False, "imprisonment": number}
    meta = {"relevant_articles": [264], "accusation": ["盗窃"], "criminals": ["王某"], "term_of_imprisonment": term}
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


PRICED = json.dumps(dispute()).replace('"price": 20', '"price": %s')
JSON_BOMBS = {
    "many digits": MANY_DIGITS,
    "many digits in a field": PRICED % MANY_DIGITS,
    "deep list": DEEP,
    "deep object": DEEP_OBJECT,
    "not closed": '{"kind": "dispute", "id": "',
    "NUL": '{"kind": "dispute"\x00}',
    "only a NUL": "\x00",
    "a name twice and nothing else": '{"kind": "dispute", "kind": "criminal"}',
    "infinity": PRICED % "Infinity",
    "not a number": PRICED % "NaN",
    "half a character": '{"kind": "dispute", "id": "\\ud800"}',
    "a huge text": json.dumps(dispute(title=HUGE)),
    "a huge name": json.dumps({"kind": "dispute", HUGE: 1}),
    "true": "true",
    "a text": '"a case"',
    "nested lists": "[[[{}]]]",
}


@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "case.zip"])
@pytest.mark.parametrize("bomb", JSON_BOMBS.values(), ids=JSON_BOMBS)
def test_json_that_is_meant_to_hurt_is_refused_in_a_sentence(bomb: str, name: str) -> None:
    data = bomb.encode()
    refused(name, zipped(("case.json", data)) if name == "case.zip" else data)


@pytest.mark.parametrize("into", ["statutes", "charges", "cases"])
@pytest.mark.parametrize("bomb", JSON_BOMBS.values(), ids=JSON_BOMBS)
def test_an_import_into_the_knowledge_base_refuses_the_same(house: Courthouse, bomb: str, into: Kind) -> None:
    for name in ("a.json", "a.jsonl"):
        with pytest.raises(CourtroomError) as caught:
            house.imports.check(into, name, bomb.encode())
        assert len(str(caught.value)) < 2_000
    report = house.knowledge.precedents.import_file(bomb.encode())
    assert (report.taken, bool(report.problems)) == ((), True)


@pytest.mark.parametrize("bomb", [MANY_DIGITS, DEEP, DEEP_OBJECT], ids=["digits", "list", "object"])
def test_what_the_shell_is_given_is_text_where_it_can_be_no_value(bomb: str) -> None:
    assert read_value(bomb) == bomb
    assert read_values(bomb)
    with pytest.raises(CourtroomError):
        read_actions(bomb)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "gb18030", "latin-1"])
@pytest.mark.parametrize("name", ["a.json", "a.jsonl", "a.txt", "a.md", "a.csv"])
def test_another_encoding_is_refused_and_never_taken_for_text(name: str, encoding: str) -> None:
    body = "ü" if encoding == "latin-1" else "盗窃"
    text = json.dumps(dispute(title=body), ensure_ascii=False) if "json" in name else f"text,label\n{body} and more,1\n"
    data = text.encode(encoding)
    told = refused(name, data)
    assert any(word in told for word in ("UTF-8", "not valid JSON", "can't be read", "NUL")), told


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


FORMULAS = (
    *('=HYPERLINK("http://evil.example")', "+1+1", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1"),
    *("'=1+1", "''@SUM(A1)", "=cmd|' /C calc'!A0"),
)


@pytest.mark.parametrize("formula", FORMULAS)
def test_a_table_s_formula_stays_text(formula: str) -> None:
    out = io.StringIO()
    csv.writer(out).writerows([("text", "label"), (formula, "yes"), ("plain", "no")])
    (package,) = read_upload("a.csv", out.getvalue().encode())
    assert formula.strip() in package.case.model_dump_json().replace('\\"', '"')


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_that_is_written_is_a_formula_and_reading_gives_back_what_was_written(formula: str) -> None:
    frame = pd.DataFrame([{formula: formula, "cost": -0.5, "count": None}, {formula: "-3", "cost": 2.0, "count": 7}])
    names, *rows = csv.reader(io.StringIO(csv_of(frame), newline=""))
    assert [cell[0] for cell in (names[0], rows[0][0])] == ["'", "'"]
    assert [row[1:] for row in rows] == [["-0.5", ""], ["2.0", "7.0"]], "numbers stay numbers"
    assert [cell_text(cell) for cell in (names[0], rows[0][0], rows[1][0])] == [formula, formula, "-3"]


@pytest.mark.parametrize("formula", [formula.strip() for formula in FORMULAS])
def test_a_panel_of_formulas_comes_back_from_its_csv_as_it_was(formula: str) -> None:
    person = {"name": formula, "gender": "-", "age": 40, "status": "@", "background": formula, "traits": ["+", "calm"]}
    panel = checked([person])
    text = write_csv(panel)
    assert not any(cell.startswith(tuple("=+-@\t\r")) for row in csv.reader(io.StringIO(text)) for cell in row)
    assert read_panel("panel.csv", text.encode()) == panel


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
    "locked with a password": zipped(CASE).replace(
        b"PK\x01\x02\x14\x03\x14\x00\x00", b"PK\x01\x02\x14\x03\x14\x00\x01"
    ),
}


@pytest.mark.parametrize("data", ZIPS.values(), ids=ZIPS)
def test_a_zip_that_is_meant_to_hurt_is_refused_and_nothing_is_unpacked(
    data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused("a.zip", data)
    assert list(tmp_path.rglob("*")) == []


def dictionary_bomb(nested: bool) -> bytes:
    """Parquet of a few bytes: one long text, to which thousands of rows refer."""
    places = pa.array([0] * 4_000, pa.int32())
    column: pa.Array = pa.DictionaryArray.from_arrays(places, ["x" * 2**20])
    if nested:
        column = pa.ListArray.from_arrays(pa.array([0, 4_000], pa.int32()), column)
    return parquet(pa.table({"text": column, "label": ["yes"] * len(column)}))


def parquet(table: pa.Table, **given: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(table, out, compression="zstd", **given)
    return out.getvalue()


def arrow(table: pa.Table, compression: str | None = None) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(table)
    return out.getvalue()


def footer_that_lies(column: pa.Array) -> bytes:
    """Parquet whose footer says that a column unpacks to ten bytes; its pages say how much it is."""
    data = parquet(pa.table({"text": column}), use_dictionary=False)
    size = pq.ParquetFile(io.BytesIO(data)).metadata.row_group(0).column(0).total_uncompressed_size
    *more, last = (2 * size >> place & 127 for place in range(0, (2 * size).bit_length(), 7))
    said = bytes([*(part | 128 for part in more), last])
    lie = bytes([20 | 128, *[128] * (len(said) - 2), 0])
    assert said in data
    return data.replace(said, lie)


BOMBS: dict[str, Callable[[], bytes]] = {
    "newlines.jsonl.gz": lambda: gzip.compress(b"\n" * 100_000_000),
    "newlines.csv.gz": lambda: gzip.compress(b"text,label\n" + b"\n" * 100_000_000),
    "rows.jsonl.gz": lambda: gzip.compress((b'{"text": "' + b"a" * 100_000 + b'", "label": "b"}\n') * 1_000),
    "one line.jsonl.gz": lambda: gzip.compress(b'{"text": "' + b"x" * 200_000_000),
    "object.json.gz": lambda: gzip.compress(b'{"text": "' + b"x" * 200_000_000),
    "newlines.jsonl": lambda: b"\n" * 20_000_000,
    "spaces.json": lambda: b" " * 20_000_000 + b"[]",
    "text.txt.gz": lambda: gzip.compress(b"x" * 100_000_000),
    "dictionary.parquet": lambda: dictionary_bomb(nested=False),
    "dictionary in a list.parquet": lambda: dictionary_bomb(nested=True),
    "dictionary.parquet.gz": lambda: gzip.compress(dictionary_bomb(nested=False)),
    "zeros.parquet.gz": lambda: gzip.compress(bytes(200_000_000)),
    "nulls.parquet": lambda: parquet(pa.table({"text": pa.nulls(200_000_000)})),
    "footer that lies.parquet": lambda: footer_that_lies(pa.array(["x" * 100_000_000])),
    "footer that lies in a list.parquet": lambda: footer_that_lies(pa.array([["x" * 1_000_000] * 100])),
    "nulls.arrow": lambda: arrow(pa.table({"text": pa.nulls(200_000_000)})),
    "packed.arrow": lambda: arrow(pa.table({"text": ["x" * 100_000_000]}), "zstd"),
    "gzip in zip.zip": lambda: zipped(("a.jsonl.gz", gzip.compress(b"\n" * 100_000_000))),
    "parquet in zip.zip": lambda: zipped(("a.parquet", dictionary_bomb(nested=False))),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_file_that_unpacks_to_far_more_than_its_size_is_refused_before_there_is_room_for_it(
    house: Courthouse, tmp_path: Path, name: str
) -> None:
    (tmp_path / name).write_bytes(BOMBS[name]())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CourtroomError) as caught:
        house.dataset_imports.run(Order(source=str(tmp_path / name), name="bomb"))
    assert re.search(r"unpacks to far more|white space|compressed Arrow|more than 64 MB", str(caught.value))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024, "kilobytes"


@pytest.mark.parametrize("name", ["rows.csv.gz", "rows.zip"])
def test_a_packed_file_gives_no_more_records_than_it_has_bytes(tmp_path: Path, name: str) -> None:
    rows = b"text,label\n" + b"".join(b"%d,a\n" % (number % 7) * 40 for number in range(2_500))
    (tmp_path / name).write_bytes(gzip.compress(rows) if name.endswith(".gz") else zipped(("rows.csv", rows)))
    (part,) = parts(tmp_path / name)
    with closing(Reading(part).records()) as records, pytest.raises(UnpacksTooMuch):
        assert sum(1 for _ in records) == 0, "it is refused before its end"


def photo(file: str) -> dict[str, Any]:
    return {"id": "buyer-1", "side": "buyer", "text": "x", "media": [{"id": "m1", "kind": "image", "file": file}]}


def test_a_link_in_a_folder_is_not_followed_out_of_it(house: Courthouse, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    row = '{"text": "%s", "label": "%s"}\n'
    (tmp_path / "secret.jsonl").write_text(row % ("secret", "no"))
    (folder / "a.jsonl").write_text(row % ("open", "yes") + row % ("open too", "no"))
    (folder / "b.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "c.jsonl").symlink_to(folder / "a.jsonl")
    names = [part.name for part in parts(folder)]
    assert names == ["a.jsonl", "c.jsonl"]
    (folder / "case.json").write_text(json.dumps(dispute(evidence=[photo("photo.png")])))
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "photo.png").symlink_to(tmp_path / "secret.png")
    assert read_folder(folder).files == {}


def test_a_case_that_names_a_file_outside_gets_none(tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    folder = tmp_path / "case"
    folder.mkdir()
    for name in ("../secret.png", str(tmp_path / "secret.png")):
        (folder / "case.json").write_text(json.dumps(dispute(evidence=[photo(name)])))
        with suppress(CaseError):
            (package,) = read_upload("case", folder)
            assert package.files == {}
