"""Marks of reviewers: a place to make one, what others have said, and the filters of the list of runs."""

from collections.abc import Callable
from typing import TypedDict

import streamlit as st
from pydantic import ValidationError

from courtroom.cases.checks import explain
from courtroom.courthouse import Courthouse
from courtroom.language import _, translated
from courtroom.questions.marks import HIGHEST, LOWEST, Mark, agreement
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.sign_in import your_name
from pages.parts.shared.table import moment


class ByMarks(TypedDict):
    """Filters of the list of runs."""

    tag: str
    reviewer: str
    starred: bool


def marks_view(house: Courthouse, run: str, target: str) -> None:
    """A button that opens the marks on a run (an empty target), a member or an answer."""
    marks = [mark for mark in house.marks.of(run) if mark.target == target]
    starred = any(mark.star for mark in marks)
    with st.popover(
        _("{marks} marks", marks=len(marks)) if len(marks) > 1 else _("1 mark") if marks else _("Mark"),
        icon=":material/star:" if starred else ":material/bookmark_add:",
        type="tertiary",
        key=f"marks-{run}-{target}",
    ):
        for mark in marks:
            _shown(mark)
        _form(house, run, target)


def _shown(mark: Mark) -> None:
    star = ":material/star: " if mark.star else ""
    score = (
        _(" · {score} of {highest}", score=f"{mark.score:d}", highest=f"{HIGHEST:d}") if mark.score is not None else ""
    )
    tags = " · " + literal(", ".join(mark.tags)) if mark.tags else ""
    st.caption(f"{star}{literal(mark.reviewer)}, {moment(mark.at)}{score}{tags}")
    if mark.comment:
        inert(mark.comment, small=True)


def _form(house: Courthouse, run: str, target: str) -> None:
    key = f"{run}-{target}"
    who = your_name(f"reviewer-{key}")
    mine = house.marks.one(run, target, who) or Mark(target=target, reviewer=who or "?")
    with st.form(f"mark-{key}-{who}", border=False):
        star = st.toggle(_("Star"), mine.star)
        scores = [None, *range(LOWEST, HIGHEST + 1)]
        score = st.selectbox(_("Score"), scores, scores.index(mine.score), format_func=lambda one: str(one or "none"))
        tags = st.multiselect(
            _("Tags"),
            sorted({*house.marks.tags(), *mine.tags}),
            list(mine.tags),
            accept_new_options=True,
            format_func=translated,
        )
        comment = st.text_area(_("Comment"), mine.comment, max_chars=5_000)
        if not st.form_submit_button(_("Keep this mark")):
            return
    new = {"reviewer": who, "star": star, "score": score, "tags": tuple(tags), "comment": comment.strip()}
    keep_mark(who, lambda: house.marks.put(run, mine.with_(new)))


def keep_mark(who: str, keep: Callable[[], object]) -> None:
    """Keep what a reviewer's form says; without a name, or where a value does not fit, a sentence says so."""
    if not who:
        st.error(_("Write your name: each reviewer has one mark."))
        return
    st.session_state["who"] = who
    try:
        keep()
    except ValidationError as error:
        st.error(literal(" ".join(explain(error))))
    else:
        st.rerun()


def marks_filter(house: Courthouse) -> ByMarks:
    """Filters by tag, reviewer and star, where there are marks; and how far reviewers agree."""
    reviewers = house.marks.reviewers()
    if not reviewers:
        return {"tag": "", "reviewer": "", "starred": False}
    row = st.columns([2, 2, 2, 3], vertical_alignment="bottom")
    tag = row[0].selectbox(_("Tag"), ["", *house.marks.tags()], format_func=lambda name: name or _("All"))
    reviewer = row[1].selectbox(
        _("Marked by"), ["", *reviewers], format_func=lambda name: name or _("Anybody or nobody")
    )
    starred = row[2].toggle(_("With a star"))
    agreed = agreement(house.marks.all()) if len(reviewers) > 1 else None
    if agreed and agreed.marked:
        alpha = (
            _("Krippendorff's alpha {scores}.", scores=f"{agreed.scores:.2f}")
            if agreed.scores is not None
            else literal(agreed.note)
        )
        row[3].caption(
            _(
                "{reviewers} reviewers have given scores, {marked} times two or more to the same. {alpha}",
                reviewers=f"{agreed.reviewers:d}",
                marked=f"{agreed.marked:d}",
                alpha=alpha,
            )
        )
    return {"tag": tag, "reviewer": reviewer, "starred": starred}
