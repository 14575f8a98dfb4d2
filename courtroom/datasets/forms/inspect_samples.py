"""Questions with options: samples of Inspect (`input`, `choices`, `target`) and LexGLUE's CaseHOLD.

The option's letter is the label. In CaseHOLD (`context`, `endings`, `label`) the number points into the record's own
`endings`, so it needs no name. A sample without options has its target as label.
"""

import string
from collections.abc import Iterator, Sequence
from typing import Any

from courtroom.cases.labelled import Labelled
from courtroom.datasets.forms.form import Context, Form, ImportedRow
from courtroom.datasets.packing import SharedFields
from courtroom.datasets.source import SourceFile
from courtroom.errors import CaseError

QUESTION = "Which of the options is right?"


def _is_casehold(record: dict[str, Any], part: SourceFile) -> bool:
    return {"context", "endings"} <= record.keys()


def _casehold(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
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
    yield ImportedRow(Labelled(id="text", text=_with_options(passage, options), label=letter), id=_id(own, context))


def _is_sample(record: dict[str, Any], part: SourceFile) -> bool:
    return {"input", "target"} <= record.keys() and "output" not in record


def _sample(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    text, target = _input(record["input"]), record["target"]
    if isinstance(target, list):
        if len(target) > 1:
            raise CaseError(f"`target` has {len(target)} answers; a text can have one label here. Keep one.")
        target = target[0] if target else None
    label = None if target in (None, "") else str(target).strip()
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
    yield ImportedRow(Labelled(id="text", text=text, label=label), id=_id(record.get("id", ""), context))


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
    return "\n".join(
        (text, *(f"{letter}) {one}" for letter, one in zip(string.ascii_uppercase, options, strict=False)))
    )


def _id(own: Any, context: Context) -> str:
    return str(own) if own not in (None, "") else f"{context.split or context.part.stem}-{context.number}"


def _frame(record: dict[str, Any]) -> SharedFields:
    chosen = record.get("choices") or record.get("endings")
    return SharedFields(question=QUESTION if chosen else "")


CASEHOLD = Form("casehold", "CaseHOLD of LexGLUE", "labelled", _is_casehold, _casehold, _frame)
SAMPLES = Form("inspect", "Samples of Inspect", "labelled", _is_sample, _sample, _frame)
