"""Every call: prompt, media, answer, tokens, money, latency, asked or on record."""

import time
from collections.abc import Callable

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.language import N_, _, translated
from courtroom.media.medium import Medium
from courtroom.models.request import Reply
from courtroom.models.spec import OFFLINE
from pages.parts.live.questions_view import audit_view, interview_view
from pages.parts.shared.answer_form import answer_view
from pages.parts.shared.case_view import medium_view
from pages.parts.shared.inert import literal
from pages.parts.shared.marks_view import marks_view
from pages.parts.shared.table import duration, money, table


def calls_table(house: Courthouse, record: Record) -> None:
    if not record.calls:
        st.info(_("Calls appear here as they are answered."), icon=":material/forum:")
        return
    if chosen_call := record.call(st.session_state.get("call") or ""):
        if st.button(_("All calls"), icon=":material/arrow_back:"):
            del st.session_state["call"]
            st.rerun()
        _whole(house, record, chosen_call)
        return
    names = {member.id: member.name for member in record.members}
    top = st.columns(3)
    stage = top[0].selectbox(
        _("Stage"), ["All", *dict.fromkeys(call.stage for call in record.calls)], format_func=translated
    )
    member = top[1].selectbox(_("Member"), ["All", *names], format_func=lambda i: names.get(i, i))
    state = top[2].selectbox(_("Show"), ["All", "Asked", "On record", "Failed", "Asked again"], format_func=translated)
    tests: dict[str, Callable[[Called], bool]] = {
        "Asked": lambda c: c.source == "asked",
        "On record": lambda c: c.source == "recorded",
        "Failed": lambda c: c.value is None,
        "Asked again": lambda c: len(c.keys) > 1,
    }
    calls = [
        call
        for call in record.calls
        if stage in ("All", call.stage) and member in ("All", call.member) and (state == "All" or tests[state](call))
    ]
    shown_calls = pd.DataFrame(
        {
            N_("time"): [time.strftime("%H:%M:%S", time.localtime(record.times[call.path])) for call in calls],
            N_("stage"): [call.stage for call in calls],
            N_("member"): [names.get(call.member, call.member) for call in calls],
            N_("question"): [call.title for call in calls],
            N_("model"): [call.model for call in calls],
            N_("source"): [_source(call) for call in calls],
            N_("tokens"): [call.prompt_tokens + call.completion_tokens for call in calls],
            N_("money"): [money(call.cost) for call in calls],
            N_("latency"): [duration(call.latency_s) for call in calls],
            N_("re-asks"): [max(0, len(call.keys) - 1) for call in calls],
        }
    )
    chosen = table(shown_calls, height=320, on_select="rerun", selection_mode="single-row", key="calls")
    rows = chosen.selection.rows
    if not rows or rows[0] >= len(calls):
        st.caption(_("{calls} calls. Select a row to read the prompt and the answer.", calls=len(calls)))
        return
    _whole(house, record, calls[rows[0]])


def _source(call: Called) -> str:
    if call.value is None:
        return N_("failed")
    return {"asked": N_("asked"), "recorded": N_("on record"), "person": N_("a person")}[call.source]


def _teller(reply: Reply) -> str:
    by = _("Answered by {model}", model=literal(reply.model or _("a model that was not named")))
    system = f" ({literal(reply.fingerprint)})" if reply.fingerprint else ""
    connection = _(" through {connection}", connection=literal(reply.connection)) if reply.connection else ""
    return by + system + connection + (_(" at {address}", address=literal(reply.address)) if reply.address else "")


def _whole(house: Courthouse, record: Record, call: Called) -> None:
    st.subheader(literal(f"{call.title}: {call.path}"))
    marks_view(house, record.run.id, call.path)
    if call.error:
        st.warning(literal(call.error))
    left, right = st.columns(2, gap="large")
    with left:
        st.markdown(_("**Asked**"))
        if call.model == OFFLINE:
            st.caption(
                _("The offline model read the question's inputs, not this prompt; a language model would read it.")
            )
        for number, key in enumerate(call.keys, start=1):
            if len(call.keys) > 1:
                st.caption(_("Attempt {number}", number=f"{number:d}"))
            messages = house.answers.of(record.run).request(key)
            for message in messages[-2:] if number > 1 else messages:
                st.caption(literal(message.role))
                for index, part in enumerate(message.parts):
                    if isinstance(part, Medium):
                        medium_view(house, part, key=f"{key}-{index}")
                    else:
                        st.code(part, language=None, wrap_lines=True, height=260 if len(part) > 900 else "content")
    with right:
        st.markdown(_("**Answered**"))
        if call.value:
            answer_view(call.value)
        for key in call.keys:
            reply = house.answers.of(record.run).reply(key)
            if reply:
                with st.expander(_("As it came")):
                    st.code(reply.text, language=None, wrap_lines=True)
                if reply.model or reply.address:
                    st.caption(_teller(reply))
                st.caption(
                    _(
                        "{prompt} + {completion} tokens ({cached} cached) · {cost} · {latency_s} · {attempts} attempt(s)",
                        prompt=f"{reply.usage.prompt:d}",
                        completion=f"{reply.usage.completion:d}",
                        cached=f"{reply.usage.cached:d}",
                        cost=literal(money(reply.cost)),
                        latency_s=duration(reply.latency_s),
                        attempts=f"{reply.attempts:d}",
                    )
                )
    audit_view(house, record, call)
    interview_view(house, record, call)
