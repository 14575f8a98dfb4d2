"""A question to a member, and what it has been asked so far."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.models.offline import NOTICE
from courtroom.models.spec import OFFLINE
from courtroom.questions.interview import LONGEST
from pages.parts.live.asking import waits
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.records import read
from pages.parts.shared.units import moment, money
from pages.parts.shared.your_name import your_name


def interview_view(house: Courthouse, record: Record, after: Called | None) -> None:
    """A place to ask the member of a call, as it stood after that call; nothing where it has not been asked anything yet."""
    if after is None or not after.keys or after.value is None:
        return
    run = record.run.id
    whole = read(house, run)
    member = whole.member(after.member)
    asked = [
        (at, one) for at, one in house.asides.interviews(run) if (one.after, one.key) == (after.path, after.keys[-1])
    ]
    name = member.name if member else after.member
    with st.expander(_("Ask {name}", name=literal(name)), icon=":material/record_voice_over:", expanded=bool(asked)):
        st.caption(_("It answers from what it knew after {path}. The run stays as it is.", path=literal(after.path)))
        for at, one in asked:
            st.caption(f"{literal(one.who)}, {moment(at)}:")
            inert(one.question, small=True, faint=True)
            inert(one.answer)
            if one.called.asked and one.called.cost:
                st.caption(literal(money(one.called.cost)))
        if after.model == OFFLINE:
            st.caption(f":material/info: {translated(NOTICE)}")
        waiting = f"interview-{run}-{after.path}"
        if waits(waiting, _("The question is being asked.")):
            return
        if not may(Access.RUN):
            return
        with st.form(f"ask-{run}-{after.path}", border=False, clear_on_submit=True):
            who = your_name(placeholder=_("somebody"))
            question = st.text_area(_("Your question"), max_chars=LONGEST)
            if not st.form_submit_button(_("Ask")):
                return
        st.session_state["who"] = who
        try:
            st.session_state[waiting] = house.interviews.ask(whole, after, question, who, typed_keys())
        except CourtroomError as error:
            st.error(literal(str(error)))
        else:
            st.rerun()
