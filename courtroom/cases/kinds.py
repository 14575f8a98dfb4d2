"""Which class a case of a kind has."""

from pathlib import Path
from typing import Any

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, DraftBatch, Trial
from courtroom.cases.dispute import Dispute, PrecedentBatch
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.cases.question import Question
from courtroom.errors import CaseError

CASE_KINDS: dict[str, type[Case]] = {
    "question": Question,
    "dispute": Dispute,
    "precedents": PrecedentBatch,
    "criminal": CriminalCase,
    "document": Document,
    "labelled": LabelledTask,
    "trial": Trial,
    "drafts": DraftBatch,
}

WITH_OPTIONS = "with-options"
"""What a procedure hears that takes every kind of case which is decided for an option."""


def kinds_of(heard: str) -> tuple[str, ...]:
    """Return the kinds of case that a procedure hears, by what it declares; none where it is unknown."""
    if heard == WITH_OPTIONS:
        return tuple(name for name, kind in CASE_KINDS.items() if kind.has_options)
    return (heard,) if heard in CASE_KINDS else ()


PROMPTS = Path(__file__).parent / "prompts"
"""What a case of a kind looks like in a prompt: `<kind>.md.j2`. Procedures have it by default, or include it by name."""


def parse_case(data: Any) -> Case:
    """A case from plain data. Raises `CaseError`: it is no object, or of no kind that is known; `ValidationError`: a field is
    missing or wrong."""
    if not isinstance(data, dict):
        raise CaseError("a case must be a JSON object with fields such as `kind`, `id` and `title`.")
    kind = data.get("kind")
    if not isinstance(kind, str) or kind not in CASE_KINDS:
        known = ", ".join(f"“{name}”" for name in CASE_KINDS)
        wrong = f"“{kind[:40]}” is not known" if isinstance(kind, str) else "it is missing or no text"
        raise CaseError(f"the field `kind` must say what kind of case this is, but {wrong}. Known kinds: {known}.")
    return CASE_KINDS[kind].model_validate(data)
