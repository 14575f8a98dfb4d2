"""The audience as the presenter sees it, below the room: link and QR code, tallies, arguments, and what one of them changes."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import TimeoutError as TookLong
from contextlib import suppress

import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddNote, Intervention
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.language import _
from courtroom.models.spec import OFFLINE
from courtroom.questions.audience import Liked
from courtroom.room.hall import HallSnapshot
from pages.parts.audience.link import link_of, qr_png
from pages.parts.audience.phone import hall
from pages.parts.audience.tally import tally_html
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.offered import offered
from pages.parts.shared.units import many, money

LOOK_S = 1.5
WAIT_S = 8.0
"""How long the page waits for the fork before it shows it as it goes on."""
WHO = "The audience"
TROUBLE = "why-no-fork"
"""Why a fork was not made, in the session."""


@offered(Access.RUN)
def invite_button(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Opens an audience. One of a finished run sees one ballot after another, as the presenter opens them."""
    if st.session_state.pop("invited", None):
        st.rerun()  # these controls are drawn apart from the page, on which the audience's panel is to stand now
    audience = house.audiences.of(record.run.id)
    if not can_have_one(procedure) or (audience and audience.closed is None):
        return
    st.button(
        _("Invite an audience"),
        key="do-invite",
        icon=":material/groups:",
        help=_("People follow on their phones and vote beside the members. Nothing of it changes the run."),
        on_click=_invite,
        args=(house, record),
    )


def _invite(house: Courthouse, record: Record) -> None:
    house.audiences.open(record.run.id, 0 if record.run.status == "done" else None)
    st.session_state["invited"] = record.run.id


def can_have_one(procedure: Procedure) -> bool:
    """Whether there is something to vote on."""
    return bool(procedure.choices) and any(role.votes for role in procedure.roles)


def audience_view(house: Courthouse, record: Record) -> None:
    """The audience of this run, if it was invited."""
    audience = house.audiences.of(record.run.id)
    if audience is None:
        return
    arguments = house.audiences.arguments(record.run.id)
    st.session_state[f"arguments-{record.run.id}"] = _standing(arguments)
    with st.container(border=True, key="audience"):
        st.subheader(_("The audience"))
        left, right = st.columns([1, 2], gap="large")
        if audience.closed is None:
            with left:
                link = link_of(audience.token)
                st.image(qr_png(link), width=280, alt=_("The link as a QR code"))
                st.code(link, language=None, wrap_lines=True)
        with right:
            st.fragment(_live, run_every=LOOK_S if audience.closed is None else None)(audience.token)
        _arguments(house, record, arguments, audience.token)
        _compared(house, record.run.id)


def _live(token: str) -> None:
    """How many take part, the rounds, and the votes."""
    snapshot = hall().snapshot(token)
    audience = snapshot.audience
    voted = hall().audiences.voters(audience.run)
    closed = audience.closed is not None
    with st.container(horizontal=True, vertical_alignment="center"):
        if closed:
            st.badge(_("Closed"), icon=":material/lock:", color="gray")
        else:
            st.badge(
                _("{people} here", people=many(hall().people(token), "phone")),
                icon=":material/smartphone:",
                color="blue",
            )
        st.badge(_("{voted} have voted", voted=f"{voted:d}"), icon=":material/how_to_vote:", color="green")
        if not closed:
            _rounds(snapshot)
            if st.button(_("Close the audience"), icon=":material/lock:", key="close-audience"):
                hall().audiences.close(audience.run)
                hall().snapshot(token, now=True)
                st.rerun()
    if not closed:
        st.caption(_("Open now: {name}", name=literal(snapshot.polls[-1].name)))
    st.html(tally_html(snapshot.polls[::-1], snapshot.procedure.choices, "Members"))  # plain: HTML by `tally_html`
    if st.session_state.get(f"arguments-{audience.run}") != _standing(hall().audiences.arguments(audience.run)):
        st.rerun()


def _standing(arguments: Sequence[Liked]) -> list[tuple[int, int]]:
    """Which arguments there are, with their votes."""
    return [(one.argument.number, one.likes) for one in arguments]


@offered(Access.RUN)
def _rounds(snapshot: HallSnapshot) -> None:
    """Where the run is over, the presenter opens one round after another; else the run itself does."""
    audience = snapshot.audience
    if audience.shown is None or not snapshot.to_come:
        return
    st.button(
        _("Open the next round"), icon=":material/skip_next:", type="primary", key="next-round",
        on_click=_show, args=(audience.token, audience.run, audience.shown + 1),
    )  # fmt: skip


def _show(token: str, run: str, shown: int) -> None:
    hall().audiences.show(run, shown)
    hall().snapshot(token, now=True)


def _arguments(house: Courthouse, record: Record, arguments: Sequence[Liked], token: str) -> None:
    """What the audience says, the argument with most votes first, each with a way to put it in."""
    run = record.run.id
    if not arguments:
        st.caption(_("Nobody has sent an argument yet."))
        return
    st.markdown(f"**{many(len(arguments), 'argument')}**")
    for one in arguments[:3]:
        _argument(record, one, token)
    if len(arguments) > 3:
        with st.expander(_("{arguments} more", arguments=len(arguments) - 3)):
            for one in arguments[3:50]:
                _argument(record, one, token)
    chosen = next((one for one in arguments if one.argument.number == st.session_state.get(f"put-in-{run}")), None)
    if chosen:
        _put_in(house, record, chosen)


def _argument(record: Record, one: Liked, token: str) -> None:
    argument = one.argument
    side = next((c for c in hall().snapshot(token).procedure.choices if c.name == argument.choice), None)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(f"{one.likes:d}", icon=":material/thumb_up:", color="blue")
        if side:
            st.caption(f"{literal(side.mark)} {literal(side.title)}", width="content")
        inert(argument.text)
        if st.button(_("Put it in as a note"), key=f"put-in-{argument.number:d}", icon=":material/sticky_note_2:"):
            st.session_state[f"put-in-{record.run.id}"] = argument.number
            st.rerun()


@offered(Access.RUN)
def _put_in(house: Courthouse, record: Record, one: Liked) -> None:
    """A fork that begins with the argument as a note; what it takes is told before."""
    run = record.run.id
    if not record.stages:
        st.info(_("The run has not begun. Step it once, then put the argument in."))
        return
    with st.container(border=True):
        st.markdown(_("**A fork of this run in which all members are told the argument**"))
        inert(one.argument.text)
        names = {stage.path: stage.name for stage in record.stages}
        wanted = _first_after(record, one.argument.poll)
        stage = st.selectbox(
            _("From which stage on"), list(names), list(names).index(wanted), format_func=names.__getitem__, width=320
        )
        try:
            acts = house.interventions.planned(record, [AddNote(text=one.argument.text)], WHO, stage)
            key = f"cost-{run}-{one.argument.number}-{stage}"
            if key not in st.session_state:
                row = record.run
                st.session_state[key] = house.estimate(
                    row.procedure, record.case, record.setup, row.seed, parent=run, interventions=acts
                )
            estimate = st.session_state[key]
            st.caption(
                _(
                    "{calls} to be asked, {on_record} from the record; {price}.",
                    calls=many(estimate.calls - estimate.on_record, "call"),
                    on_record=f"{estimate.on_record:d}",
                    price=literal(money(house.price(estimate))),
                )
            )
            if any(member.spec.id == OFFLINE for member in record.members):
                st.caption(
                    _("The offline model reads no prompts, so a note tells it nothing: the fork will be the same.")
                )
            st.button(
                _("Fork with this note, and compare"), type="primary", key="do-put-in",
                on_click=_fork, args=(house, record, acts),
            )  # fmt: skip
        except CourtroomError as error:
            st.error(literal(str(error)))
        if trouble := st.session_state.pop(TROUBLE, None):
            st.error(literal(trouble))


def _fork(house: Courthouse, record: Record, acts: Sequence[Intervention]) -> None:
    run = record.run.id
    try:
        fork = house.fork(run, record.setup, interventions=acts)
        house.runner.go(fork)
    except CourtroomError as error:
        st.session_state[TROUBLE] = str(error)
        return
    st.session_state.pop(f"put-in-{run}", None)
    st.session_state[f"fork-of-{run}"] = fork


def _compared(house: Courthouse, run: str) -> None:
    """Lead to the comparison with the fork that was made; where the page is drawn anew meanwhile, the next drawing does it."""
    fork = st.session_state.get(f"fork-of-{run}")
    if fork is None:
        return
    with st.spinner(_("The fork is under way ...")), suppress(TookLong):  # the comparison shows it as it goes on
        house.runner.wait(fork, WAIT_S)
    del st.session_state[f"fork-of-{run}"]
    st.switch_page("pages/compare.py", query_params={"runs": f"{run},{fork}"})


def _first_after(record: Record, poll: str) -> str:
    """The stage that follows the ballot in which an argument was sent; where none does, that of the ballot."""
    voting = [record.ballot_stage(path) for path in record.tallies]
    if not voting:
        return record.stages[-1].path
    if poll not in record.tallies:
        return voting[0]
    at = next(n for n, stage in enumerate(record.stages) if stage.path == record.ballot_stage(poll))
    return record.stages[min(at + 1, len(record.stages) - 1)].path
