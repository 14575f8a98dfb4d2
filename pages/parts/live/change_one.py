"""Change one thing of a finished run, and see both side by side."""

from __future__ import annotations

from concurrent.futures import TimeoutError as TookLong
from itertools import groupby, zip_longest

import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import value_at
from courtroom.engine.knobs import leaves
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.sweeps.plan import Variant, applied
from courtroom.sweeps.proposals import proposals
from pages.parts.shared.house import look_at
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered

MOST = 6
WAIT_S = 8.0
"""How long the page waits for the other run before it shows it as it goes on."""


@offered(Access.RUN)
def change_one(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """A few single changes that the case and the setup offer, and one button; worked out when it is opened."""
    opened = st.popover(
        _("Change one thing"), icon=":material/alt_route:", key=f"changing-{record.run.id}", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        offered = _offered(procedure, record)
        if not offered:
            st.caption(_("This run offers nothing that could be changed alone. Fork it to change its setup."))
            return
        chosen = st.radio(
            _("What is different the second time"),
            offered,
            format_func=lambda variant: literal(_told(record, variant)),
            key=f"change-one-{record.run.id}",
        )
        if st.button(_("Run it again, and show both"), type="primary", key="do-change-one"):
            _both(house, record, chosen)


def _offered(procedure: Procedure, record: Record) -> list[Variant]:
    """Some of each kind: evidence, a member, a rule, knobs. Kept, as each draw of the page would try them all anew."""
    key = f"offered-{record.run.id}"
    if key not in st.session_state:
        found = sorted(proposals(procedure, record.setup, record.case, record.run.seed), key=lambda one: one.kind)
        kinds = [_varied(list(group)) for _, group in groupby(found, key=lambda one: one.kind)]
        st.session_state[key] = [one for row in zip_longest(*kinds) for one in row if one][:MOST]
    offered: list[Variant] = st.session_state[key]
    return offered


def _varied(variants: list[Variant]) -> list[Variant]:
    """Of several values of one knob the first; numbers before words, as what they do is seen at once."""
    paths = {next(iter(one.set), "") if one.kind == "knob" else one.name: one for one in reversed(variants)}
    return sorted(paths.values(), key=lambda one: any(isinstance(value, str) for value in one.set.values()))


def _told(record: Record, variant: Variant) -> str:
    """A knob by its title with both values; what is left out, by its name."""
    if variant.kind != "knob":
        return variant.name[:1].upper() + variant.name[1:]
    ((path, value),) = variant.set.items()
    title = next((field.title for name, field in leaves(type(record.setup)) if name == path), None)
    return f"{title or path}: {value_at(record.setup, path)} → {value}"


def _both(house: Courthouse, record: Record, variant: Variant) -> None:
    st.session_state.pop("play", None)
    try:
        setup, case = applied(variant, record.setup, record.case)
        fork = house.fork(record.run.id, setup, case=case)
        house.runner.go(fork)
        with st.spinner(_("The second run is under way ...")):
            house.runner.wait(fork, WAIT_S)
    except TookLong:
        look_at(fork)
        st.switch_page("pages/deliberation.py", query_params={"run": fork})
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.switch_page("pages/compare.py", query_params={"runs": f"{record.run.id},{fork}"})
