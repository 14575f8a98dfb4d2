"""What does not fit a schema, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import ValidationError

LONGEST_NAME = 80
"""Characters of a field's name that are shown: a stranger's file may have one of megabytes."""
_NUMBER, _WHOLE = "must be a number.", "must be a whole number."
_TRUTH = "must be true or false, without quotes."
_LIST, _OBJECT = "must be a list. Put it in [ ].", "must be an object with named fields. Put it in {{ }}."
_MOMENT = "must be a date and time such as 2026-03-01T12:00:00."

SENTENCES: Mapping[str, str] = {
    "missing": "is missing. Add this field.",
    "extra_forbidden": "is not a known field. Remove it, or check its spelling.",
    "literal_error": "must be one of {expected}.",
    "string_type": "must be text. Put it in quotes.",
    "string_unicode": "holds half a character. Write it again.",
    "string_too_short": "must have at least {min_length} characters. Write more.",
    "string_too_long": "may have {max_length} characters. Shorten it.",
    "too_short": "must have at least {min_length} entries. Add more.",
    "too_long": "may have {max_length} entries. Remove some.",
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float", "int_parsing_size"), _WHOLE),
    **dict.fromkeys(("float_type", "float_parsing", "finite_number"), _NUMBER),
    **dict.fromkeys(("bool_type", "bool_parsing"), _TRUTH),
    **dict.fromkeys(("tuple_type", "list_type", "set_type"), _LIST),
    **dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), _OBJECT),
    **dict.fromkeys(("datetime_type", "datetime_parsing", "datetime_from_date_parsing"), _MOMENT),
    "greater_than_equal": "must be at least {ge:,.15g}.",
    "greater_than": "must be more than {gt:,.15g}.",
    "less_than_equal": "must be at most {le:,.15g}.",
    "less_than": "must be less than {lt:,.15g}.",
}
"""By Pydantic's type of error, with what its context holds."""

FORMS: Mapping[str, str] = {
    "id": "letters, digits, `.`, `_` and `-` only; in evidence the side and a number, such as `buyer-1`",
    "language": "a code such as `en` or `zh`",
    "currency": "three capitals such as `CNY`",
    "sha256": "64 hexadecimal digits; it may be left out",
}
"""What a field must look like whose pattern says nothing to a reader."""


def explain(error: ValidationError, data: Any = None) -> list[str]:
    """A sentence for each thing that does not fit, naming the field as a reader would.

    Args:
        data: what did not fit; entries of lists are then named by their ids too.
    """
    return [f"{place(item['loc'], data)}: {_sentence(item)}" for item in error.errors()]


def place(location: Sequence[int | str], data: Any = None) -> str:
    """`("evidence", 1, "media", 0, "file")` as `evidence 2 (seller-1) › media 1 › file`."""
    words: list[str] = []
    for part in location:
        data = _within(data, part)
        if isinstance(part, int) and words:
            known = data.get("id") if isinstance(data, dict) else None
            words[-1] += f" {part + 1}" + (f" ({known[:40]})" if isinstance(known, str) and known else "")
        else:
            name = str(part)
            words.append(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…")
    return " › ".join(words) or "the whole"


def _within(data: Any, part: int | str) -> Any:
    if isinstance(data, dict):
        return data.get(part)
    return data[part] if isinstance(data, (list, tuple)) and isinstance(part, int) and part < len(data) else None


def _sentence(item: Any) -> str:
    if item["type"] == "string_pattern_mismatch":
        return f"must be {FORMS.get(str(item['loc'][-1]), 'of the form ' + item['ctx']['pattern'])}."
    if sentence := SENTENCES.get(item["type"]):
        return sentence.format(**item.get("ctx", {}))
    return f"{str(item['msg']).removeprefix('Value error, ').rstrip('.')}. Correct the value."
