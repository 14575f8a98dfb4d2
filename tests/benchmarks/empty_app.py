"""The least that a Streamlit app can show, to measure the room against: one line of text, a counter, or a choice.

Each is a page with an address of its own, as the room's is: to open such an address, Streamlit's program looks for its server at two
places, and so takes longer than for an app's first page.
"""

import os
import sqlite3
from pathlib import Path

import streamlit as st

COUNTER = Path(os.environ["COURTROOM_HOME"]) / "counter.sqlite"
CHOICES = ("One", "Two", "Three", "Four")


def first() -> None:
    """What the app shows without a page's address."""
    st.text("The first page.")


def empty() -> None:
    """One line of text."""
    st.text("An empty page.")


def counter() -> None:
    """The number that was written last, looked up again and again."""

    @st.fragment(run_every=float(st.query_params["every"]))
    def number() -> None:
        with sqlite3.connect(COUNTER) as database:
            (last,) = database.execute("SELECT max(number) FROM counted").fetchone()
        st.text(f"Counted: {last}")

    number()


def choice() -> None:
    """A click that changes one word."""
    st.text(f"Chosen: {st.segmented_control('Look at', CHOICES, default=CHOICES[0])}")


pages = [st.Page(first, default=True), *(st.Page(page) for page in (empty, counter, choice))]
st.navigation(pages, position="hidden").run()
