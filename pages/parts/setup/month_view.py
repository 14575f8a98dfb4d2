"""What is left of a person's money for the month."""

from __future__ import annotations

import streamlit as st

from courtroom.access.acting import acting
from courtroom.courthouse import Courthouse
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.units import money


def month_view(house: Courthouse) -> None:
    """How much the person's runs have cost in this month; nothing where there is no limit, or nobody signs in."""
    person = acting()
    limit = house.accounts.budget(person.id) if person is not None else None
    if person is None or limit is None:
        return
    st.caption(
        _(
            ":material/account_balance_wallet: Your runs have cost {spent} of {limit} that they may cost this month.",
            spent=literal(money(house.accounts.spent(person.id))),
            limit=literal(money(limit)),
        )
    )
