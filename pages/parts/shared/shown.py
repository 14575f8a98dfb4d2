"""How things are shown: tables and amounts in the reader's language, and text from outside.

Cases, answers, names, files, addresses, errors that quote them: Streamlit reads most texts as Markdown, `st.html` reads HTML; both
can fetch a picture from anywhere or link there. What was not written in this code goes through `literal` or `escaped` on its way
into them, or is shown by `inert`, and then no markup of it takes effect. Tables, code, plain text fields and lists to select from
show text as it is. What figures show is made plain where it is drawn (`courtroom.figures.layout`). What the engine says is
translated at this door too. `tests/test_door.py` finds what was forgotten.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from html import escape
from typing import Any, TypeVar

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.errors import Unreadable
from courtroom.language import ENGLISH, N_, _, language, ngettext, translated

MARKS = "\\`*_{}[]()<>#+-.!|~$:=&\"'@"


def inert(text: str, *, small: bool = False, faint: bool = False) -> None:
    """Show text exactly as written, line breaks included; what the engine says in it is translated."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;"
    style += "font-size:0.875rem;" if small else ""
    style += "opacity:0.75;" if faint else ""
    st.html(f'<div style="{style}">{escaped(text)}</div>')


def literal(text: object) -> str:
    """For Markdown: titles, captions, messages, labels, tooltips, options of radios and pills. In one line."""
    return "".join(f"\\{c}" if c in MARKS else c for c in " ".join(translated(str(text)).split()))


def declared(text: str) -> str:
    """What the author of a procedure wrote: titles and help of knobs, roles and views. Ours, and so Markdown as it is. Streamlit
    gives a widget's label to screen readers as it was written; `literal` would have them read its marks."""
    return translated(text)


def escaped(text: object, *, as_it_is: bool = False) -> str:
    """For HTML, between tags and in quoted attributes. `as_it_is`: whether it is a part of a text, which is never the engine's whole sentence."""
    return escape(str(text) if as_it_is else translated(str(text)), quote=True)


T = TypeVar("T")

HEADS = (
    *(N_("member"), N_("name"), N_("model"), N_("connection"), N_("gender"), N_("age"), N_("status"), N_("background")),
    *(N_("traits"), N_("interests"), N_("take"), N_("change"), N_("what"), N_("calls"), N_("verdict"), N_("flips"), N_("swing")),
    *(N_("votes"), N_("share"), N_("low"), N_("high"), N_("done"), N_("run"), N_("seed"), N_("split"), N_("rows")),
    *(N_("outcome known"), N_("categories"), N_("characters (mean)"), N_("characters (median)"), N_("characters (most)")),
    *(N_("follower"), N_("followed"), N_("knob"), N_("now"), N_("link"), N_("case"), N_("arm"), N_("state"), N_("outcome")),
    *(N_("cost"), N_("latency"), N_("reason"), N_("repeat"), N_("category"), N_("none"), N_("repeated"), N_("prediction")),
    *(N_("statutes"), N_("charges"), N_("cases"), N_("First instance"), N_("Second instance"), N_("same"), N_("different"), N_("imported")),
    *(N_("running"), N_("paused"), N_("done"), N_("waiting"), N_("cancelled"), N_("recorded"), N_("person")),
)  # fmt: skip
"""Heads of columns and single words in them that are made where nobody looks at them."""


def table(frame: pd.DataFrame, config: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """A table to read; what the engine says in it is translated, names and numbers stay."""
    return st.dataframe(_read(frame), hide_index=True, width="stretch", column_config=heads(frame, config), **more)


def heads(frame: pd.DataFrame, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Each column by its name in the reader's language, where it has no other."""
    return {**{name: translated(str(name)) for name in frame.columns}, **(config or {})}


def in_language(frame: pd.DataFrame) -> pd.DataFrame:
    """A table without settings of its columns, heads and all."""
    return _read(frame).rename(columns=heads(frame))


def _read(frame: pd.DataFrame) -> pd.DataFrame:
    if language() == ENGLISH:
        return frame
    return frame.map(lambda cell: translated(cell) if isinstance(cell, str) else cell)


def money(dollars: float | None) -> str:
    if dollars is None:
        return _("price unknown")
    if dollars == 0:
        return _("free")
    return f"${dollars:,.2f}" if dollars >= 0.01 else f"{dollars * 100:.2g} ¢"


def count(number: float) -> str:
    """1,234 or 1.2 M."""
    for size, name in ((1e9, " bn"), (1e6, " M"), (1e4, " k")):
        if number >= size:
            return f"{number / (size if size != 1e4 else 1e3):.1f}{name}"
    return f"{number:,.0f}"


def many(number: int, thing: str) -> str:
    """1 run, 2 runs."""
    return ngettext(f"{{number}} {thing}", f"{{number}} {thing}s", number)


def duration(seconds: float) -> str:
    """0.2 s, 45 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return _("{minutes} min {rest} s", minutes=minutes, rest=rest) if rest else _("{minutes} min", minutes=minutes)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)


def moment(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def one_of(label: str, options: Sequence[T], key: str, first: T, shown: Callable[[T], str] = str) -> T:
    """A row of options of which one is always chosen; only a screen reader hears the label."""
    return st.segmented_control(
        declared(label),
        options,
        default=first,
        required=True,
        key=key,
        format_func=lambda one: literal(shown(one)),
        label_visibility="collapsed",
    )


def in_columns(items: Sequence[T], number: int) -> Iterator[tuple[DeltaGenerator, T]]:
    """Each with its place in rows of so many."""
    for start in range(0, len(items), number):
        yield from zip(st.columns(number), items[start : start + number], strict=False)


def page_of(total: int, size: int, key: str | None = None) -> int:
    """The page of a list that the reader chooses; the first where there is no other."""
    pages = max(1, (total - 1) // size + 1)
    if key and st.session_state.get(key, 1) > pages:  # lines have gone since
        st.session_state[key] = pages
    if pages == 1:
        return 1
    return int(st.number_input(_("Page of {pages}", pages=f"{pages:d}"), 1, pages, 1, key=key, width=160))


SHOWN = 5


def unreadable_rows(rows: Sequence[Unreadable]) -> None:
    for row in rows[:SHOWN]:
        st.warning(literal(str(row)), icon=":material/broken_image:")
    if len(rows) > SHOWN:
        st.caption(_("and {rows} more; `python -m courtroom doctor` lists all.", rows=len(rows) - SHOWN))
