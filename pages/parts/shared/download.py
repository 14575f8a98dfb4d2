"""The button that gives a file to a person; where people sign in, who took which file is written down."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from mimetypes import guess_type

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from courtroom.access.account import Resource
from courtroom.access.acting import acting
from courtroom.courthouse import Courthouse
from courtroom.sharing.actions import note
from courtroom.sharing.rules import may_see
from pages.parts.shared.inert import declared
from pages.parts.shared.protocol import Download, still

Content = str | bytes
ANY = "application/octet-stream"


def download(
    house: Courthouse,
    label: str,
    content: Content | Callable[[], Content],
    name: str,
    of: Resource | None = None,
    *,
    icon: str | None = ":material/download:",
    key: str | None = None,
    help_: str | None = None,
) -> None:
    """The button. `content`: what is in the file, or what makes it once it is wanted: then it is made for the person whose session
    it is at that moment. `of`: what it is taken from."""
    person, mime, page = acting(), guess_type(name)[0] or ANY, get_script_run_ctx(suppress_warning=True)

    def made() -> bytes:
        data = content() if callable(content) else content
        data = data.encode() if isinstance(data, str) else data
        note(house.database, "download", of, name)
        if runtime.exists():
            # Streamlit drops a file that was made on a click as soon as any two pages were drawn, whoever looks at them: with
            # several people that is before a slow browser has fetched it. So it is the session's until it draws its page again.
            runtime.get_instance().media_file_mgr.add(data, mime, name, name, is_for_static_download=True)
        return data

    def given() -> bytes:
        if page is None or not runtime.exists():
            return made()
        with ThreadPoolExecutor(1, initializer=add_script_run_ctx, initargs=(None, page)) as session:
            return session.submit(made).result()

    def allowed() -> bool:
        return still(person) and (of is None or may_see(house.database, of))

    wanted = content if person is None and not callable(content) else Download(given, allowed)
    st.download_button(
        declared(label), wanted, name, mime, icon=icon, key=key, help=declared(help_) if help_ else None,
        on_click="ignore",  # to draw the page again would end the offer while the file is being made
    )  # fmt: skip
