"""How a hearing ended, and beside it the real jury where known."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.inert import declared, escaped, inert


def verdict_view(record: Record, procedure: Procedure) -> None:
    """The outcome, unmistakable; counts; the reasons; the real votes."""
    verdict = record.run.verdict
    assert verdict is not None
    with st.container(border=True):
        left, middle, right = st.columns([2, 2, 5], gap="large")
        with left:
            st.caption(declared(procedure.ending.title))
            if verdict.outcome in {choice.name for choice in procedure.choices}:
                st.html(choice_html(procedure, verdict.outcome, "2rem"))
            else:
                st.html(f'<div style="font-size:1.5rem;overflow-wrap:anywhere">{escaped(verdict.outcome)}</div>')
            counts = [f"{choice_html(procedure, name)} {number:d}" for name, number in verdict.counts.items()]
            if verdict.abstained:
                counts.append(_("{number} abstained", number=f"{verdict.abstained:d}"))
            if counts:
                st.html("&ensp;".join(counts))
            if verdict.note:
                inert(verdict.note, small=True)
        with middle:
            if real := record.real_counts:
                same = max(real, key=lambda name: real[name]) == verdict.outcome
                far = [abs(real.get(name, 0) - number) for name, number in verdict.counts.items()]
                text = "&ensp;".join(f"{choice_html(procedure, name)} {number:d}" for name, number in real.items())
                st.caption(_("The real jury"))
                st.html(f'<div style="line-height:3rem">{text}</div>')
                st.caption(
                    (_("The same side won") if same else _("The other side won"))
                    + _(
                        "; the counts differ by {far} votes a side on average.",
                        far=f"{sum(far) / max(1, len(far)):.1f}",
                    )
                )
            elif real_outcome := record.case.real_outcome():
                st.caption(declared(procedure.ending.real))
                inert(real_outcome)
        with right:
            st.caption(declared(procedure.ending.grounds))
            inert(verdict.summary)
