"""A picture, or a video's player with its sampled frames on demand."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.errors import MediaError
from courtroom.language import _
from courtroom.media.medium import Medium
from courtroom.media.store import clock
from pages.parts.shared.inert import inert, literal


def medium_view(house: Courthouse, medium: Medium, *, key: str = "", described: bool = True) -> None:
    """Show one medium; where it can't be shown, say why."""
    try:
        if medium.sha256 is None:
            st.caption(_(":material/broken_image: The file of {id} is missing.", id=literal(medium.id)))
        elif medium.kind == "image":
            st.image(house.media.image(medium.sha256), width="stretch", alt=medium.description or medium.id)
        else:
            st.video(house.media.path(medium.sha256).read_bytes())
            if medium.moments:
                st.caption(
                    literal(_("Shown were the frames at {moments}.", moments=", ".join(map(clock, medium.moments))))
                )
            elif st.toggle(_("Frames that members look at"), key=f"frames-{key}-{medium.id}"):
                frames = house.media.frames(medium.sha256)
                for start in range(0, len(frames), 5):
                    for column, frame in zip(st.columns(5), frames[start : start + 5], strict=False):
                        column.image(frame.jpeg, caption=clock(frame.timestamp_s), alt=clock(frame.timestamp_s))
    except MediaError as error:
        st.warning(literal(error))
    if described and medium.description:
        inert(medium.description, small=True, faint=True)
