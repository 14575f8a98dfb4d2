"""What a person says of a run and asks about it: marks of reviewers; why this vote, in an audit; and anything, in an interview."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TypedDict

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from courtroom.access import Access, may
from courtroom.cases.checks import explain
from courtroom.courthouse import Courthouse
from courtroom.engine.events import Called
from courtroom.engine.exchange import AskedBeside
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.models.offline import NOTICE
from courtroom.models.spec import OFFLINE
from courtroom.questions.asides import TITLES
from courtroom.questions.audit import (
    MEANINGS,
    MOST_SEEDS,
    SEEDS,
    Audit,
    Audited,
    auditable,
    call_before,
    new_in,
    shares,
    why_none,
)
from courtroom.questions.interview import LONGEST
from courtroom.questions.marks import HIGHEST, LOWEST, Mark, agreement
from pages.parts.shared.actions import errors_shown, offered
from pages.parts.shared.house import your_name
from pages.parts.shared.models_form import out_of_reach, typed_keys
from pages.parts.shared.shown import count, inert, literal, many, moment, money, table


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
            told = f"{':material/star: ' if mark.star else ''}{literal(mark.reviewer)}, {moment(mark.at)}"
            if mark.score is not None:
                told += _(" · {score} of {highest}", score=f"{mark.score:d}", highest=f"{HIGHEST:d}")
            st.caption(told + (" · " + literal(", ".join(mark.tags)) if mark.tags else ""))
            if mark.comment:
                inert(mark.comment, small=True)
        key = f"{run}-{target}"
        who = your_name(f"reviewer-{key}")
        mine = house.marks.one(run, target, who) or Mark(target=target, reviewer=who or "?")
        with st.form(f"mark-{key}-{who}", border=False):
            star = st.toggle(_("Star"), mine.star)
            scores = [None, *range(LOWEST, HIGHEST + 1)]
            place = scores.index(mine.score)
            score = st.selectbox(_("Score"), scores, place, format_func=lambda one: str(one or "none"))
            known = sorted({*house.marks.tags(), *mine.tags})
            tags = st.multiselect(_("Tags"), known, list(mine.tags), accept_new_options=True, format_func=translated)
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
        alpha = literal(agreed.note)
        if agreed.scores is not None:
            alpha = _("Krippendorff's alpha {scores}.", scores=f"{agreed.scores:.2f}")
        row[3].caption(
            _(
                "{reviewers} reviewers have given scores, {marked} times two or more to the same. {alpha}",
                reviewers=f"{agreed.reviewers:d}",
                marked=f"{agreed.marked:d}",
                alpha=alpha,
            )
        )
    return {"tag": tag, "reviewer": reviewer, "starred": starred}


LOOK_S = 0.7


def waits(key: str, text: str) -> bool:
    """Whether the answers kept in the session under this key are still to come; a failure is shown once they are not."""
    asked: Future[AskedBeside] | None = st.session_state.get(key)
    if asked is None:
        return False
    if not asked.done():
        _look(key, text)
        return True
    del st.session_state[key]
    with errors_shown():
        outcome = asked.result()
        if outcome.stopped:
            st.warning(literal(outcome.stopped))
        if failed := [call.error for call in outcome.calls if call is not None and call.error]:
            number, first = f"{len(failed):d}", literal(failed[0])
            st.warning(_("{failed} questions have no answer. {failed_2}", failed=number, failed_2=first))
    return False


@st.fragment(run_every=LOOK_S)
def _look(key: str, text: str) -> None:
    asked: Future[AskedBeside] | None = st.session_state.get(key)
    if asked is None or asked.done():
        st.rerun()
    st.caption(f":material/hourglass: {literal(text)}")


def audit_view(house: Courthouse, record: Record, call: Called) -> None:
    """What was new in what was shown with a call; and where its answer was a change of sides, the audit of it."""
    before = call_before(record, call)
    whole = house.runner.latest.of(record.run.id)
    procedure = house.procedures[whole.run.procedure]
    can = auditable(procedure, whole)
    this = next((one for one in can if one.call.path == call.path), None)
    if before is None and this is None:
        return
    if before is not None:
        with st.expander(_("What was new against {path}", path=literal(before.path)), icon=":material/difference:"):
            lines = new_in(house.answers.of(record.run), before, call)
            told = _("Lines with + are new, lines with - were there before.")
            st.caption(told if lines else _("Nothing: the member was shown the same."))
            if lines:
                st.code(
                    "\n".join(lines), language="diff", wrap_lines=True, height=320 if len(lines) > 14 else "content"
                )
    votes = (votes[call.member] for votes in record.ballots.values() if call.member in votes)
    vote = next((vote for vote in votes if vote.stage == call.stage), None)
    if this is None and not (vote and vote.changed):
        return
    with st.expander(
        _("Why this vote? An audit"), icon=":material/troubleshoot:", expanded=bool(house.asides.samples(whole.run.id))
    ):
        if this is None:
            st.caption(literal(why_none(procedure, whole, call.member)))
            return
        _audit(house, whole, this, can)


def _audit(house: Courthouse, record: Record, this: Audited, can: Sequence[Audited]) -> None:
    run = record.run.id
    found = house.audits.of(record)
    mine = next((one for one in found if one.call == this.call.path), None)
    if mine:
        _result(mine)
    if len(found) > 1:
        text = ", ".join(f"{share:.0%} {name}" for name, share in shares(found).items())
        st.caption(
            _(
                "Of the {found} votes of this run that were audited: {told}.",
                found=f"{len(found):d}",
                told=literal(text),
            )
        )
    st.caption(
        _(
            "An audit asks this question again: as it was, with its peers' votes alone, with their reasons alone, and with "
            "neither. The answers are kept beside the run and change nothing in it."
        )
    )
    if waits(f"audit-{run}", _("The questions of the audit are being asked.")) or _asks_nobody(house, record):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seeds = st.number_input(
            _("Answers in each way"), 1, MOST_SEEDS, SEEDS, key=f"seeds-{this.call.path}", width=160
        )
        question = _("All {can} of this run", can=many(len(can), "vote"))
        whole = len(can) > 1 and st.toggle(question, key=f"all-{this.call.path}")
    calls = tuple(one.call.path for one in can) if whole else (this.call.path,)
    choice = (run, calls, seeds)
    if may(Access.RUN) and st.button(_("What would it take?"), key=f"estimate-{this.call.path}"):
        st.session_state["audit-planned"] = choice
    if st.session_state.get("audit-planned") == choice:
        _start(house, record, calls, seeds)


@offered(Access.RUN)
def _start(house: Courthouse, record: Record, calls: Sequence[str], seeds: int) -> None:
    plan = house.audits.plan(record, calls, seeds)
    for why in plan.left_out:
        st.caption(f":material/info: {literal(why)}")
    if not plan.questions:
        st.caption(_("There is nothing to ask: these answers are there already."))
        return
    ask = plan.estimate.calls - plan.estimate.on_record
    tokens = sum(load.prompt_tokens + load.completion_tokens for load in plan.estimate.loads)
    st.caption(
        _(
            "{ask} to be asked, {on_record} on record; about {tokens} tokens, {price}. It stops at the run's budget.",
            ask=many(ask, "call"),
            on_record=f"{plan.estimate.on_record:d}",
            tokens=count(tokens),
            price=literal(money(house.price(plan.estimate))),
        )
    )
    if st.button(_("Start the audit"), type="primary", key=f"start-{calls[0]}"):
        with errors_shown():
            st.session_state[f"audit-{record.run.id}"] = house.audits.start(plan, typed_keys())
            st.session_state.pop("audit-planned", None)
            st.rerun()


def _asks_nobody(house: Courthouse, record: Record) -> bool:
    """Whether a model of the run can't be asked here, so that nobody could answer for the member; it says so."""
    if missing := out_of_reach(house, record.setup):
        st.caption(_("{missing} can't be asked here, so nothing new is asked of it.", missing=literal(missing)))
    return bool(missing)


def _result(audit: Audit) -> None:
    st.markdown(f"**{literal(audit.name.capitalize())}.** {literal(MEANINGS[audit.name])}")
    heads = [_("shown"), _("voted {choice}", choice=translated(audit.after)), _("voted otherwise"), _("no answer")]
    counts = ((translated(text), audit.counts.get(name)) for name, text in TITLES.items())
    rows = [(text, told.again, told.other, told.missing) for text, told in counts if told]
    table(pd.DataFrame(rows, columns=heads))
    st.caption(
        _(
            "It took {calls}, {tokens} tokens, {money}.",
            calls=many(audit.cost.calls, "call"),
            tokens=count(audit.cost.tokens),
            money=literal(money(audit.cost.money)),
        )
    )


def interview_view(house: Courthouse, record: Record, after: Called | None) -> None:
    """A place to ask the member of a call, as it stood after that call; nothing where it has not been asked anything yet."""
    if after is None or not after.keys or after.value is None:
        return
    run = record.run.id
    whole = house.runner.latest.of(run)
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
        if waits(waiting, _("The question is being asked.")) or _asks_nobody(house, whole):
            return
        if not may(Access.RUN):
            return
        with st.form(f"ask-{run}-{after.path}", border=False, clear_on_submit=True):
            who = your_name(placeholder=_("somebody"))
            question = st.text_area(_("Your question"), max_chars=LONGEST)
            if not st.form_submit_button(_("Ask")):
                return
        st.session_state["who"] = who
        with errors_shown():
            st.session_state[waiting] = house.interviews.ask(whole, after, question, who, typed_keys())
            st.rerun()
