"""Cases in Courtroom's own form, and disputes like VerdictBench's."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from courtroom.cases.case import Case
from courtroom.cases.files import Package
from courtroom.cases.labelled import LabelledTask
from courtroom.cases.readers import verdictbench
from courtroom.datasets.forms.form import Around, Form, Made, case_of
from courtroom.datasets.packing import SharedFields, frame_of


def _own(record: dict[str, Any], around: Around) -> Iterator[Made]:
    case = case_of(record)
    if not isinstance(case, LabelledTask):
        yield Made(_with_media(case, around), id=case.id)
        return
    for item in case.items:
        yield Made(item, id=item.id)
    for example in case.examples:
        yield Made(example, id=f"example-{example.id}", split="examples")


def _frame(record: dict[str, Any]) -> SharedFields | None:
    if record.get("kind") != "labelled":
        return None
    case = case_of(record)
    assert isinstance(case, LabelledTask)
    return frame_of(case)


def _dispute(record: dict[str, Any], around: Around) -> Iterator[Made]:
    data, remarks = verdictbench.convert(record)
    case = case_of(data)
    yield Made(_with_media(case, around), id=case.id, remarks=remarks)


def _with_media(case: Case, around: Around) -> Case:
    """The case with its media taken into the store; they are in its file's folder."""
    found = {medium.file: around.part.beside(medium.file) for medium in case.media()}
    files = {name: data for name, data in found.items() if data is not None}
    return around.unpack(Package(case, files)) if around.unpack and found else case


OWN = Form(
    "courtroom", "Cases of Courtroom", "", lambda record, part: "kind" in record and "title" in record, _own, _frame
)
DISPUTES = Form(
    "verdictbench",
    "Disputes like VerdictBench's",
    "dispute",
    lambda record, part: verdictbench.looks_like(record),
    _dispute,
)
