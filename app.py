"""The app: `streamlit run app.py`. What is on the pages is in `pages/`. The server imports this file as it starts;
Streamlit runs it each time that a page is drawn."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import streamlit as st
from starlette.middleware import Middleware
from streamlit import cli_util, config
from streamlit.runtime.pages_manager import PagesManager
from streamlit.starlette import App
from streamlit.web.server import server_util

from courtroom.access import Access, acting_account
from courtroom.language import _
from pages.parts.shared.house import ALONE, follow_the_theme, outside, person_view, speak, switch
from pages.parts.shared.protocol import guard, with_headers
from pages.parts.shared.shown import STYLES, plainly, theme

ICON = Path(__file__).parent / "data" / "icon.svg"

guard()  # before any browser is connected


def draw() -> None:
    """The frame of every page, and the page within it."""
    # A file of ours: for one of Streamlit's icons, or an emoji, the browser would ask a server outside.
    speak()
    st.set_page_config(page_title=_("Courtroom"), page_icon=str(ICON), layout="wide")

    st.html(STYLES / "frame.css")
    follow_the_theme()
    st.html(STYLES / f"{theme()}.css")

    # The link of a seat or of an audience opens that page alone: nothing else is there to go to.
    OPENED_ALONE = {
        "seat": st.Page("pages/seat.py", title=_("Seat"), icon=":material/person:"),
        **dict.fromkeys(("link", "public"), st.Page("pages/link.py", title=_("A link"), icon=":material/link:")),
        "audience": st.Page("pages/audience.py", title=_("Audience"), icon=":material/groups:"),
    }
    PAGES = [
        st.Page("pages/cases.py", title=_("Cases"), icon=":material/folder_open:", default=True),
        st.Page("pages/setup.py", title=_("Setup"), icon=":material/tune:"),
        st.Page("pages/deliberation.py", title=_("Deliberation"), icon=":material/gavel:"),
        st.Page("pages/knowledge.py", title=_("Knowledge"), icon=":material/auto_stories:"),
        st.Page("pages/what_if.py", title=_("What if"), icon=":material/alt_route:"),
        st.Page("pages/experiments.py", title=_("Experiments"), icon=":material/science:"),
        st.Page("pages/runs.py", title=_("Runs"), icon=":material/history:"),
        st.Page("pages/compare.py", title=_("Compare"), icon=":material/compare:"),
    ]
    PEOPLE = st.Page("pages/people.py", title=_("People"), icon=":material/group:", visibility="hidden")
    alone = next((name for name in OPENED_ALONE if name in st.query_params), st.session_state.get(ALONE))
    st.session_state[ALONE] = alone
    closed = outside()
    person = None if closed else acting_account()
    if alone:
        paper = "#12161F" if theme() == "dark" else "#FFFFFF"  # else the page scrolls through the button
        st.html(f"<style>[data-testid='stHeader'] {{ background: {paper}; }}</style>")
        page = st.navigation([OPENED_ALONE[alone]], position="hidden")
    elif closed:
        page = st.navigation(PAGES, position="hidden")
    else:
        page = st.navigation([*PAGES, PEOPLE] if person and person.access >= Access.OWN else PAGES, position="top")
    switch()
    if person and not alone:
        person_view(person)
    with plainly():
        page.run()


@asynccontextmanager
async def browser_opened(_app: App) -> AsyncIterator[None]:
    """Say where the app is, and open a browser there unless Streamlit is set to run headless."""
    host = config.get_option("server.address") or config.get_option("browser.serverAddress")
    address = server_util.get_url(server_util.get_display_address(host))
    print(_("Courtroom is at {address}", address=address), flush=True)
    if not config.get_option("server.headless"):
        asyncio.get_running_loop().call_soon(cli_util.open_browser, address)
    yield


if __name__ == "__main__":
    draw()
else:
    PagesManager.uses_pages_directory = False  # else a first visit to a page's own address is drawn without `draw`
    app = App(__file__, lifespan=browser_opened, middleware=[Middleware(with_headers)])
