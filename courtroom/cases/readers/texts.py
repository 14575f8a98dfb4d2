"""Documents from texts, PDF and what office programs make; labelled tasks from tables and JSON lines."""

import io
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.cases.papers import OFFICE, read_papers
from courtroom.cases.readers.pdf import read_pages
from courtroom.cases.readers.tables import NumberedLabels, TaskRead, table_in, task_from_table
from courtroom.errors import CaseError, CourtroomError
from courtroom.text.encoding import decoded, in_utf8
from courtroom.text.languages import language_of

ENDINGS = frozenset({".txt", ".md", ".pdf", ".csv", ".tsv", *OFFICE})
MOST_SHOWN, MOST_LEFT_OUT = 5, 100
"""Of things that do not fit, and of rows that were left out, so many are told."""
Read = tuple[Case, tuple[str, ...]]
"""A case, and what is to be told of how it was read."""


def read(name: str, data: bytes, labels: Mapping[str, str] | None = None, encoding: str = "") -> Read:
    """Read the one case in a text file.

    Args:
        labels: what labels that are numbers mean.
        encoding: as a person says; empty: found from the bytes.
    """
    ending = Path(name).suffix.lower()
    if ending == ".pdf":
        found = read_pages(name, data)
        if not any(map(str.strip, found.pages)):
            raise CaseError(
                f"{name} holds no text, only pictures of it. "
                "Choose “From papers” on the page Cases: there its pages are pictures."
            )
        return _document(name, "\n\n".join(filter(None, found.pages))), found.told(name)
    if ending in OFFICE:
        return _office(name, data)
    with named(name):
        file, remark = in_utf8(io.BytesIO(data), encoding)
        table = None if ending == ".md" else table_in(file, ending)
        if table is not None:
            return task(name, task_from_table(table, labels), remark)
        text, remark = decoded(data, encoding)
    return _document(name, text, text if ending == ".md" else ""), tuple(filter(None, [remark]))


def _office(name: str, data: bytes) -> Read:
    """A document of all texts in a file; it has no pictures."""
    papers = read_papers(name, data)
    text = "\n\n".join(piece.text for piece in papers.pieces if piece.text)
    if not text:
        raise CaseError(f"{name} holds only pictures. Choose “From papers” on the page Cases, and bring it there.")
    pictures = [piece.source for piece in papers.pieces if piece.medium]
    left_out = f"Pictures in {name} are no part of a document, and were left out: {len(pictures)}."
    return _document(name, text), (*papers.remarks, *([left_out] if pictures else ()))


@contextmanager
def named(where: str, data: Any = None) -> Iterator[None]:
    """Report what is wrong with the place where it is, such as a file's name; `data`: what may not fit."""
    try:
        yield
    except ValidationError as error:
        lines = explain(error, data)
        more = f" And {len(lines) - MOST_SHOWN} more." if len(lines) > MOST_SHOWN else ""
        raise CaseError(f"{where}: {' '.join(lines[:MOST_SHOWN])}{more}") from error
    except NumberedLabels as error:
        raise NumberedLabels(error.values, where) from error
    except CourtroomError as error:
        raise CaseError(f"{where}: {error}") from error


def task(name: str, read: TaskRead, remark: str) -> Read:
    """Give the labelled task that was read of a file of this name."""
    known = _known(name, "\n".join(item["text"] for item in read.fields["items"][:20]))
    left_out = [*read.left_out[:MOST_LEFT_OUT]]
    if more := len(read.left_out) - len(left_out):
        left_out.append(f"And {more} more rows were left out.")
    case = LabelledTask.model_validate({**read.fields, **known})
    return case, (*filter(None, [remark]), *left_out, *read.remarks)


def _document(name: str, text: str, markdown: str = "") -> Document:
    with named(name):
        return Document(text=text, **_known(name, text, markdown))


def _known(name: str, text: str, markdown: str = "") -> dict[str, Any]:
    """What a file's name says of a case, and its language by a text; a heading of Markdown is its title."""
    heading = re.search(r"^#+\s+(.+)$", markdown, re.MULTILINE)
    title = heading[1] if heading else re.sub("[_-]", " ", Path(name).stem)
    return {
        "id": re.sub(r"[^A-Za-z0-9]+", "-", Path(name).stem).strip("-").lower()[:60] or "text",
        "title": title.strip()[:200] or "Text",
        "language": language_of(text),
        "source": Path(name).name[:400],
    }
