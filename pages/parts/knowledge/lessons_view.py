"""Every step of learning, newest first; the latest on a record can be undone."""

from __future__ import annotations

from datetime import datetime

import streamlit as st
from pydantic import ValidationError

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.cases.explain import explain
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure, Source
from courtroom.errors import CourtroomError
from courtroom.knowledge.lessons import RecordChange, Taught
from courtroom.language import _, translated
from courtroom.models.spec import OFFLINE
from courtroom.text.diffs import changes
from pages.parts.shared.blocks_view import diff_html
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.unreadable_rows import unreadable_rows

PAGE = 25
LONGEST = 60
"""Characters of a record's name in a list."""
PHASES = {
    "norms": "Norms distilled",
    "archive": "Standard archived",
    "buffer": "Kept in the buffer",
    "induction": "Directive induced",
    "refinement": "Directive refined",
    "confidence": "Confidence moved",
    "merge": "Directives merged",
    "pruning": "Directives pruned",
    "restore": "Memory brought back to a snapshot",
}


def lessons_view(house: Courthouse) -> None:
    """The record of learning, and training data for an expert."""
    for procedure, source in house.teaching:
        _training(house, procedure, source)
    st.subheader(_("Steps of learning"))
    unreadable_rows(house.knowledge.lessons.unreadable())
    lessons = list(reversed(house.knowledge.lessons.all()))
    if not lessons:
        st.info(
            _(
                "Nothing has been learned yet. The memory learns from cases whose real judgment is known; norms are distilled from "
                "precedents of disputes."
            ),
            icon=":material/school:",
        )
        return
    wanted = st.multiselect(
        _("Show"), list(PHASES), format_func=lambda phase: translated(PHASES[phase]), placeholder=_("all steps")
    )
    shown = [taught for taught in lessons if not wanted or taught.phase in wanted]
    pages = max(1, (len(shown) - 1) // PAGE + 1)
    page = st.number_input(_("Page of {pages}", pages=pages), 1, pages, 1, width=160) if pages > 1 else 1
    for taught in shown[(page - 1) * PAGE : page * PAGE]:
        _lesson(house, taught)


def _training(house: Courthouse, procedure: Procedure, source: Source) -> None:
    parts = house.read(source)
    with st.expander(f"{literal(source.title)}: {len(parts)} {literal(source.parts)}"):
        st.caption(literal(source.help))
        model = st.text_input(
            _("Model of {title}", title=literal(procedure.title)), OFFLINE, key=f"{procedure.name}_model"
        )
        if st.button(_("Build from {parts}", parts=len(parts)), disabled=not parts):
            try:
                setup = procedure.setup.model_validate({"model": {"id": model.strip() or OFFLINE}})
            except ValidationError as error:
                st.error(literal(" ".join(explain(error))))
                return
            run = house.new_run(procedure.name, source.batch(parts), setup, 0)
            house.runner.go(run, keys=typed_keys())
            st.session_state["run"] = run
            st.switch_page("pages/deliberation.py", query_params={"run": run})


def _lesson(house: Courthouse, taught: Taught) -> None:
    at = f"{datetime.fromtimestamp(taught.at):%Y-%m-%d %H:%M}"
    mark = _(" · undone") if taught.undone else ""
    what = literal(_name(taught.changes[0])) if taught.changes else _("nothing changed")
    with st.expander(f"**{translated(PHASES[taught.phase])}** · {what} · {literal(taught.why)} · {at}{mark}"):
        for change in taught.changes:
            _change(change)
        with st.container(horizontal=True, vertical_alignment="center"):
            if taught.run:
                st.link_button(_("Open the run"), f"/deliberation?run={taught.run}")
            if (
                may(Access.OWN)
                and taught.undone is None
                and st.button(_("Undo this step"), key=f"undo-{taught.seq}", icon=":material/undo:")
            ):
                try:
                    house.knowledge.lessons.undo(taught.seq)
                except CourtroomError as error:
                    st.error(literal(str(error)))
                else:
                    st.rerun()


def _name(change: RecordChange) -> str:
    """What a reader knows the changed record by."""
    record = change.after or change.before or {}
    name = str(record.get("title") or record.get("text") or change.id)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."


def _change(change: RecordChange) -> None:
    before, after = change.before or {}, change.after or {}
    st.caption(f"{literal(change.collection)} · {literal(_name(change))} · {literal(change.id)}")
    if before.get("confidence") != after.get("confidence"):
        inert(
            _(
                "Confidence {before} → {after}",
                before=before.get("confidence", _("none")),
                after=after.get("confidence", _("gone")),
            ),
            small=True,
        )
    texts = [
        str(record.get("text") or record.get("norms") or record.get("reasoning") or "") for record in (before, after)
    ]
    if any(kind != "same" for kind, _ in changes(*texts)):
        st.html(diff_html(*texts))
