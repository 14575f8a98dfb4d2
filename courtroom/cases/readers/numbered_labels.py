"""Labels that are numbers: what they mean is never guessed, as one benchmark's 0 is another's 1."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from courtroom.errors import CaseError

UNLABELLED = frozenset({"-1", "-1.0", "-", ""})
"""What stands in place of a label where there is none: -1 in GLUE's test sets, `-` in SNLI where annotators disagreed."""
_NUMBER = re.compile(r"[+-]?\d+(?:\.0+)?")
MOST_SHOWN = 20


class NumberedLabels(CaseError):
    """Labels are numbers, and nothing says what they mean.

    Args:
        values: the numbers that were met.
        where: the file's name.
    """

    def __init__(self, values: Iterable[str], where: str = "") -> None:
        self.values = tuple(sorted(set(values), key=lambda value: (len(value), value)))
        shown = ", ".join(self.values[:MOST_SHOWN])
        pairs = ",".join(f"{value}=NAME" for value in self.values[:3])
        super().__init__(
            f"{f'{where}: ' if where else ''}The labels are numbers ({shown}), and the file does not say what they mean. Write names in their place, or "
            f"give the names: {pairs}."
        )


def as_label(value: Any, names: Mapping[str, str] | None) -> str | None:
    """A label's name; None where the text has no label.

    Args:
        value: as the file has it.
        names: what the numbers mean, by the file's own features or by a person's word.

    Raises:
        NumberedLabels: it is a number without a name.
        CaseError: it is a number that is not among the names; the end of a sentence that begins with the row.
    """
    text = "" if value is None else str(value).strip()
    if names is not None and text in names:
        return names[text]
    if text in UNLABELLED:
        return None
    if not _NUMBER.fullmatch(text):
        return text
    number = str(int(float(text)))
    if names is None:
        raise NumberedLabels([number])
    if number not in names:
        known = ", ".join(f"{key}={name}" for key, name in list(names.items())[:MOST_SHOWN])
        raise CaseError(f"has the label {number}, which is not among {known}. Correct it, or remove the row.")
    return names[number]


def names_from(text: str) -> dict[str, str]:
    """The names that a person gives, such as `0=entailment,1=not_entailment`; empty where nothing is given.

    Raises:
        CaseError: it is not of this form.
    """
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    names = {number.strip(): name.strip() for number, _, name in pairs}
    if any(not equals or not _NUMBER.fullmatch(number.strip()) or not name.strip() for number, equals, name in pairs):
        raise CaseError(
            "Give the labels' names as NUMBER=NAME with commas between, such as 0=entailment,1=not_entailment."
        )
    if len(names) != len(pairs):
        raise CaseError("A number has two names. Give each number once.")
    if len({name.casefold() for name in names.values()}) != len(names):
        raise CaseError("Two numbers have one name. Give each a name of its own.")
    return names
