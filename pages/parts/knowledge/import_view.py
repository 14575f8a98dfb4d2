"""Imports into the knowledge base: check the whole file, take it in with progress, go on after an interruption."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import BUNDLED, IMPORTED, How
from courtroom.language import _, translated
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered

LIVE_S = 0.5
SHOWN = "imported-into"
"""Kind and base of the last import, in the session: its base is shown as soon as something is in it."""
HOW: dict[How, str] = {"add": "stays", "replace": "is replaced by this file"}
FORMS = {
    "statutes": "JSONL, one article a line: `number`, `text`, and, if you like, `suffix`, `interpretation`, `charges`.",
    "charges": "JSONL, one charge a line: `name`, `articles`, and, if you like, `text`.",
    "cases": "CAIL2018 records, LawBench tasks or criminal cases with `gold`, as .json or .jsonl.",
}


@offered(Access.RUN)
def import_view(house: Courthouse, into: str) -> None:
    """The form, and what is under way."""
    if into not in FORMS:
        return
    with st.expander(_("Import"), icon=":material/upload:"):
        file = st.file_uploader(_("A file"), type=["json", "jsonl"], key=f"import-{into}")
        base = st.text_input(
            _("Into the knowledge base"),
            IMPORTED,
            key=f"import-base-{into}",
            help=_(
                "A name of small letters, digits and hyphens; a new one makes a new base. What Courtroom brings along stays in the base “{bundled}”.",
                bundled=BUNDLED,
            ),
        )
        how: How = st.radio(
            _("What the base holds already"),
            list(HOW),
            format_func=lambda how: translated(HOW[how]),
            key=f"import-how-{into}",
            horizontal=True,
        )
        st.caption(
            _(
                "{forms} The whole file is checked first; one bad record, and nothing of it is taken in.",
                forms=translated(FORMS[into]),
            )
        )
        if st.button(_("Check and take in"), type="primary", disabled=file is None) and file is not None:
            try:
                with st.spinner(_("Checking every record ...")):
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
                    _(
                        "{name}: {what} {done} of {total}",
                        name=literal(state.name),
                        what=literal(state.what),
                        done=f"{state.done:d}",
                        total=f"{state.total:d}",
                    ),
                )
            elif state.error:
                st.error(literal(state.error))
            else:
                st.success(_("{name}: all {total} records are in.", name=literal(state.name), total=f"{state.total:d}"))
        if busy and not any(state.running for state in house.taking_in.values()):
            st.rerun()
        for job in house.imports.pending():
            if job.digest not in house.taking_in or not house.taking_in[job.digest].running:
                with st.container(horizontal=True, vertical_alignment="center"):
                    st.markdown(
                        _(
                            "{name} was interrupted at {done} of {total} records.",
                            name=literal(job.name),
                            done=f"{job.done:d}",
                            total=f"{job.total:d}",
                        )
                    )
                    if st.button(_("Go on"), key=f"go-on-{job.digest}", type="primary"):
                        house.take_in(job.digest)
                        st.rerun()
                    if st.button(_("Give it up"), key=f"give-up-{job.digest}"):
                        house.imports.give_up(job.digest)
                        st.rerun()

    under_way()
