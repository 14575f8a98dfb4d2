"""Documents from `.txt`, `.md` and `.pdf`; labelled tasks from `.csv`, `.tsv`, JSON lines and `text;label` lines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.cases.labelled import LONGEST, Document, LabelledTask
from courtroom.cases.readers.pdf import read_pdf
from courtroom.cases.readers.tables import NumberedLabels, looks_like_lines, task_from_rows, task_from_text
from courtroom.errors import CaseError
from courtroom.text.words import is_chinese

ENDINGS = frozenset({".txt", ".md", ".pdf", ".csv", ".tsv"})
MOST_SHOWN = 5
Read = tuple[Case, tuple[str, ...]]
"""A case, and what is to be told of how it was read."""


def read(name: str, data: bytes, labels: Mapping[str, str] | None = None) -> Read:
    """The one case in a text file. `labels`: what labels that are numbers mean. Raises `CaseError`: a sentence that names the
    file and the mend."""
    ending = Path(name).suffix.lower()
    text, remarks = read_pdf(name, data, 2 * LONGEST) if ending == ".pdf" else (decoded(name, data), ())
    with _named(name):
        if ending in (".csv", ".tsv") or (ending == ".txt" and looks_like_lines(text)):
            return _task(name, task_from_text(text, ending, labels)), ()
        document = Document(
            id=_id(name),
            title=_title(name, text if ending == ".md" else ""),
            language="zh" if is_chinese(text[:2000]) else "en",
            text=text,
            source=Path(name).name[:400],
        )
    return document, remarks


def task(name: str, rows: Sequence[Mapping[str, Any]], labels: Mapping[str, str] | None = None) -> LabelledTask:
    """A labelled task from rows of JSON. `labels`: what labels that are numbers mean. Raises `CaseError`: a sentence that names
    the file and the mend."""
    with _named(name):
        return _task(name, task_from_rows(rows, labels))


@contextmanager
def _named(name: str) -> Iterator[None]:
    """What is wrong is reported with the file's name."""
    try:
        yield
    except ValidationError as error:
        raise CaseError(f"{name}: {' '.join(explain(error)[:MOST_SHOWN])}") from error
    except NumberedLabels as error:
        raise NumberedLabels(error.values, name) from error
    except CaseError as error:
        raise CaseError(f"{name}: {error}") from error


def _task(name: str, fields: dict[str, Any]) -> LabelledTask:
    chinese = is_chinese("".join(item["text"] for item in fields["items"][:20]))
    known = {"id": _id(name), "title": _title(name, ""), "language": "zh" if chinese else "en"}
    return LabelledTask.model_validate({**fields, **known, "source": Path(name).name[:400]})


def _id(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", Path(name).stem).strip("-").lower()[:60] or "text"


def _title(name: str, markdown: str) -> str:
    heading = re.search(r"^#+\s+(.+)$", markdown, re.MULTILINE)
    return (heading.group(1) if heading else Path(name).stem.replace("_", " ").replace("-", " ")).strip()[
        :200
    ] or "Text"


def decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(f"{name} is not UTF-8 text. Save it as UTF-8.") from error
