"""CSV as this program writes it, JSON lines as people name them, and files that are there whole or not at all."""

import codecs
import csv
import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

from courtroom.errors import CaseError
from courtroom.text.table import TableRow

MAX_LINE_BYTES = 64 * 2**20
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


@contextmanager
def replacing(to: Path) -> Iterator[Path]:
    """Give a file to write, which takes this name once all of it is written: until then the old one stays whole. Its
    folder is made where there is none."""
    to = to.resolve()
    if to.exists() and not to.is_file():  # such as /dev/stdout
        yield to
        return
    part = to.with_name(f".{to.stem}-{os.getpid()}{to.suffix}")
    part.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield part
        os.replace(part, to)
    finally:
        part.unlink(missing_ok=True)


def write_csv(names: Iterable[Any], rows: Iterable[Iterable[Any]], delimiter: str = ",") -> str:
    """A line of column names and a line for each row; what is missing is an empty cell."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)  # which ends lines with \r\n, and so quotes each \r in a cell
    writer.writerow(map(_cell, names))
    writer.writerows(map(_cell, row) for row in rows)
    return out.getvalue()


def cell_text(cell: str) -> str:
    """The text that `write_csv` made this cell of."""
    return cell[1:] if _QUOTED.match(cell) else cell


def _cell(value: Any) -> Any:
    """A text that begins like a formula gets a quote before it, one that has the quote already gets another."""
    if isinstance(value, float) and value != value:  # NaN, with which pandas marks what is missing
        return ""
    if isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value):
        return f"'{value}"
    return value


def json_of(data: bytes | str) -> Any:
    """Return a JSON value. Raises `CaseError`: it is none, or one of its objects has a field twice."""
    try:
        text = data.decode("utf-8-sig") if isinstance(data, bytes) else data.removeprefix("\ufeff")
        return json.loads(text, object_pairs_hook=once)
    except UnicodeDecodeError as error:
        raise CaseError("it is not UTF-8 text. Save it as UTF-8.") from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}" if error.lineno > 1 else f"column {error.colno}"
        raise CaseError(f"it is not valid JSON at {where}. Mend it there, or check that the file is whole.") from error
    except RecursionError as error:
        raise CaseError("it is nested too deeply. Check that it is the right file.") from error
    except ValueError as error:
        raise CaseError("it holds a number with too many digits. Shorten it.") from error


def once(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """An object with each of its fields once. Raises `CaseError`: it has one twice, of which one would be lost."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise CaseError(f"it has the field “{name[:40]}” twice. Keep one of them.")
        found[name] = value
    return found


def json_records(data: bytes) -> Iterator[TableRow]:
    """The entries of a JSON array, or the values of JSON lines. Raises `CaseError`: the file as a whole can't be read."""
    if data.removeprefix(codecs.BOM_UTF8).lstrip().startswith(b"["):
        yield from (TableRow(f"entry {number}", value) for number, value in enumerate(json_of(data), start=1))
    else:
        yield from json_lines(io.BytesIO(data))


def json_lines(file: IO[bytes]) -> Iterator[TableRow]:
    """The values of JSON lines."""
    lines = iter(partial(file.readline, MAX_LINE_BYTES), b"")  # not at what else ends lines: it may stand in a string
    for number, raw in enumerate(lines, start=1):
        place = f"line {number}"
        if len(raw) >= MAX_LINE_BYTES and not raw.endswith(b"\n"):
            while (rest := file.readline(MAX_LINE_BYTES)) and not rest.endswith(b"\n"):
                pass
            yield TableRow(place, fault=f"it has more than {MAX_LINE_BYTES // 2**20} MB. Shorten it.")
        elif raw.strip():
            try:
                yield TableRow(place, json_of(raw))
            except CaseError as error:
                yield TableRow(place, fault=str(error))


def is_json_lines(text: str) -> bool:
    """Whether a text is several objects, one on each line, and not one JSON document; some lines may be damaged."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    whole = sum(line.startswith("{") and line.endswith("}") for line in lines)
    if len(lines) > 1 and 2 * whole > len(lines):
        with suppress(RecursionError):  # too deep, which is reported when it is read, as are too many digits
            try:
                json.loads(text)
            except ValueError as error:
                return isinstance(error, json.JSONDecodeError)
    return False
