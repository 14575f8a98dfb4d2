"""How runs differ: values and texts in columns, a column a run; and the family of a run, each fork with what it changed."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import choice_in_words, field_at, path_in_words
from courtroom.engine.setup import Setup
from courtroom.evaluation.comparison import Difference, Relative
from courtroom.language import _, translated
from courtroom.text.words import changes
from pages.parts.shared.blocks_view import diff_html
from pages.parts.shared.house import open_run
from pages.parts.shared.shown import escaped, inert, literal, moment

LETTERS = "ABCD"
"""What runs are called where they stand next to each other."""
ALIKE = 0.2
"""Share of two texts that must be the same for marks of what has changed to be read more easily than the text."""
SHORT = 60
"""Characters up to which a value is read at a glance, and needs no marks where it differs."""


def differences_view(differences: Iterable[Difference], name: Callable[[str], str] = str) -> None:
    """A row each, a column a run: the first value that is there, and what the others change in it."""
    differences = list(differences)
    if not differences:
        return
    letters = LETTERS[: len(differences[0].values)]
    head = "".join(f"<th>{letter}</th>" for letter in letters)
    rows = (
        f"<tr><th>{escaped(name(one.path))}</th>{''.join(f'<td>{cell}</td>' for cell in _cells(one.values))}</tr>"
        for one in differences
    )
    st.html(f"{STYLE}<table class=beside><tr><th></th>{head}</tr>{''.join(rows)}</table>")


def setting(kind: type[Setup], one: Difference) -> Difference:
    """A difference between setups, its path and its choices in words."""
    field = field_at(kind, one.path)
    values = tuple(translated(choice_in_words(field, v)) if field and isinstance(v, str) else v for v in one.values)
    return Difference(path=translated(path_in_words(kind, one.path)), values=values)


STYLE = (
    "<style>.beside{width:100%;border-collapse:collapse;table-layout:fixed;font-size:.9rem}"
    ".beside th,.beside td{border-bottom:1px solid rgba(128,128,128,.35);padding:.35rem .6rem;text-align:left;"
    "vertical-align:top;white-space:pre-wrap;overflow-wrap:anywhere;font-weight:400}"
    ".beside th:first-child{width:18%}.beside th{opacity:.75}.beside .as{opacity:.6}</style>"
)


def _cells(values: Sequence[Any]) -> Iterator[str]:
    first = next(place for place, value in enumerate(values) if value is not None)
    for place, value in enumerate(values):
        if value is None:
            yield '<span class="as">–</span>'
        elif place == first:
            yield escaped(told(value))
        elif value == values[first]:
            yield f'<span class="as">{escaped(told(value)) if _is_short(value) else _("as in {letter}", letter=LETTERS[first])}</span>'
        elif _is_short(value) and _is_short(values[first]):
            yield escaped(told(value))
        else:
            yield _marked(told(values[first]), told(value))


def _marked(before: str, after: str) -> str:
    """What a text changes; where next to nothing is left of the other one, just the text."""
    kept = sum(len(text.replace(" ", "")) for kind, text in changes(before, after) if kind == "same")
    if kept < ALIKE * max(len(before), len(after)):
        return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{escaped(after)}</div>'
    return diff_html(before, after)


def texts_beside(texts: Sequence[str | None], heads: Sequence[str] = ()) -> None:
    """A text a column: the first that is there as it is, the others with what they change against it."""
    first = next((place for place, text in enumerate(texts) if text is not None), None)
    for place, column in enumerate(st.columns(len(texts), border=True)):
        text = texts[place]
        with column:
            against = first if first != place and text else None
            told = _(", against {letters}", letters=LETTERS[against]) if against is not None else ""
            st.caption(LETTERS[place] + told)
            if heads and heads[place]:
                st.html(heads[place])  # plain: HTML by `choice_html`
            if text is None or first is None:
                st.caption(_("Nothing here."))
            elif place == first:
                inert(text)
            else:
                st.html(_marked(str(texts[first]), text))


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


def in_line(value: Any, most: int = SHORT) -> str:
    text = ", ".join(line for line in told(value).splitlines() if line)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def change_in_line(before: Any, after: Any, most: int = 60) -> str:
    """What became of a value, in one line; of long lists, what is gone and what is new."""
    if isinstance(before, list) and isinstance(after, list) and max(len(told(before)), len(told(after))) > most:
        gone = [part for part in before if part not in after]
        new = [part for part in after if part not in before]
        parts = [
            f"{word} {in_line(parts[0], most)}"
            if len(parts) == 1
            else _("{word} {parts} of {size}", word=word, parts=len(parts), size=size)
            for word, parts, size in ((_("without"), gone, len(before)), (_("with new"), new, len(after)))
            if parts
        ]
        return "; ".join(parts) or _("in another order")
    return f"{in_line(before, most)} → {in_line(after, most)}"


def _is_short(value: Any) -> bool:
    return len(told(value)) <= SHORT


def _flat(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


CHANGES = 4
DEEPEST = 8
"""Forks of forks from here on are not indented further."""
SHOWN = 60
"""Runs of a family that are shown; the rest are counted."""


def family_view(house: Courthouse, run: str, marks: Sequence[str] = ()) -> None:
    """All runs of the family; those in `marks` stand out."""
    for one in house.family(run, SHOWN):
        known = house.procedures.get(one.run.procedure)
        _line(one, one.run.id in (marks or (run,)), known.setup if known else Setup)
    if (more := len(house.store.families.ids(run)) - SHOWN) > 0:
        st.caption(_("and {runs} more", runs=more))


def _line(relative: Relative, marked: bool, kind: type[Setup]) -> None:
    row = relative.run
    indent, line = st.columns([0.2 + 0.5 * min(relative.depth, DEEPEST), 12])
    with indent:
        if relative.depth:
            st.html('<div style="text-align:right;opacity:.6">└─</div>')
    with line:
        icon = ":material/radio_button_checked:" if marked else ":material/radio_button_unchecked:"
        name = f"**{literal(row.id)}**" if marked else literal(row.id)
        if st.button(name, key=f"kin-{row.id}", icon=icon, type="tertiary"):
            open_run(row.id)
        outcome = literal(row.verdict.outcome) if row.verdict else literal(row.status)
        st.caption(f"{outcome} · {moment(row.created)} · {_changed(relative, kind)}")


def _changed(relative: Relative, kind: type[Setup]) -> str:
    if not relative.depth:
        return _("the first")
    changes = list(relative.changes.all())
    if not changes:
        return _("nothing changed")
    told = [setting(kind, one) if what == "setup" else one for what, one in changes[:CHANGES]]
    lines = [f"{literal(one.path)}: {literal(change_in_line(*one.values))}" for one in told]
    more = len(changes) - CHANGES
    return "; ".join(lines) + (_("; and {changes} more", changes=more) if more > 0 else "")
