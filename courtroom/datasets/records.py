"""The records of a file, one after the other: only what is looked at is in memory."""

import csv
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import IO, Any

from courtroom.cases.archives import MAX_RATIO, BoundedReader, UnpackLimit
from courtroom.cases.readers.tables import DELIMITERS, LABEL, columns_of, looks_like_lines
from courtroom.datasets.source import SourceFile, features_of_schema
from courtroom.errors import CaseError, CourtroomError
from courtroom.text.files import json_of

LONGEST_LINE = 64 * 2**20
WHOLE = 64 * 2**20
"""Up to so many bytes, a JSON object that holds its records under a name is read at once."""
PEEK = 65_536
LISTS = ("data", "rows", "examples", "instances", "samples", "cases", "records")
"""Under these names one JSON object may hold a dataset's records."""


PER_RECORD = MAX_RATIO
"""Bytes that a record counts for at least: a file gives about one for each byte that it has, however well it is packed."""


class Damaged(CourtroomError):
    """A file can't be read to its end."""


@dataclass
class SourceRecord:
    """One record, or why it can't be read."""

    place: str
    value: Any = None
    wrong: str = ""
    split: str | None = None
    number: int = 0
    """Position in the file, from 0."""


@dataclass
class Reading:
    """A file under way."""

    part: SourceFile
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """Label names by column, as the file itself or its description names them; known once the first record is read."""
    file: IO[bytes] | None = None

    def records(self, skip: int = 0) -> Generator[SourceRecord, None, None]:
        """All records behind the first `skip`. Raises `Damaged`: the file can't be read to its end; `UnpacksTooMuch`: it holds
        far more records than its size lets expect, which would take hours."""
        limit = UnpackLimit(self.part.name, lambda: self.part.packed)
        for text in reversed(self.part.about):
            self.names.update(text)
        try:
            with self.part.open() as self.file:
                for number, record in enumerate(self._all(self.file)):
                    limit.add(PER_RECORD)
                    if number >= skip:
                        record.number = number
                        yield record
        except (OSError, EOFError, CaseError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
            raise Damaged(f"it is damaged or cut off ({error}). Get it again.") from error
        finally:
            self.file = None

    @property
    def position(self) -> int:
        """Bytes read so far, about."""
        file = self.file
        if file is None or file.closed:
            return 0
        try:
            return file.packed_position() if isinstance(file, BoundedReader) else file.tell()
        except (OSError, ValueError):
            return 0

    def _all(self, file: IO[bytes]) -> Iterator[SourceRecord]:
        ending = self.part.ending
        if ending in (".jsonl", ".ndjson"):
            return _lines(self.part.name, file)
        if ending == ".json":
            return _json(self.part.name, file)
        if ending in (".csv", ".tsv"):
            return _table(self.part.name, ending, file)
        if ending in (".parquet", ".arrow"):
            return self._columns(ending, file)
        return _texts(self.part.name, file)

    def _columns(self, ending: str, file: IO[bytes]) -> Iterator[SourceRecord]:
        from courtroom.datasets import columnar  # pyarrow takes 0.3 s, and only these files need it

        try:
            schema, rows = (columnar.parquet if ending == ".parquet" else columnar.arrow)(self.part.name, file)
            self.names.update(features_of_schema(schema.metadata))
            for number, row in enumerate(rows, start=1):
                yield SourceRecord(f"{self.part.name}, row {number}", row)
        except columnar.BROKEN as error:
            raise Damaged(f"it can't be read as {ending[1:].capitalize()}. Get it again.") from error


def _lines(name: str, file: IO[bytes], first: bytes = b"") -> Iterator[SourceRecord]:
    line = 0
    while raw := (first or file.readline(LONGEST_LINE)):
        line += 1
        place = f"{name}, line {line}"
        if line == 1:
            raw = raw.removeprefix(b"\xef\xbb\xbf")
        first = b""
        if len(raw) >= LONGEST_LINE and not raw.endswith(b"\n"):
            while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                pass
            yield SourceRecord(place, wrong=f"it has more than {LONGEST_LINE // 2**20} MB. Shorten it.")
        elif raw.strip():
            try:
                yield SourceRecord(place, json_of(raw))
            except CaseError as error:
                yield SourceRecord(place, wrong=str(error))


def _json(name: str, file: IO[bytes]) -> Iterator[SourceRecord]:
    begin = file.read(PEEK)
    start = begin.removeprefix(b"\xef\xbb\xbf").lstrip()
    rest = io.BufferedReader(_Joined(begin.removeprefix(b"\xef\xbb\xbf"), file))
    if start[:1] == b"[":
        yield from _array(name, rest)
        return
    if _is_lines(start):
        yield from _lines(name, rest)
        return
    data = b""
    if b"\n" not in start and len(begin) == PEEK:  # a long line: the whole file, or the first of many
        data = rest.readline(LONGEST_LINE)
        if rest.peek(1):
            yield from _lines(name, rest, data)
            return
    data += rest.read(WHOLE + 1)
    if len(data) > WHOLE:
        raise CourtroomError(
            f"{name} is one JSON object of more than {WHOLE // 2**20} MB. Write one record on each line."
        )
    try:
        content = json_of(data)
    except CaseError as error:
        yield SourceRecord(name, wrong=str(error))
        return
    yield from _of_object(name, content)


def _of_object(name: str, content: Any) -> Iterator[SourceRecord]:
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
        yield SourceRecord(name, content)
        return
    for number, (split, row) in enumerate(rows, start=1):
        value = row["row"] if isinstance(row.get("row"), dict) and "row_idx" in row else row
        yield SourceRecord(f"{name}, entry {number}", value, split=split)


def _is_lines(begin: bytes) -> bool:
    """Whether the file's first line is a whole JSON object and another one follows, as CAIL2018 is handed around."""
    first, found, rest = begin.partition(b"\n")
    first, rest = first.strip(), rest.lstrip()
    whole = bool(found) and first.startswith(b"{") and first.endswith(b"}")
    return whole and (rest[:1] == b"{" or (not rest and len(begin) >= PEEK - 3))


def _array(name: str, file: IO[bytes]) -> Iterator[SourceRecord]:
    import ijson

    number = 1
    try:
        for value in ijson.items(file, "item", use_float=True):
            yield SourceRecord(f"{name}, entry {number}", value)
            number += 1
    except (ijson.JSONError, UnicodeDecodeError) as error:
        text = " ".join(str(error).split())[:120]
        wrong = f"from here on the file is not valid JSON ({text}). Mend it there, or write one record on each line."
        yield SourceRecord(f"{name}, entry {number}", wrong=wrong)


def _table(name: str, ending: str, file: IO[bytes]) -> Iterator[SourceRecord]:
    begin = file.read(PEEK)
    first = begin.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].decode("utf-8", "replace")
    delimiter = "\t" if ending == ".tsv" else next((one for one in DELIMITERS if one in first), ",")
    columns = {column.strip().casefold().strip('"') for column in first.split(delimiter)}
    rest = io.BufferedReader(_Joined(begin, file))
    if not columns & set(LABEL) and ";" in first and _are_labelled(begin):
        yield from _labelled_lines(name, rest)
        return
    csv.field_size_limit(min(sys.maxsize, LONGEST_LINE))
    # Bytes that are no text become half characters, which are found in the row that has them.
    text = io.TextIOWrapper(rest, "utf-8-sig", errors="surrogateescape", newline="")
    quoting = csv.QUOTE_NONE if delimiter == "\t" else csv.QUOTE_MINIMAL  # in TSV quotation marks belong to the texts
    rows: csv.DictReader[str] = csv.DictReader(text, delimiter=delimiter, quoting=quoting)  # type: ignore[call-overload]
    while True:
        try:
            row: dict[Any, Any] = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield SourceRecord(f"{name}, line {rows.line_num}", wrong=f"it can't be read ({error}). Correct the line.")
            continue
        place = f"{name}, line {rows.line_num}"
        if None in row:
            wrong = f"it has {len(row[None])} more columns than the first line. Put texts that hold “{delimiter}” in quotes."
            yield SourceRecord(place, wrong=wrong)
        elif any(isinstance(value, str) and _broken(value) for value in row.values()):
            yield SourceRecord(place, wrong="it is not UTF-8 text. Save the file as UTF-8.")
        else:
            yield SourceRecord(place, row)


def _texts(name: str, file: IO[bytes]) -> Iterator[SourceRecord]:
    """Lines of a text, a semicolon and a label; or else one document."""
    begin = file.read(PEEK)
    rest = io.BufferedReader(_Joined(begin, file))
    if name.endswith(".txt") and _are_labelled(begin):
        yield from _labelled_lines(name, rest)
        return
    data = rest.read(WHOLE)
    try:
        yield SourceRecord(name, {"text": data.decode("utf-8-sig")})
    except UnicodeDecodeError:
        yield SourceRecord(name, wrong="it is not UTF-8 text. Save it as UTF-8.")


def _are_labelled(begin: bytes) -> bool:
    """Whether lines are texts with labels behind semicolons, but for a few that are damaged."""
    lines = [line for line in begin.decode("utf-8", "replace").rpartition("\n")[0].splitlines() if line.strip()]
    cut = [line for line in lines if ";" in line]
    return 3 * len(cut) >= 2 * len(lines) and looks_like_lines("\n".join(cut))


def _labelled_lines(name: str, file: IO[bytes]) -> Iterator[SourceRecord]:
    for line, raw in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), start=1):
        if not raw.strip():
            continue
        text, found, label = raw.decode("utf-8", "surrogateescape").strip().rpartition(";")
        wrong = "" if found else "it has no label. Write the text, a semicolon and its label."
        wrong = "it is not UTF-8 text. Save the file as UTF-8." if _broken(text + label) else wrong
        yield SourceRecord(f"{name}, line {line}", {"text": text.strip(), "label": label.strip()}, wrong)


def _broken(text: str) -> bool:
    return any("\udc80" <= character <= "\udcff" for character in text)


class _Joined(io.RawIOBase):
    """What was read of a file already, and then the file."""

    def __init__(self, begin: bytes, file: IO[bytes]) -> None:
        self._begin, self._file = begin, file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._begin[: len(buffer)] or self._file.read(len(buffer))
        self._begin = self._begin[len(data) :]
        buffer[: len(data)] = data
        return len(data)


def looks_labelled(row: dict[str, Any]) -> bool:
    """Whether a record has a column for a label and one for a text."""
    columns = {str(name).casefold() for name in row}
    return bool(columns & set(LABEL)) and columns_of(columns) is not None
