"""Answers narrowed to what can be said to one question, so that the schema names the ids, labels and numbers."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import BaseModel, BeforeValidator, Field, WithJsonSchema, create_model
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from courtroom.models.task import Longest

MOST_LISTED = 100
"""Of a longer list the schema names nothing; the answer is checked when it is read."""


def narrowed(answer: type[BaseModel], choices: Mapping[str, tuple[str, ...]]) -> type[BaseModel]:
    """An answer of the same name, its fields in the same order, whose named fields take these choices and no others.

    A narrowed field is declared as a string or a tuple of strings, and may be None. `choices`: by field name, all that
    can be chosen. One of none, or of more than `MOST_LISTED`, stays as it is."""
    kept = {field: tuple(dict.fromkeys(names)) for field, names in choices.items()}
    listed = tuple((field, names) for field, names in kept.items() if 0 < len(names) <= MOST_LISTED)
    return _narrowed(answer, listed) if listed else answer


@lru_cache(maxsize=256)
def bounded(
    answer: type[BaseModel], field: str, low: int, high: int, of: type[BaseModel] | None = None
) -> type[BaseModel]:
    """An answer of the same name with a number, or a list of so many items, between two bounds. `of`: the items, where
    they are bounded themselves."""
    declared = answer.model_fields[field]
    bounds: Any = Field(ge=low, le=high) if declared.annotation is int else Field(min_length=low, max_length=high)
    kind: Any = declared.annotation if of is None else tuple[of, ...]  # type: ignore[valid-type]
    return _with(answer, {field: (kind, FieldInfo.merge_field_infos(declared, bounds, annotation=kind))})


@lru_cache(maxsize=256)
def asked_at_most(answer: type[BaseModel], field: str, most: int | Longest) -> type[BaseModel]:
    """An answer of the same name whose list or text is asked for up to this length; a longer one is read too."""
    declared, longest = answer.model_fields[field], Longest(most, most, most) if isinstance(most, int) else most
    return _with(answer, {field: (Annotated[declared.annotation, longest], declared)})


@lru_cache(maxsize=256)
def asked_within(answer: type[BaseModel], field: str, low: int, high: int) -> type[BaseModel]:
    """An answer of the same name whose number is asked for between two bounds; one beyond them is read all the same."""
    declared, schema = answer.model_fields[field], {"type": "integer", "minimum": low, "maximum": high}
    return _with(answer, {field: (Annotated[declared.annotation, WithJsonSchema(schema)], declared)})


@lru_cache(maxsize=256)
def known(answer: type[BaseModel], field: str, value: Any) -> type[BaseModel]:
    """An answer of the same name with a field of one value: nobody is asked for it, and what is said is read as it."""
    declared = answer.model_fields[field]
    always = BeforeValidator(lambda _: value)
    kind: Any = Annotated[declared.annotation, always, SkipJsonSchema()]  # type: ignore[type-arg]
    return _with(answer, {field: (kind, Field(default=value))})


def chosen(answer: type[BaseModel], field: str, options: tuple[str, ...]) -> type[BaseModel]:
    """An answer of the same name whose field is one of these options; where there is one, nobody is asked for it."""
    return known(answer, field, options[0]) if len(options) == 1 else narrowed(answer, {field: options})


@lru_cache(maxsize=256)
def _narrowed(answer: type[BaseModel], choices: tuple[tuple[str, tuple[str, ...]], ...]) -> type[BaseModel]:
    declared = {name: answer.model_fields[name] for name, _ in choices}
    merged = {name: FieldInfo.merge_field_infos(field, annotation=None) for name, field in declared.items()}
    return _with(answer, {name: (_type(declared[name].annotation, names), merged[name]) for name, names in choices})


def _with(answer: type[BaseModel], fields: Mapping[str, tuple[Any, FieldInfo]]) -> type[BaseModel]:
    declared: dict[str, Any] = {**fields}
    return create_model(answer.__name__, __base__=answer, __doc__=answer.__doc__, **declared)


def _type(declared: Any, names: tuple[str, ...]) -> Any:
    one: Any = Literal[names]
    parts = [declared, *get_args(declared)]
    several = any(get_origin(part) is tuple for part in parts)
    narrow: Any = tuple[one, ...] if several else one
    return narrow | None if type(None) in parts else narrow


def same(value: Any, choices: tuple[str, ...]) -> Any:
    """Return the choice that is meant, whatever its case, marks, hyphens or a word before it; else the value."""
    if not isinstance(value, str) or value in choices:
        return value
    for text in (folded(value), _BEFORE.sub("", folded(value))):
        meant = [choice for choice in choices if folded(choice) == text]
        if len(meant) == 1:
            return meant[0]
    return value


_MARKS = " \t\n\"'`“”‘’*#:：.。()（）[]【】"
_BEFORE = re.compile(r"^(?:the |my )?(?:(?:candidate|option|choice|vote|answer|候选人?|选项)\s*[:：]?\s*)?")


def folded(text: str) -> str:
    """Return a choice without what writers vary."""
    return " ".join(text.casefold().replace("_", " ").replace("-", " ").strip(_MARKS).split())
