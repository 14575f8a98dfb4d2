"""Tables whose heads and words are read in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.language import ENGLISH, N_, language, translated

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
    """The same rows with the engine's words in the reader's language."""
    return (
        frame if language() == ENGLISH else frame.map(lambda cell: translated(cell) if isinstance(cell, str) else cell)
    )
