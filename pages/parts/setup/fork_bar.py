"""A fork being set up: which run it comes from, and what is changed."""

from __future__ import annotations

from typing import Any

import streamlit as st
from pydantic import ValidationError

from courtroom.courthouse import Courthouse
from courtroom.engine.changes import differences
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.interventions import Action, ChangeSetup
from courtroom.engine.record import Record
from courtroom.language import _
from pages.parts.shared.beside import change_in_line
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import literal
from pages.parts.shared.records import read

SHOWN = 12


def forked_run(house: Courthouse) -> Record | None:
    """The run that is to be forked: from the URL, or the one this session chose."""
    run = st.query_params.get("fork") or st.session_state.get("fork")
    if not run:
        return None
    try:
        record = read(house, run)
    except NoSuchRun:
        st.error(
            _("There is no run {run} here, so it can't be forked. Choose another on the page Runs.", run=literal(run))
        )
        return None
    st.session_state["fork"] = run
    st.query_params["fork"] = run
    return record


def fork_bar(parent: Record, draft: SetupDraft) -> str | None:
    """What the fork will change against its parent; the stage from which it is to hold, None from the beginning."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _(
                ":material/fork_right: A fork of run {id}. What no change touches is served from the record.",
                id=literal(parent.run.id),
            )
        )
        if st.button(_("Start afresh instead")):
            st.session_state.pop("fork", None)
            st.query_params.pop("fork", None)
            draft.forked = ""
            st.rerun()
    try:
        changed: list[tuple[str, Any, Any]] = list(differences(parent.setup, draft.validated()))
    except ValidationError:
        return None  # shown below, where the setup is checked
    if draft.seed != parent.run.seed:
        changed.insert(0, ("seed", parent.run.seed, draft.seed))
    if not changed:
        st.caption(_("Nothing is changed yet: such a fork asks nothing anew."))
    for path, before, after in changed[:SHOWN]:
        st.caption(f"{literal(path)}: {literal(change_in_line(before, after))}")
    if len(changed) > SHOWN:
        st.caption(_("and {changed} more changes", changed=len(changed) - SHOWN))
    stages = {"": _("the beginning"), **{stage.path: stage.name for stage in parent.stages}}
    if not changed or len(stages) == 1:
        return None
    chosen = st.selectbox(
        _("The changes hold from"),
        list(stages),
        format_func=stages.__getitem__,
        key=draft.key("fork-from"),
        help=_("From a later stage on, all before it stays as it was."),
        width=320,
    )
    return chosen or None


def changes_from(parent: Record, draft: SetupDraft) -> list[Action]:
    """The changes as actions, to hold from a stage on."""
    return [ChangeSetup(key=path, value=after) for path, _, after in differences(parent.setup, draft.validated())]
