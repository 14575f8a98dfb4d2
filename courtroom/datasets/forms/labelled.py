"""Labelled texts: GLUE and SuperGLUE (RTE, WNLI, MRPC, QNLI, SST-2, QQP, BoolQ), SNLI, ANLI, Emotion, LexGLUE, and tables.

Columns are those of `cases.readers.tables`. Texts of LexGLUE's ECtHR are lists of paragraphs. A text with several labels
is refused: a labelled task has one label for a text. A column `category` beside the label is what results are broken down by.
"""

from collections.abc import Iterator
from typing import Any

from courtroom.cases.labelled import Labelled
from courtroom.cases.readers.tables import columns_of, folded, item_of
from courtroom.datasets.forms.form import Context, Form, ImportedRow
from courtroom.datasets.packing import SharedFields
from courtroom.datasets.records import looks_labelled
from courtroom.datasets.source import SourceFile
from courtroom.errors import CaseError

NO_CATEGORY = "no category"
"""Of a row whose cell is blank, in a table with such a column beside the label."""


def _fits(record: dict[str, Any], part: SourceFile) -> bool:
    return "kind" not in record and looks_labelled(record)


def _read(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    row = folded(record)
    columns = columns_of(set(row))
    if columns is None:
        raise CaseError("it needs a column “text”, or a pair such as “premise” and “hypothesis”.")
    for name in columns:
        if isinstance(row.get(name), list):
            row[name] = "\n".join(map(str, row[name]))
    try:
        found = item_of(row, columns, context.label, context.names)
    except CaseError as error:
        if type(error) is CaseError:
            raise CaseError(f"it {error}") from error
        raise
    own = found.pop("id") or f"{context.split or context.part.stem}-{context.number}"
    category = ""
    if "category" in row and context.label != "category":
        category = str(row["category"] or "").strip() or NO_CATEGORY
    yield ImportedRow(Labelled(id="text", **found), id=own, category=category)


def _frame(record: dict[str, Any]) -> SharedFields:
    columns = columns_of({str(name).casefold() for name in record}) or ("text",)
    return SharedFields(names=(columns[0], columns[1]) if len(columns) > 1 else ("text", "second text"))


TABLE = Form("labelled", "Labelled texts", "labelled", _fits, _read, _frame, labels_in="label")
