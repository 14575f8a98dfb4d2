"""Cases: one as it is seen; those that a person adds by file, writes in a form, or makes of papers."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from functools import partial
from typing import Any, Literal, NoReturn, get_args, get_origin

import streamlit as st
from pydantic_core import PydanticUndefined

from courtroom import Case, Courthouse, Medium
from courtroom.access import Resource
from courtroom.cases import checks, kinds, papers
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.drafts import ABOVE, LEFT_OUT, Draft, DraftPiece, Drafts, field_of, missing, title_of
from courtroom.cases.files import ENDINGS, Package, read_each, write_zip
from courtroom.cases.readers.tables import names_from
from courtroom.errors import CourtroomError, MediaError
from courtroom.figures.layout import tone
from courtroom.language import N_, _, language, translated
from courtroom.media.videos import clock
from courtroom.models.spec import NO_SERVER, OFFLINE, ModelSpec
from courtroom.questions.drafting import drafted
from courtroom.sharing import may_change
from courtroom.text.encoding import ENCODINGS
from courtroom.text.languages import language_of
from pages.parts.shared.models_form import model_picker, typed_keys
from pages.parts.shared.share_view import download, share_popover
from pages.parts.shared.shown import do, errors_shown, html_of, in_columns, inert, literal, one_of, theme, uploader


def medium_view(house: Courthouse, medium: Medium, *, key: str = "") -> None:
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
                moments = ", ".join(map(clock, medium.moments))
                st.caption(literal(_("Shown were the frames at {moments}.", moments=moments)))
            elif st.toggle(_("Frames that members look at"), key=f"frames-{key}-{medium.id}"):
                for column, frame in in_columns(house.media.frames(medium.sha256), 5):
                    column.image(frame.jpeg, caption=clock(frame.timestamp_s), alt=clock(frame.timestamp_s))
    except MediaError as error:
        st.warning(literal(error))
    if medium.description:
        inert(medium.description, small=True, faint=True)


MARKS = {"buyer": "●", "seller": "■"}


def case_view(house: Courthouse, case: Case, hear: Callable[[str], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(_("All cases"), icon=":material/arrow_back:", on_click=st.query_params.__delitem__, args=("case",))
        if st.button(_("Hear this case"), type="primary", icon=":material/gavel:"):
            hear(case.id)
        of = Resource(kind="case", id=case.id)
        download(house, _("JSON"), case.model_dump_json(indent=2), f"{case.id}.json", of)
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
    if findings := checks.check(case, house.media):
        with st.expander(_("Checks: {findings} to look at", findings=len(findings)), icon=":material/rule:"):
            for finding in findings:
                show = st.error if finding.severity == "error" else st.warning
                show(f"{literal(finding.field)}: {literal(finding.message)}")
    else:
        st.caption(_(":material/check: Checks found nothing wrong with this case."))
    if isinstance(case, Dispute):
        _dispute(house, case)
        return
    for title, text in case.sections():
        st.subheader(literal(title))
        inert(text)
    if media := list(case.media()):
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
        deal = case.transaction
        st.subheader(_("The order"))
        facts = [
            ("Product", deal.product),
            ("Price", deal.cost),
            ("Condition", deal.condition),
            ("Category", " › ".join(filter(None, (case.category, case.subcategory)))),
            ("Ordered", f"{deal.ordered_at:%Y-%m-%d %H:%M}" if deal.ordered_at else ""),
            ("Delivered", f"{deal.delivered_at:%Y-%m-%d %H:%M}" if deal.delivered_at else ""),
            ("State", deal.order_state),
        ]
        st.html(html_of("facts", facts=[fact for fact in facts if fact[1]]))
        if deal.description:
            st.caption(_("The listing says"))
            inert(deal.description)
        if case.claim:
            st.caption(_("What the buyer asks for"))
            inert(case.claim)
    with right:
        st.subheader(_("Chat"))
        if not case.chat:
            st.caption(_("Buyer and seller did not write to each other."))
        for line in case.chat:
            side = "flex-start" if line.speaker == "buyer" else "flex-end"
            colour = tone(SIDES.index(line.speaker), theme())
            st.html(html_of("bubble", line=line, side=side, colour=colour, mark=MARKS[line.speaker]))
    st.subheader(_("Evidence"))
    if not case.evidence:
        st.info(_("Neither side has submitted evidence."))
    for turn in sorted({piece.round for piece in case.evidence}):
        st.markdown(_("**Round {turn}**", turn=turn))
        columns = dict(zip(SIDES, st.columns(2, gap="large"), strict=True))
        for piece in (piece for piece in case.evidence if piece.round == turn):
            with columns[piece.side].container(border=True):
                st.caption(f"{MARKS[piece.side]} {literal(piece.id)}")
                inert(piece.text)
                for medium in piece.media:
                    medium_view(house, medium)
    if case.jury:
        votes = [f"{mark} {literal(side)} {getattr(case.jury, side)}" for side, mark in MARKS.items()]
        with st.expander(f"{literal(case.votes_title)}: {', '.join(votes)}"):
            st.caption(_("Members of a hearing never see this."))
            for opinion in case.jury.opinions:
                inert(f"{MARKS[opinion.side]} {opinion.side}: {opinion.text}")


def encoding_choice(place: Any, key: str) -> str:
    """Draw the choice of a text file's encoding; empty where it is to be found from the file."""
    about = _("Of texts and tables, where letters came out wrong.")
    titles = {name: translated(title) for name, title in ENCODINGS.items()}
    return str(place.selectbox(_("Encoding"), list(titles), format_func=titles.__getitem__, key=key, help=about))


MAX_LISTED = 100


def upload(house: Courthouse) -> None:
    """Import files; what is wrong with one record does not hold up the others."""
    title = _(
        "Cases as .json, .jsonl, or .zip with media; documents of any office; labelled texts as .csv, .tsv, .jsonl"
    )
    about = _("A ZIP file holds case.json and its media, as any sample's export.")
    about += " " + _("A table of labelled texts has columns “label” and “text”, or “premise” and “hypothesis”.")
    endings = [ending.removeprefix(".") for ending in sorted(ENDINGS)]
    files = uploader(st, title, endings, key="case_files", several=True, about=about)
    about = _("Where labels are numbers: as the file's own description has it.")
    hint = _("0=entailment,1=not_entailment")
    names = st.text_input(_("What labels mean that are numbers"), key="label_names", placeholder=hint, help=about)
    encoding = encoding_choice(st, "case_encoding")
    if not st.button(_("Import"), type="primary", disabled=not files):
        return
    taken: list[str] = []
    refused: list[str] = []
    remarks: Counter[str] = Counter()
    with errors_shown():
        labels = names_from(names) or None
        with st.spinner(_("Reading and checking ...")):
            for package in (package for file in files for package in _packages(file, labels, encoding)):
                try:
                    if isinstance(package, CourtroomError):
                        raise package
                    taken.append(house.library.add(package).title)
                    remarks.update(package.remarks)
                except CourtroomError as error:
                    refused.append(str(error))
        sentence = _("{taken} cases imported.", taken=len(taken))
        if len(taken) == 1:
            sentence = _("Imported: {taken}.", taken=literal(taken[0]))
        if refused:
            counts = {"taken": len(taken), "refused": len(refused), "why": literal(refused[0])}
            sentence = _("{taken} cases imported, {refused} refused: {why}", **counts)
            (st.warning if taken else st.error)(sentence, icon=":material/error:")
        else:
            st.success(sentence, icon=":material/check:")
        if remarks:
            more = _("And {number} more below.", number=len(remarks) - 1) if len(remarks) > 1 else ""
            st.warning(literal(f"{translated(next(iter(remarks)))} {more}"), icon=":material/info:")
        if len(taken) + len(refused) + len(remarks) > 1:
            with st.expander(_("Details"), expanded=bool(remarks)):
                _list(_("Refused"), [translated(one) for one in refused])
                counted = ((translated(text), times) for text, times in remarks.items())
                _list(_("Remarks"), [f"{text} ×{times}" if times > 1 else text for text, times in counted])
                _list(_("Imported"), taken)


def _packages(file: Any, labels: Any, encoding: str) -> Iterator[Package | CourtroomError]:
    """Each case of a file, or why it is none; a file that can't be read is one refusal."""
    try:
        yield from read_each(file.name, file.getvalue(), labels, encoding)
    except CourtroomError as error:
        yield error


def _list(title: str, lines: list[str]) -> None:
    if lines:
        st.caption(f"{literal(title)}: {len(lines)}")
        rest = [_("... and {lines} more", lines=len(lines) - MAX_LISTED)] if len(lines) > MAX_LISTED else []
        inert("\n".join((*lines[:MAX_LISTED], *rest)), small=True)


SAMPLED = {"temperature": 0.0, "max_tokens": 8_000}
LANGUAGES = ["en", "zh", "de", "fr", "es", "ja"]
MAX_CHARACTERS_IN_A_LINE = 400
FIELDS_IN_A_ROW = 4
VALUE_TITLES = {"": N_("Not said"), "people": N_("People"), "predicted": N_("A prediction")}
VALUE_TITLES |= {"criminal": N_("Criminal"), "civil": N_("Civil")}


def case_form(house: Courthouse, *, from_papers: bool) -> None:
    """Draw the form of the draft that the address names. `from_papers`: without one, papers are asked for first."""
    drafts = Drafts(house.settings.home / "drafts")
    draft: Draft | None = None
    if name := st.query_params.get("draft") or st.session_state.get("draft"):  # another page drops the address's
        try:
            draft = drafts.load(name)
        except CourtroomError as error:
            st.warning(literal(error))
            _forget_draft()
    elif not from_papers:
        draft = drafts.begin(language())
    if draft is not None:
        st.session_state["draft"] = st.query_params["draft"] = draft.id
    read = draft is not None and any(piece.source for piece in draft.pieces)
    title = _("More papers and pictures") if read else _("Papers and pictures")
    with st.expander(title, expanded=from_papers and not read, icon=":material/attach_file:"):
        _bring(drafts, draft)
    for sentence in st.session_state.get("papers_told", ())[:MAX_LISTED]:
        st.warning(literal(sentence), icon=":material/info:")
    if draft is not None:
        _draft(house, drafts, draft)


def _bring(drafts: Drafts, draft: Draft | None) -> None:
    round_ = st.session_state.setdefault("papers_round", 0)
    title = _(
        "Letters, chats, tables, photos and scans: PDF, Word, Excel, PowerPoint, RTF, HTML, mails, pictures, texts"
    )
    about = _("Each file, page or picture becomes a piece. Nothing in a file is run, and no link is followed.")
    endings, key = [ending.removeprefix(".") for ending in sorted(papers.ENDINGS)], f"papers_files_{round_}"
    files = uploader(st, title, endings, key=key, several=True, about=about)
    pasted = st.text_area(_("Or paste a text"), key=f"papers_text_{round_}", height=80)
    encoding = encoding_choice(st, "papers_encoding")
    nothing = files is None or not (files or pasted)
    if not st.button(_("Read the papers"), type="secondary" if draft else "primary", disabled=nothing):
        return
    read: list[papers.Papers] = []
    told: list[str] = []
    with errors_shown(), st.spinner(_("Reading and checking ...")):
        for file in files:
            try:
                read.append(papers.read_papers(file.name, file.getvalue(), encoding))
                told += read[-1].remarks
            except CourtroomError as error:
                told.append(str(error))
        if pasted.strip():
            read.append(papers.Papers((papers.Piece(_("pasted text"), text=pasted),)))
        st.session_state["papers_told"] = told
        if not read:
            st.rerun()
        words = "\n".join(piece.text for paper in read for piece in paper.pieces)
        kept = drafts.add(draft or drafts.begin(language_of(words) if words else language()), read)
        st.query_params["draft"] = kept.id
        st.session_state["papers_round"] = round_ + 1  # what was read is taken out of the form
        st.rerun()


def _ask(house: Courthouse, drafts: Drafts, draft: Draft) -> None:
    """Draw the choice of a model that drafts the case, and what came of it."""
    about = _("It proposes sides, claims and passages. You see all of it beside the papers, and save it yourself.")
    if st.toggle(_("Have a model draft it"), key=f"draft-{draft.id}-asks", help=about):
        values, _listed = model_picker({"id": OFFLINE}, f"draft-{draft.id}-model", house.connections)
        if values["id"] in NO_SERVER:
            st.caption(_("Choose a language model: the offline model can't read papers."))
        elif st.button(_("Draft the case"), type="primary", icon=":material/edit_note:"):
            with errors_shown(), st.spinner(_("Asking the model ...")):
                spec = ModelSpec.model_validate({**values, **SAMPLED})
                drafts.save(drafted(house, drafts, draft, spec, typed_keys()))
                st.rerun()
    if draft.questions:
        st.info(_("The model asks: {questions}", questions=literal(" ".join(draft.questions))), icon=":material/help:")
    for sentence in draft.refused:
        st.warning(literal(sentence), icon=":material/format_quote:")


def _draft(house: Courthouse, drafts: Drafts, draft: Draft) -> None:
    read = any(piece.source for piece in draft.pieces)
    if read:
        _ask(house, drafts, draft)
    names = {name: kind.kind_title for name, kind in kinds.case_kinds().items() if kind.asks}
    key = f"draft-{draft.id}-{draft.version}-kind"
    changed = draft.model_copy(update={"kind": one_of(_("What kind"), list(names), key, draft.kind, names.__getitem__)})
    above, below = st.container(), st.container()
    with below if read else above:  # what was just read stands first; small fields next to each other, then long ones
        small = [name for name in changed.asks if not _is_long(changed, name)]
        places = {name: column for column, name in in_columns(small, FIELDS_IN_A_ROW)}
        values = {name: _field(places.get(name, st), changed, name) for name in changed.asks}
        changed = changed.model_copy(update={"values": {**changed.values, **values}})
    with above if read else below:
        pieces: list[DraftPiece] = []
        for index, piece in enumerate(changed.pieces):
            with st.container(border=True):
                pieces.append(_piece(drafts, changed, piece, index))
        changed = changed.model_copy(update={"pieces": tuple(pieces)})
        if st.button(_("One more piece"), icon=":material/add:"):
            do(lambda: drafts.save(changed.with_piece()))
    if changed != draft:
        with errors_shown():
            drafts.save(changed)
    if lacks := missing(changed):
        st.subheader(_("Still missing"))
        inert("\n".join(f"· {translated(sentence)}" for sentence in lacks[:MAX_LISTED]))
    else:
        st.subheader(_("Nothing is missing"))
    with st.container(horizontal=True):
        if st.button(_("Save the case"), type="primary", disabled=bool(lacks), icon=":material/save:"):
            with errors_shown():
                st.query_params["case"] = house.library.add(drafts.package(changed)).id
                _end(drafts, changed)
        with st.popover(_("Give the draft up"), icon=":material/delete:"):
            st.markdown(_("All that was written and brought for this case is deleted. This can't be undone."))
            if st.button(_("Delete the draft"), key="draft-delete", type="primary"):
                _end(drafts, changed)


def _forget_draft() -> None:
    st.query_params.pop("draft", None)
    st.session_state.pop("draft", None)


def _end(drafts: Drafts, draft: Draft) -> NoReturn:
    drafts.end(draft)
    _forget_draft()
    st.session_state.pop("papers_told", None)
    st.session_state["form_closed"] = True
    st.rerun()


def _is_long(draft: Draft, name: str) -> bool:
    field, inner = field_of(draft.case_kind, name)
    most = next((one.max_length for one in field.metadata if hasattr(one, "max_length")), MAX_CHARACTERS_IN_A_LINE + 1)
    is_code = any(getattr(one, "pattern", None) for one in field.metadata)
    return get_origin(inner) is tuple or inner is str and most > MAX_CHARACTERS_IN_A_LINE and not is_code


def _field(place: Any, draft: Draft, name: str) -> Any:
    """Draw a field by its type, and return what stands in it as plain data."""
    field, inner = field_of(draft.case_kind, name)
    unset = None if field.default is PydanticUndefined or get_origin(inner) is tuple else field.default
    value = draft.values.get(name, unset)
    drawn = {"label": translated(title_of(draft.case_kind, name)), "key": f"draft-{draft.id}-{draft.version}-{name}"}
    options = LANGUAGES if name == "language" else get_args(inner) if get_origin(inner) is Literal else ()
    if options:
        offered = [*dict.fromkeys((*options, *([value] if value is not None else [])))]
        index = offered.index(value) if value is not None else None
        titled = {one: VALUE_TITLES.get(one, one) for one in offered}
        return place.selectbox(**drawn, options=offered, index=index, format_func=lambda one: translated(titled[one]))
    if inner in (int, float):
        return place.number_input(**drawn, value=value, min_value=inner(0))
    if inner is datetime:
        day = place.date_input(**drawn, value=date.fromisoformat(value) if value else None)
        return day.isoformat() if day else None
    if _is_long(draft, name):
        return place.text_area(**drawn, value=value or "", height=100)
    return place.text_input(**drawn, value=value or "")


def _piece(drafts: Drafts, draft: Draft, piece: DraftPiece, index: int) -> DraftPiece:
    key = f"draft-{draft.id}-{piece.number}"
    places = {**draft.places, **({ABOVE: N_("With the piece above")} if index else {}), LEFT_OUT: N_("Leave out")}
    given: dict[str, Any] = {}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        title = literal(piece.source or _("Piece {number}", number=index + 1))
        now = piece.place if piece.place in places else None
        of = f"{key}-place-{draft.kind}-{'-'.join(places.values())}"
        titles = {one: literal(words) for one, words in places.items()}
        place = st.segmented_control(title, list(titles), default=now, key=of, format_func=titles.__getitem__)
        if draft.case_kind.in_rounds:
            given["round"] = st.number_input(_("Round"), 1, 20, piece.round, key=f"{key}-round", width=120)
        for icon, by, words in (("arrow_upward", -1, _("Move up")), ("arrow_downward", 1, _("Move down"))):
            at_end = index + by not in range(len(draft.pieces))
            if st.button("", key=f"{key}-{icon}", icon=f":material/{icon}:", help=literal(words), disabled=at_end):
                do(partial(drafts.save, draft.moved(piece.number, by)))
    if piece.file:
        (st.video if piece.kind == "video" else st.image)(drafts.medium(draft, piece), width=360)
    elif piece.paper != piece.text and piece.paper:
        with st.expander(_("The paper")):
            inert(piece.paper)
    words = _("What it shows, in words, if you like") if piece.file else _("Text")
    text = st.text_area(literal(words), piece.text, key=f"{key}-text", height=80 if piece.file else 140)
    return piece.model_copy(update={**given, "place": place or "", "text": text})
