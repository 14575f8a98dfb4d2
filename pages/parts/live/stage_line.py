"""Where a run is: stages done, under way and to come; and what is being answered now."""

from __future__ import annotations

import time
from collections import Counter

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.figures.palette import INK, LINE, NEUTRAL, tone
from pages.parts.shared.inert import escaped, inert, literal
from pages.parts.shared.units import duration

SHOWN = 6
"""Open calls that are shown; the rest are counted."""


def stage_line(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Stages that have begun by name, kinds still to come by kind."""
    theme = st.context.theme.type or "light"
    begun = {stage.stage_kind for stage in record.stages}
    last = max((n for n, kind in enumerate(procedure.stages) if kind.name in begun), default=-1)
    steered = {one.index for one in record.interventions}
    items = [
        (
            f"{stage.name} · steered" if stage.index in steered else stage.name,
            "done" if stage.path in record.ended else "now",
        )
        for stage in record.stages
    ]
    if record.run.status != "done":
        items += [(kind.title, "to come") for kind in procedure.stages[last + 1 :]]
    chips = []
    for name, state in items:
        edge, fill, colour = {
            "done": (tone(2, theme), "transparent", INK[theme]),
            "now": (tone(0, theme), tone(0, theme), "#fff" if theme == "light" else "#12161F"),
            "to come": (LINE[theme], "transparent", NEUTRAL[theme]),
        }[state]
        mark = {"done": "✓ ", "now": "▸ ", "to come": ""}[state]
        chips.append(
            f'<span style="border:1px solid {edge};background:{fill};color:{colour};border-radius:999px;'
            f'padding:.15rem .8rem;font-size:.85rem;white-space:nowrap">{mark}{escaped(name)}</span>'
        )
    st.html(f'<div style="display:flex;flex-wrap:wrap;gap:.4rem">{"".join(chips)}</div>')
    if record.run.status == "running" and record.stages:
        stage = record.stages[-1]
        ended = sum(call.stage == stage.path for call in record.calls)
        waiting = len(house.runner.live(record.run.id).snapshot())
        told = f"{literal(stage.name)}: {ended} answers are in, {waiting} under way"
        st.progress(ended / max(1, ended + waiting), told)
        kinds = Counter(call.title for call in record.calls if call.stage == stage.path)
        if len(kinds) > 1:
            st.caption(" · ".join(f"{literal(title)} {number:d}" for title, number in kinds.items()))


def open_calls(house: Courthouse, record: Record) -> None:
    """Answers as they stream in."""
    waiting = house.runner.live(record.run.id).snapshot()
    if not waiting:
        return
    first = list(waiting.values())[:SHOWN]
    for start in range(0, len(first), 3):
        for column, call in zip(st.columns(3), first[start : start + 3], strict=False):
            with column.container(border=True, height=120):
                member = record.member(call.member)
                since = duration(time.monotonic() - call.since)
                st.caption(f"{literal(member.name if member else call.member)} · {literal(call.title)} · {since}")
                inert(call.text[-240:] or "waiting for the first words ...", small=True, faint=not call.text)
    if len(waiting) > SHOWN:
        st.caption(f"and {len(waiting) - SHOWN} more")
