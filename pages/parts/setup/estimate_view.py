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
from courtroom.language import _
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
            with st.spinner(_("Estimating ...")):
                estimate = house.estimate(procedure.name, case, setup, seed, parent, interventions=interventions)
                kept = (content, estimate, house.price(estimate))
        except CourtroomError as error:
            st.error(literal(str(error)))
            return
        st.session_state["estimate"] = kept
    estimate, price = kept[1:]
    online = [load for load in estimate.loads if load.model != OFFLINE]
    text = _("About **{calls} calls**, {at_most} at most", calls=count(estimate.calls), at_most=count(estimate.at_most))
    if estimate.on_record:
        text += _("; {on_record} are on record and cost nothing", on_record=count(estimate.on_record))
    if online:
        prompt, completion = sum(load.prompt_tokens for load in online), sum(load.completion_tokens for load in online)
        text += _(
            "; about {prompt} prompt and {completion} completion tokens; {price}",
            prompt=count(prompt),
            completion=count(completion),
            price=literal(money(price)),
        )
    if parent and estimate.anew:
        text += _(". Anew: ") + ", ".join(f"{literal(title)} {number:d}" for title, number in estimate.anew.items())
    st.markdown(
        text + ".",
        help=_(
            "Found by playing the run through in memory with the offline model; a real model may talk longer or stop earlier."
        ),
    )
    if len(online) > 1:
        st.caption(
            ", ".join(
                _("{model}: {calls} calls", model=literal(load.model), calls=f"{load.calls:d}") for load in online
            )
        )
