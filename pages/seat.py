"""One seat: what this juror may see, and a form for its answer. The link gives no way to the rest of the run."""

import time
from functools import partial
from typing import Any

import streamlit as st

from courtroom import Courthouse, CourtroomError, Medium
from courtroom.access import Resource
from courtroom.engine.people import NoSuchSeat, Seat, SeatQuestion
from courtroom.language import _
from pages.parts.cases import medium_view
from pages.parts.shared.blocks_view import answer_fields, unfit
from pages.parts.shared.house import courthouse, opens
from pages.parts.shared.shown import do, inert, literal, redrawn

LOOK_S = 1.0
FORM = "\nAnswer with one JSON object and nothing else"
"""Where a prompt tells a model in which form to answer; a person has the fields below."""


def waiting(house: Courthouse, seat: Seat) -> SeatQuestion | None:
    return next((question for question in house.people.questions(seat) if question.answer is None), None)


def give(asked: SeatQuestion, answer: dict[str, Any]) -> None:
    if not house.people.answer(seat, asked, answer):
        raise CourtroomError(_("This question takes no more answers: it was answered before, or its time is over."))


house = courthouse()
try:
    seat = house.people.open(st.query_params.get("seat", ""))
    opens(Resource(kind="run", id=seat.run))
    row = house.store.run(seat.run)
except (NoSuchSeat, CourtroomError) as error:
    st.title(_("A seat"))
    st.error(literal(str(error)) if isinstance(error, NoSuchSeat) else _("The run of this seat is not there any more."))
    st.stop()
st.title(literal(row.title))
member = house.record(seat.run).member(seat.member)
name = literal(f"{member.name} ({seat.member})" if member else seat.member)
st.caption(_("You sit as {name}. What you see here is what this member is given, and nothing else.", name=name))
question = waiting(house, seat)
over = row.status == "done"
if question is None:
    idle = _("You are not asked for anything now. This page shows it when you are.")
    st.info(_("The hearing is over. Thank you.") if over else idle, icon=":material/hourglass_empty:")
else:
    st.subheader(literal(question.title))
    for number, part in enumerate(part for role, parts in question.messages if role != "system" for part in parts):
        if isinstance(part, str):
            inert(part.partition(FORM)[0].strip())
        else:
            medium_view(house, Medium.model_validate(part), key=f"{question.key}-{number}")
    if question.deadline is not None:
        left = max(0, round(question.deadline - time.time()))
        st.caption(_(":material/timer: {deadline} s left when this was drawn.", deadline=left))
    with st.form(f"answer-{question.key}", border=True):
        st.subheader(_("Your answer"))
        answer = answer_fields(question.answer_schema, None, question.key)
        if st.form_submit_button(_("Give this answer"), type="primary") and answer is not None:
            if wrong := unfit(question.answer_schema, answer):
                st.error(_("Fill in, or put right: {fields}.", fields=", ".join(wrong)))
            else:
                do(partial(give, question, answer))


def news() -> bool:
    """Whether another question waits, this one does no more, or the hearing has ended."""
    now = waiting(house, seat)
    ended = house.store.status(seat.run) in ("done", "deleted")
    return (now and now.key) != (question and question.key) or ended != over


redrawn(news, None if over else LOOK_S)
if given := [one for one in house.people.questions(seat) if one.answer is not None]:
    with st.expander(_("What you answered ({given})", given=len(given))):
        for one in given:
            st.caption(literal(one.title))
            inert(one.answer or "", small=True)
