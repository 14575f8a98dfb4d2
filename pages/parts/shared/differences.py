"""How runs differ: values and texts in columns; and the family of a run, each fork named by what it changed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import streamlit as st

from courtroom import Courthouse, CourtroomError, Procedure, Setup
from courtroom.access import acting_account
from courtroom.declarations.knobs import choice_in_words, field_at, path_in_words
from courtroom.engine.run import Run, Status
from courtroom.evaluation.comparison import Difference, Differences, Relative, forked
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.language import _, language, translated
from courtroom.text.words import changes, short
from pages.parts.shared.blocks_view import SHORT, diff_html
from pages.parts.shared.house import open_run
from pages.parts.shared.shown import STYLES, escaped, field_in_words, moment, rows_chosen

LETTERS = "ABCD"
"""What runs are called where they stand next to each other."""
ALIKE = 0.2
"""Share of two texts that must be the same for marks of what has changed to be read more easily than the text."""


def differences_view(differences: Iterable[Difference], name: Callable[[str], str] = str) -> None:
    """A row each, a column a run: the first value that is there, and what the others change in it."""
    differences = list(differences)
    if not differences:
        return
    head = "".join(f"<th>{letter}</th>" for letter in LETTERS[: len(differences[0].values)])
    lines = ((name(one.path), "".join(f"<td>{cell}</td>" for cell in _cells(one.values))) for one in differences)
    rows = (f"<tr><th>{escaped(title)}</th>{cells}</tr>" for title, cells in lines)
    st.html(STYLES / "beside.css")
    st.html(f"<table class=beside><tr><th></th>{head}</tr>{''.join(rows)}</table>")


def worded(what: str, one: Difference, kind: type[Setup]) -> Difference:
    """Return a difference in words. `what`: the field of `Differences` that it is in."""
    if what == "setup":
        field = field_at(kind, one.path)
        values = tuple(translated(choice_in_words(field, v)) if field and isinstance(v, str) else v for v in one.values)
        return Difference(path=translated(path_in_words(kind, one.path)), values=values)
    return one if what == "interventions" else Difference(path=field_in_words(one.path), values=one.values)


def _cells(values: Sequence[Any]) -> Iterator[str]:
    first = next(place for place, value in enumerate(values) if value is not None)
    for place, value in enumerate(values):
        if value is None:
            yield '<span class="as">–</span>'
        elif place != first and value == values[first]:
            text = told(value) if _is_short(value) else _("as in {letter}", letter=LETTERS[first])
            yield f'<span class="as">{escaped(text)}</span>'
        elif place == first or (_is_short(value) and _is_short(values[first])):
            yield escaped(told(value))
        else:
            yield _marked(told(values[first]), told(value))


def _marked(before: str, after: str) -> str:
    """What a text changes; where next to nothing is left of the other one, just the text."""
    kept = sum(len(text.replace(" ", "")) for kind, text in changes(before, after) if kind == "same")
    if kept < ALIKE * max(len(before), len(after)):
        return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{escaped(after)}</div>'
    return diff_html(before, after)


def told(value: Any) -> str:
    """A value to be read, a line for each of its parts."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_flat(part)}" for name, part in value.items() if part not in (None, "", [], {}))
    if isinstance(value, list):
        return "\n".join(_flat(part) for part in value) or "–"
    return str(value)


def _in_line(value: Any) -> str:
    words = value.get("text", value) if isinstance(value, dict) else value  # of a piece of evidence, what it says
    return short(", ".join(line for line in told(words).splitlines() if line), SHORT)


def change_in_line(before: Any, after: Any) -> str:
    """What became of a value, in one line; of long lists, what is gone and what is new."""
    if isinstance(before, list) and isinstance(after, list) and max(len(told(before)), len(told(after))) > SHORT:
        gone = [part for part in before if part not in after]
        new = [part for part in after if part not in before]
        parts = [
            f"{word} {_in_line(parts[0])}"
            if len(parts) == 1
            else _("{word} {parts} of {size}", word=word, parts=len(parts), size=size)
            for word, parts, size in ((_("without"), gone, len(before)), (_("with new"), new, len(after)))
            if parts
        ]
        return "; ".join(parts) or _("in another order")
    return f"{_in_line(before)} → {_in_line(after)}"


def _is_short(value: Any) -> bool:
    return len(told(value)) <= SHORT


def _flat(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


MAX_CHANGES_TOLD = 4
MAX_NAME_CHARACTERS = 70
MAX_RUNS_SHOWN = 60


def changes_in_words(changes: Differences, kind: type[Setup]) -> list[str]:
    """Return a line for each thing that a fork changed: a setting, or a piece of the case."""
    pieces = groupby(changes.case, lambda one: ".".join(one.path.split(".")[:2]))
    lines = [_piece_in_words(path, {one.path: one.values for one in those}) for path, those in pieces]
    # What was changed on purpose comes first; a model changes too where a fork has somebody else answer.
    by_purpose = sorted(changes.all(), key=lambda pair: pair[1].path.startswith("model."))
    others = (worded(what, one, kind) for what, one in by_purpose if what != "case")
    return [*lines, *(f"{one.path}: {change_in_line(*one.values)}" for one in others)]


def _piece_in_words(path: str, changed: Mapping[str, Sequence[Any]]) -> str:
    """Return what became of a piece of a case: by its text, as dates, files and their digests say little."""
    name, (before, after) = field_in_words(path), changed.get(path, ("", ""))
    if after is None:
        return _("without {name}", name=name)
    before, after = changed.get(f"{path}.text", (before, after))
    return f"{name}: {change_in_line(before, after)}" if before != after else _("{name} changed", name=name)


def fork_name(house: Courthouse, run: str, parent: str | None) -> str:
    """Return what a run is called among its family: by what it changed; empty where it is no fork."""
    person = acting_account()
    return _fork_name(house, run, parent, language(), person.id if person else "") if parent else ""


@st.cache_data(max_entries=2_000, ttl=60, show_spinner=False)
def _fork_name(_house: Courthouse, run: str, parent: str, language: str, reader: str) -> str:
    """The same for each reader of a language: of another's parent a reader may see nothing."""
    try:
        rows = [_house.store.run(one) for one in (parent, run)]
        changes = forked(_house.store, _house.procedures, *rows)
    except (CourtroomError, KeyError):  # the parent, or a procedure, is not there any more
        return ""
    return _shortly(changes_in_words(changes, _house.procedures[rows[1].procedure].setup))


def _shortly(lines: Sequence[str]) -> str:
    if not lines:
        return _("nothing changed")
    name = lines[0] if len(lines[0]) <= MAX_NAME_CHARACTERS else f"{lines[0][:MAX_NAME_CHARACTERS]}…"
    return name + (_("; and {changes} more", changes=len(lines) - 1) if len(lines) > 1 else "")


@st.cache_resource(max_entries=2_000, show_spinner=False)
def procedure_of(_house: Courthouse, run: str, procedure: str) -> Procedure | None:
    """Return a run's procedure, as it is about the run's case; None where it is not installed."""
    known = _house.procedures.get(procedure)
    return known.about(_house.store.case(_house.store.run(run))) if known and known.choices_in else known


def outcome_title(known: Procedure | None, outcome: str | None) -> str:
    """Return an outcome by its title; the same where it has none, as a judgment in words."""
    titles = {choice.name: choice.title for choice in known.choices} if known else {}
    return translated(titles.get(outcome, outcome)) if outcome else ""


def run_label(house: Courthouse, row: Run) -> str:
    """Return a run as an entry of a list to choose from."""
    outcome = outcome_title(procedure_of(house, row.id, row.procedure), row.outcome)
    parts = row.title, fork_name(house, row.id, row.parent), outcome
    return " · ".join(filter(None, (*parts, moment(row.created), row.id)))


MAX_OFFERED = 100
"""A search finds the others."""


def runs_to_choose(house: Courthouse, key: str, chosen: Iterable[str], status: Status | None = None) -> dict[str, Run]:
    """The newest runs of a status by their ids, and those that are chosen; above them a search where there are more."""
    listed = RunList(house.database)
    held = RunFilter(status=status or "")
    rows = listed.newest(held, MAX_OFFERED + 1)
    if len(rows) > MAX_OFFERED:
        about, hint = _("The newest {most} that fit can be chosen below.", most=MAX_OFFERED), _("case, outcome or id")
        text = st.text_input(_("Search runs"), key=key, placeholder=hint, help=about).strip()
        rows = listed.newest(replace(held, text=text), MAX_OFFERED) if text else rows[:MAX_OFFERED]
    rows += [one for one in listed.named(chosen) if one not in rows and status in (None, one.status)]
    return {one.id: one for one in rows}


def family_view(house: Courthouse, run: str, marks: Sequence[str] = ()) -> None:
    """Draw all runs of the family, each by what it changed; those in `marks` stand out. A row that is chosen is opened."""
    family = house.family(run, MAX_RUNS_SHOWN)
    rows = [_relative(house, one, marks or (run,)) for one in family]
    for place in rows_chosen(rows, f"family-{run}", ["", "Run", "Outcome", "When", "Changed", "run"]):
        if (other := family[place].run.id) != st.query_params.get("run"):  # its own page would be opened without end
            open_run(other)
    more = len(house.store.family_ids(run)) - MAX_RUNS_SHOWN
    st.caption(_("and {runs} more", runs=more) if more > 0 else _("Select a row to open its run."))


def _relative(house: Courthouse, relative: Relative, marks: Sequence[str]) -> tuple[str, ...]:
    row = relative.run
    known = procedure_of(house, row.id, row.procedure)
    lines = changes_in_words(relative.changes, known.setup if known else Setup)
    indent = "\u2003" * (relative.depth - 1) + "└ " if relative.depth else ""
    name = indent + (_shortly(lines) if relative.depth else row.title)
    outcome = outcome_title(known, row.verdict.outcome) if row.verdict else row.status
    changed = "; ".join(lines[:MAX_CHANGES_TOLD]) if relative.depth else ""
    return "●" if row.id in marks else "", name, outcome, moment(row.created), changed, row.id
