"""Cases: papers that somebody brings become pieces, which clicks give to a side; the draft is kept while the page reloads."""

import asyncio
from functools import partial
from typing import Any

import streamlit as st

from courtroom.cases.criminal import SIDES as MATTERS
from courtroom.cases.dispute import CATEGORIES
from courtroom.cases.drafts import LEFT_OUT, Draft, DraftPiece, Drafts, missing
from courtroom.cases.papers import ENDINGS, Papers, Piece, read_papers
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.media.pictures import sniff
from courtroom.models.keys import KEYS
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.case_view import LANGUAGES, MOST_LISTED, encoding_choice
from pages.parts.shared.models_form import model_picker, typed_keys
from pages.parts.shared.shown import inert, literal

SAMPLED = {"temperature": 0.0, "max_tokens": 8_000}
KINDS = {"dispute": "Dispute", "trial": "Trial"}


def papers(house: Courthouse) -> None:
    """Draw the place where papers are brought, and the draft that they become."""
    drafts = Drafts(house.settings.home / "drafts")
    draft: Draft | None = None
    if name := st.query_params.get("draft"):
        try:
            draft = drafts.load(name)
        except CourtroomError as error:
            st.warning(literal(error))
            del st.query_params["draft"]
    _bring(drafts, draft)
    for sentence in st.session_state.get("papers_told", ())[:MOST_LISTED]:
        st.warning(literal(sentence), icon=":material/info:")
    if draft is not None:
        _draft(house, drafts, draft)


def _bring(drafts: Drafts, draft: Draft | None) -> None:
    round_ = st.session_state.setdefault("papers_round", 0)
    files = st.file_uploader(
        _("Letters, chats, tables, photos and scans: PDF, Word, Excel, PowerPoint, RTF, HTML, mails, pictures, texts"),
        type=[ending.removeprefix(".") for ending in sorted(ENDINGS)],
        accept_multiple_files=True,
        key=f"papers_files_{round_}",
        help=_("Each file, page or picture becomes a piece. Nothing in a file is run, and no link is followed."),
    )
    pasted = st.text_area(_("Or paste a text"), key=f"papers_text_{round_}", height=80)
    encoding = encoding_choice(st, "papers_encoding")
    if not st.button(_("Read the papers"), type="secondary" if draft else "primary", disabled=not (files or pasted)):
        return
    read: list[Papers] = []
    told: list[str] = []
    with errors_shown(), st.spinner(_("Reading and checking ...")):
        for file in files:
            try:
                read.append(read_papers(file.name, file.getvalue(), encoding))
                told += read[-1].remarks
            except CourtroomError as error:
                told.append(str(error))
        if pasted.strip():
            read.append(Papers((Piece(_("pasted text"), text=pasted),)))
        st.session_state["papers_told"] = told
        if not read:
            st.rerun()
        kept = drafts.add(draft or drafts.begin(), read)
        st.query_params["draft"] = kept.id
        st.session_state["papers_round"] = round_ + 1  # what was read is taken out of the form
        st.rerun()


def _ask(house: Courthouse, drafts: Drafts, draft: Draft) -> None:
    """Draw the choice of a model that drafts the case, and what came of it."""
    about = _("It proposes sides, claims and passages. You see all of it beside the papers, and save it yourself.")
    if st.toggle(_("Have a model draft it"), key=f"draft-{draft.id}-asks", help=about):
        values, _listed = model_picker({"id": OFFLINE}, f"draft-{draft.id}-model", house.connections)
        if values["id"] in (OFFLINE, PERSON):
            st.caption(_("Choose a language model: the offline model can't read papers."))
        elif st.button(_("Draft the case"), type="primary", icon=":material/edit_note:"):
            with errors_shown(), st.spinner(_("Asking the model ...")):
                drafts.save(_drafted(house, drafts, draft, ModelSpec.model_validate({**values, **SAMPLED})))
                st.rerun()
    if draft.questions:
        st.info(_("The model asks: {questions}", questions=literal(" ".join(draft.questions))), icon=":material/help:")
    for sentence in draft.refused:
        st.warning(literal(sentence), icon=":material/format_quote:")


def _drafted(house: Courthouse, drafts: Drafts, draft: Draft, spec: ModelSpec) -> Draft:
    from courtroom.questions.drafting import drafted

    token = KEYS.set(typed_keys())
    try:
        kept = partial(drafts.medium, draft), partial(drafts.keep_answer, draft)
        return asyncio.run(drafted(draft, spec, *kept, house.connections))
    finally:
        KEYS.reset(token)


def _draft(house: Courthouse, drafts: Drafts, draft: Draft) -> None:
    _ask(house, drafts, draft)
    changed = _with_pieces(drafts, _with_fields(draft))
    if changed != draft:
        with errors_shown():
            drafts.save(changed)
    lacks = missing(changed)
    if lacks:
        st.subheader(_("Still missing"))
        inert("\n".join(f"· {translated(sentence)}" for sentence in lacks[:MOST_LISTED]))
    else:
        st.subheader(_("Nothing is missing"))
    with st.container(horizontal=True):
        if st.button(_("Save the case"), type="primary", disabled=bool(lacks), icon=":material/save:"):
            with errors_shown():
                case = house.library.add(drafts.package(changed))
                drafts.end(changed)
                del st.query_params["draft"]
                st.session_state.pop("papers_told", None)
                st.query_params["case"] = case.id
                st.rerun()
        if st.button(_("Give the draft up"), icon=":material/delete:"):
            drafts.end(changed)
            del st.query_params["draft"]
            st.session_state.pop("papers_told", None)
            st.rerun()


def _with_fields(draft: Draft) -> Draft:
    """The draft with what stands in its fields."""

    def key(name: str) -> str:
        return f"draft-{draft.id}-{draft.version}-{name}"

    given: dict[str, Any] = {}
    top = st.columns([2, 2, 3, 2])
    given["kind"] = top[0].segmented_control(
        _("What kind"),
        list(KINDS),
        default=draft.kind,
        required=True,
        key=key("kind"),
        format_func=lambda one: literal(KINDS[one]),
    )
    given["title"] = top[2].text_input(_("Title"), draft.title, key=key("title"), max_chars=200)
    languages = [*dict.fromkeys((*LANGUAGES, draft.language))]
    given["language"] = top[3].selectbox(
        _("Language"), languages, languages.index(draft.language), key=key("language"), format_func=translated
    )
    if given["kind"] == "trial":
        titles = {"criminal": _("Criminal"), "civil": _("Civil")}
        given["matter"] = top[1].segmented_control(
            _("Matter"),
            list(MATTERS),
            default=draft.matter,
            required=True,
            key=key("matter"),
            format_func=lambda matter: literal(titles[matter]),
        )
        asked = _("Charge") if given["matter"] == "criminal" else _("What the plaintiff claims")
        facts = _("Facts that both sides agree on, or a summary")
    else:
        asked, facts = _("What the buyer asks for"), _("The seller's listing")
        given["category"] = top[1].selectbox(
            _("Category"),
            CATEGORIES,
            CATEGORIES.index(draft.category),
            key=key("category"),
            format_func=translated,
        )
        given["product"] = st.text_input(_("Product"), draft.product, key=key("product"), max_chars=300)
    given["claim"] = st.text_area(asked, draft.claim, key=key("claim"), height=80, max_chars=2_000)
    given["facts"] = st.text_area(facts, draft.facts, key=key("facts"), height=100)
    return draft.model_copy(update=given)


def _with_pieces(drafts: Drafts, draft: Draft) -> Draft:
    """The draft with what was done to its pieces."""
    pieces: list[DraftPiece] = []
    for index, piece in enumerate(draft.pieces):
        with st.container(border=True):
            pieces.append(_piece(drafts, draft, piece, index))
    return draft.model_copy(update={"pieces": tuple(pieces)})


def _piece(drafts: Drafts, draft: Draft, piece: DraftPiece, index: int) -> DraftPiece:
    key = f"draft-{draft.id}-{piece.number}"
    places = {**draft.places, LEFT_OUT: "Leave out"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        place = st.segmented_control(
            literal(piece.source),
            list(places),
            default=piece.place if piece.place in places else None,
            key=f"{key}-place-{draft.kind}-{draft.matter}",
            format_func=lambda one: literal(places[one]),
        )
        for icon, by, words in (("arrow_upward", -1, _("Move up")), ("arrow_downward", 1, _("Move down"))):
            at_end = index + by not in range(len(draft.pieces))
            if st.button("", key=f"{key}-{icon}", icon=f":material/{icon}:", help=literal(words), disabled=at_end):
                drafts.save(draft.moved(piece.number, by))
                st.rerun()
    if piece.file:
        data = drafts.medium(draft, piece)
        found = sniff(data[:16])
        (st.video if found and found[0] == "video" else st.image)(data, width=360)
    elif piece.paper != piece.text:
        with st.expander(_("The paper")):
            inert(piece.paper)
    words = _("What it shows, in words, if you like") if piece.file else _("Text")
    text = st.text_area(literal(words), piece.text, key=f"{key}-text", height=80 if piece.file else 140)
    return piece.model_copy(update={"place": place or "", "text": text})
