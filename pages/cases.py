"""Cases: pick a dispute to hear, look into one, upload or write one."""

from __future__ import annotations

import streamlit as st

from courtroom.case_files import read_upload
from courtroom.errors import CourtroomError
from courtroom.library import CaseSummary
from pages.parts.case_form import case_form
from pages.parts.case_view import case_view
from pages.parts.house import courthouse
from pages.parts.inert import literal

PER_ROW = 3
LANGUAGES = {"en": "English", "zh": "中文"}

house = courthouse()


def hear(case: str) -> None:
    """Take a case to the Setup page."""
    st.session_state["case"] = case
    st.switch_page("pages/setup.py")


def card(case: CaseSummary) -> None:
    """One case of the library."""
    with st.container(border=True):
        if case.picture and case.picture.sha256:
            st.image(house.media.image(case.picture.sha256, 480), width="stretch")
        st.markdown(f"**{literal(case.title)}**")
        facts = [case.category, LANGUAGES.get(case.language, case.language), case.price]
        st.caption(" · ".join(literal(fact) for fact in facts if fact))
        counts = [f"{case.evidence} pieces of evidence", f"{case.images} pictures"]
        counts += [f"{case.videos} video" + "s" * (case.videos > 1)] if case.videos else []
        st.caption(", ".join(counts))
        if case.votes:
            buyer, seller = case.votes
            st.caption(
                f"Real jury: ● buyer {buyer}, ■ seller {seller}" + (" (near tie)" if abs(buyer - seller) < 3 else "")
            )
        with st.container(horizontal=True):
            if st.button("Hear this case", key=f"hear-{case.id}", type="primary", icon=":material/gavel:"):
                hear(case.id)
            if st.button("View", key=f"view-{case.id}"):
                st.query_params["case"] = case.id
                st.rerun()
            if case.bundled:
                st.badge("Sample", color="gray")


def upload() -> None:
    """Take in files; what is wrong with one does not hold up the others."""
    files = st.file_uploader(
        "Cases as .json, .jsonl, or .zip with pictures and videos",
        type=["json", "jsonl", "zip"],
        accept_multiple_files=True,
        help="A ZIP file holds case.json and its media. See any sample's export for the form.",
    )
    if not st.button("Take in", disabled=not files, type="primary"):
        return
    for file in files or []:
        try:
            for package in read_upload(file.name, file.getvalue()):
                case = house.library.add(package)
                st.success(f"Taken in: {literal(case.title)}.", icon=":material/check:")
                for remark in package.remarks:
                    st.info(literal(remark))
        except CourtroomError as error:
            st.error(literal(str(error)))


def library() -> None:
    """All cases, with filters."""
    st.title("Courtroom")
    st.markdown(
        "Watch a jury of language-model agents judge a dispute, step by step. Pick a case; without a key, an offline "
        "model stands in."
    )
    adding = st.segmented_control(
        "Add a case",
        ["Upload", "Write"],
        key="adding",
        format_func=lambda way: f"{way} a case",
        label_visibility="collapsed",
    )
    if adding == "Upload":
        upload()
    elif adding == "Write":
        case_form(house)
    cases = house.library.cases()
    wanted = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    text = wanted[0].text_input("Search", placeholder="kettle, refund, camera ...").casefold()
    category = wanted[1].selectbox("Category", ["All categories", *sorted({case.category for case in cases})])
    language = wanted[2].selectbox(
        "Language",
        ["All", *sorted({case.language for case in cases})],
        format_func=lambda code: LANGUAGES.get(code, code),
    )
    kind = wanted[3].selectbox("Show", ["All cases", "Samples", "Your own", "With video", "Near ties"])
    tests = {
        "Samples": lambda c: c.bundled,
        "Your own": lambda c: not c.bundled,
        "With video": lambda c: c.videos > 0,
        "Near ties": lambda c: c.votes is not None and abs(c.votes[0] - c.votes[1]) < 3,
    }
    shown = [
        case
        for case in cases
        if text in f"{case.title} {case.category} {case.id}".casefold()
        and category in ("All categories", case.category)
        and language in ("All", case.language)
        and tests.get(kind, lambda c: True)(case)
    ]
    if not shown:
        st.info(
            "No case fits these filters. Loosen them, or upload a case of your own.", icon=":material/filter_alt_off:"
        )
    for start in range(0, len(shown), PER_ROW):
        for column, case in zip(st.columns(PER_ROW), shown[start : start + PER_ROW], strict=False):
            with column:
                card(case)


def undo_bar() -> None:
    """Bring back the case that was deleted last."""
    if deleted := st.session_state.get("deleted_case"):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(f"“{literal(deleted.title)}” is deleted.")
            if st.button("Undo", icon=":material/undo:"):
                house.library.restore(deleted)
                del st.session_state["deleted_case"]
                st.rerun()


undo_bar()
if chosen := st.query_params.get("case"):
    try:
        case_view(house, house.library.case(chosen), hear)
    except CourtroomError as error:
        st.error(literal(str(error)))
        if st.button("All cases"):
            del st.query_params["case"]
            st.rerun()
else:
    library()
