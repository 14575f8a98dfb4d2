"""Labelled texts from tables: CSV, TSV, JSON lines, and the forms of RTE, QNLI, BoolQ, Emotion and ANLI."""

import csv
import io
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from courtroom.errors import CaseError
from courtroom.text.files import json_records

UNLABELLED = frozenset({"-1", "-1.0", "-", ""})
"""What stands in place of a label where there is none: -1 in GLUE's test sets, `-` in SNLI where annotators disagreed."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?")
MOST_SHOWN = 20


class NumberedLabels(CaseError):
    """Labels are numbers, and nothing says what they mean. `values`: the numbers that were met. `where`: the file's name."""

    def __init__(self, values: Iterable[str], where: str = "") -> None:
        self.values = tuple(sorted(set(values), key=lambda value: (len(value), value)))
        shown = ", ".join(self.values[:MOST_SHOWN])
        pairs = ",".join(f"{value}=NAME" for value in self.values[:3])
        super().__init__(
            f"{f'{where}: ' if where else ''}The labels are numbers ({shown}), and the file does not say what they mean. Write names in their place, or "
            f"give the names: {pairs}."
        )


def as_label(value: Any, names: Mapping[str, str] | None) -> str | None:
    """A label's name; None where the text has no label. `value`: as the file has it. `names`: what the numbers mean, by the
    file's own features or by a person's word. Raises `NumberedLabels`: it is a number without a name; `CaseError`: it is a
    number that is not among the names; the end of a sentence that begins with the row."""
    text = "" if value is None or value != value else str(value).strip()  # JSON's NaN differs from itself
    if names is not None and text in names:
        return names[text]
    if text in UNLABELLED:
        return None
    if not _NUMBER.fullmatch(text):
        return text
    number = str(int(float(text)))
    if names is None:
        raise NumberedLabels([number])
    if number not in names:
        known = ", ".join(f"{key}={name}" for key, name in list(names.items())[:MOST_SHOWN])
        raise CaseError(f"has the label {number}, which is not among {known}. Correct it, or remove the row.")
    return names[number]


def names_from(text: str) -> dict[str, str]:
    """The names that a person gives, such as `0=entailment,1=not_entailment`; empty where nothing is given. Raises `CaseError`:
    it is not of this form."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    names = {number.strip(): name.strip() for number, _, name in pairs}
    if any(not equals or not _NUMBER.fullmatch(number.strip()) or not name.strip() for number, equals, name in pairs):
        raise CaseError(
            "Give the labels' names as NUMBER=NAME with commas between, such as 0=entailment,1=not_entailment."
        )
    if len(names) != len(pairs):
        raise CaseError("A number has two names. Give each number once.")
    if len({name.casefold() for name in names.values()}) != len(names):
        raise CaseError("Two numbers have one name. Give each a name of its own.")
    return names


PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("context", "hypothesis"),
    ("question", "sentence"),
    ("passage", "question"),
    ("question1", "question2"),
    ("#1 string", "#2 string"),
    ("text1", "text2"),
    ("text", "second"),
)
"""Columns of a pair, in the order in which they are shown: RTE, ANLI (newer and older), QNLI, BoolQ, QQP, MRPC, common ones."""
SINGLE = ("text", "sentence", "content", "message")
LABEL = ("label", "labels", "gold_label", "quality", "is_duplicate", "class", "category")
"""Columns of the label. Of several that a table has, the first one alone is: what is blank there stays blank."""
REASON, IDS = ("reason", "rationale"), ("id", "uid", "pairid", "idx", "index")
OR_NEITHER = ", contradict it, or neither?"
FOLLOWS = "Does the second sentence follow from the first?"
QUESTIONS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("question", "sentence"), "", "Does the sentence contain the answer to the question?"),
    (("passage", "question"), "", "Going by the passage, is the answer to the question yes or no?"),
    (("question1", "question2"), "duplicate", "Do both questions ask the same?"),
    (("premise", "hypothesis"), "contradict", f"Does the hypothesis follow from the premise{OR_NEITHER}"),
    (("context", "hypothesis"), "contradict", f"Does the hypothesis follow from the context{OR_NEITHER}"),
    (("premise", "hypothesis"), "entail", "Does the hypothesis follow from the premise?"),
    (("sentence1", "sentence2"), "contradict", f"Does the second sentence follow from the first{OR_NEITHER}"),
    (("sentence1", "sentence2"), "entail", FOLLOWS),
    (("sentence1", "sentence2"), "equivalent", "Do both sentences mean the same?"),
    (("#1 string", "#2 string"), "equivalent", "Do both sentences mean the same?"),
)
"""The question that a pair's columns pose, where one of the labels' names has this in it: columns alone do not say."""
LETTERS = {"e": "entailment", "n": "neutral", "c": "contradiction"}
TRUTHS = {"true": "yes", "false": "no"}
DELIMITERS = ("\t", ";", ",", "|")
UNREADABLE = (
    "The table of labelled texts can't be read: it needs a column “label” and a column “text” (or a pair such as "
    "“premise” and “hypothesis”), or on each line a text, a semicolon and its label."
)


def looks_labelled(row: Mapping[str, Any]) -> bool:
    """Whether a JSON object is one row of such a table."""
    columns = {str(name).casefold() for name in row}
    return "kind" not in columns and bool(columns & set(LABEL)) and columns_of(columns) is not None


def looks_like_lines(text: str) -> bool:
    """Whether plain text is lines of a text, a semicolon and a label out of few."""
    lines = [line for line in text.splitlines() if line.strip()]
    cut = [line.rpartition(";") for line in lines]
    labels = {label.strip() for _, _, label in cut}
    short = all(text.strip() and 0 < len(label.strip()) <= 40 for text, _, label in cut)
    return len(lines) > 1 and short and len(labels) <= max(2, len(lines) // 2)


def task_from_text(text: str, ending: str = "", names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A task's fields from a table or from JSON lines. `ending`: of the file, such as `.tsv`; empty for pasted text. `names`:
    what labels that are numbers mean. Raises `CaseError`: it is no table of labelled texts."""
    if not text.strip():
        raise CaseError("The table of labelled texts is empty. Give a text and a label on each line.")
    if text.lstrip().startswith("{"):
        return task_from_rows(_json_rows(text), names)
    lines = text.splitlines()
    delimiter = "\t" if ending == ".tsv" else next((d for d in DELIMITERS if d in lines[0]), None)
    if delimiter is None:
        raise CaseError(UNREADABLE)
    head = [name.strip().casefold().strip('"') for name in lines[0].split(delimiter)]
    if set(head) & set(LABEL) and columns_of(set(head)):
        csv.field_size_limit(10_000_000)
        rows = (
            csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
            if delimiter == "\t"  # there quotation marks belong to the texts
            else csv.DictReader(io.StringIO(text), delimiter=delimiter)
        )
        return task_from_rows(rows, names)
    if not looks_like_lines(text):
        raise CaseError(UNREADABLE)
    cut = (line.rpartition(";") for line in lines if line.strip())
    return task_from_rows(({"text": body.strip(), "label": label.strip()} for body, _, label in cut), names)


def task_from_rows(rows: Iterable[Mapping[str, Any]], names: Mapping[str, str] | None = None) -> dict[str, Any]:
    """A task's fields from rows with named columns: `labels`, `question`, `names`, `items`. `names`: what labels that are numbers
    mean. Raises `CaseError`: a row lacks a text; it is named; `NumberedLabels`: labels are numbers, and nothing says what they
    mean."""
    items: list[dict[str, Any]] = []
    columns: tuple[str, ...] | None = None
    unnamed: set[str] = set()
    table: list[dict[str, Any]] = []
    for number, raw in enumerate(rows, start=1):
        if not isinstance(raw, Mapping):
            raise CaseError(f"Row {number} is no JSON object with named fields.")
        table.append(folded(raw))
    label = label_of({name for row in table for name in row})  # of all rows: in JSON, a row may lack the column
    for number, row in enumerate(table, start=1):
        columns = columns or columns_of(set(row))
        if columns is None:
            raise CaseError(UNREADABLE)
        try:
            item = item_of(row, columns, label, names)
        except NumberedLabels as error:
            unnamed.update(error.values)
            continue
        except CaseError as error:
            raise CaseError(f"Row {number} {error}") from error
        items.append(item | {"id": item["id"] or str(number)})
    if unnamed:
        raise NumberedLabels(unnamed)
    if columns is None:
        raise CaseError("The table of labelled texts has no rows. Give a text and a label on each line.")
    # In the order of their names: one that depends on the order of the rows would reveal them.
    labels = sorted({item["label"] for item in items if item["label"]})
    if found := alike(labels):
        row_of = {item["label"]: number for number, item in reversed([*enumerate(items, start=1)])}
        both = " and ".join(f"“{one}” (row {row_of[one]})" for one in found)
        raise CaseError(f"The labels {both} differ only in case or spaces. Write them alike.")
    return {
        "labels": labels,
        "question": question_of(columns, labels),
        "names": columns if len(columns) > 1 else ("text", "second text"),
        "items": items,
    }


def folded(raw: Mapping[Any, Any]) -> dict[str, Any]:
    """A row with its columns' names in lower case."""
    return {str(name).casefold().strip(): value for name, value in raw.items() if name is not None}


def item_of(
    row: Mapping[str, Any], columns: Sequence[str], label: str, names: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """A row's text or texts, label, reason and own id; what it lacks is empty, a label that it lacks is None. Raises `CaseError`:
    a text is missing, or the label is not among the names; the end of a sentence that begins with the row; `NumberedLabels`: the
    label is a number, and nothing says what it means.

    Args:
        row: with columns in lower case.
        columns: of the text, or of both texts.
        label: the column of the label.
        names: what labels that are numbers mean.
    """
    texts = [str(row.get(name) or "").strip() for name in columns]
    if not all(texts):
        raise CaseError(f"lacks its {columns[texts.index('')]}. Fill it in, or remove the row.")
    return {
        "id": str(next((row[name] for name in IDS if row.get(name) not in (None, "")), "")),
        "text": texts[0],
        "second": texts[1] if len(texts) > 1 else "",
        "label": _label(columns, row.get(label), names),
        "reason": str(next((row[name] for name in REASON if row.get(name)), "")),
    }


def question_of(columns: Sequence[str], labels: Iterable[str]) -> str:
    """What is to be decided, as far as columns and the labels' names say; else empty."""
    text = " ".join(labels).casefold()
    return next((question for pair, word, question in QUESTIONS if pair == tuple(columns) and word in text), "")


def alike(labels: Iterable[str]) -> tuple[str, str] | None:
    """The first two labels that nobody could tell apart; None where there are none."""
    first: dict[str, str] = {}
    for label in labels:
        other = first.setdefault(" ".join(label.casefold().split()), label)
        if other != label:
            return other, label
    return None


def label_of(names: Collection[str]) -> str:
    """The column of the label among these, in lower case; empty where there is none."""
    return next((name for name in LABEL if name in names), "")


def columns_of(names: set[str]) -> tuple[str, ...] | None:
    """The columns of the text or of both texts; None where there are none that are known."""
    pair = next((pair for pair in PAIRS if set(pair) <= names), None)
    return pair or next(((name,) for name in SINGLE if name in names), None)


def _label(columns: Sequence[str], value: Any, names: Mapping[str, str] | None) -> str | None:
    if isinstance(value, list):
        if len(value) > 1:
            raise CaseError(f"has {len(value)} labels; a text can have one here. Keep one, or remove the row.")
        value = value[0] if value else None
    text = str(value) if isinstance(value, bool) else as_label(value, names)
    if text is None:
        return None
    if "hypothesis" in columns and text in LETTERS:
        return LETTERS[text]
    if isinstance(value, bool) or (columns[0] == "passage" and text.casefold() in TRUTHS):
        return TRUTHS[text.casefold()]
    return text


def _json_rows(text: str) -> Iterable[Mapping[str, Any]]:
    for place, row in json_records(text.encode(errors="surrogatepass")):
        if isinstance(row, CaseError):
            raise CaseError(f"{place.capitalize()}: {row}")
        if not isinstance(row, dict):
            raise CaseError(
                f"{place.capitalize()}: it is no object with named fields. Check that it is the right file."
            )
        yield row
