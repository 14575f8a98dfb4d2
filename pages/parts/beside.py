"""Things of several runs beside each other: a column a run, what is new against the first marked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.evaluation.comparison import Difference
from pages.parts.blocks_view import diff_html
from pages.parts.inert import inert, literal

LETTERS = "ABCD"
"""What runs are called where they stand beside each other."""
SHORT = 90
"""Characters up to which a value fits a cell of a table."""


def differences_view(differences: Iterable[Difference]) -> None:
    """Short values in one table, long ones each with what has changed in it."""
    differences = list(differences)
    short = [one for one in differences if all(_is_short(value) for value in one.values)]
    if short:
        rows = [[one.path, *(told(value) for value in one.values)] for one in short]
        columns = ["What", *LETTERS[: len(short[0].values)]]
        st.dataframe(pd.DataFrame(rows, columns=columns), hide_index=True, width="stretch")
    for one in differences:
        if one not in short:
            st.markdown(f"**{literal(one.path)}**")
            texts_beside([None if value is None else told(value) for value in one.values])


def texts_beside(texts: Sequence[str | None], heads: Sequence[str] = ()) -> None:
    """A text a column: the first that is there as it is, the others with what they change against it.

    Args:
        heads: HTML above each text.
    """
    first = next((place for place, text in enumerate(texts) if text is not None), None)
    for place, column in enumerate(st.columns(len(texts), border=True)):
        text = texts[place]
        with column:
            st.caption(LETTERS[place] + (f", against {LETTERS[first]}" if first not in (None, place) and text else ""))
            if heads and heads[place]:
                st.html(heads[place])
            if text is None or first is None:
                st.caption("Nothing here.")
            elif place == first:
                inert(text)
            else:
                st.html(diff_html(str(texts[first]), text))


def told(value: Any) -> str:
    """A value to be read, a line for each of its parts."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return "\n".join(f"{name}: {_flat(part)}" for name, part in value.items())
    if isinstance(value, list):
        return "\n".join(_flat(part) for part in value) or "–"
    return str(value)


def _is_short(value: Any) -> bool:
    return not isinstance(value, dict) and len(told(value)) <= SHORT and told(value).count("\n") < 4


def _flat(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
