"""Cases: one, with its order, chat, evidence, pictures and what the checks found; and those that a person adds, by file or by hand."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import streamlit as st
from pydantic import ValidationError

from courtroom.access import Resource
from courtroom.cases.case import Case
from courtroom.cases.checks import check, explain
from courtroom.cases.dispute import CATEGORIES, SIDES, ChatMessage, Dispute
from courtroom.cases.files import ENDINGS, Package, read_each, write_json, write_zip
from courtroom.cases.readers.tables import names_from
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError, MediaError
from courtroom.figures.layout import tone
from courtroom.language import _, ngettext, translated
from courtroom.media.medium import Medium, MediumKind
from courtroom.media.pictures import sniff
from courtroom.media.videos import clock
from courtroom.sharing import may_change
from courtroom.text.encoding import ENCODINGS
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.share_view import download, share_popover
from pages.parts.shared.shown import escaped, in_columns, inert, literal


def medium_view(house: Courthouse, medium: Medium, *, key: str = "", described: bool = True) -> None:
    try:
        if medium.sha256 is None:
            st.caption(_(":material/broken_image: The file of {id} is missing.", id=literal(medium.id)))
        elif medium.kind == "image":
            st.image(house.media.image(medium.sha256), width="stretch", alt=medium.description or medium.id)
            if medium.views and st.toggle(_("What members look at"), key=f"views-{key}-{medium.id}"):
                for view in house.media.sent(medium.sha256).views:
                    st.image(view.jpeg, width="stretch", caption=literal(view.label), alt=view.label or medium.id)
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
                        with st.container(border=True):
                            st.caption(f"{MARKS[piece.side]} {literal(piece.id)}")
                            inert(piece.text)
                            for medium in piece.media:
                                medium_view(house, medium)
    if case.jury:
        votes = {"buyer_2": f"{case.jury.buyer:d}", "seller_2": f"{case.jury.seller:d}", **MARKS}
        title = translated(case.votes_title)
        with st.expander(_("{votes}: {buyer} buyer {buyer_2}, {seller} seller {seller_2}", votes=title, **votes)):
            st.caption(_("Members of a hearing never see this."))
            for opinion in case.jury.opinions:
                inert(f"{MARKS[opinion.side]} {opinion.side}: {opinion.text}")


def _order(case: Dispute) -> None:
    deal = case.transaction
    st.subheader(_("Order"))
    facts = [
        ("Product", deal.product),
        ("Price", deal.cost),
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


def encoding_choice(place: Any, key: str) -> str:
    """Draw the choice of a text file's encoding; empty where it is to be found from the file."""
    chosen: str = place.selectbox(
        _("Encoding"),
        [*ENCODINGS],
        format_func=lambda name: translated(ENCODINGS[name]),
        key=key,
        help=_("Of texts and tables, where letters came out wrong."),
    )
    return chosen


MOST_LISTED = 100
"""Of cases, refusals and remarks, so many are listed each."""


def upload(house: Courthouse) -> None:
    """Import files; what is wrong with one record does not hold up the others."""
    files = st.file_uploader(
        _(
            "Cases as .json, .jsonl, or .zip with pictures and videos; documents as texts, PDF, office files and mails; labelled texts as .csv, "
            ".tsv or .jsonl"
        ),
        type=[ending.removeprefix(".") for ending in sorted(ENDINGS)],
        accept_multiple_files=True,
        help=_(
            "A ZIP file holds case.json and its media. See any sample's export for the form. A table of labelled texts has a "
            "column “label” and a column “text”, or a pair such as “premise” and “hypothesis”."
        ),
    )
    names = st.text_input(
        _("What labels mean that are numbers"),
        key="label_names",
        placeholder=_("0=entailment,1=not_entailment"),
        help=_("Only for tables whose labels are numbers: the file's own description says what they mean."),
    )
    encoding = encoding_choice(st, "case_encoding")
    if not st.button(_("Import"), type="primary"):
        return
    if not files:  # after a restart of the server the browser still shows a file that is gone here
        st.warning(_("No file is here. If one is shown above, take it out and choose it again."))
        return
    taken: list[str] = []
    refused: list[str] = []
    remarks: Counter[str] = Counter()
    with errors_shown():
        labels = names_from(names) or None
        with st.spinner(_("Reading and checking ...")):
            for file in files or []:
                try:
                    for package in read_each(file.name, file.getvalue(), labels, encoding):
                        if isinstance(package, CourtroomError):
                            refused.append(str(package))
                            continue
                        try:
                            taken.append(house.library.add(package).title)
                        except CourtroomError as error:
                            refused.append(str(error))
                        else:
                            remarks.update(package.remarks)
                except CourtroomError as error:
                    refused.append(str(error))
        _report(taken, refused, remarks)


def _report(taken: list[str], refused: list[str], remarks: Counter[str]) -> None:
    """One sentence on all; where there is more to say, it is folded below."""
    sentence = _("{taken} cases imported.", taken=len(taken))
    if len(taken) == 1:
        sentence = _("Imported: {taken}.", taken=literal(taken[0]))
    if refused:
        sentence = ngettext(
            "{number} case imported, {refused} refused: {why}",
            "{number} cases imported, {refused} refused: {why}",
            len(taken),
            refused=len(refused),
            why=literal(refused[0]),
        )
        (st.warning if taken else st.error)(sentence, icon=":material/error:")
    else:
        st.success(sentence, icon=":material/check:")
    if remarks:
        first = translated(next(iter(remarks)))
        more = ngettext("And {number} remark more, below.", "And {number} remarks more, below.", len(remarks) - 1)
        st.warning(literal(f"{first} {more}" if len(remarks) > 1 else first), icon=":material/info:")
    if len(taken) + len(refused) + len(remarks) > 1:
        with st.expander(_("Details"), expanded=bool(remarks)):
            _list(_("Refused"), [translated(one) for one in refused])
            counted = ((translated(text), times) for text, times in remarks.items())
            lines = [_("{text} ({times} times)", text=text, times=n) if n > 1 else text for text, n in counted]
            _list(_("Remarks"), lines)
            _list(_("Imported"), taken)


def _list(title: str, lines: list[str]) -> None:
    if lines:
        st.caption(f"{literal(title)}: {len(lines)}")
        rest = [_("... and {lines} more", lines=len(lines) - MOST_LISTED)] if len(lines) > MOST_LISTED else []
        inert("\n".join((*lines[:MOST_LISTED], *rest)), small=True)


LANGUAGES = ["en", "zh", "de", "fr", "es", "ja"]
TYPES = ["png", "jpg", "jpeg", "webp", "gif", "mp4", "webm", "mov", "avi", "mkv"]


def case_form(house: Courthouse) -> None:
    """Everything stays in the form until it is saved; saving checks it first."""
    count = st.session_state.setdefault("form_pieces", 2)
    with st.form("new-dispute", border=True):
        st.subheader(_("A new dispute"))
        title = st.text_input(_("Title"), key="form_title")
        top = st.columns(3)
        category = top[0].selectbox(_("Category"), CATEGORIES, key="form_category", format_func=translated)
        language = top[1].selectbox(_("Language"), LANGUAGES, key="form_language", format_func=translated)
        condition = top[2].text_input(_("Condition"), key="form_condition", placeholder=_("like new"))
        product = st.text_input(_("Product"), key="form_product")
        middle = st.columns(4)
        price = middle[0].number_input(_("Price"), min_value=0.0, value=None, key="form_price")
        currency = middle[1].text_input(_("Currency"), "CNY", max_chars=3, key="form_currency")
        ordered = middle[2].date_input(_("Ordered"), None, key="form_ordered")
        delivered = middle[3].date_input(_("Delivered"), None, key="form_delivered")
        description = st.text_area(_("The seller's listing"), key="form_description")
        st.caption(_("Chat, one line each: `buyer: ...` or `seller: ...`"))
        chat = st.text_area(_("Chat"), key="form_chat", placeholder=_("buyer: Does it work?\nseller: Yes."))
        pieces = [_piece_fields(number) for number in range(count)]
        votes = st.columns([2, 2, 2, 3])
        buyer = votes[0].number_input(
            _("Votes on record for the buyer, if there are any"), 0, 1000, None, key="form_votes_buyer"
        )
        seller = votes[1].number_input(
            _("Votes on record for the seller, if there are any"), 0, 1000, None, key="form_votes_seller"
        )
        decided_by = votes[2].selectbox(
            _("Who cast them"),
            ["", "people", "predicted"],
            key="form_decided_by",
            format_func={"": _("Not said"), "people": _("People"), "predicted": _("A prediction")}.__getitem__,
        )
        source = votes[3].text_input(_("Source"), key="form_source", help=_("Votes of people need one."))
        with st.container(horizontal=True):
            saved = st.form_submit_button(_("Check and save"), type="primary")
            more = st.form_submit_button(_("One more piece of evidence"))
    if more:
        st.session_state["form_pieces"] = count + 1
        st.rerun()
    if not saved:
        return
    files: dict[str, bytes] = {}
    evidence = [piece for piece in (_as_data(p, files) for p in pieces) if piece]
    for side in SIDES:
        for number, piece in enumerate([p for p in evidence if p["side"] == side], start=1):
            piece["id"] = f"{side}-{number}"
    said = []
    for line in filter(str.strip, chat.splitlines()):
        speaker, colon, words = line.partition(":")
        named = bool(colon) and speaker.strip().lower() in SIDES
        said.append(
            {"speaker": speaker.strip().lower() if named else "buyer", "text": (words if named else line).strip()}
        )
    data: dict[str, Any] = {
        "kind": "dispute",
        "id": _id(title),
        "title": title,
        "language": language,
        "source": source or ("" if decided_by == "people" else "Written in the app"),
        "decided_by": decided_by,
        "category": category,
        "transaction": {
            "product": product, "description": description, "condition": condition, "price": price, "currency": currency.upper(),
            "ordered_at": f"{ordered}T00:00:00" if ordered else None,
            "delivered_at": f"{delivered}T00:00:00" if delivered else None,
        },
        "chat": said,
        "evidence": evidence,
        "jury": {"buyer": buyer, "seller": seller} if None not in (buyer, seller) else None,
    }  # fmt: skip
    _save(house, lambda: Package(Dispute.model_validate(data), files))


def _piece_fields(number: int) -> dict[str, Any]:
    st.markdown(_("**Evidence {number}**", number=f"{number + 1:d}"))
    head = st.columns([1, 1, 4])
    side = head[0].selectbox(_("Side"), SIDES, index=number % 2, key=f"form_side_{number}", format_func=translated)
    turn = head[1].number_input(_("Round"), 1, 20, number // 2 + 1, key=f"form_round_{number}")
    text = head[2].text_area(_("What it claims"), key=f"form_text_{number}", height=80)
    below = st.columns([3, 3])
    media = below[0].file_uploader(
        _("Pictures and videos"), TYPES, accept_multiple_files=True, key=f"form_media_{number}"
    )
    words = below[1].text_area(
        _("What they show, a line each"), key=f"form_words_{number}", height=80, help=_("For members that can't see.")
    )
    given = {"side": side, "round": turn, "text": text, "number": number}
    return {**given, "media": media or [], "words": words.splitlines()}


def _as_data(piece: dict[str, Any], files: dict[str, bytes]) -> dict[str, Any] | None:
    if not piece["text"].strip() and not piece["media"]:
        return None
    media = []
    for index, file in enumerate(piece["media"]):
        name = f"media/{piece['number'] + 1}-{index + 1}-{Path(file.name).name}"
        files[name] = file.getvalue()
        said = piece["words"][index] if index < len(piece["words"]) else ""
        own = f"piece-{piece['number'] + 1}-{index + 1}"
        media.append({"id": own, "kind": _kind(file.getvalue()), "file": name, "description": said})
    return {"side": piece["side"], "round": piece["round"], "text": piece["text"], "media": media}


def _kind(data: bytes) -> MediumKind:
    """Picture or video, by what the file really is."""
    medium = sniff(data[:16])
    return medium[0] if medium else "image"


def text_form(house: Courthouse, kind: type[Case]) -> None:
    with st.form(f"text-{kind.__name__}", border=True):
        st.subheader(_("A new {kind_title}", kind_title=literal(kind.kind_title.lower())))
        top = st.columns([4, 1])
        title = top[0].text_input(_("Title"), key=f"text_title_{kind.__name__}")
        language = top[1].selectbox(_("Language"), LANGUAGES, key=f"text_lang_{kind.__name__}", format_func=translated)
        text = st.text_area(_("Text"), key=f"text_text_{kind.__name__}", height=260)
        files = st.file_uploader(
            _("Pictures and videos, if any"), TYPES, accept_multiple_files=True, key=f"text_media_{kind.__name__}"
        )
        saved = st.form_submit_button(_("Check and save"), type="primary")
    if not saved:
        return
    taken = {f"media/{number}-{Path(file.name).name}": file.getvalue() for number, file in enumerate(files, start=1)}
    numbered = enumerate(taken.items(), start=1)
    media = tuple(Medium(id=f"media-{number}", kind=_kind(data), file=name) for number, (name, data) in numbered)
    _save(house, lambda: Package(kind.written(_id(title), title, language, text, media), taken))


def _id(title: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "case"


def _save(house: Courthouse, written: Callable[[], Package]) -> None:
    """Check the case of a form and save it; what the checks remark on is listed."""
    try:
        package = written()
        saved = house.library.add(package)
    except ValidationError as error:
        for sentence in explain(error):
            st.error(literal(sentence))
        return
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    for finding in check(package.case, package.files):
        st.warning(f"{literal(finding.field)}: {literal(finding.message)}")
    st.success(_("Saved as {title}. It is first in the list below.", title=literal(saved.title)))
