"""Tables whose heads and words are read in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.language import ENGLISH, language, translated


def table(frame: pd.DataFrame, config: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """A table to read; what the engine says in it is translated, names and numbers stay."""
    return st.dataframe(_read(frame), hide_index=True, width="stretch", column_config=heads(frame, config), **more)


def heads(frame: pd.DataFrame, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Each column by its name in the reader's language, where it has no other."""
    return {**{name: translated(str(name)) for name in frame.columns}, **(config or {})}


def _read(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows with the engine's words in the reader's language."""
    return (
        frame if language() == ENGLISH else frame.map(lambda cell: translated(cell) if isinstance(cell, str) else cell)
    )
