"""People: who has signed in here, what each may do, and how much each may spend. For the owners of the server."""

from __future__ import annotations

from datetime import datetime

import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import acting
from courtroom.accounts.store import KnownAccount
from courtroom.errors import CourtroomError
from courtroom.language import _
from pages.parts.people.actions_view import actions_view
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.person_view import in_words

WIDTHS = (3, 2, 2, 2, 1)

house = courthouse()
st.title(_("People"))
st.caption(
    _(
        "Everybody who has signed in. Who looks on sees what is shared; who runs hearings may add cases and start runs and experiments; owners see and change everything."
    )
)
me = acting()


def change(one: KnownAccount) -> None:
    """Set what the form of an account says."""
    try:
        if (access := st.session_state[f"access-{one.id}"]) != one.access:
            house.accounts.give(one.id, access)
        if (budget := st.session_state[f"budget-{one.id}"]) != one.budget:
            house.accounts.allow(one.id, budget)
    except CourtroomError as error:
        st.session_state["people-refused"] = str(error)


def line(one: KnownAccount) -> None:
    """One account."""
    with st.container(border=True):
        who, access, budget, seen, save = st.columns(WIDTHS, vertical_alignment="bottom")
        with who:
            st.markdown(f"**{literal(one.called)}**")
            inert(one.email, small=True, faint=True)
        access.selectbox(
            _("May do"),
            list(Access),
            list(Access).index(one.access),
            format_func=in_words,
            key=f"access-{one.id}",
            disabled=me is not None and one.id == me.id,
            help=_("Nobody changes the own access."),
        )
        budget.number_input(_("US$ a month"), 0.0, None, one.budget, placeholder=_("no limit"), key=f"budget-{one.id}")
        day = datetime.fromtimestamp(one.last).strftime("%Y-%m-%d")
        spent = house.accounts.spent(one.id)
        seen.caption(_("US$ {spent} this month, last here on {day}", spent=f"{spent:,.2f}", day=literal(day)))
        save.button(_("Save"), key=f"save-{one.id}", on_click=change, args=(one,), width="stretch")


if refused := st.session_state.pop("people-refused", ""):
    st.error(literal(refused))
for account in house.accounts.all():
    line(account)
actions_view(house)
