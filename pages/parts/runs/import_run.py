"""A run from another install: its file is checked and kept to be read."""

from __future__ import annotations

import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered


@offered(Access.RUN)
def import_run(house: Courthouse) -> None:
    """Takes the file of a run in and opens it."""
    with st.popover(_("Import run"), icon=":material/upload_file:"):
        st.caption(
            _(
                "A run that was exported as JSON, by this Courtroom or another. Its hash is checked: a file that was changed "
                "is refused. An imported run can be read, compared, marked and forked, and not continued."
            )
        )
        with st.form("import-run", border=False, clear_on_submit=True):
            file = st.file_uploader(_("JSON file"), type=["json"])
            if not st.form_submit_button(_("Import"), type="primary") or file is None:
                return
        try:
            run = house.files.take_in(file.getvalue())
        except CourtroomError as error:
            st.error(literal(str(error)))
            return
        st.session_state["run"] = run
        st.switch_page("pages/deliberation.py", query_params={"run": run})
