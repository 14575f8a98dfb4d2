"""Below the room: what can be seen of a run, one tab at a time, also as it stood at the end of any stage."""

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.room.player import adapter
from pages.parts.live.calls_table import calls_table
from pages.parts.live.member_grid import member_grid
from pages.parts.live.votes_view import votes_view
from pages.parts.shared.actions import plainly
from pages.parts.shared.blocks_view import blocks_view
from pages.parts.shared.differences import family_view
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.table import one_of

NOW = "now"
IDLE = "idle-drawing"
"""Where the session keeps the drawing of the page after which the browser had time for more."""

idle = st.components.v2.component("courtroom_idle", js=adapter("idle"))


def back() -> str:
    """The index of the stage at whose end the reader looks, by the address; else NOW."""
    return st.query_params.get("at", NOW)


@st.fragment
def tabs_view(house: Courthouse, procedure: Procedure, run: str, drawing: int, *, family: bool) -> None:
    """Drawn anew by itself: a click on a tab leaves the rest of the page as it is.

    The open tab is drawn with the page. The others of a run at rest follow, unseen, when the browser has time: then a click shows
    at once what is there.

    Args:
        drawing: a number of its own for each drawing of the whole page.
        family: whether there are others in the run's family.
    """
    with plainly():
        record = _record(house, run)
        votes = any(role.votes for role in procedure.roles)
        views = [view.title for view in procedure.views]
        tabs = ["Members", "Votes", *views, "Calls"] if votes else [*views, "Members", "Calls"]
        tabs += ["Family"] if family else []
        with st.container(key="below"):
            shown = one_of(_("Look at"), tabs, f"tab-{run}", tabs[0])
            if len(record.stages) > 1:
                _as_it_stood(record)
            at_rest = record.run.status != "running"
            all_drawn = at_rest and st.session_state.get(IDLE) == drawing
            st.html(_only_the_open_one(len(tabs)))
            with st.container(gap=None):
                for number, tab in enumerate(tabs, 1):
                    if tab == shown or all_drawn:
                        with st.container(key=f"pane-{number}"):
                            _tab(house, procedure, run, tab)
            if at_rest and not all_drawn:
                idle(key=f"idle-{drawing}", height=1, on_idle_change=lambda: _has_time(drawing))


def _only_the_open_one(tabs: int) -> str:
    """The style by which the browser itself shows the tab that is clicked. Until it is there, the one before stays,
    so that nothing jumps. The others keep their width, which tables and figures need to be drawn."""
    others = ", ".join(
        f'.st-key-below:has([class*="st-key-tab-"] [role="radio"]:nth-child({open:d})[aria-checked="true"])'
        f":has(.st-key-pane-{open:d}) .st-key-pane-{number:d}"
        for open in range(1, tabs + 1)
        for number in range(1, tabs + 1)
        if number != open
    )
    return (
        "<style>.st-key-below { position: relative; }"
        f"{others} {{ position: absolute; visibility: hidden; width: 100%; height: 0; overflow: hidden; }}</style>"
    )


@st.fragment
def _tab(house: Courthouse, procedure: Procedure, run: str, tab: str) -> None:
    """What one tab shows; a click in it draws nothing else."""
    with plainly():
        record = _record(house, run)
        if len(record.stages) > 1 and back() != NOW:
            record = record.until(int(back()))
        if tab == "Members":
            member_grid(house, procedure, record)
        elif tab == "Votes":
            votes_view(procedure, record)
        elif tab == "Calls":
            calls_table(house, record)
        elif tab == "Family":
            family_view(house, run)
        else:
            view = next(view for view in procedure.views if view.title == tab)
            st.caption(declared(view.help))
            blocks_view(view.blocks(record), procedure, key=f"{run}-{view.name}")


def _record(house: Courthouse, run: str) -> Record:
    try:
        return house.runner.latest.of(run)
    except NoSuchRun:
        st.rerun()  # the page says so


def _has_time(drawing: int) -> None:
    st.session_state[IDLE] = drawing


def _as_it_stood(record: Record) -> None:
    """Choose the end of a stage to look back to; what is chosen stands in the address."""
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
    if chosen != NOW:
        st.info(
            _("You look back: what stands below is how the run stood {names}.", names=literal(names[chosen])),
            icon=":material/history:",
        )
