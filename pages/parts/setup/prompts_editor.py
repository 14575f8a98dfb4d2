"""The prompts, one at a time: as shipped, or with this run's own words."""

from __future__ import annotations

import difflib

import streamlit as st

from courtroom.cases.case import Case
from courtroom.engine.procedure import Procedure
from courtroom.language import _
from courtroom.models.apart import why_no_template
from courtroom.models.prompts import templates
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import literal


def prompts_editor(draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    """Edits hold for this run only; the offline model does not read prompts."""
    shipped = templates(procedure.prompts, procedure.case_kind)
    edits: dict[str, str] = draft.values["prompts"]
    st.caption(
        _(
            "Templates in Jinja's syntax. `_system` and `_case` come first and are the same for all members; in a task, the "
            "block `shared` comes before the block `own`. The offline model reads a task's inputs, not these words."
        )
    )
    name = st.selectbox(_("Prompt"), list(shipped), format_func=lambda n: _("{n} (edited)", n=n) if n in edits else n)
    text = st.text_area(_("Text"), edits.get(name, shipped[name]), height=420, key=draft.key(f"prompt-{name}"))
    if text == shipped[name]:
        edits.pop(name, None)
        return
    if why := why_no_template(name, text):
        st.error(literal(why))
        return
    edits[name] = text
    with st.expander(_("What differs from the shipped text")):
        diff = difflib.unified_diff(
            shipped[name].splitlines(), text.splitlines(), "shipped", _("this run"), lineterm=""
        )
        st.code("\n".join(diff), language="diff")
    if st.button(_("Back to the shipped text"), icon=":material/restart_alt:"):
        del edits[name]
        draft.version += 1
        st.rerun()
