"""The one door for text from outside: cases, answers, names, files, addresses, errors that quote them.

Streamlit reads most texts as Markdown, `st.html` reads HTML; both can fetch a picture from anywhere or link there. What was not
written in this code goes through `literal` or `escaped` on its way into them, or is shown by `inert`, and then no markup of
it takes effect. Tables, code, plain text fields and lists to select from show text as it is. What figures show is made plain
where it is drawn (`courtroom.figures.layout`). What the engine says is translated at this door too. `tests/test_door.py` finds what was forgotten.
"""

from html import escape

import streamlit as st

from courtroom.language import translated

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
