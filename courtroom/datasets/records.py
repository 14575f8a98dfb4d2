"""The records of a file, one after the other: only what is looked at is in memory."""

import io
import lzma
import re
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterator
from dataclasses import dataclass, field, replace
from typing import IO, Any

from courtroom.cases.archives import MAX_RATIO, BoundedReader, UnpackLimit
from courtroom.cases.readers.tables import table_in
from courtroom.datasets.source import COLUMNAR, SourceFile, features_of_schema
from courtroom.errors import CaseError, CourtroomError
from courtroom.text.encoding import decoded, in_utf8, refuse_pointer, rejoined
from courtroom.text.files import json_lines, json_of, once
from courtroom.text.table import TableRow, column_name

MAX_WHOLE_JSON_BYTES = 64 * 2**20
PEEK = 65_536
LISTS = ("data", "rows", "examples", "instances", "samples", "cases", "records")
"""Under these names one JSON object may hold a dataset's records."""
PER_RECORD = MAX_RATIO
"""Bytes that a record counts for at least: a file gives about one for each byte, however well it is packed."""


class Damaged(CourtroomError):
    """A file can't be read to its end."""


@dataclass
class Reading:
    """A file under way."""

    part: SourceFile
    encoding: str = ""
    """Of its text, as a person says; empty: found from the bytes."""
    renamed: Collection[str] = ()
    """Columns that get other names, in lower case."""
    remarks: tuple[str, ...] = ()
    """How the file was read, where that is not the only way; known once the first record is read."""
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Label names by column, as the file itself or its description names them; known once the first record is read."""
    file: IO[bytes] | None = None

    def records(self, skip: int = 0) -> Generator[TableRow, None, None]:
        """All records behind the first `skip`. Raises `Damaged`: the file can't be read to its end; `UnpacksTooMuch`:
        it holds far more records than its size lets expect, which would take hours."""
        limit = UnpackLimit(self.part.name, lambda: self.part.packed)
        self.names.update(self.part.about)
        try:
            with self.part.open() as self.file:
                for number, row in enumerate(self._all(self.file)):
                    limit.add(PER_RECORD)
                    if number >= skip:
                        yield replace(row, place=f"{self.part.name}, {row.place}" if row.place else self.part.name)
        except (OSError, EOFError, CaseError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
            raise Damaged(f"it is damaged or cut off ({error}). Get it again.") from error
        finally:
            self.file = None

    @property
    def position(self) -> int:
        """Bytes read so far, about."""
        raw = getattr(self.file, "raw", None)
        file = raw.packed if isinstance(raw, BoundedReader) else self.file
        return 0 if file is None or file.closed else file.tell()

    def _all(self, file: IO[bytes]) -> Iterator[TableRow]:
        """All records, or the one thing that is wrong with the whole file."""
        try:
            yield from self._columns(file) if self.part.ending in COLUMNAR else self._written(file)
        except CaseError as error:
            yield TableRow("", fault=str(error))

    def _written(self, file: IO[bytes]) -> Iterator[TableRow]:
        ending = self.part.ending
        text, remark = in_utf8(file, self.encoding)
        table = table_in(text, ending, self.renamed) if ending in (".csv", ".tsv", ".txt") else None
        self.remarks = tuple(filter(None, (remark, *(table.remarks if table else ()))))
        if table is not None:
            return table.rows
        if ending in (".jsonl", ".ndjson"):
            is_array = re.match(rb"\s*\[\s*\{", text.peek(1))
            return (_array if is_array else json_lines)(text)
        if ending == ".json":
            return _json(self.part.name, text)
        if self.part.beside_tables:
            wrong = "it is a text beside tables and no record of them, so it was left alone. Import it by itself if it is one."
            return iter([TableRow("", fault=wrong)])
        return iter([TableRow("", {"text": decoded(text.read(MAX_WHOLE_JSON_BYTES), "utf-8")[0]})])

    def _columns(self, file: IO[bytes]) -> Iterator[TableRow]:
        from courtroom.datasets import columnar  # pyarrow takes 0.3 s, and only these files need it

        ending, begin = self.part.ending, file.read(PEEK)
        file.seek(0)
        try:
            refuse_pointer(begin)
            schema, rows = (columnar.parquet if ending == ".parquet" else columnar.arrow)(self.part.name, file)
            once((column_name(name), None) for name in schema.names)
            self.names.update(features_of_schema(schema.metadata))
            for number, row in enumerate(rows, start=1):
                yield TableRow(f"row {number}", row)
        except columnar.BROKEN as error:
            raise Damaged(f"it can't be read as {ending[1:].capitalize()}. Get it again.") from error


def _json(name: str, file: io.BufferedReader) -> Iterator[TableRow]:
    begin = file.peek(1)[:PEEK]
    start = begin.lstrip()
    if start[:1] == b"[":
        return _array(file)
    if _is_lines(start):
        return json_lines(file)
    data = b""
    if b"\n" not in start and len(begin) >= PEEK - 3:  # a long line: the whole file, or the first of many
        data = file.readline(MAX_WHOLE_JSON_BYTES)
        if file.peek(1):
            return json_lines(rejoined(data, file))
    data += file.read(MAX_WHOLE_JSON_BYTES + 1)
    if len(data) > MAX_WHOLE_JSON_BYTES:
        raise CourtroomError(
            f"{name} is one JSON object of more than {MAX_WHOLE_JSON_BYTES // 2**20} MB. Write one record on each line."
        )
    return _of_object(json_of(data))


def _of_object(content: Any) -> Iterator[TableRow]:
    """One record, or the records that an object holds under a name, or by split."""
    lists = {
        key: value
        for key, value in (content.items() if isinstance(content, dict) else ())
        if isinstance(value, list) and value and all(isinstance(one, dict) for one in value[:20])
    }
    held = [key for key in LISTS if key in lists]
    if isinstance(content, dict) and held and "kind" not in content and len(lists) == 1:
        rows = [(None, row) for row in lists[held[0]]]
    elif lists and len(lists) == len(content):
        rows = [(split, row) for split, found in lists.items() for row in found]
    else:
        yield TableRow("", content)
        return
    for number, (split, row) in enumerate(rows, start=1):
        value = row["row"] if isinstance(row.get("row"), dict) and "row_idx" in row else row
        yield TableRow(f"entry {number}", value, split=split)


def _is_lines(begin: bytes) -> bool:
    """Whether the file's first line is a whole JSON object and another one follows, as CAIL2018 is handed around."""
    first, found, rest = begin.partition(b"\n")
    first, rest = first.strip(), rest.lstrip()
    whole = bool(found) and first.startswith(b"{") and first.endswith(b"}")
    return whole and (rest[:1] == b"{" or (not rest and len(begin) >= PEEK - 3))


class _Object(dict[str, Any]):
    """An object of JSON that knows which of its fields it was given twice."""

    twice = ""

    def __setitem__(self, name: str, value: Any) -> None:
        self.twice = self.twice or (name if name in self else "")
        super().__setitem__(name, value)


def _twice(value: Any) -> str:
    """What is wrong with a record that has a field twice, as `once` says it; empty where it has none."""
    if isinstance(value, _Object) and value.twice:
        return f"it has the field “{value.twice[:40]}” twice. Keep one of them."
    within = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next(filter(None, map(_twice, within)), "")


def _array(file: IO[bytes]) -> Iterator[TableRow]:
    import ijson

    number = 1
    try:
        for value in ijson.items(file, "item", use_float=True, map_type=_Object):
            yield TableRow(f"entry {number}", value, fault=_twice(value))
            number += 1
    except (ijson.JSONError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())[:120]
        wrong = f"from here on the file is not valid JSON ({text}). Mend it there, or write one record on each line."
        yield TableRow(f"entry {number}", fault=wrong)
