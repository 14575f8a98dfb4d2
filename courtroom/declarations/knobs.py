"""What a field of a setup can hold, read from its type, its bounds and what it declares."""

import json
import tomllib
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel, Field
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo

from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import BUNDLED


class Widget(StrEnum):
    """What a field is, where a page draws more for it than one plain field."""

    SEATS = "seats"
    """How many seats there are; somebody can join while a run is paused."""
    EMPTY_SEATS = "empty-seats"
    """Numbers of the seats that are left empty."""
    PERSONAS = "personas"
    """A `Persona` for each seat; drawn by the seed where there are none."""
    GRAPH = "graph"
    """A `FollowGraph` over the seats; their names are those of the personas."""
    POINTS_OF_VIEW = "points-of-view"
    """What a member looks at first, a text by member; edited beside the members' models."""
    RULES = "rules"
    """Rules that are given to members, a text each."""
    FROM_CASE = "from-case"
    """Written out from the case; nobody edits it."""
    KNOWLEDGE_BASE = "knowledge-base"
    """The name of a knowledge base of criminal law; a page offers those that are there."""


Share = Annotated[float, Field(ge=0, le=1)]
Few = Annotated[int, Field(ge=1, le=10)]
"""Of rounds, turns and the like."""


class Group(StrEnum):
    """What a knob is about; a page draws knobs by their groups, in this order. The value is the group's title."""

    WHO = "Who decides"
    TALK = "How they deliberate"
    LOOK = "What they look at"
    COST = "What it costs"


def knob(
    default: Any,
    title: str,
    description: str | None = None,
    group: Group = Group.TALK,
    *,
    widget: Widget | None = None,
    varied: bool = True,
    set_for: str = "",
    first: bool = False,
    labels: Mapping[str, str] | None = None,
    **limits: Any,
) -> Any:
    """Return a field of a setup, with what it declares of itself.

    Args:
        group: what it is about.
        widget: what it is; None is a plain knob.
        varied: whether a what-if may propose other values. Not what is no question about the matter itself.
        set_for: of a threshold on a similarity, the embedding for which its default was chosen.
        first: whether it is among the knobs that most people touch; the others of its group are folded away.
        labels: what its choices are called, where that is more than their words without hyphens.
        limits: as pydantic's `Field` has them.
    """
    said: JsonDict = {"widget": widget, "set_for": set_for, "first": first, "labels": dict(labels or {})}
    extra: JsonDict = {name: value for name, value in said.items() if value}
    extra |= {} if varied else {"varied": False}
    extra |= {} if group is Group.TALK else {"group": group}
    return Field(default=default, title=title, description=description, json_schema_extra=extra, **limits)


def knobs(code: str) -> Callable[..., Any]:
    """Return `knob` for a setup whose texts stand in the TOML file with the name of its module: `knob("rounds", 3,
    ge=1)`; in a file that declares more, under `knobs`. `code`: the module's `__file__`."""
    file = tomllib.loads(Path(code).with_suffix(".toml").read_text(encoding="utf-8"))
    texts = file.get("knobs", file)

    def of(name: str, default: Any, **limits: Any) -> Any:
        said = dict(texts[name])
        group = Group[said.pop("group", "talk").upper()]
        widget = Widget(said.pop("widget")) if "widget" in said else None
        return knob(default, group=group, widget=widget, **said, **limits)

    return of


def knowledge_base(description: str) -> Any:
    """The knob of the knowledge base in which things are looked up; at first the one that Courtroom brings along."""
    return knob(BUNDLED, "Knowledge base", description, Group.LOOK, widget=Widget.KNOWLEDGE_BASE, first=True)


def group_of(field: FieldInfo) -> Group:
    return Group(str(_extra(field).get("group", Group.TALK)))


def comes_first(field: FieldInfo) -> bool:
    return _extra(field).get("first") is True


def fields_drawn(kind: type[BaseModel]) -> dict[Widget, str]:
    """The name of the field of each widget that a kind of setup declares."""
    found = {_extra(field).get("widget"): name for name, field in kind.model_fields.items()}
    return {widget: found[widget] for widget in Widget if widget in found}


def seating(kind: type[BaseModel], persons: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the changes of a setup that seat these persons and nobody else, in their order."""
    drawn = fields_drawn(kind)
    if Widget.PERSONAS not in drawn:
        raise CourtroomError(
            "The members of this procedure have no personas. Choose a procedure with a jury of persons."
        )
    seated = {Widget.SEATS: len(persons), Widget.PERSONAS: [dict(one) for one in persons], Widget.EMPTY_SEATS: []}
    return {drawn[widget]: value for widget, value in seated.items() if widget in drawn}


def thresholds(kind: type[BaseModel]) -> Iterator[tuple[str, str]]:
    """The title of every knob whose default was chosen for one embedding, with that embedding's name."""
    for field in kind.model_fields.values():
        if is_group(field):
            yield from thresholds(field.annotation)  # type: ignore[arg-type]
        elif embedding := _extra(field).get("set_for"):
            yield field.title or "", str(embedding)


def _extra(field: FieldInfo) -> JsonDict:
    return field.json_schema_extra if isinstance(field.json_schema_extra, dict) else {}


def plain(annotation: Any) -> tuple[Any, bool]:
    """The type without None, and whether None is allowed."""
    if get_origin(annotation) in (Union, types.UnionType):
        kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
        return kinds[0], True
    return annotation, False


def bounds(field: FieldInfo) -> tuple[float | None, float | None]:
    """The least and the largest number that a field takes; None is no bound."""
    bound_names = ("ge", "gt", "le")
    told = ((name, getattr(rule, name, None)) for rule in field.metadata for name in bound_names)
    rules = {name: bound for name, bound in told if bound is not None}
    return rules.get("gt", rules.get("ge")), rules.get("le")


def is_group(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def leaves(kind: type[BaseModel], prefix: str = "") -> Iterator[tuple[str, FieldInfo]]:
    """Path and field of every knob that may be varied, those in groups as `group.knob`."""
    for name, field in kind.model_fields.items():
        if _extra(field).get("varied") is False:
            continue
        if is_group(field):
            yield from leaves(field.annotation, f"{prefix}{name}.")  # type: ignore[arg-type]
        else:
            yield prefix + name, field


def field_at(kind: type[BaseModel], path: str) -> FieldInfo | None:
    """The field at a path such as `graph.kind`; None where there is none."""
    first, _, rest = path.partition(".")
    field = kind.model_fields.get(first)
    if field is None or not rest:
        return field
    return field_at(field.annotation, rest) if is_group(field) else None  # type: ignore[arg-type]


def choice_in_words(field: FieldInfo | None, value: Any) -> str:
    """One value of a knob, in words, such as `small world` or `yes`."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None or value == "":
        return "not set"
    if isinstance(value, str):
        if field is None or get_origin(plain(field.annotation)[0]) is not Literal:
            return value
        labels = _extra(field).get("labels")
        return str(labels.get(value) if isinstance(labels, dict) and value in labels else value.replace("-", " "))
    return json.dumps(value, ensure_ascii=False)


def path_in_words(kind: type[BaseModel], path: str) -> str:
    """What a path in a setup is called, such as `Personas · 5 · Traits` for `jury.5.traits`."""
    first, _, rest = path.partition(".")
    field = kind.model_fields.get(first)
    title = (field.title if field else None) or first.replace("_", " ").capitalize()
    if field is None or not rest:
        return " · ".join([title, *([path_in_words(BaseModel, rest)] if rest else [])])
    if is_group(field):
        return path_in_words(field.annotation, rest)  # type: ignore[arg-type]
    held = get_args(plain(field.annotation)[0])
    inner = next((one for one in held if isinstance(one, type) and issubclass(one, BaseModel)), BaseModel)
    place, _, rest = rest.partition(".")
    return " · ".join([title, place, *([path_in_words(inner, rest)] if rest else [])])


def setting_in_words(kind: type[BaseModel], path: str, value: Any) -> str:
    """A knob at a value, such as `Follow-graph: small world` or `18 jurors`."""
    title, field = path_in_words(kind, path), field_at(kind, path)
    if isinstance(value, int) and not isinstance(value, bool) and title.isalpha() and title.endswith("s"):
        return f"{value} {title.lower() if value != 1 else title.lower()[:-1]}"
    return f"{title}: {choice_in_words(field, value)}"
