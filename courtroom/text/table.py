"""Tables as programs write them: columns, and rows below, each with its place, or why it can't be read."""

import csv
import io
import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from courtroom.errors import CaseError
from courtroom.language import N_

DELIMITERS = ("\t", ";", ",", "|")
MAX_CELL = 64 * 2**20
"""Characters."""
MAX_REPEATED = 40
"""Characters of a value that is looked for in other rows, such as a label."""
NO_TEXT = "it is not UTF-8 text. Say the file's encoding, or save it as UTF-8."
_COMPARED = 50
"""Rows by which a separator is chosen."""
_SEPARATOR_LINE = re.compile(r'\s*"?sep=(.)"?\s*', re.IGNORECASE)
_DRAWN = re.compile(r"\s*(:?-{2,}:?)?\s*")
"""A cell of the line below the columns' names in Markdown."""
_SURVEY = re.compile(r'\{""ImportId""')
_END = re.compile(r"\r\n|\n|\r")
_QUOTED = re.compile(r'"[^"]*"')
_HALF = re.compile(r"[\ud800-\udfff]")
_Record = tuple[int, int, "list[str] | csv.Error"]
"""First and last line, and the cells or what is wrong with them."""


def column_name(name: Any) -> str:
    """Return a column's name as it is compared: in lower case, in plain letters, without signs that nobody sees."""
    return "".join(filter(seen, unicodedata.normalize("NFKC", str(name)))).strip().casefold()


def seen(sign: str) -> bool:
    """Whether a sign is seen, or is a blank."""
    return sign.isspace() or unicodedata.category(sign) not in ("Cf", "Cc")


@dataclass(frozen=True)
class TableRow:
    """One row of a table, or a value of JSON, or why it can't be read."""

    place: str
    """In its file; empty where it is the whole file."""
    cells: Any = field(default_factory=dict)
    """Of a table, and of most JSON: by the names of columns."""
    fault: str = ""
    split: str | None = None
    """Under whose name the file has it; None where it says none."""


@dataclass(frozen=True)
class Table:
    """A table that is read row by row. `remarks`: how it was read, where that is not the only way."""

    columns: tuple[str, ...]
    rows: Iterator[TableRow]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Dialect:
    """How a table is written, as its beginning shows."""

    delimiter: str
    newline: str
    header: int
    """Lines before the one with the columns' names."""
    quoted: bool = True
    columns: tuple[str, ...] = ()
    doubtful: bool = False
    """Whether it has quotation marks that other programs would read in another way."""

    def read(self, file: io.BufferedReader) -> Table:
        """Read a table in UTF-8 from its beginning. Raises `CaseError`: two columns have one name."""
        names = [column_name(name) for name in self.columns if name]
        if twice := next((name for name in self.columns if names.count(column_name(name)) > 1), ""):
            raise CaseError(f"two columns are named “{twice[:40]}”. Give each a name of its own.")
        whole = file.peek(1).decode(errors="replace")
        if _SURVEY.search(whole):
            raise CaseError("two rows below the columns' names are not answers but Qualtrics' own. Remove both.")
        remark = ""
        if self.delimiter == "\t" and not self.quoted:
            remark = N_("Quotation marks were read as part of the texts, as GLUE writes them, not as enclosing cells.")
        elif self.doubtful:
            remark = N_("Quotation marks were read as enclosing cells, as Excel writes them, not as part of the texts.")
        rows = _rows(file, self, _repeated(whole.split(self.newline), self))
        return Table(self.columns, rows, (remark,) if remark else ())


def dialect_of(sample: str, known: Collection[str]) -> Dialect:
    """Find how a table is written. `known`: names that a column may have, in lower case; of several separators, that
    one is right which gives the most of them."""
    end = _END.search(_QUOTED.sub("", sample))
    newline = "\r" if end and end[0] == "\r" else "\n"
    lines = sample.split(newline)
    lines = lines[:-1] if len(lines) > 2 else lines  # the last one may be cut
    header = next((number for number, line in enumerate(lines) if line.strip()), 0)
    said = _SEPARATOR_LINE.fullmatch(lines[header])
    header += bool(said) and header + 1 < len(lines)
    choices = [said[1]] if said else DELIMITERS
    found = max((_written(lines, one, newline, header, known) for one in choices), key=lambda pair: pair[0])[1]
    return found if found.columns else Dialect(",", newline, header, columns=(lines[header].strip().strip('"'),))


def _written(
    lines: Sequence[str], delimiter: str, newline: str, header: int, known: Collection[str]
) -> tuple[tuple[float, ...], Dialect]:
    """A table with this separator, and how well it fits."""
    body = [f"{line}{newline}" for line in lines[header:]]
    quoted, doubtful = _quotes(lines[header:], newline) if delimiter == "\t" else (True, False)
    records = [cells for *_, cells in islice(_records(body, delimiter, quoted), _COMPARED)]
    head = records[0] if records else []
    if isinstance(head, csv.Error) or len(head) < 2:
        return (0, 0, 0), Dialect(delimiter, newline, header)
    columns = tuple(name.strip() for name in head)
    rows = [one for one in records[1:] if isinstance(one, csv.Error) or any(cell.strip() for cell in one)]
    even = sum(not isinstance(one, csv.Error) and len(one) == len(head) for one in rows)
    fit = len(set(map(column_name, columns)) & set(known)), even / max(1, len(rows)), len(columns)
    return fit, Dialect(delimiter, newline, header, quoted, columns, doubtful)


def _quotes(lines: Sequence[str], newline: str) -> tuple[bool, bool]:
    """Whether quotation marks in a table with tabs enclose cells, as Excel and pandas write them, or belong to the
    texts, as in GLUE; and whether that is a matter of doubt: what speaks for one against what speaks for the other is
    counted."""
    if not any('"' in line for line in lines):
        return True, False
    width = lines[0].count("\t")
    uneven = {number for number, line in enumerate(lines) if line.strip() and line.count("\t") != width}
    text, encloses, belongs = newline.join(lines), 0, 0
    for cell in re.finditer(r'(?<![^\t\r\n])"((?:[^"]|"")*)"(?=[\t\r\n]|\Z)', text):
        first = text.count(newline, 0, cell.start())
        within = set(range(first, first + cell[1].count(newline) + 1))
        if '""' in cell[1] or first == 0 or (re.search(r"[\t\r\n]", cell[1]) and within & uneven):
            encloses += 1
        elif "," not in cell[1]:  # Excel encloses what holds a comma; nothing asks for quotes here
            belongs += 1
    cells = [cell.strip("\r") for line in lines for cell in line.split("\t")]
    commas = [cell for cell in cells if "," in cell]
    enclosed = [cell for cell in commas if cell.startswith('"') and cell.endswith('"')]
    encloses += len(enclosed) if len(enclosed) == len(commas) else 0
    belongs += sum('"' in cell and not cell.startswith('"') and not cell.endswith('"') for cell in cells)
    belongs += sum(cell.startswith('"') != cell.endswith('"') for cell in cells) if not uneven else 0
    named = lines[0].startswith('"') and lines[0].rstrip().endswith('"')
    only_commas = encloses == len(enclosed)
    return encloses > belongs or named, encloses > 0 and not named and (belongs > 0 or only_commas)


def _rows(file: io.BufferedReader, written: Dialect, repeated: set[tuple[int, str]]) -> Iterator[TableRow]:
    # Bytes that are no text become half characters, which are found in the row that has them.
    text = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline=written.newline)
    skipped = written.header
    lines = islice(text, skipped, None)
    columns, width = written.columns, len(written.columns)
    for first, last, cells in islice(_records(lines, written.delimiter, written.quoted), 1, None):
        first, last = first + skipped, last + skipped
        place = f"line {first}" if first == last else f"lines {first} to {last}"
        if isinstance(cells, csv.Error):
            yield TableRow(place, fault=_told(cells))
        elif len(cells) <= 1 and not "".join(cells).strip():
            continue
        elif len(cells) != width:
            sign = "tab" if written.delimiter == "\t" else written.delimiter
            more = len(cells) > width
            mend = f"Put texts that hold “{sign}” in quotes." if more else "Give it one for each column."
            yield TableRow(place, fault=f"it has {len(cells)} cells, and the first line has {width}. {mend}")
        elif tuple(map(str.strip, cells)) == columns:
            yield TableRow(place, fault="it repeats the columns' names.")
        elif "--" in "".join(cells) and all(map(_DRAWN.fullmatch, cells)):
            yield TableRow(place, fault="it is drawn of dashes, and holds nothing.")
        elif not is_text("".join(cells)):
            yield TableRow(place, fault=NO_TEXT)
        elif last > first and _swallows(cells, written, repeated):
            yield TableRow(
                place,
                fault="a quotation mark opens in it that encloses other rows. Close it, or double it where it is part "
                "of a text.",
            )
        else:
            yield TableRow(place, {name: cell for name, cell in zip(columns, cells, strict=True) if name})


def _records(lines: Iterator[str] | Sequence[str], delimiter: str, quoted: bool) -> Iterator[_Record]:
    csv.field_size_limit(min(sys.maxsize, MAX_CELL))
    if quoted:
        reader = csv.reader(lines, delimiter=delimiter, strict=True, skipinitialspace=delimiter != "\t")
    else:
        reader = csv.reader(lines, delimiter=delimiter, quoting=csv.QUOTE_NONE, strict=True)
    while True:
        first = reader.line_num + 1
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield first, max(first, reader.line_num), error
        else:
            yield first, reader.line_num, cells


def _repeated(lines: Sequence[str], written: Dialect) -> set[tuple[int, str]]:
    rows = (line.strip("\r").split(written.delimiter) for line in lines[written.header :] if '"' not in line)
    even = [row for row in rows if len(row) == len(written.columns)]
    counted = Counter((place, cell) for row in even for place, cell in enumerate(row) if 0 < len(cell) <= MAX_REPEATED)
    return {value for value, times in counted.items() if times > 1}


def _swallows(cells: Sequence[str], written: Dialect, repeated: set[tuple[int, str]]) -> bool:
    """Whether a cell has lines in it that are rows: as many cells, and one that other rows have there."""
    for column, cell in enumerate(cells):
        first, *others = cell.split(written.newline)
        for number, line in enumerate((first, *others) if others else ()):
            parts = line.strip("\r").split(written.delimiter)
            own = [(column + place if number == 0 else place, part) for place, part in enumerate(parts)]
            whole = len(parts) == len(cells) - (column if number == 0 else 0)
            if whole and repeated & set(own[1:] if number == 0 else own):
                return True
    return False


def _told(error: csv.Error) -> str:
    said = str(error)
    if "unexpected end" in said:
        return "a quotation mark opens in it that is never closed. Close it, or double it where it is part of a text."
    if "expected after" in said:
        return "a quotation mark stands within a cell in quotes. Double it, and put the whole cell in quotes."
    if "new-line" in said:
        return "a line end of another kind stands in it. Put the cell in quotes."
    return f"a cell of it has more than {MAX_CELL // 2**20} million characters. Shorten it."


def is_text(text: str) -> bool:
    """Whether all of it can be stored, so that it holds no half of a character."""
    return _HALF.search(text) is None


def looks_like_lines(text: str) -> bool:
    """Return whether most lines of a plain text are a text, a semicolon and a label out of few."""
    lines = [line for line in _END.split(text) if line.strip()]
    cut = [line.rpartition(";") for line in lines if ";" in line]
    labels = {label.strip() for _, _, label in cut}
    short = all(text.strip() and 0 < len(label.strip()) <= MAX_REPEATED for text, _, label in cut)
    return len(cut) > 1 and 3 * len(cut) >= 2 * len(lines) and short and len(labels) <= max(2, len(cut) // 2)


def read_lines(file: io.BufferedReader) -> Table:
    """Read lines of a text, a semicolon and its label, in UTF-8."""
    end = _END.search(file.peek(1).decode(errors="replace"))
    newline = "\r" if end and end[0] == "\r" else "\n"
    text = io.TextIOWrapper(file, "utf-8", errors="surrogateescape", newline=newline)
    rows = (_labelled_line(number, line) for number, line in enumerate(text, start=1) if line.strip())
    return Table(("text", "label"), rows)


def _labelled_line(number: int, line: str) -> TableRow:
    text, found, label = (part.strip() for part in line.rpartition(";"))
    fault = "" if found else "it has no label. Write the text, a semicolon and its label."
    fault = fault if is_text(line) else NO_TEXT
    return TableRow(f"line {number}", {"text": text, "label": label}, fault)
