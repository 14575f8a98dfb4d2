"""The audience: what a phone reads; and, for the presenter below the room, link, tallies and arguments."""

from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

import segno
import streamlit as st

from courtroom import Choice, Courthouse, Procedure, Record
from courtroom.access import Access, Resource, may
from courtroom.engine.interventions import AddNote
from courtroom.language import N_, _, ngettext, translated
from courtroom.models.spec import OFFLINE
from courtroom.questions.audience import BEFORE, Liked
from courtroom.room.live_audiences import LiveAudiences
from courtroom.room.player import static
from courtroom.sharing import may_change
from pages.parts.shared.house import courthouse, server_address, show_beside
from pages.parts.shared.shown import do, errors_shown, html_of, inert, literal, many, money, offered, plainly

phone_component = st.components.v2.component("courtroom_phone", js=static("in_phone.js"))


@st.cache_resource(show_spinner=False)
def live_audiences() -> LiveAudiences:
    house, phones = courthouse(), courthouse().settings.audience_phones
    return LiveAudiences(house.audiences, house.procedures, house.record, phones)


def address() -> str:
    """The visitor's: of the connection, or the last one in the proxy's header, which the proxy itself wrote."""
    header = courthouse().settings.address_header
    said = (st.context.headers.get(header) or "").rpartition(",")[2].strip() if header else ""
    return said or st.context.ip_address or ""


HERE_ONLY = ("localhost", "127.0.0.1", "::1", "[::1]")
"""Hosts by which a computer names itself: a phone that opens them finds nothing."""
OWN_ADDRESS = N_("This address is this computer's own: for phones, write the address that it has in your network.")


def link_of(token: str) -> str:
    """The link, under the address by which phones reach this server; the person can say another one."""
    base, title = server_address(), _("Address by which phones reach this server")
    before = st.session_state.get("audience-address", base)
    typed = st.text_input(title, before, key="audience-address-typed", max_chars=300).strip()
    parts = urlsplit(typed)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        st.error(_("An address begins with http:// or https://, such as http://192.168.1.20:8501."))
        typed = base
    elif parts.hostname in HERE_ONLY:
        st.warning(_(OWN_ADDRESS), icon=":material/wifi:")
    st.session_state["audience-address"] = typed
    return f"{typed.rstrip('/')}/?audience={token}"


@lru_cache(maxsize=32)
def qr_code(link: str) -> str:
    """A QR code with its white margin, as the address of a picture that reads in both themes."""
    return segno.make(link, error="m", micro=False).png_data_uri(scale=10, border=3)


LOOK_S = 1.5
WHO = "The audience"
PANEL_ANCHOR = "audience"


def invite_button(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Opens an audience. One of a finished run sees one ballot after another, as the presenter opens them."""
    audience = house.audiences.of(record.run.id)
    if not procedure.choices or not any(role.votes for role in procedure.roles):
        return
    if audience and audience.closed is None:
        st.markdown(f":material/qr_code: [{_('The audience')}](#{PANEL_ANCHOR})", width="content")
        return
    about = _("People follow on their phones and vote alongside the members. Nothing of it changes the run.")
    if st.button(_("Invite an audience"), key="do-invite", icon=":material/groups:", help=about):
        do(lambda: house.audiences.open(record.run.id, 0 if record.run.status == "done" else None))


def audience_view(house: Courthouse, record: Record) -> None:
    audience = house.audiences.of(record.run.id)
    if audience is None:
        return
    arguments = house.audiences.arguments(record.run.id)
    st.session_state[f"arguments-{record.run.id}"] = arguments
    with st.container(border=True, key="audience"):
        st.subheader(_("The audience"), anchor=PANEL_ANCHOR)
        left, right = st.columns([1, 2], gap="large")
        if audience.closed is None:
            with left:
                link = link_of(audience.token)
                st.image(qr_code(link), width=280, alt=_("The link as a QR code"))
                st.code(link, language=None, wrap_lines=True)
        with right:
            st.fragment(_live, run_every=LOOK_S if audience.closed is None else None)(audience.token)
        _arguments(house, record, arguments, audience.token)


@plainly()
def _live(token: str) -> None:
    all_live = live_audiences()
    snapshot, store = all_live.snapshot(token), all_live.audiences
    audience = snapshot.audience
    voted, closed = store.voters(audience.run), audience.closed is not None
    mine = may_change(courthouse().database, Resource(kind="run", id=audience.run))

    def show(shown: int) -> None:
        store.show(audience.run, shown)
        all_live.snapshot(token, now=True)

    with st.container(horizontal=True, vertical_alignment="center"):
        if closed:
            st.badge(_("Closed"), icon=":material/lock:", color="gray")
        else:
            people = _("{people} here", people=many(all_live.people(token), "phone"))
            st.badge(people, icon=":material/smartphone:", color="blue")
        st.badge(
            ngettext("{number} has voted", "{number} have voted", voted), icon=":material/how_to_vote:", color="green"
        )
        # Where the run is over, the presenter opens one round after another; else the run itself does.
        if mine and not closed and audience.shown is not None and snapshot.to_come:
            icon, args = ":material/skip_next:", (audience.shown + 1,)
            st.button(_("Open the next round"), icon=icon, type="primary", key="next-round", on_click=show, args=args)
        if mine and not closed and st.button(_("Close the audience"), icon=":material/lock:", key="close-audience"):
            store.close(audience.run)
            all_live.snapshot(token, now=True)
            st.rerun()
        if mine and voted:
            with st.popover(_("Empty the audience"), icon=":material/delete_sweep:"):
                st.markdown(_("All votes and arguments of this audience are deleted. This can't be undone."))
                if st.button(_("Delete them"), key="empty-audience", type="primary"):
                    do(lambda: all_live.empty(token))
    if not closed:
        waits = _(" · The next round opens when the members have voted: go on with Step or Run above.")
        by_itself = audience.shown is None and snapshot.record.run.status != "done"
        st.caption(_("Open now: {name}", name=literal(snapshot.polls[-1].name)) + (waits if by_itself else ""))
    st.html(html_of("tally", polls=snapshot.polls[::-1], choices=snapshot.procedure.choices, before=BEFORE))
    if st.session_state.get(f"arguments-{audience.run}") != store.arguments(audience.run):
        st.rerun()


def _arguments(house: Courthouse, record: Record, arguments: Sequence[Liked], token: str) -> None:
    run = record.run.id
    if not arguments:
        st.caption(_("Nobody has sent an argument yet."))
        return
    st.markdown(f"**{many(len(arguments), 'argument')}**")
    sides = {choice.name: choice for choice in live_audiences().snapshot(token).procedure.choices}
    for one in arguments[:3]:
        _argument(record, one, sides.get(one.choice))
    if len(arguments) > 3:
        with st.expander(_("{arguments} more", arguments=len(arguments) - 3)):
            for one in arguments[3:50]:
                _argument(record, one, sides.get(one.choice))
    if chosen := next((one for one in arguments if one.number == st.session_state.get(f"put-in-{run}")), None):
        _put_in(house, record, chosen)


def _argument(record: Record, one: Liked, side: Choice | None) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(f"{one.likes:d}", icon=":material/thumb_up:", color="blue")
        if side:
            st.caption(f"{literal(side.mark)} {literal(side.title)}", width="content")
        inert(one.text)
        if may(Access.RUN) and st.button(
            _("Put it in as a note"), key=f"put-in-{one.number:d}", icon=":material/sticky_note_2:"
        ):
            st.session_state[f"put-in-{record.run.id}"] = one.number
            st.rerun()


@offered
def _put_in(house: Courthouse, record: Record, one: Liked) -> None:
    """A fork that begins with the argument as a note; what it takes is shown before."""
    run = record.run.id
    if not record.stages:
        st.info(_("The run has not begun. Step it once, then put the argument in."))
        return
    with st.container(border=True):
        st.markdown(_("**A fork of this run in which all members are told the argument**"))
        inert(one.text)
        names = {stage.path: stage.name for stage in record.stages}
        first = list(names).index(_first_after(record, one.poll))
        stage = st.selectbox(
            _("From which stage on"), names, first, format_func=lambda path: translated(names[path]), width=320
        )
        with errors_shown():
            acts = house.interventions.planned(record, [AddNote(text=one.text)], WHO, stage)
            key, row = f"cost-{run}-{one.number}-{stage}", record.run
            if (estimate := st.session_state.get(key)) is None:
                given = row.procedure, record.case, record.setup, row.seed
                estimate = st.session_state[key] = house.estimate(*given, parent=run, interventions=acts)
            asked = many(estimate.calls - estimate.on_record, "call")
            text = _("{calls} to be asked, {on_record} from the record", calls=asked, on_record=estimate.on_record)
            st.caption(f"{text}; {literal(money(house.price(estimate)))}.")
            if any(member.spec.id == OFFLINE for member in record.members):
                st.caption(_("The offline model reads no prompts, so a note tells it nothing."))
            if st.button(_("Fork with this note, and compare"), type="primary", key="do-put-in"):
                fork = house.fork(run, record.setup, interventions=acts)
                st.session_state.pop(f"put-in-{run}")
                show_beside(house, run, fork)


def _first_after(record: Record, poll: str) -> str:
    """The stage that follows the ballot in which an argument was sent; where none does, that of the ballot."""
    stages = [stage.path for stage in record.stages]
    if poll not in record.tallies:
        return next(map(record.ballot_stage, record.tallies), stages[-1])
    return stages[min(stages.index(record.ballot_stage(poll)) + 1, len(stages) - 1)]
