"""Who did what: the lines of the log of actions, with filters, and as CSV. For the owners of the server."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.language import N_, _, translated
from courtroom.sharing.actions import ACTIONS, ActionFilter, ActionLog
from pages.parts.shared.download import download
from pages.parts.shared.table import table
from pages.parts.shared.units import moment

PAGE = 100
N_ACTIONS = {
    "sign-in": N_("signed in"),
    "give-access": N_("gave access or a budget"),
    "make": N_("made"),
    "import": N_("imported"),
    "fork": N_("forked"),
    "start": N_("started"),
    "pause": N_("paused"),
    "stop": N_("stopped"),
    "intervene": N_("intervened"),
    "undo": N_("undid an intervention"),
    "change": N_("changed"),
    "mark": N_("marked"),
    "ask": N_("asked beside the run"),
    "invite": N_("made a link to a seat or an audience"),
    "delete": N_("deleted"),
    "restore": N_("restored"),
    "share": N_("said who sees it"),
    "link": N_("made a read-only link"),
    "end-link": N_("ended a link"),
    "download": N_("downloaded"),
}
"""What each action is called."""


def actions_view(house: Courthouse) -> None:
    """The newest lines first, a page at a time."""
    log = ActionLog(house.database)
    st.subheader(_("Who did what"))
    people = log.people()
    who, what, first, last = st.columns(4)
    account = who.selectbox(_("Who"), ["", *people], format_func=lambda one: people.get(one) or _("Anybody"))
    action = what.selectbox(
        _("What"), ["", *ACTIONS], format_func=lambda one: translated(N_ACTIONS[one]) if one else _("Anything")
    )
    since = first.date_input(_("From"), None)
    until = last.date_input(_("To"), None)
    wanted = ActionFilter(
        account=account,
        action=action,
        since=datetime.combine(since, time(), UTC).timestamp() if since else 0.0,
        until=(datetime.combine(until, time(), UTC) + timedelta(days=1)).timestamp() if until else 0.0,
    )
    total = log.count(wanted)
    if not total:
        st.info(_("Nobody has done anything that fits."), icon=":material/filter_alt_off:")
        return
    pages = (total - 1) // PAGE + 1
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page = (
            int(st.number_input(_("Page of {pages}", pages=f"{pages:d}"), 1, pages, 1, width=160)) if pages > 1 else 1
        )
        download(house, _("CSV"), lambda: log.csv(wanted), "actions.csv", key="actions-csv")
    lines = log.page(wanted, (page - 1) * PAGE, PAGE)
    table(
        pd.DataFrame(
            {
                N_("when"): [moment(one.at) for one in lines],
                N_("who"): [one.name or one.account for one in lines],
                N_("what"): [translated(N_ACTIONS.get(one.action, one.action)) for one in lines],
                N_("on what"): [f"{translated(one.kind)} {one.id}".strip() for one in lines],
                N_("more"): [one.detail for one in lines],
            }
        )
    )
