"""The audience: which phone this is and what it reads; and, for the presenter below the room, link, tallies, arguments and what one of them changes."""

import io
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import TimeoutError as TookLong
from contextlib import suppress
from functools import lru_cache
from urllib.parse import urlsplit

import segno
import streamlit as st

from courtroom.access import Access, may
from courtroom.cases.case import Case
from courtroom.cases.dispute import Dispute
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddNote, Intervention
from courtroom.engine.procedure import Choice, Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.figures.layout import tone
from courtroom.language import _, translated
from courtroom.models.spec import OFFLINE
from courtroom.questions.audience import BEFORE, Liked, is_phone
from courtroom.room.live_audiences import LiveAudiences, Poll
from courtroom.room.scene import Moment
from pages.parts.shared.actions import errors_shown, offered
from pages.parts.shared.house import courthouse, server_address
from pages.parts.shared.shown import escaped, inert, literal, many, money

# The id is made and kept in the browser: a page that is loaded again is the same phone, and no cookie is needed.
_ID = """
export default function ({ setStateValue }) {
  let id = null;
  try { id = localStorage.getItem("courtroom-phone"); } catch (error) { /* a browser that keeps nothing */ }
  if (!id) {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    id = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
    try { localStorage.setItem("courtroom-phone", id); } catch (error) { /* it holds for this visit */ }
  }
  setStateValue("id", id);
}
"""
_phone = st.components.v2.component("courtroom_phone", js=_ID)


def phone_id() -> str:
    """The random id of this browser; empty until it has said it, which takes a moment."""
    if not st.session_state.get("phone"):
        said = str(_phone(key="phone-id", default={"id": ""}, on_id_change=lambda: None, height=1).id or "")
        st.session_state["phone"] = said if is_phone(said) else ""
    return str(st.session_state["phone"])


@st.cache_resource(show_spinner=False)
def live_audiences() -> LiveAudiences:
    house = courthouse()
    return LiveAudiences(
        house.audiences, house.procedures, house.record, house.store.pulse, house.settings.audience_phones
    )


def address() -> str:
    """Who visits: the address of the connection, or the last one that the proxy's header names, which the proxy itself wrote."""
    header = courthouse().settings.address_header
    said = (st.context.headers.get(header) or "").rpartition(",")[2].strip() if header else ""
    return said or st.context.ip_address or ""


SAID_STYLE = (
    "<style>.said{overflow-wrap:anywhere}.said details{border-top:1px solid rgba(128,128,128,.35);padding:.2rem 0}"
    ".said summary{cursor:pointer;font-weight:600;padding:.55rem 0}.said .line{margin:.3rem 0 .9rem}"
    ".said .who{font-weight:600}.said .text{white-space:pre-wrap;font-size:.95rem}.said .soft{opacity:.75}</style>"
)


def case_html(case: Case) -> str:
    """HTML for all there is to read of a case; nothing of how it was really decided."""
    blocks = [
        f'<div class="line"><div class="who">{escaped(title)}</div><div class="text">{escaped(text)}</div></div>'
        for title, text in _case(case)
    ]
    return f'{SAID_STYLE}<div class="said"><details><summary>{_("The case")}</summary>{"".join(blocks)}</details></div>'


def said_html(moments: Sequence[Moment], record: Record, procedure: Procedure) -> str:
    """HTML for what was said, a fold for each stage, the latest first and open."""
    names = {member.id: member.name for member in record.everybody}
    sides = {choice.name: f"{choice.mark} {choice.title}" for choice in procedure.choices}
    folds: list[str] = []
    for stage in (one for one in reversed(moments) if one.kind == "stage"):
        within = [one for one in moments if one.stage == stage.path]
        lines = "".join([_spoken_line(one, names, sides) for one in within])
        if lines:
            opened = "" if folds else " open"
            folds.append(f"<details{opened}><summary>{escaped(stage.title)}</summary>{lines}</details>")
    return f'{SAID_STYLE}<div class="said">{"".join(folds)}</div>'


def _spoken_line(moment: Moment, names: Mapping[str, str], sides: Mapping[str, str]) -> str:
    who = escaped(names.get(moment.member, moment.member))
    if moment.kind == "vote":
        choice = sides.get(moment.choice, moment.choice) if moment.choice else _("○ abstains")
        moved = moment.before is not None and moment.choice is not None and moment.before != moment.choice
        was = _(" (changes sides)") if moved else ""
        return f'<div class="line"><span class="who">{who}</span>: {escaped(choice)}{escaped(was)}</div>'
    if moment.kind != "call" or not moment.parts:
        return ""
    text = "\n".join(part.text for part in moment.parts)
    return (
        f'<div class="line"><span class="who">{who}</span> <span class="soft">{escaped(moment.title)}</span>'
        f'<div class="text">{escaped(text)}</div></div>'
    )


def _case(case: Case) -> Iterator[tuple[str, str]]:
    yield from case.sections()
    if isinstance(case, Dispute):
        deal = case.transaction
        yield (
            _("What was ordered"),
            "\n".join(filter(None, (", ".join(filter(None, (deal.product, deal.cost))), deal.description))),
        )
        if case.chat:
            yield _("Chat"), "\n".join(f"{line.speaker}: {line.text}" for line in case.chat)
        for piece in case.evidence:
            yield _("Evidence of the {side}", side=translated(piece.side)), piece.text


HERE_ONLY = ("localhost", "127.0.0.1", "::1", "[::1]")
"""Hosts by which a computer names itself: a phone that opens them finds nothing."""


def link_of(token: str) -> str:
    """The link, under the address by which phones reach this server; the person can say another than the browser's own."""
    base = server_address()
    typed = st.text_input(
        _("Address by which phones reach this server"),
        st.session_state.get("audience-address", base),
        key="audience-address-typed",
        max_chars=300,
    ).strip()
    parts = urlsplit(typed)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        st.error(_("An address begins with http:// or https://, such as http://192.168.1.20:8501."))
        typed = base
    elif parts.hostname in HERE_ONLY:
        st.warning(
            _(
                "This address is this computer's own, and phones can't open it. Write the address that it has in your network."
            ),
            icon=":material/wifi:",
        )
    st.session_state["audience-address"] = typed
    return f"{typed.rstrip('/')}/?audience={token}"


@lru_cache(maxsize=32)
def qr_png(link: str) -> bytes:
    """A QR code with its white margin, as a picture that reads in both themes."""
    picture = io.BytesIO()
    segno.make(link, error="m", micro=False).save(picture, kind="png", scale=10, border=3)
    return picture.getvalue()


STYLE = (
    "<style>.polls{display:grid;gap:.9rem}.polls .name{font-weight:600;margin-bottom:.2rem;overflow-wrap:anywhere}"
    ".polls .who{display:grid;grid-template-columns:5.5rem 1fr;gap:.1rem .6rem;align-items:center;margin-bottom:.25rem}"
    ".polls .bar{display:flex;height:.8rem;border-radius:.4rem;overflow:hidden;background:rgba(128,128,128,.25);gap:2px}"
    ".polls .told{grid-column:2;font-size:.9rem}.polls .told span{white-space:nowrap;margin-right:.9rem}"
    ".polls .soft{opacity:.75}</style>"
)


def tally_html(polls: Sequence[Poll], choices: Sequence[Choice], members: str) -> str:
    """HTML for the polls, a bar for the audience and one for the members in each."""
    theme = st.context.theme.type or "light"

    def asked(poll: Poll) -> bool:
        """Whether the members vote in it too; before their first vote the audience votes alone."""
        return poll.path != BEFORE or len(polls) == 1

    blocks = [
        f'<div><div class="name">{escaped(poll.name)}</div>'
        f"{_bar(_('Audience'), poll.voted, choices, theme, _('no votes yet'))}"
        f"{_bar(members, poll.members, choices, theme, _('not voted yet'), poll.abstained) if asked(poll) else ''}</div>"
        for poll in polls
    ]
    return f'{STYLE}<div class="polls">{"".join(blocks)}</div>'


def sides_css(choices: Sequence[Choice]) -> str:
    """A style sheet that gives each button of a vote the colour of its choice."""
    theme = st.context.theme.type or "light"
    ink = "#12161F" if theme == "dark" else "#FFFFFF"
    rules = [
        f".st-key-vote-{number:d} button{{border:2px solid {tone(choice.tone, theme)};min-height:3.2rem}}"
        f".st-key-vote-{number:d} button p{{font-size:1.1rem;font-weight:600}}"
        f".st-key-vote-{number:d} button[kind=primary]{{background:{tone(choice.tone, theme)};color:{escaped(ink)}}}"
        for number, choice in enumerate(choices)
    ]
    return f"<style>{''.join(rules)}</style>"


def _bar(
    who: str, votes: Mapping[str, int], choices: Sequence[Choice], theme: str, none: str, abstained: int = 0
) -> str:
    whole = sum(votes.values()) + abstained
    parts = [
        f'<div style="width:{100 * votes.get(choice.name, 0) / max(1, whole):.1f}%;background:{tone(choice.tone, theme)}"></div>'
        for choice in choices
    ]
    lines = [
        f'<span><b style="color:{tone(choice.tone, theme)}">{escaped(choice.mark)}</b> {escaped(choice.title)} '
        f"<b>{votes.get(choice.name, 0):d}</b></span>"
        for choice in choices
    ]
    if abstained:
        lines.append(f"<span>○ {_('abstained')} <b>{abstained:d}</b></span>")
    words = "".join(lines) if whole else f'<span class="soft">{escaped(none)}</span>'
    return (
        f'<div class="who"><span>{escaped(who)}</span><div class="bar">{"".join(parts)}</div>'
        f'<div class="told">{words}</div></div>'
    )


LOOK_S = 1.5
WAIT_S = 8.0
"""How long the page waits for the fork before it shows it as it goes on."""
WHO = "The audience"
PANEL = "audience"
"""The anchor of the panel: it stands below the room, and who has just invited people has to find it."""
TROUBLE = "why-no-fork"


@offered(Access.RUN)
def invite_button(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Opens an audience. One of a finished run sees one ballot after another, as the presenter opens them."""
    if st.session_state.pop("invited", None):
        st.rerun()  # these controls are drawn apart from the page, on which the audience's panel is to stand now
    audience = house.audiences.of(record.run.id)
    if not can_have_one(procedure):
        return
    if audience and audience.closed is None:
        st.markdown(f":material/qr_code: [{_('The audience')}](#{PANEL})", width="content")
        return

    def invite() -> None:
        house.audiences.open(record.run.id, 0 if record.run.status == "done" else None)
        st.session_state["invited"] = record.run.id

    st.button(
        _("Invite an audience"),
        key="do-invite",
        icon=":material/groups:",
        help=_("People follow on their phones and vote alongside the members. Nothing of it changes the run."),
        on_click=invite,
    )


def can_have_one(procedure: Procedure) -> bool:
    return bool(procedure.choices) and any(role.votes for role in procedure.roles)


def audience_view(house: Courthouse, record: Record) -> None:
    audience = house.audiences.of(record.run.id)
    if audience is None:
        return
    arguments = house.audiences.arguments(record.run.id)
    st.session_state[f"arguments-{record.run.id}"] = _standing(arguments)
    with st.container(border=True, key="audience"):
        st.subheader(_("The audience"), anchor=PANEL)
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
    all_live = live_audiences()
    snapshot, store = all_live.snapshot(token), all_live.audiences
    audience = snapshot.audience
    voted, closed = store.voters(audience.run), audience.closed is not None

    def show(shown: int) -> None:
        store.show(audience.run, shown)
        all_live.snapshot(token, now=True)

    with st.container(horizontal=True, vertical_alignment="center"):
        if closed:
            st.badge(_("Closed"), icon=":material/lock:", color="gray")
        else:
            people = _("{people} here", people=many(all_live.people(token), "phone"))
            st.badge(people, icon=":material/smartphone:", color="blue")
        st.badge(_("{voted} have voted", voted=f"{voted:d}"), icon=":material/how_to_vote:", color="green")
        # Where the run is over, the presenter opens one round after another; else the run itself does.
        if not closed and audience.shown is not None and snapshot.to_come and may(Access.RUN):
            icon, args = ":material/skip_next:", (audience.shown + 1,)
            st.button(_("Open the next round"), icon=icon, type="primary", key="next-round", on_click=show, args=args)
        if not closed and st.button(_("Close the audience"), icon=":material/lock:", key="close-audience"):
            store.close(audience.run)
            all_live.snapshot(token, now=True)
            st.rerun()
        if voted:
            with st.popover(_("Empty the audience"), icon=":material/delete_sweep:"):
                st.markdown(_("All votes and arguments of this audience are deleted. This can't be undone."))
                if st.button(_("Delete them"), key="empty-audience", type="primary"):
                    all_live.empty(token)
                    st.rerun()
    if not closed:
        waits = _(" · The next round opens when the members have voted: go on with Step or Run above.")
        by_itself = audience.shown is None and snapshot.record.run.status != "done"
        st.caption(_("Open now: {name}", name=literal(snapshot.polls[-1].name)) + (waits if by_itself else ""))
    st.html(tally_html(snapshot.polls[::-1], snapshot.procedure.choices, "Members"))  # plain: HTML by `tally_html`
    if st.session_state.get(f"arguments-{audience.run}") != _standing(store.arguments(audience.run)):
        st.rerun()


def _standing(arguments: Sequence[Liked]) -> list[tuple[int, int]]:
    return [(one.argument.number, one.likes) for one in arguments]


def _arguments(house: Courthouse, record: Record, arguments: Sequence[Liked], token: str) -> None:
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
    argument, choices = one.argument, live_audiences().snapshot(token).procedure.choices
    side = next((choice for choice in choices if choice.name == argument.choice), None)
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
    """A fork that begins with the argument as a note; what it takes is shown before."""
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
        with errors_shown():
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
    """Lead to the comparison with the fork that was made; where the page is drawn again meanwhile, the next drawing does it."""
    fork = st.session_state.get(f"fork-of-{run}")
    if fork is not None:
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
