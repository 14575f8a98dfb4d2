"""What a person gives to others: a file; who may see a run, a case or an experiment; links that open it for a time."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from mimetypes import guess_type
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx

from courtroom.access import Resource, Visibility, acting_account
from courtroom.courthouse import Courthouse
from courtroom.language import _, translated
from courtroom.sharing import DAY, HOUR, LASTING, Links, may_change, may_see, note, owned, share
from pages.parts.shared.house import server_address
from pages.parts.shared.protocol import Download, still
from pages.parts.shared.shown import do, errors_shown, moment

Made = str | bytes | Callable[[], str | bytes]


def download(house: Courthouse, label: str, content: Made, name: str, of: Resource | None = None, **looks: Any) -> None:
    """Draw the button. `content`: what is in the file, or makes it for whose session it then is; `of`: its source."""
    person, page = acting_account(), get_script_run_ctx(suppress_warning=True)
    mime = guess_type(name)[0] or "application/octet-stream"

    def made() -> bytes:
        data = content() if callable(content) else content
        data = data.encode() if isinstance(data, str) else data
        note(house.database, "download", of, name)
        if runtime.exists():
            # Streamlit drops a file that was made on a click as soon as any two pages were drawn, by whomever:
            # before a slow browser has fetched it. So it is the session's until it draws its page again.
            runtime.get_instance().media_file_mgr.add(data, mime, name, name, is_for_static_download=True)
        return data

    def given() -> bytes:
        if page is None or not runtime.exists():
            return made()
        with ThreadPoolExecutor(1, initializer=add_script_run_ctx, initargs=(None, page)) as session:
            return session.submit(made).result()

    offer = Download(given, lambda: still(person) and (of is None or may_see(house.database, of)))
    wanted = content if person is None and not callable(content) else offer
    looks = {"icon": ":material/download:", **looks}
    # To draw the page again would end the offer while the file is being made.
    st.download_button(translated(label), wanted, name, mime, on_click="ignore", **looks)


MADE = "link_made"
"""The link that was made last, in the session: what it opens, and its address. Nobody can read it again."""


def share_popover(house: Courthouse, resource: Resource) -> None:
    """The button with all of it behind; nothing where nobody signs in."""
    if acting_account() is not None:
        with st.popover(_("Share"), icon=":material/share:"):
            share_view(house, resource)


def share_view(house: Courthouse, resource: Resource) -> None:
    if acting_account() is None:
        return
    now = owned(house.database, resource).visibility
    words: dict[Visibility, str] = {"private": _("Private"), "shared": _("Shared"), "public": _("Public")}
    means = {
        "private": _("Only you and the owners of this server see it."),
        "shared": _("Everybody who has signed in sees it, and can't change it."),
        "public": _("Who has its address sees it, also without signing in."),
    }
    if not may_change(house.database, resource):
        st.caption(f"**{words[now]}.** " + _("It belongs to somebody else: you can read it."))
        return
    key = f"{resource.kind}-{resource.id}"
    levels, title, about, of = list(words), _("Who sees it"), list(means.values()), f"visibility-{key}"
    chosen = st.radio(title, levels, levels.index(now), format_func=words.__getitem__, captions=about, key=of)
    if chosen != now:
        do(lambda: share(house.database, resource, chosen))
    if now == "public":
        named = f"{resource.kind}:{resource.id}"
        st.code(f"{server_address()}/?public={named}", language=None, wrap_lines=True)
    links = Links(house.database)
    times = {HOUR: _("1 hour"), DAY: _("1 day"), 7 * DAY: _("1 week"), 30 * DAY: _("30 days")}
    st.markdown(_("**Read-only link**"), help=_("It opens this alone, without signing in, and stops by itself."))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        lasts = st.selectbox(_("Opens for"), LASTING, 1, format_func=times.__getitem__, key=f"lasts-{key}", width=140)
        if st.button(_("Make a link"), key=f"link-{key}", icon=":material/add_link:"):
            with errors_shown():
                st.session_state[MADE] = (resource, links.make(resource, lasts))
    made: tuple[Resource, str] | None = st.session_state.get(MADE)
    if made and made[0] == resource:
        st.code(f"{server_address()}/?link={made[1]}", language=None, wrap_lines=True)
        st.caption(_("Copy it now: it is shown only this once."))
    for number, link in enumerate(links.of(resource), start=1):
        with st.container(horizontal=True, vertical_alignment="center"):
            since, until = moment(link.made), moment(link.expires)
            st.caption(_("Link made {made}, opens until {expires}", made=since, expires=until))
            if st.button(_("End it"), key=f"end-{key}-{number}", type="tertiary", icon=":material/link_off:"):
                links.end(link)
                st.session_state.pop(MADE, None)
                st.rerun()
