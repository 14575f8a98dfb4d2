"""Waiting for what is asked beside a run, without holding the page."""

from __future__ import annotations

from concurrent.futures import Future

import streamlit as st

from courtroom.engine.beside import AskedBeside
from courtroom.errors import CourtroomError
from courtroom.language import _
from pages.parts.shared.inert import literal

LOOK_S = 0.7


def waits(key: str, text: str) -> bool:
    """Whether the answers kept in the session under this key are still to come; a failure is shown once they are not.

    Args:
        text: what is being waited for, in our words.
    """
    asked: Future[AskedBeside] | None = st.session_state.get(key)
    if asked is None:
        return False
    if not asked.done():
        _look(key, text)
        return True
    del st.session_state[key]
    try:
        outcome = asked.result()
    except CourtroomError as error:
        st.error(literal(str(error)))
        return False
    if outcome.stopped:
        st.warning(literal(outcome.stopped))
    failed = [call.error for call in outcome.calls if call is not None and call.error]
    if failed:
        st.warning(
            _("{failed} questions have no answer. {failed_2}", failed=f"{len(failed):d}", failed_2=literal(failed[0]))
        )
    return False


@st.fragment(run_every=LOOK_S)
def _look(key: str, text: str) -> None:
    asked: Future[AskedBeside] | None = st.session_state.get(key)
    if asked is None or asked.done():
        st.rerun()
    st.caption(f":material/hourglass: {literal(text)}")
