"""Tables as people's programs write them, through both doors: *Cases* and datasets read them alike, or say why not."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from courtroom import CaseError, CourtroomError, LabelledTask
from courtroom.__main__ import app
from courtroom.cases.files import Package, read_each, read_upload
from courtroom.cases.readers.tables import NumberedLabels
from courtroom.panel.personas import read_panel
from courtroom.text.encoding import ENCODINGS, decoded
from tests.attacks.test_files import arrow, parquet
from tests.desk import Desk
from tests.driving import shell

Rows = list[tuple[str, str | None]]
BOTH = [("fine lamp", "joy"), ("broken lamp", "anger"), ("no word", "joy")]
CSV = "text,label\nfine lamp,joy\nbroken lamp,anger\nno word,joy\n"


def from_cases(name: str, data: bytes, encoding: str = "") -> tuple[Rows, str]:
    """Texts and labels as *Cases* reads them, and all that is told."""
    (package,) = read_upload(name, data, encoding=encoding)
    assert isinstance(package.case, LabelledTask)
    return [(item.text, item.label) for item in package.case.items], "\n".join(package.remarks)


def from_datasets(desk: Desk, file: str, data: bytes, **given: Any) -> tuple[Rows, str]:
    """Texts and labels as datasets read them, and all that is told."""
    done = desk.take(desk.write(file, data), **given)
    items = [row.case.items[0] for row in desk.rows(given.get("name", "set")) if isinstance(row.case, LabelledTask)]
    assert len(items) == done.taken
    return [(item.text, item.label) for item in items], "\n".join((*map(str, done.problems), *done.remarks))


TABLES = (Path(__file__).parent / "inputs/tables.jsonl").read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", TABLES, ids=range(len(TABLES)))
def test_both_doors_read_a_table_alike(desk: Desk, line: str) -> None:
    table = json.loads(line)
    data = table["bytes"].encode("latin-1") if "bytes" in table else table["text"].encode()
    for rows, said in (from_cases(table["name"], data), from_datasets(desk, table["name"], data)):
        assert rows == [tuple(row) for row in table["rows"]]
        assert table["told"] in said
        assert table["told"] or not said, "nothing needs a word"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("text,label,label\na,joy,anger\n", "two columns are named “label”"),
        ("text,label\na,café\nb,cafe\u0301\n", "look alike"),
        ("text,label\na,\ufeffjoy\nb,joy\n", "look alike"),
        ("text,label\na,don’t know\nb,don't know\n", "look alike"),
        ("text,label\na,joy\nb,jоy\n", "look alike"),  # an о of Cyrillic
        ("text,label\na,not_sure\nb,not sure\n", "look alike"),
        ('text,label\n"a,joy\nb,anger\n', "lines 2 to 3: a quotation mark opens in it that is never closed"),
        (
            'text,label\nWhat?,Which?\n"{""ImportId"":""Q1""}","{""ImportId"":""Q2""}"\na,joy\nb,anger\n',
            "Qualtrics' own",
        ),
        ("__label__joy so good\n__label__anger bad\n", "as fastText writes it"),
        ('"text" "label"\n"1" "so good" "joy"\n"2" "bad" "anger"\n', "as R writes them"),
        ("[", "a.jsonl.*: it is not valid JSON"),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 9\n", "pointer of Git LFS"),
    ],
)
def test_both_doors_refuse_what_would_have_to_be_guessed(desk: Desk, data: str, told: str) -> None:
    name = "a.jsonl" if data == "[" else "a.csv"
    with pytest.raises(CaseError, match=told):
        from_cases(name, data.encode())
    with pytest.raises(CourtroomError, match=told):
        from_datasets(desk, name, data.encode())


@pytest.mark.parametrize("encoding", [name for name in ENCODINGS if name] + ["utf-16-be", "utf-8-sig"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_a_table_is_read_in_the_encoding_that_is_named(desk: Desk, name: str, encoding: str) -> None:
    words = {"cp1252": "“über” – café", "cp1250": "żółć", "cp1251": "лампа", "mac-roman": "“über” – café"}
    text = words.get(encoding, "ランプ" if encoding == "cp932" else "등불" if encoding == "cp949" else "手机很好")
    rows: Rows = [(text, "joy"), ("bad", "anger")]
    table = "".join(f"{text},{label}\n" for text, label in [("text", "label"), *rows])
    lines = "".join(json.dumps({"text": text, "label": label}, ensure_ascii=False) + "\n" for text, label in rows)
    data = (table if name == "a.csv" else lines).encode(encoding)
    assert from_cases(name, data, encoding)[0] == rows
    assert from_datasets(desk, name, data, encoding=encoding)[0] == rows


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("gb18030", "手机电池很好,好\n屏幕碎了,坏\n"),
        ("cp1252", "He said “never again” – and meant it,negative\nIt cost €5,neutral\n"),
        ("utf-16-le", "fine lamp,joy\nbad,anger\n"),
        ("cp932", "椅子はとても良い,良い\nランプが壊れた,悪い\n"),
        ("cp1251", "Стул отличный,радость\nЛампа разбита,гнев\n"),
    ],
)
def test_an_encoding_is_found_and_told(desk: Desk, encoding: str, text: str) -> None:
    rows = [tuple(line.split(",")) for line in text.splitlines()]
    data = f"text,label\n{text}".encode(encoding)
    for found, told in (from_cases("a.csv", data), from_datasets(desk, "a.csv", data)):
        assert found == rows
        assert "The file was read as " in told
    document, remark = decoded(data)
    assert document.endswith(text)
    assert remark


def test_minus_one_among_other_numbers_is_asked_about(desk: Desk) -> None:
    data = b"text,label\nbad,-1\nso so,0\nfine,1\n"
    with pytest.raises(NumberedLabels) as asked:
        from_cases("a.csv", data)
    assert asked.value.values == ("0", "1", "-1")
    with pytest.raises(NumberedLabels) as asked:
        from_datasets(desk, "a.csv", data)
    assert asked.value.values == ("0", "1", "-1")
    rows, _ = from_datasets(desk, "a.csv", data, names={"-1": "negative", "0": "neutral", "1": "positive"})
    assert [label for _, label in rows] == ["negative", "neutral", "positive"]
    rows, told = from_datasets(desk, "a.csv", data, names={"0": "neutral", "1": "positive"}, name="other")
    assert [label for _, label in rows] == [None, "neutral", "positive"]
    assert "“-1” in the place of a label was taken for none" in told


def test_most_records_say_the_form_and_labels_are_never_dropped(desk: Desk) -> None:
    rows, _ = from_datasets(
        desk, "a.jsonl", b'{"text": "a"}\n{"text": "b"}\n{"text": "c", "label": "x"}\n{"text": "d", "label": "y"}\n'
    )
    assert rows == [("a", None), ("b", None), ("c", "x"), ("d", "y")]
    for data, asked in (
        (b"text,target\nfine,joy\nbad,anger\n", "the column “target” may hold labels.*--rename target=label"),
        (b"document,label\nfine,joy\nbad,anger\n", "the column “label” may hold labels.*--rename document=text"),
    ):
        with pytest.raises(CourtroomError, match=asked):
            from_datasets(desk, "b.csv", data)
    rows, _ = from_datasets(desk, "b.csv", b"text,target\nfine,joy\nbad,anger\n", columns={"target": "label"}, name="b")
    assert rows == [("fine", "joy"), ("bad", "anger")]
    assert desk.take(desk.folder / "b.csv", name="c", form="summaries").info.kind == "document"


def test_texts_beside_tables_are_left_alone_and_folders_told_apart(desk: Desk) -> None:
    for name, text in (("train.csv", CSV), ("notes.txt", "Exported on Monday."), ("about.md", "# About")):
        desk.write(name, text)
    done = desk.take()
    assert (done.taken, done.refused) == (3, 2)
    assert {problem.place for problem in done.problems} == {"notes.txt", "about.md"}
    configs = "".join(f"- {{config_name: {name}, data_dir: ./{name}/}}\n" for name in ("lamps", "chairs"))
    desk.write("README.md", f"---\nconfigs:\n{configs}---\n")
    for name in ("lamps", "chairs"):
        desk.write(f"{name}/train.csv", CSV.replace("lamp", name))
    with pytest.raises(CourtroomError, match="several datasets: lamps, chairs"):
        desk.take()
    desk.take(config="chairs", name="chairs")
    assert {row.place.partition("/")[0] for row in desk.rows("chairs")} == {"chairs"}


def test_a_dispute_whose_evidence_stands_twice_is_refused(desk: Desk) -> None:
    data = b'{"kind": "dispute", "evidence": [{"id": "buyer-1"}], "evidence": []}'
    with pytest.raises(CaseError, match="it has the field “evidence” twice"):
        read_upload("a.json", data)
    with pytest.raises(CourtroomError, match="it has the field “evidence” twice"):
        desk.take(desk.write("a.json", data))
    with pytest.raises(CourtroomError, match="it has the field “evidence” twice"):
        desk.take(desk.write("b.json", b"[" + data + b"]"))


def arrow_file(table: pa.Table) -> bytes:
    out = io.BytesIO()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def test_arrow_is_read_as_stream_and_as_file(desk: Desk) -> None:
    columns = {"text": [text for text, _ in BOTH], "label": [label for _, label in BOTH]}
    others = {
        "price": pa.array([1, 2, 3], pa.decimal128(6, 2)),
        "more": pa.array([[("a", 1)], [], []], pa.map_(pa.string(), pa.int64())),
    }
    made = pa.table(columns | others)
    seen = made.set_column(0, "text", made["text"].cast(pa.string_view()))
    for name, data in {"stream": arrow(made), "file": arrow_file(made), "views": arrow_file(seen)}.items():
        assert from_datasets(desk, f"{name}.arrow", data, name=name)[0] == BOTH
    assert from_datasets(desk, "a.parquet", parquet(made), name="parquet")[0] == BOTH
    with pytest.raises(CourtroomError, match="it has the field “label” twice"):
        desk.take(desk.write("two.arrow", arrow(pa.table([["a"], ["x"], ["y"]], names=["text", "Label", "label"]))))


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16", "gb18030", "utf-8"])
def test_a_panel_is_read_in_the_encoding_that_it_has(encoding: str) -> None:
    name = "张伟" if encoding == "gb18030" else "Zoë"
    text = (
        f"name;gender;age;status;background\r\n{name};woman;41;employed;Nurse of {name}\r\nJo;man;30;employed;Cook\r\n"
    )
    panel, told = read_panel("a.csv", text.encode(encoding))
    assert [person.name for person in panel] == [name, "Jo"]
    assert bool(told) == (encoding != "utf-8")


def test_the_shell_takes_an_encoding_and_asks_for_minus_one(desk: Desk) -> None:
    file = desk.write("a.csv", "text,label\nżółty,-1\nb,0\nc,1\n".encode("cp1250"))
    given = ["datasets", "import", str(file), "--encoding", "cp1250", "--labels", "-1=no,0=so,1=yes"]
    shell(*given)
    item = desk.rows("a")[0].case.items[0]
    assert (item.text, item.label) == ("żółty", "no")
    file = desk.write("b.csv", b"text,y\nfine,1\nbad,0\n")
    told = CliRunner().invoke(app, ["datasets", "import", str(file)]).output
    assert "Columns that the form “Documents” does not read were left out: “y”." in told
    assert "There is no encoding “nope”" in shell("cases", "check", str(file), "--encoding", "nope", code=1)


CELL = st.text(
    st.one_of(st.sampled_from("ab\"',;|\t\n\r \u2028\x85é好"), st.characters(codec="utf-8", exclude_categories=["Cs"])),
    min_size=1,
    max_size=12,
)


def _csv(delimiter: str = ",", quoting: int = csv.QUOTE_MINIMAL) -> Callable[[Rows], bytes]:
    def write(rows: Rows) -> bytes:
        out = io.StringIO()
        writer = csv.writer(out, delimiter=delimiter, quoting=quoting)  # type: ignore[arg-type]
        writer.writerows([("text", "label"), *rows])
        return out.getvalue().encode()

    return write


def _pandas(encoding: str = "utf-8") -> Callable[[Rows], bytes]:
    return lambda rows: pd.DataFrame(rows, columns=["text", "label"]).to_csv(index=False).encode(encoding)


def _excel_text(rows: Rows) -> bytes:
    """As Excel saves “Unicode text”: tabs, UTF-16, and quotes around a cell that holds such a sign."""

    def cell(text: object) -> str:
        return '"{}"'.format(str(text).replace('"', '""')) if set(str(text)) & set('",\t\n\r') else str(text)

    lines = (f"{cell(text)}\t{cell(label)}\r\n" for text, label in [("text", "label"), *rows])
    return "".join(lines).encode("utf-16")


WRITERS = {
    "csv.csv": _csv(),
    "all.csv": _csv(quoting=csv.QUOTE_ALL),
    "semicolon.csv": _csv(";"),
    "tabs.tsv": _csv("\t"),
    "all.tsv": _csv("\t", csv.QUOTE_ALL),
    "pandas.csv": _pandas(),
    "pandas-16.csv": _pandas(encoding="utf-16"),
    "excel.tsv": _excel_text,
}


@pytest.mark.parametrize("name", WRITERS)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(texts=st.lists(CELL, min_size=2, max_size=6))
def test_written_tables_come_back_equal_or_are_refused_by_line(name: str, texts: list[str]) -> None:
    assume(all(text.strip() for text in texts))
    rows: Rows = [(text, "joy" if number % 2 else "anger") for number, text in enumerate(texts)]
    try:
        found, told = from_cases(name, WRITERS[name](rows))
    except CaseError as error:
        found, told = [], str(error)
    expected = [(text.strip(), label) for text, label in rows]
    assert [row for row in found if row in expected] == found, "nothing else than what was written"
    assert len(found) == len(rows) or "line" in told


@pytest.mark.parametrize("name", WRITERS)
def test_written_tables_come_back_equal_through_both_doors(desk: Desk, name: str) -> None:
    rows: Rows = [
        ('He said "no", twice', "joy"),
        ("first line\nsecond line", "anger"),
        ("a\ttab; and | more", "joy"),
        ('"so good"', "anger"),
        ("12\" lamp, 5' high", "joy"),
        ("手机很好 – é\u2028\x85 x", "anger"),
    ]
    data = WRITERS[name](rows)
    assert from_cases(name, data)[0] == rows
    assert from_datasets(desk, name, data)[0] == rows


ENDINGS = [".csv", ".tsv", ".txt", ".jsonl", ".json", ".md", ".ndjson", ".parquet", ".arrow", ".csv.gz", ".trec"]
PARTS = (b"text", b"label", b"sep=", b"a", b"1", b"\x00", b"\xe9", b"\xff\xfe", b"\xef\xbb\xbf", b"\\ud800")
SIGNS = tuple(bytes([sign]) for sign in b',;\t"\n\r{}:[]')
BYTES = st.binary(max_size=200) | st.lists(st.sampled_from((*PARTS, *SIGNS)), max_size=40).map(b"".join)


@given(data=BYTES, ending=st.sampled_from(ENDINGS))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_under_any_ending_give_rows_or_a_sentence(desk: Desk, data: bytes, ending: str) -> None:
    name, said = f"any{ending}", []
    try:
        assert all(isinstance(found, Package | CaseError) for found in read_each(name, data))
    except CourtroomError as refused:
        said.append(str(refused))
    try:
        desk.take(desk.write(name, data))
    except CourtroomError as refused:
        said.append(str(refused))
    assert all(name in one for one in said)
