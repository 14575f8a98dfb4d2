"""Imports into the knowledge base: check the whole file, take it in with progress, go on after an interruption."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import BUNDLED, IMPORTED, How
from pages.parts.shared.inert import literal

LIVE_S = 0.5
SHOWN = "imported-into"
"""Kind and base of the last import, in the session: its base is shown as soon as something is in it."""
HOW: dict[How, str] = {"add": "stays", "replace": "is replaced by this file"}
FORMS = {
    "statutes": "JSONL, one article a line: `number`, `text`, and, if you like, `suffix`, `interpretation`, `charges`.",
    "charges": "JSONL, one charge a line: `name`, `articles`, and, if you like, `text`.",
    "cases": "CAIL2018 records, LawBench tasks or criminal cases with `gold`, as .json or .jsonl.",
}


def import_view(house: Courthouse, into: str) -> None:
    """The form, and what is under way."""
    if into not in FORMS:
        return
    with st.expander("Import", icon=":material/upload:"):
        file = st.file_uploader("A file", type=["json", "jsonl"], key=f"import-{into}")
        base = st.text_input(
            "Into the knowledge base",
            IMPORTED,
            key=f"import-base-{into}",
            help="A name of small letters, digits and hyphens; a new one makes a new base. What Courtroom brings along stays in "
            f"the base “{BUNDLED}”.",
        )
        how: How = st.radio(
            "What the base holds already",
            list(HOW),
            format_func=HOW.__getitem__,
            key=f"import-how-{into}",
            horizontal=True,
        )
        st.caption(f"{FORMS[into]} The whole file is checked first; one bad record, and nothing of it is taken in.")
        if st.button("Check and take in", type="primary", disabled=file is None) and file is not None:
            try:
                with st.spinner("Checking every record ..."):
                    digest = house.imports.begin(into, file.name, file.getvalue(), base.strip(), how)  # type: ignore[arg-type]
                house.take_in(digest)
                st.session_state[SHOWN] = (into, base.strip())
            except CourtroomError as error:
                st.error(literal(str(error)))
    kind, imported = st.session_state.get(SHOWN, ("", ""))
    if kind == into and imported in house.knowledge.bases():
        st.session_state[f"base-{into}"] = imported
        del st.session_state[SHOWN]
    busy = any(state.running for state in house.taking_in.values())

    @st.fragment(run_every=LIVE_S if busy else None)
    def under_way() -> None:
        for state in list(house.taking_in.values()):
            if state.running:
                st.progress(
                    state.done / max(1, state.total),
                    f"{literal(state.name)}: {literal(state.what)} {state.done:d} of {state.total:d}",
                )
            elif state.error:
                st.error(literal(state.error))
            else:
                st.success(f"{literal(state.name)}: all {state.total:d} records are in.")
        if busy and not any(state.running for state in house.taking_in.values()):
            st.rerun()
        for job in house.imports.pending():
            if job.digest not in house.taking_in or not house.taking_in[job.digest].running:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(f"{literal(job.name)} was interrupted at {job.done:d} of {job.total:d} records.")
                    if st.button("Go on", key=f"go-on-{job.digest}", type="primary"):
                        house.take_in(job.digest)
                        st.rerun()
                    if st.button("Give it up", key=f"give-up-{job.digest}"):
                        house.imports.give_up(job.digest)
                        st.rerun()

    under_way()
