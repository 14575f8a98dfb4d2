"""The app: `streamlit run app.py`. What is on the pages is in `pages/`."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from courtroom.language import _
from pages.parts.shared.plainly import plainly
from pages.parts.shared.reader import speak, switch

ICON = Path(__file__).parent / "data" / "icon.svg"

# A file of ours: for one of Streamlit's icons, or an emoji, the browser would ask a server outside.
speak()
st.set_page_config(page_title=_("Courtroom"), page_icon=str(ICON), layout="wide")

# Less empty space above the first line than Streamlit leaves.
st.html("<style>.stMainBlockContainer { padding-top: 4.5rem; padding-bottom: 3rem; }</style>")
if st.context.theme.type != "dark":  # Streamlit's small print is too pale on white for who sees little
    st.html("<style>[data-testid='stCaptionContainer'] { color: #5A6070; opacity: 1; }</style>")
if st.context.theme.type == "dark":  # Streamlit writes white on the light blue that stands out from a dark page
    primary = ":is([data-testid^='stBaseButton-primary']:not(:disabled), [data-testid='stMultiSelect'] span[title])"
    st.html(f"<style>{primary}, {primary} * {{ color: #12161F; }}</style>")

# The link of a seat or of an audience opens that page alone: nothing else is there to go to.
ALONE = {
    "seat": st.Page("pages/seat.py", title=_("Seat"), icon=":material/person:"),
    "audience": st.Page("pages/audience.py", title=_("Audience"), icon=":material/groups:"),
}
PAGES = [
    st.Page("pages/cases.py", title=_("Cases"), icon=":material/folder_open:", default=True),
    st.Page("pages/setup.py", title=_("Setup"), icon=":material/tune:"),
    st.Page("pages/deliberation.py", title=_("Deliberation"), icon=":material/gavel:"),
    st.Page("pages/knowledge.py", title=_("Knowledge"), icon=":material/auto_stories:"),
    st.Page("pages/sweep.py", title=_("What if"), icon=":material/alt_route:"),
    st.Page("pages/experiments.py", title=_("Experiments"), icon=":material/science:"),
    st.Page("pages/runs.py", title=_("Runs"), icon=":material/history:"),
    st.Page("pages/compare.py", title=_("Compare"), icon=":material/compare:"),
    st.Page("pages/playlists.py", title=_("Playlists"), icon=":material/playlist_play:", visibility="hidden"),
]
alone = next((name for name in ALONE if name in st.query_params), st.session_state.get("alone"))
st.session_state["alone"] = alone
page = st.navigation([ALONE[alone]], position="hidden") if alone else st.navigation(PAGES, position="top")
switch()
with plainly():
    page.run()
