"""CSV as this program writes it, and JSON lines as people name them."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable
from typing import Any

_FORMULA = re.compile(r"'*[=+\-@\t\r]")
_QUOTED = re.compile(r"'+[=+\-@\t\r]")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


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


def is_json_lines(text: str) -> bool:
    """Whether a text is several objects, one on each line, and not one JSON document; some lines may be damaged."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    whole = sum(line.startswith("{") and line.endswith("}") for line in lines)
    return len(lines) > 1 and 2 * whole > len(lines) and not _is_document(text)


def _is_document(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    except (ValueError, RecursionError):
        return True  # reported when it is read: too many digits, too deep
    return True
