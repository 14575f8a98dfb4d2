"""Setups saved under a name, as a file, or as a link."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.errors import CourtroomError
from courtroom.language import _
from pages.parts.setup.shared_setup import read_shared
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import literal

LONGEST_LINK = 4_000


def setup_file(house: Courthouse, draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    """Save, load, share."""
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("Saved setups"))
        with st.form("save", clear_on_submit=True, border=False):
            name = st.text_input(_("Name"), placeholder=_("seven strangers"))
            if st.form_submit_button(_("Save"), icon=":material/save:", disabled=not may(Access.RUN)) and name.strip():
                house.setups.save(name.strip(), draft.shared())
                st.toast(_("Saved as {name}.", name=literal(name.strip())))
        names = house.setups.names()
        if not names:
            st.caption(_("None yet. Save this one under a name to use it again."))
        for saved in names:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(literal(saved))
                if st.button(_("Load"), key=f"load-{saved}"):
                    _load(house, draft, json.dumps(house.setups.load(saved)), procedure)
                if may(Access.RUN) and st.button(_("Delete"), key=f"delete-{saved}"):
                    st.session_state["deleted_setup"] = (saved, house.setups.load(saved))
                    house.setups.delete(saved)
                    st.rerun()
        deleted = st.session_state.get("deleted_setup")
        if deleted and st.button(_("Undo: bring back {deleted}", deleted=literal(deleted[0])), icon=":material/undo:"):
            house.setups.save(*deleted)
            del st.session_state["deleted_setup"]
            st.rerun()
    with right:
        st.subheader(_("As a file or a link"))
        shared = draft.shared(house.library.name_in_link(case))
        text = json.dumps(shared, ensure_ascii=False, indent=1)
        st.download_button(
            _("Download JSON"), text, f"{procedure.name}-setup.json", "application/json", icon=":material/download:"
        )
        file = st.file_uploader(_("Load a setup from JSON"), type=["json"])
        if file and st.button(_("Load this file")):
            _load(house, draft, file.getvalue().decode(errors="replace"), procedure)
        link = "?" + urlencode({"setup": json.dumps(shared, ensure_ascii=False, separators=(",", ":"))})
        if len(link) <= LONGEST_LINK:
            st.caption(_("This link opens the setup page with the same case and offers the same setup:"))
            st.code(f"{st.context.url}{link}", language=None, wrap_lines=True)
            if not house.library.is_sample(case.id):
                st.caption(
                    _(
                        "The case was uploaded here, so the link works in this install. Elsewhere, the case is to be uploaded first."
                    )
                )
        else:
            st.caption(_("This setup is too long for a link; share the file."))


def _load(house: Courthouse, draft: SetupDraft, text: str, procedure: Procedure) -> None:
    try:
        shared = read_shared(text, procedure)
        if "case" in shared and not draft.forked:
            st.session_state["case"] = house.library.linked(shared["case"]).id
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    draft.load(shared)
    st.rerun()
