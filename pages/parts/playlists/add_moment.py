"""Puts a moment of the room into a playlist."""

from __future__ import annotations

import streamlit as st
from pydantic import ValidationError

from courtroom.access.account import Access
from courtroom.cases.explain import explain
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.questions.playlists import Playlist, Stop
from courtroom.room.scene import RoomScene
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered

NEW = ""


@st.dialog("Add this moment to a playlist")
@offered(Access.RUN)
def add_moment(house: Courthouse, run: str, at: int, title: str) -> None:
    """Which playlist, and a sentence on the moment."""
    names = house.playlists.names()
    st.caption(literal(title))
    chosen = st.selectbox(
        _("Playlist"), [*names, NEW], format_func=lambda one: names.get(one) or _("A new one"), key="playlist-of-moment"
    )
    name = st.text_input(_("Its name"), max_chars=120, key="playlist-name") if chosen == NEW else ""
    note = st.text_input(_("A sentence on this moment"), max_chars=500, key="playlist-note")
    if not st.button(_("Add it"), type="primary", key="add-moment"):
        return
    try:
        stop = Stop(run=run, at=at, title=title, note=note)
        if chosen == NEW:
            chosen = house.playlists.add(Playlist(name=name.strip(), stops=(stop,)))
        else:
            house.playlists.append(chosen, stop)
    except ValidationError as error:
        st.error(_("Give the playlist a name.") if not name.strip() else literal(" ".join(explain(error))))
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.session_state["playlist"] = chosen
        st.switch_page("pages/playlists.py", query_params={"playlist": chosen})


def moment_title(shown: RoomScene, at: int) -> str:
    """What a run is called, and where in it a moment is."""
    moments = shown.moments[: at + 1]
    stage = next((one.title for one in reversed(moments) if one.kind == "stage"), "")
    name = next((seat.name for seat in shown.seats if moments and seat.id == moments[-1].member), "")
    return ", ".join(part for part in (shown.title, stage, name) if part)[:300]
