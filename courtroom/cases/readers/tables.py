"""Labelled texts from tables: CSV, TSV, JSON lines, and the forms of RTE, QNLI, BoolQ, Emotion and ANLI."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from courtroom.errors import CaseError

PAIRS = (
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("context", "hypothesis"),
    ("question", "sentence"),
    ("passage", "question"),
    ("question1", "question2"),
    ("text1", "text2"),
    ("text", "second"),
)
"""Columns of a pair, in the order in which they are shown: RTE, ANLI (newer and older), QNLI, BoolQ, common ones."""
SINGLE = ("text", "sentence", "content", "message")
LABEL, REASON, IDS = ("label", "labels", "class", "category"), ("reason", "rationale"), ("id", "uid", "idx", "index")
QUESTIONS: dict[tuple[str, ...], str] = {
    ("sentence1", "sentence2"): "Does the second sentence follow from the first?",
    ("premise", "hypothesis"): "Does the hypothesis follow from the premise, contradict it, or neither?",
    ("context", "hypothesis"): "Does the hypothesis follow from the context, contradict it, or neither?",
    ("question", "sentence"): "Does the sentence contain the answer to the question?",
    ("passage", "question"): "Going by the passage, is the answer to the question yes or no?",
}
NUMBERED: dict[tuple[str, ...], dict[str, str]] = {
    ("sentence1", "sentence2"): {"0": "entailment", "1": "not_entailment"}
}
"""RTE in the form with numbers."""
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
    return "kind" not in columns and bool(columns & set(LABEL)) and _columns(columns) is not None


def looks_like_lines(text: str) -> bool:
    """Whether plain text is lines of a text, a semicolon and a label out of few."""
    lines = [line for line in text.splitlines() if line.strip()]
    cut = [line.rpartition(";") for line in lines]
    labels = {label.strip() for _, _, label in cut}
    short = all(text.strip() and 0 < len(label.strip()) <= 40 for text, _, label in cut)
    return len(lines) > 1 and short and len(labels) <= max(2, len(lines) // 2)


def task_from_text(text: str, ending: str = "") -> dict[str, Any]:
    """A task's fields from a table or from JSON lines.

    Args:
        ending: of the file, such as `.tsv`; empty for pasted text.

    Raises:
        CaseError: it is no table of labelled texts.
    """
    if not text.strip():
        raise CaseError("The table of labelled texts is empty. Give a text and a label on each line.")
    if text.lstrip().startswith("{"):
        return task_from_rows(_json_rows(text))
    lines = text.splitlines()
    delimiter = "\t" if ending == ".tsv" else next((d for d in DELIMITERS if d in lines[0]), None)
    if delimiter is None:
        raise CaseError(UNREADABLE)
    head = [name.strip().casefold().strip('"') for name in lines[0].split(delimiter)]
    if set(head) & set(LABEL) and _columns(set(head)):
        csv.field_size_limit(10_000_000)
        rows = (
            csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE)
            if delimiter == "\t"  # there quotation marks belong to the texts
            else csv.DictReader(io.StringIO(text), delimiter=delimiter)
        )
        return task_from_rows(rows)
    if not looks_like_lines(text):
        raise CaseError(UNREADABLE)
    cut = (line.rpartition(";") for line in lines if line.strip())
    return task_from_rows({"text": body.strip(), "label": label.strip()} for body, _, label in cut)


def task_from_rows(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """A task's fields from rows with named columns: `labels`, `question`, `names`, `items`.

    Raises:
        CaseError: a row lacks a text; it is named.
    """
    items: list[dict[str, Any]] = []
    columns: tuple[str, ...] | None = None
    for number, raw in enumerate(rows, start=1):
        if not isinstance(raw, Mapping):
            raise CaseError(f"Row {number} is no JSON object with named fields.")
        row = {str(name).casefold().strip(): value for name, value in raw.items() if name is not None}
        columns = columns or _columns(set(row))
        if columns is None:
            raise CaseError(UNREADABLE)
        texts = [str(row.get(name) or "").strip() for name in columns]
        if not all(texts):
            raise CaseError(f"Row {number} lacks its {columns[texts.index('')]}. Fill it in, or remove the row.")
        label = _label(columns, next((row[name] for name in LABEL if row.get(name) not in (None, "")), None))
        items.append(
            {
                "id": str(next((row[name] for name in IDS if row.get(name) not in (None, "")), number)),
                "text": texts[0],
                "second": texts[1] if len(texts) > 1 else "",
                "label": label,
                "reason": str(next((row[name] for name in REASON if row.get(name)), "")),
            }
        )
    if columns is None:
        raise CaseError("The table of labelled texts has no rows. Give a text and a label on each line.")
    return {
        "labels": _labels(items),
        "question": QUESTIONS.get(columns, ""),
        "names": columns if len(columns) > 1 else ("text", "second text"),
        "items": items,
    }


def _columns(names: set[str]) -> tuple[str, ...] | None:
    pair = next((pair for pair in PAIRS if set(pair) <= names), None)
    return pair or next(((name,) for name in SINGLE if name in names), None)


def _label(columns: Sequence[str], value: Any) -> str | None:
    if value is None:
        return None
    told = str(value).strip()
    if "hypothesis" in columns and told in LETTERS:
        return LETTERS[told]
    if isinstance(value, bool) or (columns[0] == "passage" and told.casefold() in TRUTHS):
        return TRUTHS[told.casefold()]
    return NUMBERED.get(tuple(columns), {}).get(told, told)


def _labels(items: Sequence[Mapping[str, Any]]) -> list[str]:
    """In the order of their names: one that depends on the order of the rows would tell of them."""
    return sorted({item["label"] for item in items if item["label"]})


def _json_rows(text: str) -> Iterable[Mapping[str, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                row = json.loads(line)
            except (ValueError, RecursionError) as error:
                raise CaseError(f"Line {number} is not valid JSON. Mend it there.") from error
            if not isinstance(row, dict):
                raise CaseError(f"Line {number} is no JSON object with named fields.")
            yield row
