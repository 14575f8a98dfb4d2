"""What a person says of a run and asks about it: marks; why this vote, in an audit; anything, in an interview."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

import streamlit as st

from courtroom import Courthouse, Record, Table
from courtroom.access import Access, may
from courtroom.engine.events import Called
from courtroom.language import N_, _, translated
from courtroom.models.offline import NOTICE
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from courtroom.questions import asides, beside, interview
from courtroom.questions import audit as audits
from courtroom.questions.marks import HIGHEST, LOWEST, Mark, agreement
from pages.parts.shared.house import your_name
from pages.parts.shared.models_form import model_picker, out_of_reach, typed_keys
from pages.parts.shared.shown import (
    count,
    errors_shown,
    html_of,
    inert,
    literal,
    many,
    moment,
    money,
    placed,
    plainly,
    table,
)


def marks_view(house: Courthouse, run: str, target: str) -> None:
    """A button that opens the marks on a run (an empty target), a member or an answer."""
    marks = [mark for mark in house.marks.of(run) if mark.target == target]
    label = many(len(marks), "mark") if marks else _("Mark")
    icon = ":material/star:" if any(mark.star for mark in marks) else ":material/bookmark_add:"
    with st.popover(label, icon=icon, type="tertiary", key=f"marks-{run}-{target}"):
        for mark in marks:
            told = f"{':material/star: ' if mark.star else ''}{literal(mark.reviewer)}, {moment(mark.at)}"
            if mark.score is not None:
                told += _(" · {score} of {highest}", score=mark.score, highest=HIGHEST)
            st.caption(told + (" · " + literal(", ".join(mark.tags)) if mark.tags else ""))
            if mark.comment:
                inert(mark.comment, small=True)
        who = your_name(f"reviewer-{run}-{target}")
        mine = house.marks.one(run, target, who) or Mark(target=target, reviewer="?")
        with st.form(f"mark-{run}-{target}-{who}", border=False):
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
    with errors_shown():
        keep()
        st.rerun()


def marks_filter(house: Courthouse) -> dict[str, Any]:
    """Filters by tag, reviewer and star, where there are marks; and how far reviewers agree."""
    reviewers = house.marks.reviewers()
    if not reviewers:
        return {"tag": "", "reviewer": "", "starred": False}
    row = st.columns([2, 2, 2, 3], vertical_alignment="bottom")
    tag = row[0].selectbox(_("Tag"), ["", *house.marks.tags()], format_func=lambda name: name or _("All"))
    anybody = _("Anybody or nobody")
    reviewer = row[1].selectbox(_("Marked by"), ["", *reviewers], format_func=lambda name: name or anybody)
    starred = row[2].toggle(_("With a star"))
    agreed = agreement(house.marks.all()) if len(reviewers) > 1 else None
    if agreed and agreed.marked:
        alpha = literal(agreed.note)
        if agreed.scores is not None:
            alpha = _("Krippendorff's alpha {scores}.", scores=f"{agreed.scores:.2f}")
        counts = {"reviewers": agreed.reviewers, "marked": agreed.marked}
        text = _("{reviewers} reviewers have given scores, {marked} times two or more to the same.", **counts)
        row[3].caption(f"{text} {alpha}")
    return {"tag": tag, "reviewer": reviewer, "starred": starred}


LOOK_S = 0.7


def waits(key: str, text: str) -> bool:
    """Whether answers kept in the session are still to come; a failure is shown once they are not."""
    asked: Sequence[Future[beside.AskedBeside]] = st.session_state.get(key, ())
    if not all(one.done() for one in asked):
        _look(key, text)
        return True
    st.session_state.pop(key, None)
    with errors_shown():
        outcomes = [one.result() for one in asked]
        for stopped in dict.fromkeys(one.stopped for one in outcomes if one.stopped):
            st.warning(literal(stopped))
        if failed := [call.error for one in outcomes for call in one.calls if call is not None and call.error]:
            number, first = f"{len(failed):d}", literal(failed[0])
            st.warning(_("{failed} questions have no answer. {failed_2}", failed=number, failed_2=first))
    return False


@st.fragment(run_every=LOOK_S)
@plainly()
def _look(key: str, text: str) -> None:
    asked: Sequence[Future[beside.AskedBeside]] = st.session_state.get(key, ())
    if not (left := sum(not one.done() for one in asked)):
        st.rerun()
    st.caption(f":material/hourglass: {literal(text)}" + (f" ({left:d})" if len(asked) > 1 else ""))


def audit_view(house: Courthouse, record: Record, call: Called, *, place: str = "call") -> None:
    """What was new in what was shown with a call, and the audit of a change of sides. `place`: where on the page."""
    before = audits.call_before(record, call)
    whole = house.record(record.run.id)
    procedure = house.procedures[whole.run.procedure]
    can = audits.auditable(procedure, whole)
    this = next((one for one in can if one.call.path == call.path), None)
    if before is None and this is None:
        return
    if before is not None:
        title = _("What was new against {place}", place=literal(placed(record, before)))
        with st.expander(title, icon=":material/difference:"):
            lines = audits.new_in(house.answers.of(record.run), before, call)
            told = _("Lines with + are new, lines with - were there before.")
            st.caption(told if lines else _("Nothing: the member was shown the same."))
            if lines:
                height: Any = 320 if len(lines) > 14 else "content"
                st.code("\n".join(lines), language="diff", wrap_lines=True, height=height)
    votes = (votes[call.member] for votes in record.ballots.values() if call.member in votes)
    vote = next((vote for vote in votes if vote.stage == call.stage), None)
    if this is None and not (vote and vote.changed):
        return
    asked = bool(house.asides.samples(whole.run.id))
    with st.expander(_("Why this vote? An audit"), icon=":material/troubleshoot:", expanded=asked):
        if this is None:
            st.caption(literal(audits.why_none(procedure, whole, call.member)))
            return
        _audit(house, whole, this, can, place)


ABOUT_AUDITS = N_(
    "An audit asks each change of sides again: as it was, with the peers' votes alone, with their reasons alone, "
    "and with neither. The answers are kept beside the run and change nothing in it."
)


def _audit(house: Courthouse, record: Record, this: audits.Audited, can: Sequence[audits.Audited], place: str) -> None:
    run = record.run.id
    found = house.audits.of(record)
    for mine in (one for one in found if one.call == this.call.path):
        _result(mine)
    if len(found) > 1:
        told = literal(", ".join(f"{share:.0%} {name}" for name, share in audits.shares(found).items()))
        st.caption(_("Of the {found} votes of this run that were audited: {told}.", found=len(found), told=told))
    st.caption(_(ABOUT_AUDITS))
    if waits(f"audit-{run}", _("The questions of the audit are being asked.")) or _asks_nobody(house, record):
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        key = f"seeds-{place}-{this.call.path}"
        seeds = st.number_input(_("Answers in each way"), 1, audits.MOST_SEEDS, audits.SEEDS, key=key, width=160)
        question = _("All {can} of this run", can=many(len(can), "vote"))
        whole = len(can) > 1 and st.toggle(question, key=f"all-{place}-{this.call.path}")
        about = _(
            "Asks also without each of those whose words the member was shown, one at a time, and each question six times at least."
        )
        voices = st.toggle(_("Which voice was it?"), key=f"voices-{place}-{this.call.path}", help=about)
    calls = None if whole else (this.call.path,)
    if may(Access.RUN):
        choice, key = (run, calls, seeds, voices), f"{place}-{this.call.path}"
        plan = partial(house.audits.plan, record, calls, seeds, voices=voices)
        start_beside(house, house.audits, key, choice, f"audit-{run}", lambda: [plan()])


Planned = Callable[[], Iterable[beside.Plan]]
START = N_("Start the audit")


def start_beside(
    house: Courthouse, asks: beside.Plans, key: str, choice: object, waiting: str, plan: Planned, label: str = START
) -> None:
    """Say what questions of this choice would take, once a person asks, with a button that puts them; see `waits`."""
    planned = f"planned-{key}"
    if st.button(_("What would it take?"), key=f"estimate-{key}"):
        st.session_state[planned] = choice
    if st.session_state.get(planned) != choice:
        return
    with errors_shown():
        every = list(plan())
        for why in dict.fromkeys(why for one in every for why in one.left_out):
            st.caption(f":material/info: {literal(why)}")
        if not (plans := [one for one in every if one.questions]):
            st.caption(_("There is nothing to ask: these answers are there already, or nothing was said to ask about."))
            return
        estimates = [one.estimate for one in plans]
        prices = [house.price(one) for one in estimates]
        loads = [load for one in estimates for load in one.loads]
        values = {
            "ask": many(sum(one.calls - one.on_record for one in estimates), "call"),
            "on_record": sum(one.on_record for one in estimates),
            "tokens": count(sum(load.prompt_tokens + load.completion_tokens for load in loads)),
            "price": literal(money(None if None in prices else sum(filter(None, prices)))),
        }
        text = _("{ask} to be asked, {on_record} on record; about {tokens} tokens, {price}.", **values)
        st.caption(text + " " + _("It stops at the run's budget."))
        if st.button(_(label), type="primary", key=f"start-{key}"):
            st.session_state[waiting] = [asks.start(one, typed_keys()) for one in plans]
            del st.session_state[planned]
            st.rerun()


def check_view(house: Courthouse, record: Record) -> None:
    """A place to have a model of one's choice check all statements against the case."""
    key = f"check-{record.run.id}"
    with st.expander(_("Have a model check every statement"), icon=":material/fact_check:"):
        about = _(
            "It is given the case as all members were, and one statement at a time. What it copies is looked for, word for word."
        )
        st.caption(about)
        if waits(key, _("The statements are being checked.")) or not may(Access.RUN):
            return
        values, _listed = model_picker({"id": OFFLINE}, f"{key}-model", house.connections)
        if values["id"] in (OFFLINE, PERSON):
            st.caption(_("Choose a language model: the rules have looked at everything already."))
            return
        with errors_shown():
            spec, label = ModelSpec.model_validate({**values, "temperature": 0.0}), N_("Start the check")
            start_beside(house, house.checks, key, spec, key, lambda: [house.checks.plan(record, spec)], label)


def _asks_nobody(house: Courthouse, record: Record) -> bool:
    """Whether a model of the run can't be asked here, so that nobody could answer for the member; it says so."""
    if missing := out_of_reach(house, record.setup):
        st.caption(_("{missing} can't be asked here, so nothing new is asked of it.", missing=literal(missing)))
    return bool(missing)


def _result(audit: audits.Audit) -> None:
    st.markdown(f"**{literal(audit.name.capitalize())}.** {literal(audits.MEANINGS[audit.name])}")
    heads = [_("shown"), _("voted {choice}", choice=translated(audit.after)), _("voted otherwise"), _("no answer")]
    counts = ((translated(text), audit.counts.get(name)) for name, text in asides.TITLES.items())
    rows = [(text, told.again, told.other, told.missing) for text, told in counts if told]
    rows += [(_("all but {name}", name=peer), one.again, one.other, one.missing) for peer, one in audit.voices.items()]
    table(rows, heads)
    if audit.voices:
        carried = literal(", ".join(audit.carried_by))
        none = _(
            "No single voice is shown to have carried it: without any one of them the verdict is not surely rarer."
        )
        st.markdown(_("Without {names} the change does not come about.", names=carried) if carried else none)
    cost = audit.cost
    values = {"calls": many(cost.calls, "call"), "tokens": count(cost.tokens, about=cost.estimated)}
    values["money"] = literal(money(cost.money, about=cost.estimated))
    st.caption(_("It took {calls}, {tokens} tokens, {money}.", **values))


Words = tuple[str, str, str]
"""Of a question: the field's, the button's, and what is said until it is answered."""


def ask_all_view(house: Courthouse, record: Record) -> None:
    """A place to ask all members one question, and what each has answered to the question that was put last."""
    run = record.run.id
    if not any(interview.last_call(record, member.id) for member in record.members):
        return
    asked = [one for _, one in house.asides.interviews(run)]
    counts = Counter(one.question for one in asked)
    last = next((one.question for one in reversed(asked) if counts[one.question] > 1), "")
    with st.expander(_("Ask everybody"), icon=":material/groups:", expanded=bool(last)):
        if last:
            inert(last, small=True, faint=True)
            answers = {one.member: one.answer for one in asked if one.question == last}
            rows = [(record.name_of(member), answer) for member, answer in answers.items()]
            st.html(html_of("prose", table=Table((_("Member"), _("Answer")), tuple(rows))))
        words = _("Your question to all"), _("Ask everybody"), _("Everybody is being asked.")
        _ask(house, record, None, f"asked-all-{run}", words)


def _ask(house: Courthouse, record: Record, after: Called | None, key: str, words: Words, place: str = "") -> None:
    """A form for a question to a member, as it stood after a call, or to all, for who may ask. `key`: see `waits`."""
    title, press, waiting = words
    if waits(key, waiting) or _asks_nobody(house, record) or not may(Access.RUN):
        return
    with st.form(f"{place}-{key}", border=False, clear_on_submit=True):
        who = your_name(placeholder=_("somebody"))
        question = st.text_area(title, max_chars=interview.LONGEST)
        if not st.form_submit_button(press):
            return
    st.session_state["who"] = who
    with errors_shown():
        st.session_state[key] = [house.interviews.ask(record, after, question, who, typed_keys())]
        st.rerun()


def interview_view(house: Courthouse, record: Record, after: Called | None, *, place: str = "call") -> None:
    """A place to ask the member of a call, as it stood after that call."""
    if after is None or not after.keys or after.value is None:
        return
    run = record.run.id
    whole = house.record(run)
    mine = (after.path, after.keys[-1])
    asked = [(at, one) for at, one in house.asides.interviews(run) if (one.after, one.key) == mine]
    name = literal(whole.name_of(after.member))
    with st.expander(_("Ask {name}", name=name), icon=":material/record_voice_over:", expanded=bool(asked)):
        knew = literal(placed(whole, after))
        st.caption(_("It answers from what it knew after {place}. The run stays as it is.", place=knew))
        for at, one in asked:
            st.caption(f"{literal(one.who)}, {moment(at)}:")
            inert(one.question, small=True, faint=True)
            inert(one.answer)
            if one.called.asked and one.called.cost:
                st.caption(literal(money(one.called.cost, about=one.called.estimated)))
        if after.model == OFFLINE:
            st.caption(f":material/info: {translated(NOTICE)}")
        words = _("Your question"), _("Ask"), _("The question is being asked.")
        _ask(house, whole, after, f"interview-{run}-{after.path}", words, place)
