"""The button that gives a file to a person; where people sign in, who took which file is written down."""

from __future__ import annotations

from collections.abc import Callable
from mimetypes import guess_type
from threading import Thread

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from courtroom.access.account import Resource
from courtroom.access.acting import acting, by
from courtroom.courthouse import Courthouse
from courtroom.sharing.actions import note
from pages.parts.shared.inert import declared

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
    """The button.

    Args:
        content: what is in the file, or what makes it once it is wanted. It is made for the person who sees the button.
        of: what it is taken from.
    """
    person, mime, page = acting(), guess_type(name)[0] or ANY, get_script_run_ctx(suppress_warning=True)

    def given() -> bytes:
        made = content() if callable(content) else content
        made = made.encode() if isinstance(made, str) else made
        note(house.database, "download", of, name)
        if runtime.exists():
            keeping = add_script_run_ctx(Thread(target=_keep, args=(made, mime, name)), page)
            keeping.start()
            keeping.join()
        return made

    wanted = content if person is None and not callable(content) else by(person, given)
    st.download_button(
        declared(label), wanted, name, mime, icon=icon, key=key, help=declared(help_) if help_ else None,
        on_click="ignore",  # to draw the page anew would end the offer while the file is being made
    )  # fmt: skip


def _keep(made: bytes, mime: str, name: str) -> None:
    """Keep a file for the session in whose thread this runs, until it draws its page anew.

    Streamlit lets go of a file made on a click as soon as any two pages were drawn, whoever looks at them: with several people
    that is before a slow browser has fetched it.
    """
    runtime.get_instance().media_file_mgr.add(made, mime, name, name, is_for_static_download=True)
