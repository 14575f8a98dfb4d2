"""Records as pages read them: anew only when something has changed."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record


def read(house: Courthouse, run: str) -> Record:
    """A run as it stands; kept in the session until its pulse changes.

    Raises:
        NoSuchRun: there is none of this id.
    """
    pulse = house.store.pulse(run)
    kept: tuple[object, Record] | None = st.session_state.get(f"record-{run}")
    if kept is None or kept[0] != pulse:
        kept = (pulse, house.record(run))
        st.session_state[f"record-{run}"] = kept
    return kept[1]
