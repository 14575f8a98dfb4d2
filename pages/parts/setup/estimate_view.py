"""What a run will take, by a rehearsal in memory."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import Intervention
from courtroom.engine.procedure import Procedure
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError
from courtroom.models.spec import OFFLINE
from pages.parts.shared.inert import literal
from pages.parts.shared.units import count, money


def estimate_view(
    house: Courthouse,
    procedure: Procedure,
    case: Case,
    setup: Setup,
    seed: int,
    parent: str | None = None,
    interventions: Sequence[Intervention] | None = None,
) -> None:
    """Calls, tokens and money, about."""
    content = f"{procedure.name}/{case.content_hash()}/{seed}/{parent}/{setup.model_dump_json()}/{interventions}"
    kept: tuple[str, Estimate, float | None] | None = st.session_state.get("estimate")
    if kept is None or kept[0] != content:
        try:
            with st.spinner("Estimating ..."):
                estimate = house.estimate(procedure.name, case, setup, seed, parent, interventions=interventions)
                kept = (content, estimate, house.price(estimate))
        except CourtroomError as error:
            st.error(literal(str(error)))
            return
        st.session_state["estimate"] = kept
    _, estimate, price = kept
    online = [load for load in estimate.loads if load.model != OFFLINE]
    told = f"About **{count(estimate.calls)} calls**, {count(estimate.at_most)} at most"
    if estimate.on_record:
        told += f"; {count(estimate.on_record)} are on record and cost nothing"
    if online:
        prompt, completion = sum(load.prompt_tokens for load in online), sum(load.completion_tokens for load in online)
        told += f"; about {count(prompt)} prompt and {count(completion)} completion tokens; {literal(money(price))}"
    if parent and estimate.anew:
        told += ". Anew: " + ", ".join(f"{literal(title)} {number:d}" for title, number in estimate.anew.items())
    st.markdown(
        told + ".",
        help="Found by playing the run through in memory with the offline model; a real model may talk longer or stop earlier.",
    )
    if len(online) > 1:
        st.caption(", ".join(f"{literal(load.model)}: {load.calls:d} calls" for load in online))
