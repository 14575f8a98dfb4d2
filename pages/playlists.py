"""Playlists: moments of runs in an order, edited here, and played over the whole window."""

from __future__ import annotations

from functools import partial

import streamlit as st

from courtroom.access.account import Access, Resource
from courtroom.access.acting import may
from courtroom.engine.errors import NoSuchRun
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.questions.playlists import NoSuchPlaylist, Playlist, imported
from pages.parts.live.room_view import stop_view
from pages.parts.shared.download import download
from pages.parts.shared.heading import heading
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import literal
from pages.parts.shared.records import read
from pages.parts.shared.units import many

house = courthouse()
LARGEST = 1_000_000
"""Bytes of a file that is imported."""


def undo_view() -> None:
    """The way back after something was deleted."""
    kept: tuple[str, Playlist, str] | None = st.session_state.get("playlist-before")
    if kept is None:
        return
    of, before, text = kept
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(literal(text))
        if st.button(_("Undo"), icon=":material/undo:", key="undo-playlist"):
            house.playlists.put(of, before)
            del st.session_state["playlist-before"]
            st.rerun()


def listing() -> None:
    """All playlists, and a way to bring one in from a file."""
    st.title(_("Playlists"))
    undo_view()
    names = house.playlists.names()
    if not names:
        st.info(
            _("No playlist yet. Open a run, go to a moment in its room, and press “＋ Playlist”."),
            icon=":material/playlist_play:",
        )
    for one, name in names.items():
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{literal(name)}**")
            if st.button(_("Open"), key=f"open-{one}", type="primary"):
                st.query_params["playlist"] = one
                st.rerun()
    with st.expander(_("Import a playlist"), icon=":material/upload:"):
        file = st.file_uploader(_("A playlist as a JSON file"), type="json", max_upload_size=1)
        if file and st.button(_("Import it"), key="import-playlist"):
            try:
                made = house.playlists.add(imported(file.getvalue()[:LARGEST]))
            except CourtroomError as error:
                st.error(literal(str(error)))
            else:
                st.query_params["playlist"] = made
                st.rerun()


def leave() -> None:
    """To the list of all playlists."""
    for name in ("playlist", "stop"):
        st.query_params.pop(name, None)
    st.session_state.pop("playlist", None)


def turn(last: int, where: str) -> None:
    """Go to another moment, or stop playing."""
    if where == "leave":
        st.query_params.pop("stop", None)
        return
    place = place_of(last) or 0
    st.query_params["stop"] = str(max(0, min(last, place + {"next": 1, "previous": -1}.get(where, 0))) + 1)


def place_of(last: int) -> int | None:
    """The place of the moment that the address names; None where the playlist is edited."""
    said = st.query_params.get("stop", "")
    return max(0, min(last, int(said) - 1)) if said.isascii() and said.isdigit() and len(said) < 6 else None


def playing(of: str, playlist: Playlist, place: int) -> None:
    """One moment, over the whole window."""
    heading(playlist.name)  # behind the room; for screen readers
    stop, last = playlist.stops[place], len(playlist.stops) - 1
    try:
        record = read(house, stop.run)
    except (NoSuchRun, CourtroomError) as error:
        why = _("This run is not there any more.") if isinstance(error, NoSuchRun) else str(error)
        st.error(f"{literal(stop.title)}: {literal(why)}")
        with st.container(horizontal=True):
            st.button(_("The moment before"), on_click=turn, args=(last, "previous"), disabled=place == 0)
            st.button(_("The next moment"), on_click=turn, args=(last, "next"), disabled=place == last)
            st.button(_("Leave the playlist"), on_click=turn, args=(last, "leave"))
        return
    this = {"name": playlist.name, "title": stop.title, "note": stop.note, "at": stop.at, "place": place}
    procedure = house.procedures[record.run.procedure].about(record.case)
    stop_view(record, procedure, {**this, "count": last + 1}, f"playlist-{of}", partial(turn, last))


def editing(of: str, playlist: Playlist) -> None:
    """The moments in their order; each can be moved, noted and taken out."""
    st.button(_("All playlists"), icon=":material/arrow_back:", type="tertiary", on_click=leave)
    heading(playlist.name)
    undo_view()
    base = (st.context.url or "").split("?")[0]
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(_("Play"), icon=":material/play_arrow:", type="primary", key="play", disabled=not playlist.stops):
            st.query_params["stop"] = "1"
            st.rerun()
        download(
            house,
            _("Export"),
            playlist.exported(),
            f"playlist-{of}.json",
            Resource(kind="playlist", id=of),
        )
        if may(Access.RUN) and st.button(_("Delete"), icon=":material/delete:", key="delete-playlist"):
            st.session_state["playlist-before"] = (
                of,
                playlist,
                _("The playlist “{name}” is deleted.", name=playlist.name),
            )
            house.playlists.delete(of)
            leave()
            st.rerun()
    st.caption(
        _(
            "{stops}. This address plays it; Page Down and Page Up go on and back:",
            stops=many(len(playlist.stops), "moment"),
        )
    )
    st.code(f"{base}?playlist={of}&stop=1", language=None, wrap_lines=True)
    last = len(playlist.stops) - 1
    for place, stop in enumerate(playlist.stops):
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            st.markdown(f"**{place + 1:d}**  {literal(stop.title)}")
            st.text_input(
                _("A sentence on moment {place}", place=f"{place + 1:d}"),
                stop.note,
                max_chars=500,
                key=f"note-{place}-{stop.run}-{stop.at}",
                on_change=noted,
                args=(of, place, f"note-{place}-{stop.run}-{stop.at}"),
                label_visibility="collapsed",
                placeholder=_("A sentence on this moment"),
            )
            st.button(
                "↑",
                key=f"up-{place}",
                help=_("Move it up"),
                disabled=place == 0,
                on_click=changed,
                args=(of, playlist.moved(place, -1)),
            )
            st.button(
                "↓",
                key=f"down-{place}",
                help=_("Move it down"),
                disabled=place == last,
                on_click=changed,
                args=(of, playlist.moved(place, 1)),
            )
            if st.button(_("Take out"), key=f"out-{place}", icon=":material/close:", type="tertiary"):
                st.session_state["playlist-before"] = (of, playlist, _("Moment {place} is taken out.", place=place + 1))
                changed(of, playlist.without(place))
                st.rerun()


def changed(of: str, playlist: Playlist) -> None:
    """Keep a change."""
    house.playlists.put(of, playlist)


def noted(of: str, place: int, field: str) -> None:
    """Keep the sentence that was written."""
    changed(of, house.playlists.one(of).noted(place, str(st.session_state[field])))


chosen = st.query_params.get("playlist") or st.session_state.get("playlist")
if not chosen:
    listing()
    st.stop()
st.session_state["playlist"] = chosen
st.query_params["playlist"] = chosen
try:
    opened = house.playlists.one(chosen)
except NoSuchPlaylist as error:
    st.error(literal(str(error)))
    leave()
    listing()
    st.stop()
at = place_of(len(opened.stops) - 1) if opened.stops else None
if at is None:
    editing(chosen, opened)
else:
    playing(chosen, opened, at)
