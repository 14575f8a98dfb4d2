"""One case: the order, the chat, the evidence of both sides, its pictures and videos, what the checks found."""

from collections.abc import Callable

import streamlit as st

from courtroom.access import Resource
from courtroom.cases.case import Case
from courtroom.cases.checks import check
from courtroom.cases.dispute import SIDES, ChatMessage, Dispute, Evidence
from courtroom.cases.files import write_json, write_zip
from courtroom.courthouse import Courthouse
from courtroom.errors import MediaError
from courtroom.figures.layout import tone
from courtroom.language import _, translated
from courtroom.media.medium import Medium
from courtroom.media.store import clock
from courtroom.sharing.rules import may_change
from pages.parts.shared.inert import escaped, inert, literal
from pages.parts.shared.share_view import download, share_popover
from pages.parts.shared.table import in_columns


def medium_view(house: Courthouse, medium: Medium, *, key: str = "", described: bool = True) -> None:
    try:
        if medium.sha256 is None:
            st.caption(_(":material/broken_image: The file of {id} is missing.", id=literal(medium.id)))
        elif medium.kind == "image":
            st.image(house.media.image(medium.sha256), width="stretch", alt=medium.description or medium.id)
        else:
            st.video(house.media.path(medium.sha256).read_bytes())
            if medium.moments:
                st.caption(
                    literal(_("Shown were the frames at {moments}.", moments=", ".join(map(clock, medium.moments))))
                )
            elif st.toggle(_("Frames that members look at"), key=f"frames-{key}-{medium.id}"):
                frames = house.media.frames(medium.sha256)
                for column, frame in in_columns(frames, 5):
                    column.image(frame.jpeg, caption=clock(frame.timestamp_s), alt=clock(frame.timestamp_s))
    except MediaError as error:
        st.warning(literal(error))
    if described and medium.description:
        inert(medium.description, small=True, faint=True)


MARKS = {"buyer": "●", "seller": "■"}


def case_view(house: Courthouse, case: Case, hear: Callable[[str], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        if st.button(_("All cases"), icon=":material/arrow_back:"):
            del st.query_params["case"]
            st.rerun()
        if st.button(_("Hear this case"), type="primary", icon=":material/gavel:"):
            hear(case.id)
        of = Resource(kind="case", id=case.id)
        download(house, _("JSON"), write_json(case), f"{case.id}.json", of)
        download(house, _("ZIP with media"), lambda: write_zip(case, house.media), f"{case.id}.zip", of)
        if not house.library.is_sample(case.id):
            share_popover(house, of)
            if may_change(house.database, of) and st.button(_("Delete"), icon=":material/delete:"):
                st.session_state["deleted_case"] = house.library.delete(case.id)
                del st.query_params["case"]
                st.rerun()
    case_body(house, case)


def case_body(house: Courthouse, case: Case) -> None:
    st.title(literal(case.title))
    if case.source:
        st.caption(literal(case.source))
    findings = check(case, house.media)
    if findings:
        with st.expander(_("Checks: {findings} to look at", findings=len(findings)), icon=":material/rule:"):
            for finding in findings:
                show = st.error if finding.severity == "error" else st.warning
                show(f"{literal(finding.field)}: {literal(finding.message)}")
    else:
        st.caption(_(":material/check: Checks found nothing wrong with this case."))
    if isinstance(case, Dispute):
        _dispute(house, case)
    else:
        _plain(house, case)


def _plain(house: Courthouse, case: Case) -> None:
    media = list(case.media())
    for title, text in case.sections():
        st.subheader(literal(title))
        inert(text)
    if media:
        st.subheader(_("Pictures and videos"))
    for column, medium in in_columns(media, 3):
        with column:
            medium_view(house, medium)
    if real := case.real_outcome():
        with st.expander(_("What is on record of its outcome")):
            st.caption(_("Members of a hearing never see this."))
            inert(real)


def _dispute(house: Courthouse, case: Dispute) -> None:
    left, right = st.columns([1, 1], gap="large")
    with left:
        _order(case)
    with right:
        st.subheader(_("Chat"))
        if not case.chat:
            st.caption(_("Buyer and seller did not write to each other."))
        for line in case.chat:
            _bubble(line)
    st.subheader(_("Evidence"))
    if not case.evidence:
        st.info(_("Neither side has submitted evidence."))
    for turn in sorted({piece.round for piece in case.evidence}):
        st.markdown(_("**Round {turn}**", turn=f"{turn:d}"))
        for side, column in zip(SIDES, st.columns(2, gap="large"), strict=True):
            with column:
                for piece in case.by_side(side):
                    if piece.round == turn:
                        _piece(house, piece)
    if case.jury:
        with st.expander(
            _(
                "{votes}: {buyer} buyer {buyer_2}, {seller} seller {seller_2}",
                votes=translated(case.votes_title),
                buyer=MARKS["buyer"],
                buyer_2=f"{case.jury.buyer:d}",
                seller=MARKS["seller"],
                seller_2=f"{case.jury.seller:d}",
            )
        ):
            st.caption(_("Members of a hearing never see this."))
            for opinion in case.jury.opinions:
                inert(f"{MARKS[opinion.side]} {opinion.side}: {opinion.text}")


def _order(case: Dispute) -> None:
    deal = case.transaction
    st.subheader(_("Order"))
    facts = [
        ("Product", deal.product),
        ("Price", f"{deal.price:,.2f} {deal.currency}"),
        ("Condition", deal.condition),
        ("Category", " › ".join(filter(None, (case.category, case.subcategory)))),
        ("Ordered", f"{deal.ordered_at:%Y-%m-%d %H:%M}" if deal.ordered_at else ""),
        ("Delivered", f"{deal.delivered_at:%Y-%m-%d %H:%M}" if deal.delivered_at else ""),
        ("State", deal.order_state),
    ]
    rows = "".join(
        f'<div style="display:flex;gap:1rem;padding:.15rem 0"><span style="flex:0 0 6rem;opacity:.7">{escaped(name)}</span>'
        f'<span style="overflow-wrap:anywhere">{escaped(value)}</span></div>'
        for name, value in facts
        if value
    )
    st.html(rows)
    if deal.description:
        st.caption(_("The listing says"))
        inert(deal.description)


def _bubble(line: ChatMessage) -> None:
    side = "flex-start" if line.speaker == "buyer" else "flex-end"
    colour = tone(SIDES.index(line.speaker), st.context.theme.type or "light")
    at = f"{line.at:%Y-%m-%d %H:%M}" if line.at else ""
    st.html(
        f'<div style="display:flex;justify-content:{side}"><div style="max-width:80%;border:1px solid {colour};'
        f'border-radius:14px;padding:.4rem .8rem"><div style="font-size:.75rem;color:{colour}">'
        f"{MARKS[line.speaker]} {escaped(line.speaker)} {at}</div>"
        f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{escaped(line.text)}</div></div></div>'
    )


def _piece(house: Courthouse, piece: Evidence) -> None:
    with st.container(border=True):
        st.caption(f"{MARKS[piece.side]} {literal(piece.id)}")
        inert(piece.text)
        for medium in piece.media:
            medium_view(house, medium)
