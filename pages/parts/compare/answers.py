"""Answers of several runs by path, and one of them field by field."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from courtroom.engine.record import Record
from courtroom.evaluation.comparison import APART, AnswerComparison, Comparison
from courtroom.language import N_, _, translated
from courtroom.report.page import label
from pages.parts.shared.answer_view import answer_view
from pages.parts.shared.beside import LETTERS, differences_view
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table

STATES = {
    "Not the same": APART,
    "Differs": ("differs",),
    "Only in some": ("only in some",),
    "Same": ("same",),
    "Not yet": ("not yet",),
}
SOURCES = {"asked": "asked", "recorded": "on record", "person": "a person", None: ""}


def answers_beside(comparison: Comparison, records: Sequence[Record]) -> None:
    """A table with filters; the selected answer is shown field by field below."""
    letters = LETTERS[: len(records)]
    top = st.columns(3)
    state = top[0].selectbox(_("Show"), [*STATES, "All"], format_func=translated)
    stage = top[1].selectbox(
        _("Stage"), ["All", *dict.fromkeys(answer.stage for answer in comparison.answers)], format_func=translated
    )
    member = top[2].selectbox(
        _("Member"), ["All", *dict.fromkeys(answer.member for answer in comparison.answers)], format_func=translated
    )
    answers = [
        answer
        for answer in comparison.answers
        if answer.state in STATES.get(state, (answer.state,))
        and stage in ("All", answer.stage)
        and member in ("All", answer.member)
    ]
    if not answers:
        st.caption(_("No answer fits these filters."))
        return
    answers_told = pd.DataFrame(
        {
            N_("path"): [answer.path for answer in answers],
            N_("question"): [answer.title for answer in answers],
            N_("answers"): [answer.state for answer in answers],
            N_("asked the same"): [_("yes") if answer.same_question else _("no") for answer in answers],
            **{letter: [SOURCES[answer.sources[n]] for answer in answers] for n, letter in enumerate(letters)},
        }
    )
    chosen = table(
        answers_told,
        height=320,
        on_select="rerun",
        selection_mode="single-row",
        key="answers",
    )
    rows = chosen.selection.rows
    place = rows[0] if rows and rows[0] < len(answers) else 0
    st.caption(_("{answers} answers. Select a row to read another one.", answers=len(answers)))
    st.subheader(literal(f"{answers[place].title}: {answers[place].path}"))
    if answers[place].fields:
        answer_beside(answers[place])
    else:
        _whole(answers[place], records)


def answer_beside(answer: AnswerComparison) -> None:
    """The fields that differ, a column a run."""
    differences_view(answer.fields, label)


def _whole(answer: AnswerComparison, records: Sequence[Record]) -> None:
    if answer.state == "same":
        st.caption(_("The same in all."))
    for letter, column, record in zip(LETTERS, st.columns(len(records), border=True), records, strict=False):
        call = record.call(answer.path)
        with column:
            st.caption(letter)
            if call is None:
                st.caption(_("Not asked here."))
            elif call.value is None:
                st.warning(literal(call.error))
            else:
                answer_view(call.value)
