"""The published forms of datasets, each with the field names of its own files."""

from typing import Any

from courtroom.datasets.forms.criminal import CAIL, LAWBENCH, LECARD, MUD, MULTILJP, SIMCOURT, SIMUCOURT
from courtroom.datasets.forms.form import DISPUTES, OWN, Form
from courtroom.datasets.forms.texts import CASEHOLD, DOCUMENTS, PAIRS, SAMPLES, TABLE
from courtroom.datasets.source import SourceFile
from courtroom.errors import CourtroomError

FORMS: dict[str, Form] = {
    form.name: form
    for form in (
        *(OWN, LECARD, SIMCOURT, SIMUCOURT, MULTILJP, MUD, LAWBENCH, CAIL),
        *(CASEHOLD, SAMPLES, DISPUTES, TABLE, PAIRS, DOCUMENTS),
    )
}
"""By name, the most particular one first: a record is read by the first that it fits."""


def form_of(record: dict[str, Any], part: SourceFile) -> Form | None:
    """The form that a record has; None where it is none that is known."""
    return next((form for form in FORMS.values() if form.fits(record, part)), None)


def named(name: str) -> Form:
    """A form by its name. Raises `CourtroomError`: there is none."""
    if name not in FORMS:
        raise CourtroomError(f"There is no form “{name}”. Known: {', '.join(FORMS)}.")
    return FORMS[name]
