"""A form to write a dispute by hand, with file uploads."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import streamlit as st
from pydantic import ValidationError

from courtroom.cases.checks import check
from courtroom.cases.dispute import CATEGORIES, SIDES, Dispute
from courtroom.cases.files import Package, explain
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.media.types import sniff
from pages.parts.shared.inert import literal

TYPES = ["png", "jpg", "jpeg", "webp", "gif", "mp4", "webm", "mov", "avi", "mkv"]


def case_form(house: Courthouse) -> None:
    """Everything stays in the form until it is saved; saving checks it first."""
    count = st.session_state.setdefault("form_pieces", 2)
    with st.form("case", border=True):
        st.subheader(_("A new dispute"))
        title = st.text_input(_("Title"), key="form_title")
        top = st.columns(3)
        category = top[0].selectbox(_("Category"), CATEGORIES, key="form_category", format_func=translated)
        language = top[1].selectbox(
            _("Language"), ["en", "zh", "de", "fr", "es", "ja"], key="form_language", format_func=translated
        )
        condition = top[2].text_input(_("Condition"), key="form_condition", placeholder=_("like new"))
        product = st.text_input(_("Product"), key="form_product")
        middle = st.columns(4)
        price = middle[0].number_input(_("Price"), min_value=0.0, key="form_price")
        currency = middle[1].text_input(_("Currency"), "CNY", max_chars=3, key="form_currency")
        ordered = middle[2].date_input(_("Ordered"), None, key="form_ordered")
        delivered = middle[3].date_input(_("Delivered"), None, key="form_delivered")
        description = st.text_area(_("The seller's listing"), key="form_description")
        st.caption(_("Chat, one line each: `buyer: ...` or `seller: ...`"))
        chat = st.text_area(_("Chat"), key="form_chat", placeholder=_("buyer: Does it work?\nseller: Yes."))
        pieces = [_piece(number) for number in range(count)]
        votes = st.columns(2)
        buyer = votes[0].number_input(_("Real votes for the buyer, if known"), 0, 1000, None, key="form_votes_buyer")
        seller = votes[1].number_input(_("Real votes for the seller, if known"), 0, 1000, None, key="form_votes_seller")
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
    known = buyer is not None and seller is not None
    data: dict[str, Any] = {
        "kind": "dispute",
        "id": re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "case",
        "title": title,
        "language": language,
        "source": "Written in the app",
        "category": category,
        "transaction": {
            "product": product, "description": description, "condition": condition, "price": price, "currency": currency.upper(),
            "ordered_at": f"{ordered}T00:00:00" if ordered else None,
            "delivered_at": f"{delivered}T00:00:00" if delivered else None,
        },
        "chat": [line for line in map(_line, chat.splitlines()) if line],
        "evidence": evidence,
        "jury": {"buyer": buyer, "seller": seller} if known else None,
    }  # fmt: skip
    try:
        case = Dispute.model_validate(data)
        package = Package(case, files)
        taken = house.library.add(package)
    except ValidationError as error:
        for sentence in explain(error):
            st.error(literal(sentence))
        return
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    for finding in check(case, files):
        st.warning(f"{literal(finding.field)}: {literal(finding.message)}")
    st.success(_("Saved as {title}. It is first in the list below.", title=literal(taken.title)))


def _piece(number: int) -> dict[str, Any]:
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
    return {
        "side": side,
        "round": turn,
        "text": text,
        "media": media or [],
        "words": words.splitlines(),
        "number": number,
    }


def _as_data(piece: dict[str, Any], files: dict[str, bytes]) -> dict[str, Any] | None:
    if not piece["text"].strip() and not piece["media"]:
        return None
    media = []
    for index, file in enumerate(piece["media"]):
        name = f"media/{piece['number'] + 1}-{index + 1}-{Path(file.name).name}"
        files[name] = file.getvalue()
        media.append(
            {
                "id": f"piece-{piece['number'] + 1}-{index + 1}",
                "kind": _kind(file.getvalue()),
                "file": name,
                "description": piece["words"][index] if index < len(piece["words"]) else "",
            }
        )
    return {"side": piece["side"], "round": piece["round"], "text": piece["text"], "media": media}


def _kind(data: bytes) -> str:
    """Picture or video, by what the file really is."""
    found = sniff(data[:16])
    return found[0] if found else "image"


def _line(line: str) -> dict[str, str] | None:
    speaker, colon, text = line.partition(":")
    if colon and speaker.strip().lower() in SIDES:
        return {"speaker": speaker.strip().lower(), "text": text.strip()}
    return {"speaker": "buyer", "text": line.strip()} if line.strip() else None
