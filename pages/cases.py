"""Cases: pick a dispute to hear, look into one, upload or write one."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from courtroom.access.account import Access
from courtroom.cases.case import Case
from courtroom.cases.dispute import Dispute
from courtroom.cases.kinds import CASE_KINDS
from courtroom.cases.library import ListedCase
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from pages.parts.cases.text_form import text_form
from pages.parts.cases.upload import upload
from pages.parts.cases.welcome import welcome
from pages.parts.shared.case_form import case_form
from pages.parts.shared.case_view import case_view
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered
from pages.parts.shared.units import many
from pages.parts.shared.unreadable_rows import unreadable_rows

PER_ROW = 3
LANGUAGES = {"en": "English", "zh": "中文"}

house = courthouse()


def hear(case: str) -> None:
    """Take a case to the Setup page."""
    st.session_state["case"] = case
    st.switch_page("pages/setup.py")


def card(case: ListedCase) -> None:
    """One case of the library."""
    with st.container(border=True):
        if case.picture and case.picture.sha256:
            st.image(
                house.media.image(case.picture.sha256, 480),
                width="stretch",
                alt=case.picture.description or case.picture.id,
            )
        st.markdown(f"**{literal(case.title)}**")
        facts = [case.kind_title, LANGUAGES.get(case.language, case.language), *case.brief]
        st.caption(" · ".join(literal(fact) for fact in facts))
        if case.images or case.videos:
            st.caption(_what_it_shows(case))
        if case.real:
            st.caption(literal(case.real))
        with st.container(horizontal=True):
            if st.button(_("Hear this case"), key=f"hear-{case.id}", type="primary", icon=":material/gavel:"):
                hear(case.id)
            if st.button(_("View"), key=f"view-{case.id}"):
                st.query_params["case"] = case.id
                st.rerun()
            if case.bundled:
                st.badge(_("Sample"), color="gray")


def _what_it_shows(case: ListedCase) -> str:
    pictures, videos = many(case.images, "picture"), many(case.videos, "video")
    if case.images and case.videos:
        return _("{pictures}, {videos}", pictures=pictures, videos=videos)
    if case.images:
        return pictures
    return videos if case.videos else ""


def write() -> None:
    """Write a case of any kind that can be written by hand."""
    kinds: list[type[Case]] = [Dispute, *(kind for kind in CASE_KINDS.values() if kind.from_text)]
    kind = st.segmented_control(
        _("What kind"),
        kinds,
        default=kinds[0],
        required=True,
        format_func=lambda k: literal(k.kind_title),
        key="form_kind",
    )
    if kind is Dispute:
        case_form(house)
    else:
        text_form(house, kind)


@offered(Access.RUN)
def add() -> None:
    """Add a case of one's own."""
    adding = st.segmented_control(
        _("Add a case"),
        ["Upload", "Write"],
        key="adding",
        format_func=lambda way: _("Upload a case") if way == "Upload" else _("Write a case"),
        label_visibility="collapsed",
    )
    if adding == "Upload":
        upload(house)
    elif adding == "Write":
        write()


def library() -> None:
    """All cases, with filters."""
    st.title(_("Courtroom"))
    st.markdown(
        _(
            "Watch language-model agents deliberate on a case, step by step. Pick one; without a key, an offline model stands in."
        )
    )
    welcome(house)
    add()
    unreadable_rows(house.library.unreadable())
    cases = house.library.cases()
    wanted = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    text = wanted[0].text_input(_("Search"), placeholder=_("kettle, refund, camera ...")).casefold()
    sort = wanted[1].selectbox(
        _("Kind"), ["All kinds", *dict.fromkeys(case.kind_title for case in cases)], format_func=translated
    )
    language = wanted[2].selectbox(
        _("Language"),
        ["All", *sorted({case.language for case in cases})],
        format_func=lambda code: LANGUAGES.get(code, translated(code)),
    )
    kind = wanted[3].selectbox(
        _("Show"), ["All cases", "Samples", "Your own", "With video", "Near ties"], format_func=translated
    )
    tests: dict[str, Callable[[ListedCase], bool]] = {
        "Samples": lambda c: c.bundled,
        "Your own": lambda c: not c.bundled,
        "With video": lambda c: c.videos > 0,
        "Near ties": lambda c: "near tie" in c.real,
    }
    shown = [
        case
        for case in cases
        if text in f"{case.title} {' '.join(case.brief)} {case.id}".casefold()
        and sort in ("All kinds", case.kind_title)
        and language in ("All", case.language)
        and (kind == "All cases" or tests[kind](case))
    ]
    if not shown:
        st.info(
            _("No case fits these filters. Loosen them, or upload a case of your own."),
            icon=":material/filter_alt_off:",
        )
    for start in range(0, len(shown), PER_ROW):
        for column, case in zip(st.columns(PER_ROW), shown[start : start + PER_ROW], strict=False):
            with column:
                card(case)


def undo_bar() -> None:
    """Bring back the case that was deleted last."""
    if deleted := st.session_state.get("deleted_case"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_("“{title}” is deleted.", title=literal(deleted.title)))
            if st.button(_("Undo"), icon=":material/undo:"):
                house.library.restore(deleted)
                del st.session_state["deleted_case"]
                st.rerun()


undo_bar()
if chosen := st.query_params.get("case"):
    try:
        case_view(house, house.library.case(chosen), hear)
        st.session_state["case"] = chosen  # Setup offers it first
    except CourtroomError as error:
        st.error(literal(str(error)))
        if st.button(_("All cases")):
            del st.query_params["case"]
            st.rerun()
else:
    library()
