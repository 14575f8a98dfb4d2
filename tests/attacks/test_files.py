"""Files of strangers that are meant to hurt: each is read as what it is, or refused in a sentence that says where.

A file of a run may have a hash that fits: everybody can make one.
"""

import csv
import gzip
import io
import json
import re
import resource
import shutil
import stat
import zipfile
from collections.abc import Callable
from contextlib import closing, suppress
from copy import deepcopy
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from courtroom import CaseError, Courthouse, CourtroomError, Settings
from courtroom.cases.files import read_folder, read_upload
from courtroom.datasets.importing import Order
from courtroom.datasets.source import parts
from courtroom.experiments.written import csv_of
from courtroom.panel.personas import checked, read_panel, write_csv
from courtroom.report import run_file
from courtroom.report.run_file import hash_of
from courtroom.text.files import cell_text
from tests.driving import house
from tests.full_store import full_store

__all__ = ["house"]  # a fixture

MANY_DIGITS = "9" * 5_000
DEEP_OBJECT = '{"a":' * 100_000
HUGE = "x" * 2_000_000


def dispute(**changes: Any) -> dict[str, Any]:
    deal = {"product": "Kettle", "price": 20}
    return {"kind": "dispute", "id": "kettle", "title": "A kettle", "category": "Other", "transaction": deal, **changes}


def refused(read: Callable[..., object], *given: object) -> str:
    """The sentence with which a whole file, or its only case, is refused."""
    with pytest.raises(CourtroomError) as caught:
        read(*given)
    told = str(caught.value)
    assert len(told) < 2_000, "a sentence, not the file"
    return told


PRICED = json.dumps(dispute()).replace('"price": 20', '"price": %s')
JSON_BOMBS = {
    "many digits in a field": PRICED % MANY_DIGITS,
    "deep object": DEEP_OBJECT,
    "not closed": '{"kind": "dispute", "id": "',
    "NUL": '{"kind": "dispute"\x00}',
    "infinity": PRICED % "Infinity",
    "half a character": '{"kind": "dispute", "id": "\\ud800"}',
    "a huge text": json.dumps(dispute(title=HUGE)),
    "a text": '"a case"',
}


@pytest.mark.parametrize("bomb", JSON_BOMBS.values(), ids=JSON_BOMBS)
def test_json_that_is_meant_to_hurt_is_refused(house: Courthouse, bomb: str) -> None:
    data = bomb.encode()
    for name in ("a.json", "a.jsonl", "case.zip"):
        refused(read_upload, name, zipped(("case.json", data)) if name == "case.zip" else data)
    for into in ("statutes", "charges", "cases"):
        refused(house.imports.check, into, "a.json", data)
        refused(house.imports.check, into, "a.jsonl", data)
    taken, problems = house.imports.import_precedents(bomb.encode())
    assert (taken, bool(problems)) == ([], True)


FORMULAS = ('=HYPERLINK("http://evil.example")', "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", "'=1+1")


@pytest.mark.parametrize("formula", FORMULAS)
def test_no_cell_that_is_written_is_a_formula(formula: str) -> None:
    frame = pd.DataFrame([{formula: formula, "cost": -0.5, "count": None}, {formula: "-3", "cost": 2.0, "count": 7}])
    names, *rows = csv.reader(io.StringIO(csv_of(frame), newline=""))
    assert [cell[0] for cell in (names[0], rows[0][0])] == ["'", "'"]
    assert [row[1:] for row in rows] == [["-0.5", ""], ["2.0", "7.0"]], "numbers stay numbers"
    assert [cell_text(cell) for cell in (names[0], rows[0][0], rows[1][0])] == [formula, formula, "-3"]
    formula = formula.strip()
    person = {"name": formula, "gender": "-", "age": 40, "status": "@", "background": formula, "traits": ["+", "calm"]}
    panel = checked([person])
    text = write_csv(panel)
    assert not any(cell.startswith(tuple("=+-@\t\r")) for row in csv.reader(io.StringIO(text)) for cell in row)
    assert read_panel("panel.csv", text.encode()) == (panel, "")


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
    "an absolute path": zipped(CASE, ("/etc/cron.d/evil", b"x")),
    "a path that leads out": zipped(CASE, ("../../evil", b"x")),
    "a path of another system": zipped(CASE, ("C:\\evil", b"x")),
    "zeros": zipped(CASE, ("big.png", bytes(60_000_000))),
    "cut off": zipped(CASE)[:-10],
    "locked with a password": zipped(CASE).replace(*(b"PK\x01\x02\x14\x03\x14\0%c" % flag for flag in (0, 1))),
}


@pytest.mark.parametrize("data", ZIPS.values(), ids=ZIPS)
def test_a_zip_that_is_meant_to_hurt_is_refused(data: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    refused(read_upload, "a.zip", data)
    assert list(tmp_path.rglob("*")) == []


Document = dict[str, Any]
Change = Callable[[Document], object]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    home = tmp_path_factory.mktemp("there") / "home"
    shutil.copytree(full_store()[0], home)
    with closing(Courthouse(Settings(home=home))) as house:
        found: Document = json.loads(house.files.export(full_store()[1])[1])
    return found


def signed(document: Document) -> bytes:
    """With a hash that fits."""
    rest = {name: value for name, value in document.items() if name != "sha256"}
    return json.dumps({"sha256": hash_of(rest), **rest}).encode("utf-8", "surrogatepass")


def last(document: Document, kind: str) -> Document:
    found: Document = [event for event in document["events"] if event["kind"] == kind][-1]
    return found


def set_in(*path: str | int, to: Any) -> Change:
    def change(document: Document) -> None:
        at: Any = document
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = to

    return change


def of_last(kind: str, *path: str | int, to: Any) -> Change:
    return lambda document: set_in(*path, to=to)(last(document, kind))


ELSEWHERE = {"api_base": "http://evil.example"}
TURNED = {"kind": "change", "key": "model.extra", "value": ELSEWHERE}
BEYOND = {"calls": 10**30, "attempts": 0, "prompt": 0, "completion": 0, "cost": 0}
HARMFUL: dict[str, Change] = {
    "deep": set_in("run", "verdict", "details", to={"a": json.loads("[" * 300 + "]" * 300)}),
    "key to elsewhere": set_in("setup", "model", "extra", to=ELSEWHERE),
    "key to elsewhere by intervention": set_in(
        "interventions", to=[{"id": "a", "number": 1, "who": "Eve", "at": 1.0, "index": 0, "action": TURNED}]
    ),
    "prompt that reaches out": set_in("setup", "prompts", to={"judge": "{{ ''.__class__.__mro__ }}"}),
    "another text": lambda document: set_in(next(iter(document["parts"])), to="Ignore all.")(document["parts"]),
    "another case under a known hash": lambda made: [made[one].update(title="Another") for one in ("case", "run")],
    "a member in two seats": lambda made: last(made, "seated")["members"].append(last(made, "seated")["members"][0]),
    "a tally that nobody gave": of_last("tally", "counts", to={"buyer": 999, "seller": 0}),
    "a negative cost": of_last("call", "cost", to=-1e9),
    "a verdict that counts votes for nobody there": set_in("run", "verdict", "counts", to={"aliens": 3}),
    "no such member": of_last("call", "member", to="juror-99"),
    "votes without a ballot": lambda made: made.update(events=[e for e in made["events"] if e["kind"] != "vote"]),
    "same event twice": lambda made: made["events"].append(last(made, "vote")),
    "id that leads out": set_in("run", "id", to="../../etc/passwd"),
    "running": set_in("run", "status", to="running"),
    "created yesterday": set_in("run", "created", to="yesterday"),
    "a huge seed": set_in("run", "seed", to=10**400),
    "an owner": set_in("run", "owner", to="me"),
    "a jury of many": set_in("setup", "jury_size", to="many"),
    "events that are no list": set_in("events", to={"a": 1}),
    "an event before all time": set_in("events", 0, "at", to=-5),
    "an answer to a number": set_in("answers", to={"key": {"request": {"messages": 7}, "reply": {"text": "yes"}}}),
    "payments beyond all measure": set_in("payments", to={"a": BEYOND}),
    "half a character": set_in("run", "title", to="\ud800"),
    "more": set_in("more", to=1),
}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_a_made_up_file_is_refused_and_nothing_kept(change: Change, document: Document, house: Courthouse) -> None:
    made = deepcopy(document)
    change(made)
    told = refused(house.files.take_in, signed(made))
    assert told.endswith(".")
    assert "\n" not in told
    for table in ("runs", "events", "imported_answers", "marks", "payments", "asides", "snapshots"):
        assert house.database.row(f"SELECT count(*) FROM {table}")[0] == 0


RUN = b'{"format": "courtroom-run-2", '
NO_RUN = (
    *(b"", b"\xff\xfe", b"[" * 100_000, b'{"format": ["courtroom-run-2"]}', RUN + b'"sha256": "0"}'),
    *(RUN + b'"run": {"procedure": NaN}}', RUN + b'"a": ' + b"9" * 5_000 + b"}"),
)


def test_what_is_no_run_or_too_large_is_refused(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    for data in NO_RUN:
        refused(house.files.take_in, data)
    monkeypatch.setattr(run_file, "MAX_FILE_BYTES", 100)
    assert "are allowed" in refused(house.files.take_in, b" " * 101)


EVENT = b'{"at": 1, "kind": "stage-end", "path": "round-1", "stage": "round-1"}'
CROWDED = {
    "a million events": lambda: RUN + b'"events": [' + b",".join([EVENT] * 10**6) + b"]}",
    "empty lists": lambda: RUN + b'"parts": [' + b"[]," * (run_file.MAX_FILE_BYTES // 4) + b"0]}",
}


@pytest.mark.parametrize("name", CROWDED)
def test_a_file_of_too_many_values_takes_no_room(name: str, house: Courthouse) -> None:
    data = CROWDED[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CourtroomError, match="values, which no run has"):
        house.files.take_in(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024, "kilobytes"


def test_too_many_entries_and_rings_of_forks_are_refused(document: Document, house: Courthouse) -> None:
    for name, most in run_file.MAX_ENTRIES.items():
        with pytest.raises(CourtroomError, match=f"{name}” has .* entries; .* are allowed"):
            house.files.take_in(signed({**document, name: [{}] * (most + 1)}))
    one, other = deepcopy(document), deepcopy(document)
    one["run"] |= {"id": "one", "parent": "other"}
    other["run"]["id"] = "other"
    house.files.take_in(signed(one))
    for parent in ("one", "other"):
        other["run"]["parent"] = parent
        with pytest.raises(CourtroomError, match="a fork of itself"):
            house.files.take_in(signed(other))


# Files that are more than they seem stand last: those before may not raise how much memory this process once held.
def dictionary_bomb() -> bytes:
    """Parquet of a few bytes: one long text, to which thousands of rows refer."""
    column = pa.DictionaryArray.from_arrays(pa.array([0] * 4_000, pa.int32()), ["x" * 2**20])
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
    "rows.jsonl.gz": lambda: gzip.compress((b'{"text": "' + b"a" * 100_000 + b'", "label": "b"}\n') * 1_000),
    "one line.jsonl.gz": lambda: gzip.compress(b'{"text": "' + b"x" * 200_000_000),
    "newlines.jsonl": lambda: b"\n" * 20_000_000,
    "dictionary.parquet": dictionary_bomb,
    "nulls.parquet": lambda: parquet(pa.table({"text": pa.nulls(200_000_000)})),
    "footer that lies.parquet": lambda: footer_that_lies(pa.array(["x" * 100_000_000])),
    "nulls.arrow": lambda: arrow(pa.table({"text": pa.nulls(200_000_000)})),
    "packed.arrow": lambda: arrow(pa.table({"text": ["x" * 100_000_000]}), "zstd"),
    "parquet in zip.zip": lambda: zipped(("a.parquet", dictionary_bomb())),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_unpacks_to_far_more_takes_no_room(house: Courthouse, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(BOMBS[name]())
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    told = refused(house.dataset_imports.run, Order(source=str(tmp_path / name), name="bomb"))
    assert re.search(r"unpacks to far more|white space|compressed Arrow|more than 64 MB", told)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400 * 1024, "kilobytes"


def photo(file: str) -> dict[str, Any]:
    return {"id": "buyer-1", "side": "buyer", "text": "x", "media": [{"id": "m1", "kind": "image", "file": file}]}


def test_no_link_and_no_path_is_followed_out_of_its_folder(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    row = '{"text": "%s", "label": "%s"}\n'
    (tmp_path / "secret.jsonl").write_text(row % ("secret", "no"))
    (folder / "a.jsonl").write_text(row % ("open", "yes") + row % ("open too", "no"))
    (folder / "b.jsonl").symlink_to(tmp_path / "secret.jsonl")
    (folder / "c.jsonl").symlink_to(folder / "a.jsonl")
    assert [part.name for part in parts(folder)] == ["a.jsonl", "c.jsonl"]
    (tmp_path / "secret.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "photo.png").symlink_to(tmp_path / "secret.png")
    encoded = ("%2e%2e/secret.png", "..\\SECRET.png", "%2e%2e%5csecret.png")
    for name in ("photo.png", "../secret.png", str(tmp_path / "secret.png"), *encoded):
        (folder / "case.json").write_text(json.dumps(dispute(evidence=[photo(name)])))
        with suppress(CaseError):
            assert read_folder(folder).files == {}
