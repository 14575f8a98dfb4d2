"""Change one thing of a finished run, and see both side by side."""

from __future__ import annotations

from concurrent.futures import TimeoutError as TookLong
from itertools import groupby, zip_longest

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.sweeps.plan import Variant, applied
from courtroom.sweeps.proposals import proposals
from pages.parts.shared.house import look_at
from pages.parts.shared.inert import literal

MOST = 6
WAIT_S = 8.0
"""How long the page waits for the other run before it shows it as it goes on."""


def change_one(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """A few single changes that the case and the setup offer, and one button."""
    with st.popover("Change one thing", icon=":material/alt_route:"):
        offered = _offered(procedure, record)
        if not offered:
            st.caption("This run offers nothing that could be changed alone. Fork it to change its setup.")
            return
        chosen = st.radio(
            "What is different the second time",
            offered,
            format_func=lambda variant: literal(variant.name),
            key=f"change-one-{record.run.id}",
        )
        if st.button("Run it again, and show both", type="primary", key="do-change-one"):
            _both(house, record, chosen)


def _offered(procedure: Procedure, record: Record) -> list[Variant]:
    """Some of each kind: evidence, a member, a rule, knobs. Kept, as each draw of the page would try them all anew."""
    key = f"offered-{record.run.id}"
    if key not in st.session_state:
        found = sorted(proposals(procedure, record.setup, record.case, record.run.seed), key=lambda one: one.kind)
        kinds = [list(group) for _, group in groupby(found, key=lambda one: one.kind)]
        st.session_state[key] = [one for row in zip_longest(*kinds) for one in row if one][:MOST]
    offered: list[Variant] = st.session_state[key]
    return offered


def _both(house: Courthouse, record: Record, variant: Variant) -> None:
    st.session_state.pop("play", None)
    try:
        setup, case = applied(variant, record.setup, record.case)
        fork = house.fork(record.run.id, setup, case=case)
        house.runner.go(fork)
        with st.spinner("The second run is under way ..."):
            house.runner.wait(fork, WAIT_S)
    except TookLong:
        look_at(fork)
        st.switch_page("pages/deliberation.py", query_params={"run": fork})
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.switch_page("pages/compare.py", query_params={"runs": f"{record.run.id},{fork}"})
