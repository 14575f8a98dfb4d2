"""Setups that come from others, as a link or a file: read, and shown before they count."""

from __future__ import annotations

import json
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from courtroom.cases.files import explain
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import leaves
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.errors import CaseError, CourtroomError
from courtroom.language import _, translated
from courtroom.models.spec import ModelSpec
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table

LONGEST = 400_000
"""Characters of a setup that is read: all prompts edited come to a tenth of it."""


def take_case_and_procedure(house: Courthouse) -> str:
    """Choose the case that a link names, once; the name of the procedure that it names, or nothing.

    A case that is not here is told in a sentence.
    """
    text = st.query_params.get("setup")
    if not text:
        return ""
    try:
        shared = _parsed(text)
        if "case" in shared and st.session_state.get("link_opened") != text:
            st.session_state["link_opened"] = text
            st.session_state["case"] = house.library.linked(shared["case"]).id
            st.session_state.pop("link_problem", None)
    except CaseError as error:
        st.session_state["link_problem"] = (text, str(error))
    except CourtroomError:
        return ""  # told where its settings are shown
    problem = st.session_state.get("link_problem")
    if problem and problem[0] == text:
        st.error(literal(problem[1]))
    return str(shared.get("procedure", ""))


def read_shared(text: str, procedure: Procedure) -> dict[str, Any]:
    """A shared setup that fits a procedure.

    Raises:
        CourtroomError: it does not; the sentence says why.
    """
    shared = _parsed(text)
    if shared.get("procedure", procedure.name) != procedure.name:
        raise CourtroomError(
            _(
                "This is not a setup for {procedure}. Choose its procedure above, then load it.",
                procedure=translated(procedure.title),
            )
        )
    seed = shared.get("seed", 0)
    if not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise CourtroomError(_("The seed of this setup is not a whole number from 0 on. Correct it."))
    try:
        procedure.setup.model_validate({**procedure.setup().model_dump(mode="json"), **shared.get("setup", {})})
    except ValidationError as error:
        raise CourtroomError(" ".join(explain(error)[:3])) from error
    return shared


def _parsed(text: str) -> dict[str, Any]:
    try:
        shared = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        shared = None
    if not (
        isinstance(shared, dict)
        and isinstance(shared.get("setup", {}), dict)
        and isinstance(shared.get("case", ""), str)
    ):
        raise CourtroomError("This is not a setup. Download one on this page to see the form.")
    return shared


def link_box(draft: SetupDraft, procedure: Procedure) -> bool:
    """What a link would change, for a person to take or leave; whether that is still to be decided."""
    text = st.query_params.get("setup")
    if not text or st.session_state.get("link_decided") == text:
        return False
    try:
        shared = read_shared(text, procedure)
    except CourtroomError as error:
        st.error(_("The setup in this link is not used. {error}", error=literal(str(error))))
        return False
    rows = _changes(draft, shared)
    if not rows:
        return False
    with st.container(border=True):
        many = _("1 setting") if len(rows) == 1 else _("{rows} settings", rows=len(rows))
        st.markdown(
            _(
                ":material/link: **This link changes {many}.** Nothing is asked of any model before you decide.",
                many=many,
            )
        )
        table(pd.DataFrame(rows), key="link-changes")
        with st.container(horizontal=True):
            use = st.button(_("Use these settings"), type="primary")
            leave = st.button(_("Use the defaults"), help=_("Leaves the setup as it is without the link."))
    if use:
        draft.load(shared)
    if use or leave:
        st.session_state["link_decided"] = text
        st.rerun()
    return True


def _changes(draft: SetupDraft, shared: dict[str, Any]) -> list[dict[str, str]]:
    """Setting, before and after of all that differs."""
    before = {"seed": draft.seed, **draft.values}
    after = {"seed": shared.get("seed", draft.seed), **draft.kind().model_dump(mode="json"), **shared.get("setup", {})}
    return [
        {"setting": _named(draft.kind, path), "before": _plain(old), "after": _plain(new)}
        for path, (old, new) in leaves((before, after))
    ]


def _named(kind: type[Setup], path: str) -> str:
    """A path as the page calls its parts: `model.temperature` is Model › Temperature."""
    first, *rest = path.split(".")
    field = kind.model_fields.get(first)
    within = ModelSpec.model_fields if first in ("model", "roles", "members") else {}
    parts = [(within[part].title or part) if part in within else part for part in rest]
    return " › ".join([(field.title or first) if field else first.capitalize(), *parts])


def _plain(value: Any) -> str:
    if value is None:
        return _("not set")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
