"""One run, case or experiment, to be read: what a link opens until it expires, or what is public."""

import streamlit as st

from courtroom import Courthouse, CourtroomError
from courtroom.access import Resource
from courtroom.language import _, translated
from courtroom.sharing import GONE, Links, NoSuchLink, owned
from pages.parts.cases import case_body
from pages.parts.experiments.view import experiment_to_read
from pages.parts.live.room_view import room_view
from pages.parts.live.tabs_view import verdict_view, votes_view
from pages.parts.shared.blocks_view import blocks_view
from pages.parts.shared.controls import status_badge
from pages.parts.shared.house import TOKEN, courthouse, heading
from pages.parts.shared.shown import literal, moment, redrawn

PUBLIC = "public"
"""Names what is public in the address, such as `?public=run:ID`; kept in the session."""
LOOK_S = 5.0
"""How often an open page looks whether its link still opens it, and whether a run has gone on."""


def addressed(house: Courthouse, links: Links, token: str) -> Resource:
    public: str = st.query_params.get(PUBLIC) or st.session_state.get(PUBLIC, "")
    if token or not public:
        return links.opened(token)
    st.session_state[PUBLIC] = public
    kind, _colon, name = public.partition(":")
    resource = Resource(kind=kind, id=name)
    if owned(house.database, resource).visibility != "public":
        raise NoSuchLink(GONE)
    return resource


house = courthouse()
links = Links(house.database)
token: str = st.query_params.get("link") or st.session_state.get(TOKEN, "")
st.session_state[TOKEN] = token
try:
    opens = addressed(house, links, token)
    if token:
        st.caption(_(":material/lock: To be read only, until {expires}.", expires=moment(links.expires(token))))
    if opens.kind == "run":
        record = house.record(opens.id)
        procedure = house.procedures[record.run.procedure].about(record.case)
        heading(record.run.title)
        with st.container(horizontal=True, vertical_alignment="center"):
            status_badge(record.run.status)
            st.caption(_("{title} · run {run}", title=literal(procedure.title), run=literal(opens.id)))
        room_view(record, procedure)
        if record.run.verdict:
            verdict_view(record, procedure)
        if any(role.votes for role in procedure.roles):
            votes_view(procedure, record)
        for view in procedure.views:
            st.subheader(translated(view.title))
            st.caption(translated(view.help))
            blocks_view(view.blocks(record), procedure, key=f"{opens.id}-{view.name}")
    elif opens.kind == "case":
        case_body(house, house.library.case(opens.id))
    elif opens.kind == "experiment":
        experiment_to_read(house, house.experiments.store.experiment(opens.id))
except CourtroomError as error:
    st.title(_("A link"))
    gone = _("What this link opened is not there any more.")
    st.error(literal(str(error)) if isinstance(error, NoSuchLink) else gone)
    st.stop()
pulse = house.store.pulse(opens.id) if opens.kind == "run" else ()


def news() -> bool:
    """Whether the address opens it no more, or its run has gone on."""
    try:
        return addressed(house, links, token) != opens or (opens.kind == "run" and house.store.pulse(opens.id) != pulse)
    except NoSuchLink:
        return True


redrawn(news, LOOK_S)
