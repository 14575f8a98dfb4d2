"""The setup being edited, kept when a page is left; and its knobs, drawn from what its fields declare."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any, Literal, NoReturn, get_args, get_origin

import streamlit as st
from pydantic.fields import FieldInfo

from courtroom import Case, Preset, Procedure
from courtroom.declarations import knobs as facts
from courtroom.declarations.changes import merged, read_values
from courtroom.declarations.setup import Budget, Setup, changed_values
from courtroom.experiments.what_if import LEFT_AS_THEY_ARE
from courtroom.language import _, listed, translated
from pages.parts.shared.house import courthouse
from pages.parts.shared.shown import literal

EDITED = {facts.Widget.PERSONAS: "Jury", facts.Widget.GRAPH: "Follow-graph", facts.Widget.RULES: "Rules"}
SHARE = "Save and share"


@dataclasses.dataclass
class SetupDraft:
    """One procedure's setup under way. Widgets read from `values` and write into it."""

    procedure: str
    kind: type[Setup]
    values: dict[str, Any]
    seed: int = 0
    preset: str = ""
    version: int = 0
    forked: str = ""
    """The run from which the values come, while a fork of it is set up."""
    history: list[str] = dataclasses.field(default_factory=list)
    is_run: bool = False
    """Whether it is of a run that waits: its members are there, and its file and link are the run's."""

    @classmethod
    def of(cls, procedure: Procedure, *, is_fork: bool = False) -> SetupDraft:
        """Return the session's draft of a procedure; that of a fork leaves the other one as it is."""
        drafts: dict[str, SetupDraft] = st.session_state.setdefault("drafts", {})
        name = f"{procedure.name}-fork" if is_fork else procedure.name
        if name not in drafts:
            draft = cls(procedure.name, procedure.setup, procedure.setup().model_dump(mode="json"))
            alike = (one for one in procedure.presets if merged(draft.values, one.changes) == draft.values)
            draft.preset = next((one.title for one in alike), "")
            drafts[name] = draft
            draft.history = [draft.frozen()]
        return drafts[name]

    def key(self, name: str) -> str:
        """A widget's key; new after a load or an undo, so that the widget shows the loaded value."""
        return f"{self.procedure}{self.forked}-{self.version}-{name}"

    def validated(self) -> Setup:
        return self.kind.model_validate(self.values)

    def complete(self, case: Case) -> dict[str, Any]:
        return courthouse().with_people(self.validated(), self.seed).complete(case, self.seed).model_dump(mode="json")

    def start_from(self, preset: Preset) -> NoReturn:
        """Defaults with a preset's changes; models and keys stay as chosen."""
        kept = {name: self.values[name] for name in ("model", "roles", "members", "budget")}
        self.values = merged({**self.kind().model_dump(mode="json"), **kept}, preset.changes)
        self.preset = preset.title
        self.redraw()

    def load(self, shared: dict[str, Any]) -> None:
        self.values = {**self.kind().model_dump(mode="json"), **shared.get("setup", {})}
        self.seed = int(shared.get("seed", self.seed))
        self.preset = ""
        self.version += 1

    def fork_of(self, run: str, setup: Setup, seed: int) -> None:
        if self.forked != run:
            self.forked = run
            self.load({"setup": setup.model_dump(mode="json"), "seed": seed})
            self.history = [self.frozen()]

    def shared(self, case: str = "") -> dict[str, Any]:
        """What is saved, or carried by a file or a link: the changes against the defaults."""
        changes = changed_values(self.kind, self.values)
        return {"procedure": self.procedure, "seed": self.seed, "setup": changes, **({"case": case} if case else {})}

    def sections(self) -> list[str]:
        own = (title for widget, title in EDITED.items() if widget in self.drawn)
        return ["Settings", "Models", *own, "Prompts", *([] if self.is_run else [SHARE])]

    @property
    def drawn(self) -> dict[facts.Widget, str]:
        return facts.fields_drawn(self.kind)

    def frozen(self) -> str:
        """The values as text, to compare and to go back to."""
        return json.dumps([self.seed, self.values], sort_keys=True, ensure_ascii=False)

    def remember(self) -> None:
        if (state := self.frozen()) != self.history[-1]:
            self.history = [*self.history[-50:], state]

    @property
    def can_undo(self) -> bool:
        return len(self.history) > 1 or self.frozen() != self.history[-1]

    def undo(self) -> NoReturn:
        if self.frozen() == self.history[-1] and len(self.history) > 1:
            self.history.pop()
        self.seed, self.values = json.loads(self.history[-1])
        self.redraw()

    def redraw(self) -> NoReturn:
        """Draw the page again, with new widgets that show what the draft holds now."""
        self.version += 1
        st.rerun()


OWN_SECTION = {"model", "roles", "members", "prompts", "embedding", "budget"}
AMONG_PLAIN_FIELDS = (facts.Widget.SEATS, facts.Widget.KNOWLEDGE_BASE)


def knobs(draft: SetupDraft, case: Case) -> None:
    """The fields that have no section or editor of their own, by what they are about; those most touched stand first."""
    own = OWN_SECTION | {name for widget, name in draft.drawn.items() if widget not in AMONG_PLAIN_FIELDS}
    fields = {name: field for name, field in draft.kind.model_fields.items() if name not in own}
    offered = {name: dict(found) for name in fields if (found := case.choosable(name))}
    single = {name: field for name, field in fields.items() if not facts.is_group(field)}
    for group in facts.Group:
        mine = {name: field for name, field in single.items() if facts.group_of(field) is group}
        first = {name: field for name, field in mine.items() if facts.comes_first(field)} or mine
        if not mine and group is not facts.Group.COST:
            continue
        st.subheader(translated(group.value))
        for name in (name for name in first if name in offered):
            chosen = [one for one in draft.values[name] if one in offered[name]]
            title, choices = translated(fields[name].title or name), offered[name]
            looks: dict[str, Any] = {"key": draft.key(name), "help": _about(fields[name])}
            looks["placeholder"] = _("the first one")
            draft.values[name] = st.multiselect(title, list(choices), chosen, choices.__getitem__, **looks)
        _grid({name: field for name, field in first.items() if name not in offered}, draft.values, draft, "")
        if more := {name: field for name, field in mine.items() if name not in first}:
            changed = any(draft.values[name] != _default(field) for name, field in more.items())
            titles = listed(field.title or name for name, field in more.items())
            opened = st.session_state.setdefault(draft.key(f"more-{group}"), changed)  # it stays so while one works
            with st.expander(_("More: {titles}", titles=translated(titles)), expanded=opened):
                _grid(more, draft.values, draft, "")
        if group is facts.Group.COST:
            st.caption(_("Budget: the run pauses when one of these is used up; it can be raised and continued."))
            _grid(Budget.model_fields, draft.values["budget"], draft, "budget-")
    for name, field in ((name, field) for name, field in fields.items() if facts.is_group(field)):
        title = translated(field.title or name)
        parts: dict[str, FieldInfo] = field.annotation.model_fields  # type: ignore[union-attr]
        if facts.group_of(field) is facts.Group.TALK:
            place = st.container()
            place.subheader(title, help=_about(field))
        else:
            changed = any(draft.values[name][part] != _default(one) for part, one in parts.items())
            place = st.expander(title, expanded=st.session_state.setdefault(draft.key(f"more-{name}"), changed))
        with place:
            _grid(parts, draft.values[name], draft, f"{name}-")


def _about(field: FieldInfo) -> str | None:
    return translated(field.description or "") or None


def _default(field: FieldInfo) -> Any:
    default = field.get_default(call_default_factory=True)
    return list(default) if isinstance(default, tuple) else default


def _grid(fields: Mapping[str, FieldInfo], values: dict[str, Any], draft: SetupDraft, prefix: str) -> None:
    columns = st.columns(3, gap="large")
    base = facts.fields_drawn(draft.kind).get(facts.Widget.KNOWLEDGE_BASE)
    for number, (name, field) in enumerate(fields.items()):
        with columns[number % 3]:
            values[name] = (_base if prefix + name == base else knob)(field, values[name], draft.key(prefix + name))
            if values[name] != _default(field):
                st.caption(_("Default: {default}", default=literal(facts.choice_in_words(field, _default(field)))))


def _base(field: FieldInfo, value: str, key: str) -> str:
    """One of the knowledge bases that are there; the one that is set stays, also where it is not there."""
    options = list(dict.fromkeys((*courthouse().knowledge.bases(), value)))
    title, place = translated(field.title or ""), options.index(value)
    return str(st.selectbox(title, options, place, key=key, help=_about(field), format_func=translated))


LINE_CHARACTERS = 1_000
"""A text that may be longer is typed on several lines."""


def knob(field: FieldInfo, value: Any, key: str) -> Any:
    title, help_text = translated(field.title or ""), _about(field)
    kind, optional = facts.plain(field.annotation)
    if get_origin(kind) is Literal:
        options = list(get_args(kind))
        return st.selectbox(title, options, options.index(value), key=key, help=help_text, format_func=_called(field))
    if kind is bool:
        return st.toggle(title, value, key=key, help=help_text)
    if kind in (int, float):
        low, high = facts.bounds(field)
        if kind is float and (low, high) == (0, 1) and not optional:
            return st.slider(title, 0.0, 1.0, float(value), 0.05, key=key, help=help_text)
        least, most, number = (None if one is None else kind(one) for one in (low, high, value))
        looks: dict[str, Any] = {"step": 1 if kind is int else 0.1, "placeholder": _("not set") if optional else None}
        return st.number_input(title, least, most, number, key=key, help=help_text, **looks)
    if get_origin(kind) is tuple and get_args(kind)[0] is int:
        hint = _("drawn by the seed")
        text = st.text_input(title, ", ".join(map(str, value)), key=key, help=help_text, placeholder=hint)
        return [number for number in read_values(text) if isinstance(number, int)]
    if get_origin(kind) is tuple:
        text = st.text_area(title, "\n".join(value), key=key, help=help_text)
        return [line.strip() for line in text.splitlines() if line.strip()] or value
    is_long = any(getattr(rule, "max_length", 0) > LINE_CHARACTERS for rule in field.metadata)
    return (st.text_area if is_long else st.text_input)(title, value or "", key=key, help=help_text)


def budget_fields(now: Budget, key: str) -> Budget:
    """Draw a field for each limit, next to each other; 0 is no limit."""
    limits = {}
    for column, (name, field) in zip(st.columns(3), Budget.model_fields.items(), strict=True):
        zero, limit = (0.0 if name == "money" else 0), getattr(now, name)
        shown: dict[str, Any] = {"key": f"{key}-{name}", "placeholder": _("no limit"), "help": _("0 is no limit.")}
        limits[name] = column.number_input(translated(field.title or name), zero, None, limit, **shown) or None
    return Budget.model_validate(limits)


def _called(field: FieldInfo) -> Callable[[Any], str]:
    return lambda value: translated(facts.choice_in_words(field, value))


MODELS = ("model.id", "model.temperature")


def varied(procedure: Procedure) -> dict[str, FieldInfo]:
    leaves = dict(facts.leaves(procedure.setup))
    kinds = {path: facts.plain(field.annotation)[0] for path, field in leaves.items()}
    simple = [path for path, kind in kinds.items() if kind in (int, float, str, bool) or get_origin(kind) is Literal]
    return {path: leaves[path] for path in simple if path in MODELS or path.partition(".")[0] not in LEFT_AS_THEY_ARE}


def knob_values(field: FieldInfo, now: Any, key: str, path: str) -> list[Any]:
    """The values of one knob: picked where there are few, typed where there are many."""
    kind = facts.plain(field.annotation)[0]
    about = _about(field)
    title = _("{title}: now {now}", title=literal(field.title or path), now=literal(facts.choice_in_words(field, now)))
    if kind is bool:
        st.caption(_("{title}; both are heard.", title=title))
        return [True, False]
    if get_origin(kind) is Literal:
        others = [value for value in get_args(kind) if value != now]
        return st.multiselect(title, list(get_args(kind)), others, key=key, help=about, format_func=_called(field))
    hint = _("values with commas, e.g. ") + (_("offline, openai/gpt-4o-mini") if kind is str else "1, 2, 3")
    text = st.text_input(title, key=key, help=about, placeholder=hint)
    return read_values(text) if text.strip() else []
