"""The least that a Streamlit app can show, to measure the room against: `?show=counter`, `?show=choice`, or one line of text."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import streamlit as st

COUNTER = Path(os.environ["COURTROOM_HOME"]) / "counter.sqlite"
CHOICES = ("One", "Two", "Three", "Four")

shown = st.query_params.get("show")
if shown == "counter":

    @st.fragment(run_every=float(st.query_params["every"]))
    def counter() -> None:
        """The number that was written last."""
        with sqlite3.connect(COUNTER) as database:
            (number,) = database.execute("SELECT max(number) FROM counted").fetchone()
        st.text(f"Counted: {number}")

    counter()
elif shown == "choice":
    st.text(f"Chosen: {st.segmented_control('Look at', CHOICES, default=CHOICES[0])}")
else:
    st.text("An empty page.")
