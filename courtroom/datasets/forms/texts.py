"""Labelled texts: GLUE and SuperGLUE (RTE, WNLI, MRPC, QNLI, SST-2, QQP, BoolQ), SNLI, ANLI, Emotion, LexGLUE, and
tables.

Columns are those of `cases.readers.tables`. Texts of LexGLUE's ECtHR are lists of paragraphs. A text with several
labels is refused: a labelled task has one label for a text. A column `category` beside the label is what results are
broken down by.

Documents with summaries: CNN/DailyMail, SummScreen, XSum, SAMSum, SCROLLS, plain pairs; documents without any.

| set | text | summary |
| --- | --- | --- |
| CNN/DailyMail | `article` | `highlights` |
| SummScreen | `Transcript` (lines) | `Recap` |
| SummScreen of TensorFlow | `transcript` | `recap` |
| XSum, SAMSum, SCROLLS | `document`, `dialogue`, `input` | `summary`, `summary`, `output` |

Questions with options: samples of Inspect (`input`, `choices`, `target`) and LexGLUE's CaseHOLD.

The option's letter is the label. In CaseHOLD (`context`, `endings`, `label`) the number points into the record's own
`endings`, so it needs no name. A sample without options has its target as label.
"""

import string
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from courtroom.cases.labelled import Document, Labelled
from courtroom.cases.readers import tables
from courtroom.datasets.forms.form import Context, Form, having
from courtroom.datasets.row import IncomingRow, SharedFields
from courtroom.datasets.source import SourceFile
from courtroom.errors import CaseError
from courtroom.text.languages import language_of
from courtroom.text.table import column_name

QUESTION = "Which of the options is right?"
NO_CATEGORY = "no category"
"""Of a row whose cell is blank, in a table with such a column beside the label."""


def _read(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    row = tables.folded(record)
    columns = tables.columns_of(set(row))
    if columns is None:
        raise CaseError("it needs a column “text”, or a pair such as “premise” and “hypothesis”.")
    found, as_none = tables.item_of(row, columns, context.label, context.names)
    own = _id(found.pop("id"), context)
    category = ""
    if "category" in row and context.label != "category":
        category = str(row["category"] or "").strip() or NO_CATEGORY
    remarks = (tables.counted_as_none(as_none),) if as_none else ()
    frame = SharedFields(names=(columns[0], columns[1])) if len(columns) > 1 else SharedFields()
    yield IncomingRow(Labelled(id="text", **found), id=own, category=category, remarks=remarks, frame=frame)


TEXT, SUMMARY, TITLES, IDS = (tables.COLUMNS["documents"][name] for name in ("text", "summary", "title", "id"))
MAX_LABEL_CHARACTERS = 40
"""Of a label in a column that some sets have labels in."""


def _is_document(record: dict[str, Any], part: SourceFile, with_summary: bool = False) -> bool:
    columns = {column_name(name) for name in record}
    asked = [TEXT, SUMMARY] if with_summary else [TEXT]
    return "kind" not in record and all(tables.first_in(names, columns) for names in asked)


def _plain(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    if not isinstance(value, str) or not value.strip():
        raise CaseError(f"`{name}` must be a text.")
    return value.strip()


def _document(record: dict[str, Any], context: Context, with_summary: bool = False) -> Iterator[IncomingRow]:
    row, is_file = tables.folded(record), context.part.ending in (".txt", ".md")
    name, summary = tables.first_in(TEXT, row), tables.first_in(SUMMARY, row) if with_summary else ""
    if with_summary and not summary:
        raise CaseError(f"it needs a text ({', '.join(TEXT)}) and a summary ({', '.join(SUMMARY)}).")
    if not name:
        raise CaseError(f"it needs a text: one of {', '.join(TEXT)}.")
    text = _plain(row, name)
    title = next((str(row[name]).strip() for name in TITLES if row.get(name)), "") or " ".join(text.split())[:80]
    title = (context.part.stem if is_file else title)[:200]
    known: dict[str, Any] = {"id": "document", "title": title, "language": language_of(text)}
    reference = _plain(row, summary) if summary else ""
    domain = str(row.get("domain") or tables.COLUMNS["documents"]["domains"].get(f"{name} {summary}", ""))[:40]
    case = Document(**known, source=context.part.name[:400], text=text, reference=reference, domain=domain)
    own = next((row[name] for name in IDS if row.get(name) not in (None, "")), "")
    yield IncomingRow(case, id=str(own) or (context.part.stem if is_file else f"{context.part.stem}-{context.number}"))


def _may_hold_labels(record: dict[str, Any]) -> Iterator[tuple[str, str]]:
    row = {column_name(name): value for name, value in record.items()}
    text = tables.first_in(TEXT, row)
    for name in (*tables.LABEL, *tables.COLUMNS["documents"]["often_labels"]):
        value = str(row.get(name) or "").strip()
        is_short = len(value) <= MAX_LABEL_CHARACTERS and value[-1:] not in (*".!?。！？",)
        if text and value and (name in tables.LABEL[:-2] or is_short):
            yield text, name


def _casehold(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    passage, endings, label = record["context"], record["endings"], record.get("label")
    if not isinstance(passage, str) or not passage.strip():
        raise CaseError("`context` must be a text.")
    options = _options(endings, "endings")
    if label is not None and (isinstance(label, bool) or not str(label).lstrip("-").isdigit()):
        raise CaseError("`label` must be the number of the right ending, from 0.")
    number = -1 if label is None else int(label)
    if number >= len(options):
        raise CaseError(f"`label` is {number}, but there are {len(options)} endings, counted from 0.")
    letter = string.ascii_uppercase[number] if number >= 0 else None
    own = record.get("id", record.get("example_id", ""))
    case = Labelled(id="text", text=_with_options(passage, options), label=letter)
    yield IncomingRow(case, id=_id(own, context), frame=SharedFields(question=QUESTION))


def _sample(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    text, target = _input(record["input"]), record["target"]
    if isinstance(target, list):
        if len(target) > 1:
            raise CaseError(f"`target` has {len(target)} answers; a text can have one label here. Keep one.")
        target = target[0] if target else None
    label = None if target in (None, "") else str(target).strip()
    frame = SharedFields(question=QUESTION if record.get("choices") else "")
    if record.get("choices"):
        options = _options(record["choices"], "choices")
        letters = string.ascii_uppercase[: len(options)]
        if label is not None and label not in letters:
            named = [letter for letter, option in zip(letters, options, strict=True) if option.strip() == label]
            if len(named) != 1:
                raise CaseError(
                    f"`target` is “{label[:40]}”, which is none of the letters {letters[0]} to {letters[-1]}."
                )
            label = named[0]
        text = _with_options(text, options)
    yield IncomingRow(Labelled(id="text", text=text, label=label), id=_id(record.get("id", ""), context), frame=frame)


def _input(value: Any) -> str:
    """A text, or the messages of a chat."""
    if isinstance(value, list):
        lines = [one.get("content") for one in value if isinstance(one, dict) and one.get("role") != "assistant"]
        value = "\n".join(line for line in lines if isinstance(line, str))
    if not isinstance(value, str) or not value.strip():
        raise CaseError("`input` must be a text, or messages with `content`.")
    return value.strip()


def _options(value: Any, field: str) -> Sequence[str]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value) or not 2 <= len(value) <= 26:
        raise CaseError(f"`{field}` must be a list of 2 to 26 texts.")
    return value


def _with_options(text: str, options: Sequence[str]) -> str:
    lettered = (f"{letter}) {one}" for letter, one in zip(string.ascii_uppercase, options, strict=False))
    return "\n".join((text, *lettered))


def _id(own: Any, context: Context) -> str:
    return str(own) if own not in (None, "") else f"{context.split or context.part.stem}-{context.number}"


TABLE = Form("labelled", "Labelled texts", lambda record, part: tables.looks_labelled(record), _read, labels_in="label")
_OF_A_DOCUMENT = frozenset((*TEXT, *TITLES, *IDS, "domain", ""))
PAIRS = Form(
    *("summaries", "Documents with summaries"),
    partial(_is_document, with_summary=True),
    partial(_document, with_summary=True),
    may_hold_labels=_may_hold_labels,
    reads=_OF_A_DOCUMENT.union(SUMMARY),
)
DOCUMENTS = Form(
    *("documents", "Documents", _is_document, _document), may_hold_labels=_may_hold_labels, reads=_OF_A_DOCUMENT
)
CASEHOLD = Form("casehold", "CaseHOLD of LexGLUE", having("context", "endings"), _casehold)
SAMPLES = Form("inspect", "Samples of Inspect", having("input", "target", but="output"), _sample)
