"""The rules that members are given: edit, add, remove, put in another order."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.knobs import Widget
from courtroom.language import _
from pages.parts.shared.draft import SetupDraft


def rules_editor(draft: SetupDraft) -> None:
    """One rule a line of the list; Undo above takes any change back."""
    name = draft.drawn[Widget.RULES]
    rules: list[str] = draft.values[name]
    st.caption(_("All who vote are given these rules, in this order."))
    moved: list[str] | None = None
    for number, rule in enumerate(rules):
        text, up, away = st.columns([20, 1, 1], vertical_alignment="center")
        rules[number] = text.text_area(
            _("Rule {number}", number=f"{number + 1:d}"), rule, key=draft.key(f"rule-{len(rules)}-{number}"), height=80
        )
        if up.button(
            "", icon=":material/arrow_upward:", key=draft.key(f"up-{number}"), disabled=number == 0, help=_("Move up")
        ):
            moved = [*rules[: number - 1], rules[number], rules[number - 1], *rules[number + 1 :]]
        if away.button("", icon=":material/delete:", key=draft.key(f"away-{number}"), help=_("Remove")):
            moved = [*rules[:number], *rules[number + 1 :]]
    with st.container(horizontal=True):
        if st.button(_("Add a rule"), icon=":material/add:"):
            moved = [*rules, "A new rule."]
        if st.button(_("Back to the shipped rules"), icon=":material/restart_alt:"):
            moved = draft.kind().model_dump(mode="json")[name]
    if moved is not None:
        draft.remember()
        draft.values[name] = moved
        draft.version += 1
        st.rerun()
