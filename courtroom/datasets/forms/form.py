"""What a form of dataset is: by what its records are known, and what they become."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from courtroom.cases.case import Case
from courtroom.cases.files import Package, packed
from courtroom.cases.kinds import parse_case
from courtroom.cases.labelled import LabelledTask
from courtroom.cases.readers import verdictbench
from courtroom.cases.readers.tables import plain_id
from courtroom.datasets.row import IncomingRow, SharedFields
from courtroom.datasets.source import SourceFile


@dataclass(frozen=True)
class Context:
    """Where a record is, and what is said of it outside of it."""

    part: SourceFile
    number: int
    place: str
    split: str
    names: Mapping[str, str] | None
    """What labels that are numbers mean; None where nothing says it."""
    unpack: Callable[[Package], Case]
    """Keeps a case's media and gives the case with their content hashes."""
    label: str
    """Of a table of labelled texts: the column of the label."""


@dataclass(frozen=True)
class Form:
    """A form of records. `read` raises `CaseError` or Pydantic's `ValidationError` for a record that can't be used."""

    name: str
    title: str
    fits: Callable[[dict[str, Any], SourceFile], bool]
    read: Callable[[dict[str, Any], Context], Iterator[IncomingRow]]
    may_hold_labels: Callable[[dict[str, Any]], Iterable[tuple[str, str]]] = field(default=lambda record: ())
    """Of a record: the column of its text and one that may hold a label, which this form does not read as one."""
    reads: frozenset[str] = frozenset()
    """The columns that it reads, in lower case; empty where it says itself what it does not read."""
    labels_in: str = ""
    """Of labelled texts: the column whose numbers may need names; empty where numbers are no labels."""


def having(*names: str, but: str = "") -> Callable[[dict[str, Any], SourceFile], bool]:
    """Whether a record has all of these fields, and not that one."""
    return lambda record, part: {*names} <= record.keys() and but not in record


def row_id(made: IncomingRow, context: Context) -> str:
    """A row's id: the record's own where it has one, else what its content gives."""
    text = made.id
    if re.fullmatch(r"-?\d+", text):  # numbers begin anew in each file
        of = made.split if made.split is not None else context.split or context.part.stem
        text = f"{of}-{text}" if of else text
    return plain_id(text) or made.case.id


def _own(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    case = parse_case(record)
    if not isinstance(case, LabelledTask):
        yield IncomingRow(_with_media(case, context), id=case.id)
        return
    frame = SharedFields.of(case)
    for item in case.items:
        yield IncomingRow(item, id=item.id, frame=frame)
    for example in case.examples:
        yield IncomingRow(example, id=f"example-{example.id}", split="examples", frame=frame)


def _dispute(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    data, remarks = verdictbench.convert(record)
    case = parse_case(data)
    yield IncomingRow(_with_media(case, context), id=case.id, remarks=remarks)


def _with_media(case: Case, context: Context) -> Case:
    """The case with its media taken into the store; they are in its file's folder."""
    return context.unpack(packed(case, context.part.beside)) if any(case.media()) else case


OWN = Form("courtroom", "Cases of Courtroom", having("kind", "title"), _own)
DISPUTES = Form(
    "verdictbench", "Disputes like VerdictBench's", lambda record, part: verdictbench.looks_like(record), _dispute
)
