"""Documents from `.txt`, `.md` and `.pdf`; labelled tasks from `.csv`, `.tsv`, JSON lines and `text;label` lines."""

import io
import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.cases.labelled import LONGEST, Document, LabelledTask
from courtroom.cases.readers.tables import NumberedLabels, looks_like_lines, task_from_rows, task_from_text
from courtroom.errors import CaseError
from courtroom.text.words import is_chinese

ENDINGS = frozenset({".txt", ".md", ".pdf", ".csv", ".tsv"})
MOST_SHOWN = 5


def read(name: str, data: bytes, labels: Mapping[str, str] | None = None) -> Case:
    """The one case in a text file. `labels`: what labels that are numbers mean. Raises `CaseError`: a sentence that names the
    file and the mend."""
    ending = Path(name).suffix.lower()
    text = _pdf(name, data) if ending == ".pdf" else decoded(name, data)
    with _named(name):
        if ending in (".csv", ".tsv") or (ending == ".txt" and looks_like_lines(text)):
            return _task(name, task_from_text(text, ending, labels))
        return Document(
            id=_id(name),
            title=_title(name, text if ending == ".md" else ""),
            language="zh" if is_chinese(text[:2000]) else "en",
            text=text,
            source=Path(name).name[:400],
        )


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


def _pdf(name: str, data: bytes) -> str:
    from pypdf import PdfReader  # only those who bring a PDF wait for it

    logging.getLogger("pypdf").setLevel(logging.ERROR)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise CaseError(f"{name} is locked with a password. Save it without one.")
        pages: list[str] = []
        for page in reader.pages:
            pages.append(page.extract_text())
            if sum(map(len, pages)) > 2 * LONGEST:
                break  # too long in any case, and the document itself says so
    except CaseError:
        raise
    except Exception as error:  # noqa: BLE001  whatever a damaged file makes the library raise
        raise CaseError(f"{name} can't be read as PDF. Check that it opens elsewhere, or paste its text.") from error
    # Lines of a printed page are joined to paragraphs, hyphens at their ends taken out.
    joined = (re.sub(r"(\w)-\n(\w)", r"\1\2", page) for page in pages)
    text = "\n\n".join(re.sub(r"(?<![.!?:。！？])\n(?!\n)", " ", page) for page in joined)
    if not text.strip():
        raise CaseError(f"{name} holds no text, only pictures of it. Paste the text, or make it searchable first.")
    return text
