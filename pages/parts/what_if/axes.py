"""What a person picks to vary: things left out in turn, and knobs at chosen values."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.changes import value_at
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.sweeps.plan import Axis, evidence_left_out, members_left_out, rules_left_out, values
from pages.parts.shared.vary import knob_values, varied


def chosen_axes(procedure: Procedure, base: Record) -> list[Axis]:
    """The axes, in the order in which they stand on the page."""
    turns = {
        "Each piece of evidence": evidence_left_out(base.case),
        "Each member": members_left_out(procedure, base.setup, base.case, base.run.seed),
        "Each rule": rules_left_out(base.setup),
    }
    offered = {f"{translated(title)} ({len(axis)})": axis for title, axis in turns.items() if axis}
    left_out = st.multiselect(
        _("Leave out in turn"), list(offered), key=f"sweep-drop-{base.run.id}", format_func=translated
    )
    axes = [offered[title] for title in left_out]
    fields = varied(procedure)
    paths = st.multiselect(
        _("Vary"),
        list(fields),
        format_func=lambda path: f"{fields[path].title or path} ({path})",
        key=f"sweep-vary-{base.run.id}",
    )
    for path in paths:
        given = knob_values(fields[path], value_at(base.setup, path), f"sweep-{base.run.id}-{path}", path)
        if given:
            axes.append(values(path, given))
    return axes
