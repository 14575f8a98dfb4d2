"""Below the room: what can be seen of a run, one tab at a time, also as it stood at the end of any stage."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _, translated
from pages.parts.live.calls_table import calls_table
from pages.parts.live.member_grid import member_grid
from pages.parts.live.votes_view import votes_view
from pages.parts.shared.blocks_view import blocks_view
from pages.parts.shared.family_view import family_view
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.plainly import plainly
from pages.parts.shared.records import read

NOW = "now"


def back() -> str:
    """The index of the stage at whose end the reader looks, by the address; else NOW."""
    return st.query_params.get("at", NOW)


@st.fragment
def tabs_view(house: Courthouse, procedure: Procedure, run: str, *, family: bool) -> None:
    """Drawn anew by itself: a click on a tab leaves the rest of the page as it is.

    Args:
        family: whether there are others in the run's family.
    """
    with plainly():
        try:
            record = read(house, run)
        except NoSuchRun:
            st.rerun()  # the page says so
        votes = any(role.votes for role in procedure.roles)
        views = [view.title for view in procedure.views]
        tabs = ["Members", "Votes", *views, "Calls"] if votes else [*views, "Members", "Calls"]
        tabs += ["Family"] if family else []
        with st.container(key="below"):
            shown = st.segmented_control(
                _("Look at"),
                tabs,
                default=tabs[0],
                required=True,
                format_func=literal,
                key=f"tab-{run}",
                label_visibility="collapsed",
            )
            if len(record.stages) > 1:
                record = _as_it_stood(record)
        if shown == "Members":
            member_grid(house, procedure, record)
        elif shown == "Votes":
            votes_view(procedure, record)
        elif shown == "Calls":
            calls_table(house, record)
        elif shown == "Family":
            family_view(house, run)
        else:
            view = next(view for view in procedure.views if view.title == shown)
            st.caption(declared(view.help))
            blocks_view(view.draw(record), procedure, key=f"{run}-{view.name}")


def _as_it_stood(record: Record) -> Record:
    """The record at the end of the stage that is chosen."""
    at, run = back(), record.run.id
    names = {
        **{str(stage.index): _("after {name}", name=translated(stage.name)) for stage in record.stages},
        NOW: _("now"),
    }
    chosen = st.selectbox(
        _("As it stood"),
        list(names),
        list(names).index(at) if at in names else len(names) - 1,
        format_func=names.__getitem__,
        key=f"at-{run}-{len(names)}",
        help=_("What stands here as it was at the end of any stage. Nothing of what came after is lost."),
        width=240,
    )
    if chosen != at:
        if chosen == NOW:
            st.query_params.pop("at", None)
        else:
            st.query_params["at"] = chosen
        st.rerun()  # other parts of the page are for now only
    if chosen == NOW:
        return record
    st.info(
        _("You look back: what stands below is how the run stood {names}.", names=literal(names[chosen])),
        icon=":material/history:",
    )
    return record.until(int(chosen))
