"""The audience's page, made for phones: the case, what was said, and a vote in each round. It leads nowhere else."""

from collections.abc import Callable
from typing import Any, Literal

import streamlit as st

from courtroom.access import Resource
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.questions.audience import BEFORE, LONGEST, PHONE, NoSuchAudience, VoteRefused
from courtroom.room.live_audiences import Poll
from pages.parts.cases import medium_view
from pages.parts.live import audience_view
from pages.parts.shared.house import courthouse, heading, opens
from pages.parts.shared.shown import STYLES, html_of, inert, literal, plainly, redrawn

LOOK_S = 3.0
BEST, NEWEST = 4, 4
"""Arguments on a phone: those with most votes, and the latest of the others."""

house, live = courthouse(), audience_view.live_audiences()
token = st.query_params.get("audience", "")
try:
    opens(Resource(kind="run", id=live.audiences.at(token).run))
    snapshot = live.snapshot(token)
except CourtroomError as error:
    st.title(_("An audience"))
    gone = _("The run of this audience is not there any more.")
    st.error(literal(str(error)) if isinstance(error, NoSuchAudience) else gone)
    st.stop()
st.html(STYLES / "audience.css")
if not st.session_state.get("phone"):
    sent = audience_view.phone_component(key="phone-id", default={"id": ""}, on_id_change=lambda: None, height=1).id
    st.session_state["phone"] = sent if PHONE.fullmatch(str(sent)) else ""
phone = str(st.session_state["phone"])  # the random id of this browser; empty until it has said it
run, version = snapshot.audience.run, snapshot.version
choices = {choice.name: choice for choice in snapshot.procedure.choices}
closed = snapshot.open is None


def send(what: Callable[..., None], *given: Any) -> None:
    try:
        what(token, *given, audience_view.address())
    except VoteRefused as error:
        st.session_state["refused"] = str(error)


def filled(on: bool) -> Literal["primary", "secondary"]:
    return "primary" if on else "secondary"


def argue(poll: str) -> None:
    text = str(st.session_state.get("argument", ""))
    if text.strip():
        send(live.argue, phone, poll, text)
        st.session_state["argued"] = poll


@st.fragment
@plainly()
def ballot_view(poll: Poll) -> None:
    if "refused" in st.session_state:
        st.rerun()
    mine = live.audiences.choices(run, phone).get(poll.path)
    st.subheader(_("How would you decide?"))
    told = _("{name}. You can change your vote until the next round opens.", name=literal(poll.name))
    ended = _("The members have decided. You can change your vote until the audience is closed; then theirs is shown.")
    st.caption(ended if snapshot.record.run.status == "done" and not snapshot.to_come else told)
    looks: dict[str, Any] = {"width": "stretch", "disabled": not phone, "on_click": send}
    for number, choice in enumerate(choices.values()):
        title, given = f"{literal(choice.mark)} {literal(choice.title)}", (live.vote, phone, poll.path, choice.name)
        st.button(title, key=f"vote-{number:d}", type=filled(mine == choice.name), args=given, **looks)
    if mine is None:
        return
    title = literal(choices[mine].title if mine in choices else mine)
    st.caption(_(":material/check: You voted {title}.", title=title))
    with st.form("arguing", border=False):
        st.text_area(_("Why? Your argument, which everybody can read"), max_chars=LONGEST, height=90, key="argument")
        st.form_submit_button(_("Send my argument"), width="stretch", on_click=argue, args=(poll.path,))
    if st.session_state.get("argued") == poll.path and "refused" not in st.session_state:
        st.caption(_(":material/check: Sent. Everybody reads it in a few seconds; what you send next takes its place."))
    # The best and the latest. How many voted for one is not told here: who sees how others vote votes with them.
    if not snapshot.arguments:
        return
    best, others = snapshot.arguments[:BEST], snapshot.arguments[BEST:]
    latest = sorted(others, key=lambda one: one.number, reverse=True)[:NEWEST]
    liked = live.audiences.liked_by(run, phone)
    st.markdown(_("**What the audience says**"))
    for argument in (*best, *latest):
        side, number, on = choices.get(argument.choice), argument.number, argument.number in liked
        with st.container(border=True, gap="xsmall"):
            own = _(", your argument") if argument.phone == phone else ""
            st.caption(f"{literal(side.mark)} {literal(side.title)}{own}" if side else literal(argument.choice))
            inert(argument.text)
            if not own:
                title, vote = _("It convinces me"), (live.like, number, phone, not on)
                looks = {"icon": ":material/thumb_up:", "on_click": send}
                st.button(title, key=f"like-{number:d}", type=filled(on), args=vote, **looks)


def news() -> bool:
    """Whether a round has opened, the audience was closed, or there are new arguments."""
    try:
        now = live.snapshot(token)
    except CourtroomError:
        return True
    if phone:
        live.here(token, phone)
    return now.version != version


heading(snapshot.record.run.title)
st.caption(_("You follow this hearing. Your votes stand next to those of its members, and change nothing in it."))
if refused := st.session_state.pop("refused", ""):
    st.warning(literal(refused))
sections = [(translated(title), text) for title, text in snapshot.record.case.sections()]
st.html(html_of("said", sections=sections, folds=()))
media = list(snapshot.record.case.media())
if media and st.toggle(_("Pictures and videos of the case ({media})", media=len(media))):
    for medium in media:
        medium_view(house, medium, key="audience")
st.html(html_of("sides", choices=snapshot.procedure.choices))
if closed:
    st.info(_("The audience is closed. Thank you."), icon=":material/check_circle:")
else:
    ballot_view(snapshot.polls[-1])
counted = snapshot.polls if closed else snapshot.polls[:-1]
if counted:
    st.subheader(_("The votes so far"))
    st.html(html_of("tally", polls=counted, choices=snapshot.procedure.choices, before=BEFORE))
verdict = snapshot.record.run.verdict
if closed and verdict and not snapshot.to_come:
    outcome = choices[verdict.outcome].title if verdict.outcome in choices else verdict.outcome
    st.markdown(_("The members' verdict: **{outcome}**", outcome=literal(outcome)))
if snapshot.said:
    st.subheader(_("What was said"))
    said = [one for one in snapshot.said if one.kind == "vote" or (one.kind == "call" and one.parts)]
    stages = [one for one in reversed(snapshot.said) if one.kind == "stage"]
    folds = [(stage.title, [one for one in said if one.stage == stage.path]) for stage in stages]  # the latest first
    names = {member.id: member.name for member in snapshot.record.everybody}
    sides = {choice.name: f"{choice.mark} {choice.title}" for choice in choices.values()}
    st.html(html_of("said", sections=(), folds=[fold for fold in folds if fold[1]], names=names, sides=sides))
elif not closed:
    st.caption(_("What the members say stands here after their first vote."))
redrawn(news, None if closed else LOOK_S)
