"""Labelled texts from tables: CSV, TSV, JSON lines, and the forms of RTE, QNLI, BoolQ, Emotion and ANLI."""

import hashlib
import io
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import chain
from math import inf
from pathlib import Path
from typing import Any

from courtroom.errors import CaseError
from courtroom.text.encoding import in_utf8
from courtroom.text.files import json_records
from courtroom.text.table import Table, TableRow, column_name, dialect_of, is_text, looks_like_lines, read_lines, seen

COLUMNS: dict[str, Any] = tomllib.loads((Path(__file__).parent / "columns.toml").read_text(encoding="utf-8"))
_LABELLED: Mapping[str, list[str]] = COLUMNS["labelled"]
LABEL, SINGLE = _LABELLED["label"], _LABELLED["text"]
PAIRS: Mapping[tuple[str, ...], list[list[str]]] = {
    tuple(pair["columns"]): pair["questions"] for pair in COLUMNS["pairs"]
}
KNOWN = frozenset((*LABEL, *SINGLE, *_LABELLED["reason"], *_LABELLED["id"], *chain.from_iterable(PAIRS)))
MISSING = frozenset((*_LABELLED["missing"], *_LABELLED["no_text"]))
_LOOKS = str.maketrans("‘’ʼ´`“”аеорсухіјѕαορν", "'''''\"\"aeopcyxijsaopv")
"""Signs, and letters of other scripts, that look like those of the Latin one."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?")
_SCORE = re.compile(r"[+-]?(\d*[.,]\d+|\d+[.,]?)([eE][+-]?\d+)?\s*%?")
_WRITTEN_LIST = re.compile(r"\[.*\]|\{.*\}", re.DOTALL)
"""A list or an object that a program has written into a cell."""
_NOT_ID = re.compile(r"[^A-Za-z0-9._-]+")
_OWN_ID = re.compile(r"[\w.:-]{1,120}")
_FASTTEXT = re.compile(r"__label__\S+ ")
_R = re.compile(r'"[^"\n]*"(?: "[^"\n]*")+\r?\n"1" ')
MOST_SHOWN = 20
MAX_TEXT = 50_000
"""Characters of a text."""
MOST_COMPARED = 2_000
"""Of the first rows, so many say what a file holds."""
LETTERS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
TRUTHS = {"true": "yes", "false": "no"}
EMPTY = "The table of labelled texts is empty. Give a text and a label on each line."
UNREADABLE = (
    "The table of labelled texts can't be read: it needs a column “label” and a column “text” (or a pair such as "
    "“premise” and “hypothesis”), or on each line a text, a semicolon and its label."
)


class NumberedLabels(CaseError):
    """Labels are numbers (`values`), and nothing says what they mean. `where`: the file's name."""

    def __init__(self, values: Iterable[str], where: str = "") -> None:
        self.values = tuple(sorted(set(values), key=lambda value: (len(value), value)))
        shown = ", ".join(self.values[:MOST_SHOWN])
        pairs = ",".join(f"{value}=NAME" for value in self.values[:3])
        super().__init__(
            f"{f'{where}: ' if where else ''}The labels are numbers ({shown}), "
            "and the file does not say what they mean. "
            f"Write names in their place, or give the names: {pairs}."
        )


def names_from(text: str) -> dict[str, str]:
    """Read names that a person gives, such as `0=entailment,1=not_entailment`; raises `CaseError`."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    names = {number.strip(): name.strip() for number, _, name in pairs}
    if not all(names.values()) or any(not (_NUMBER.fullmatch(n) or n.casefold() in MISSING) for n in names):
        why = "Give the labels' names as NUMBER=NAME with commas between, such as 0=entailment,1=not_entailment."
        raise CaseError(why)
    if len(names) != len(pairs):
        raise CaseError("A number has two names. Give each number once.")
    if len({name.casefold() for name in names.values()}) != len(names):
        raise CaseError("Two numbers have one name. Give each a name of its own.")
    return names


@dataclass(frozen=True)
class TaskRead:
    """A labelled task's fields from a table, the rows that are not in it and why, and what is to be told."""

    fields: Mapping[str, Any]
    left_out: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def looks_labelled(names: Iterable[Any]) -> bool:
    """Whether a record with fields of these names has a column for a label and one for a text, and is no case."""
    columns = set(map(column_name, set(names)))
    return "kind" not in columns and bool(columns & set(LABEL)) and columns_of(columns) is not None


def table_in(file: io.BufferedReader, ending: str, others: Collection[str] = ()) -> Table | None:
    """Return the table in a file; None where a `.txt` file is none.

    Args:
        file: in UTF-8, at its beginning.
        ending: of its name, such as `.tsv`.
        others: columns under other names that are to be renamed, in lower case.

    Raises:
        CaseError: two columns have one name, or it is a table of another kind.
    """
    sample = file.peek(1).decode(errors="replace")
    if _FASTTEXT.match(sample):
        raise CaseError("each line begins with its label, as fastText writes it. Write columns “text” and “label”.")
    if _R.match(sample):
        raise CaseError("its columns are parted by blanks, as R writes them. Write them as CSV, as `write.csv` does.")
    written = dialect_of(sample, KNOWN.union(others))
    columns = set(map(column_name, written.columns))
    labelled = looks_labelled(columns) or not columns.isdisjoint(others)
    if not labelled and columns.isdisjoint(LABEL) and looks_like_lines(sample):
        return read_lines(file)
    return written.read(file) if labelled or ending != ".txt" else None


def task_from_text(text: str) -> TaskRead:
    """Read a task from a pasted table or JSON lines; see `task_from_rows`."""
    if not text.strip():
        raise CaseError(EMPTY)
    data = text.encode(errors="surrogatepass")
    if text.lstrip().startswith("{"):
        return task_from_rows(json_records(data))
    table = table_in(in_utf8(io.BytesIO(data), "utf-8")[0], ".csv")
    assert table is not None, "only of plain text"
    return task_from_table(table)


def task_from_table(table: Table, names: Mapping[str, str] | None = None) -> TaskRead:
    """Read a task from a table; see `task_from_rows`."""
    if not looks_labelled(table.columns):
        raise CaseError(UNREADABLE if any(table.columns) else EMPTY)
    read = task_from_rows(table.rows, names)
    return replace(read, remarks=(*table.remarks, *read.remarks))


def task_from_rows(rows: Iterable[TableRow], names: Mapping[str, str] | None = None) -> TaskRead:
    """Read a task from rows with named columns; a row that can't be read is left out.

    Args:
        names: what labels that are numbers mean.

    Raises:
        CaseError: no row can be read, or two labels look alike.
        NumberedLabels: labels are numbers, and nothing says what they mean.
    """
    items: list[dict[str, Any]] = []
    left_out: list[str] = []
    unnamed: set[str] = set()
    missing: Counter[str] = Counter()
    table = [(row.place, row.fault or _or_fault(row.cells)) for row in rows]
    whole = [row for _, row in table if not isinstance(row, str)]
    label = first_in(LABEL, {name for row in whole for name in row})  # of all rows: in JSON, a row may lack the column
    columns = next(filter(None, (columns_of(set(row)) for row in whole)), None)
    if columns is None and whole:
        raise CaseError(UNREADABLE)
    place_of: dict[str, str] = {}
    taken: set[str] = set()
    for number, (place, row) in enumerate(table, start=1):
        try:
            if isinstance(row, str):
                raise CaseError(row)
            own = columns_of(set(row)) or ()  # in JSON, rows may have columns of their own
            item, as_none = item_of(row, own if len(own) == len(columns or ()) else columns or (), label, names)
        except NumberedLabels as error:
            unnamed.update(error.values)
        except CaseError as error:
            left_out.append(f"Left out, {place}: {error}")
        else:
            missing.update(filter(None, [as_none]))
            place_of.setdefault(item["label"], place)
            item["id"] = item["id"] if _OWN_ID.fullmatch(item["id"]) else plain_id(item["id"]) or str(number)
            if item["id"] in taken:
                item["id"] = f"{item['id'][:80]}-row-{number}"
            taken.add(item["id"])
            items.append(item)
    if unnamed:
        raise NumberedLabels(unnamed | ({"-1"} & set(missing)))
    if not items:
        why = " ".join(left_out[:3]) or "Give a text and a label on each line."
        raise CaseError(f"The table of labelled texts has no rows that can be read. {why}")
    # In the order of their names: one that depends on the order of the rows would reveal them.
    labels = sorted({item["label"] for item in items if item["label"]})
    if len(labels) < 2 and left_out:
        raise CaseError(f"Fewer than two labels are left ({', '.join(labels) or 'none'}). {' '.join(left_out[:3])}")
    if found := alike(labels):
        raise CaseError(look_alike(*(f"“{one}” ({place_of[one]})" for one in found)))
    called = columns if columns and len(columns) > 1 else ("text", "second text")
    fields = {"labels": labels, "question": question_of(columns or (), labels), "names": called, "items": items}
    told = [f"{counted_as_none(word)} Rows: {times}." for word, times in missing.items()]
    told += filter(None, [labels_from(label, {name for row in whole for name in row})])
    return TaskRead(fields, tuple(left_out), tuple(told))


def labels_from(column: str, names: Collection[str]) -> str:
    """Say which column the labels are from, where another of `names` may have them; empty where there is no doubt."""
    others = [name for name in LABEL if name in names and name not in (column, "category")]
    others += [name for name in names if name.rpartition(".")[0] == column]  # which pandas makes of two of one name
    sentence = f"The labels are those of the column “{column}”. If another column has them, name it “label”."
    return sentence if column in LABEL[-2:] or others else ""


def counted_as_none(word: str) -> str:
    """The sentence that something written in the place of a label counts as none."""
    return f"“{word}” in the place of a label was taken for none; to keep it as a label, give it a name: “{word}=NAME”."


def look_alike(one: str, other: str) -> str:
    """The sentence that two labels, each with its place, are one label written in two ways."""
    return f"The labels {one} and {other} look alike or mean the same. Write them alike."


def folded(raw: Any) -> dict[str, Any]:
    """A row with its columns' names in lower case. Raises `CaseError`: two of them are alike, or it has no names."""
    if not isinstance(raw, Mapping):
        raise CaseError("it is no object with named fields. Check that it is the right file.")
    row: dict[str, Any] = {}
    for name, value in raw.items():
        if column_name(name) in row:
            raise CaseError(f"it has two fields named “{column_name(name)[:40]}”. Give each a name of its own.")
        row[column_name(name)] = value
    return row


def item_of(
    row: Mapping[str, Any], columns: Sequence[str], label: str, names: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], str]:
    """Return a row's texts, label (None where it has none), reason and id, and what was taken for no label.

    Args:
        row: with columns in lower case.
        columns: of the text, or of both texts.
        label: the column of the label.
        names: what labels that are numbers mean.

    Raises:
        CaseError: a text is missing, or the label is none or not among the names.
        NumberedLabels: the label is a number, and nothing says what it means.
    """
    if (said := row.get("answer")) in ("reject", "ignore"):  # as Prodigy writes it beside the label that it offered
        raise CaseError(f"its label was not accepted: its answer is “{said}”. Remove the row, or the column.")
    texts = [_text(row.get(name), name) for name in columns]
    if not all(texts):
        raise CaseError(f"it lacks its {columns[texts.index('')]}. Fill it in, or remove the row.")
    found, as_none = _label(columns, row.get(label), names)
    own = next((str(row[name]) for name in _LABELLED["id"] if _is_plain(row.get(name))), "").strip()
    reason = next((str(row[name]) for name in _LABELLED["reason"] if _is_plain(row.get(name))), "")
    second = texts[1] if len(texts) > 1 else ""
    return {"id": own, "text": texts[0], "second": second, "label": found, "reason": reason}, as_none


def plain_id(text: str) -> str:
    """Return an id made of a text; with a hash where signs were lost, as two ids may have become one."""
    name = _NOT_ID.sub("-", text).strip("-._")
    if name != text and len(name) < len(text):
        name = f"{name[:60]}-{hashlib.sha256(text.encode(errors='surrogatepass')).hexdigest()[:8]}".strip("-")
    return name[:80].strip("-._")


def question_of(columns: Sequence[str], labels: Iterable[str]) -> str:
    """What is to be decided, as far as columns and the labels' names say; else empty."""
    text = " ".join(labels).casefold()
    return next((question for word, question in PAIRS.get(tuple(columns), ()) if word in text), "")


def alike(labels: Iterable[str]) -> tuple[str, str] | None:
    """Return the first two labels that nobody could tell apart, such as “true” beside “yes”; None where none are."""
    first: dict[str, str] = {}
    for label in labels:
        other = first.setdefault(_look(label), label)
        if other != label:
            return other, label
    truths, words = ([first[look] for look in looks if look in first] for looks in (TRUTHS.keys(), TRUTHS.values()))
    return (truths[0], words[0]) if truths and words else None


def first_in(names: Iterable[str], among: Container[str]) -> str:
    """The first of these names that is among others; empty where none is."""
    return next((name for name in names if name in among), "")


def columns_of(names: set[str]) -> tuple[str, ...] | None:
    """The columns of the text or of both texts; None where there are none that are known."""
    pair = next((pair for pair in PAIRS if set(pair) <= names), None)
    return pair or next(((name,) for name in SINGLE if name in names), None)


def _look(label: str) -> str:
    """A label as the eye takes it: letters composed, signs that nobody sees left out, dashes and quotes as one."""
    text = unicodedata.normalize("NFKC", label)
    signs = ("-" if unicodedata.category(sign) == "Pd" or sign == "\u2212" else sign for sign in text if seen(sign))
    look = "".join(signs).casefold().translate(_LOOKS).replace("_", " ")
    return " ".join(look.split()).strip("'\"").rstrip(".,;:") or look


def _kind(value: Any) -> str:
    if isinstance(value, str):
        return "a list or an object"
    kinds = {dict: "an object", list: "a list", tuple: "a list", bool: "true or false"}
    return kinds.get(type(value), "a value that is no text")


def _is_plain(value: Any) -> bool:
    return isinstance(value, str | int) and value != "" and not isinstance(value, bool)


def _text(value: Any, column: str) -> str:
    if value is None or value != value:
        return ""
    if isinstance(value, list) and value and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    if isinstance(value, bool) or not isinstance(value, str | int | float | Decimal) or value in (inf, -inf):
        raise CaseError(f"it has {_kind(value)} as its {column}. Write a text there, or remove the row.")
    text = str(value).strip()
    if len(text) > MAX_TEXT:
        raise CaseError(f"it has {len(text):,} characters as its {column}; {MAX_TEXT:,} are allowed. Shorten it.")
    if not is_text(text):
        raise CaseError(f"it has half a character in its {column}. Write it again.")
    return "" if text.casefold() in _LABELLED["no_text"] or not any(map(seen, text)) else text


def _label(columns: Sequence[str], value: Any, names: Mapping[str, str] | None) -> tuple[str | None, str]:
    """Return a label's name, None where the text has none, and what was taken for none though it is written there."""
    if isinstance(value, list) and len(value) > 1:
        raise CaseError(f"it has {len(value)} labels; a text can have one here. Keep one, or remove the row.")
    if isinstance(value, list):
        value = value[0] if value else None
    if isinstance(value, bool):
        return TRUTHS[str(value).casefold()], ""
    if isinstance(value, dict | list | tuple) or (isinstance(value, str) and _WRITTEN_LIST.fullmatch(value.strip())):
        raise CaseError(f"it has {_kind(value)} as its label. Write the name of one label, or remove the row.")
    text = "" if value is None or value != value else str(value).strip()  # JSON's NaN differs from itself
    number = str(int(text.partition(".")[0])) if _NUMBER.fullmatch(text) and len(text) < 100 else ""
    if names is not None and (text in names or number in names):
        text = names.get(text) or names[number]
    elif text in _LABELLED["unlabelled"]:
        return None, ""
    elif text.casefold() in MISSING or number in MISSING:
        return None, number or text
    elif number and names is None:
        raise NumberedLabels([number])
    elif number and names is not None:
        known = ", ".join(f"{key}={name}" for key, name in list(names.items())[:MOST_SHOWN])
        raise CaseError(f"it has the label {number}, which is not among {known}. Correct it, or remove the row.")
    elif _SCORE.fullmatch(text) or isinstance(value, float):
        raise CaseError(
            f"it has the label {text[:40]}, which is a score and no class. Write a name for each class in its place."
        )
    if "hypothesis" in columns and text in LETTERS:
        return LETTERS[text], ""
    return (TRUTHS.get(text.casefold(), text) if columns[0] == "passage" else text), ""


def _or_fault(cells: Any) -> dict[str, Any] | str:
    try:
        return folded(cells)
    except CaseError as error:
        return str(error)
