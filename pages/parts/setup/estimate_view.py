"""What a run will take, by a rehearsal in memory."""

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.access import acting
from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import Intervention
from courtroom.engine.paper import departures, title_of
from courtroom.engine.procedure import Procedure
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.setup import Setup
from courtroom.language import _
from courtroom.models.spec import OFFLINE
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.inert import literal
from pages.parts.shared.table import count, money, table


def month_view(house: Courthouse) -> None:
    """How much the person's runs have cost in this month; nothing where there is no limit, or nobody signs in."""
    person = acting()
    limit = house.accounts.budget(person.id) if person is not None else None
    if person is None or limit is None:
        return
    st.caption(
        _(
            ":material/account_balance_wallet: Your runs have cost {spent} of {limit} that they may cost this month.",
            spent=literal(money(house.accounts.spent(person.id))),
            limit=literal(money(limit)),
        )
    )


def estimate_view(
    house: Courthouse,
    procedure: Procedure,
    case: Case,
    setup: Setup,
    seed: int,
    parent: str | None = None,
    interventions: Sequence[Intervention] | None = None,
) -> None:
    content = f"{procedure.name}/{case.content_hash()}/{seed}/{parent}/{setup.model_dump_json()}/{interventions}"
    kept: tuple[str, Estimate, float | None] | None = st.session_state.get("estimate")
    if kept is None or kept[0] != content:
        kept = None
        with errors_shown(), st.spinner(_("Estimating ...")):
            estimate = house.estimate(procedure.name, case, setup, seed, parent, interventions=interventions)
            kept = st.session_state["estimate"] = (content, estimate, house.price(estimate))
    if kept is None:
        return
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
        text += _(". Asked again: ") + ", ".join(
            f"{literal(title)} {number:d}" for title, number in estimate.anew.items()
        )
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


def paper_view(procedure: Procedure, setup: Setup) -> None:
    """A line on how many settings are the paper's; opened, a table of them all, those that differ first."""
    settings = procedure.paper_settings
    if not settings:
        return
    other = departures(setup, settings)
    same = len(settings) - len(other)
    text = (
        _("All {same} settings as in the paper", same=same)
        if not other
        else _("{same} of {settings} settings as in the paper", same=same, settings=len(settings))
    )
    with st.expander(text, icon=":material/menu_book:" if not other else ":material/compare_arrows:"):
        rows = [
            (
                title_of(type(setup), one.knob),
                _text(one.value),
                _text(other.get(one.knob, one.value)),
                one.knob in other,
            )
            + (one.source, one.note)
            for one in sorted(settings, key=lambda setting: setting.knob not in other)
        ]
        table(pd.DataFrame(rows, columns=["Setting", "Paper", "Here", "Differs", "Source", "Note"]))
        st.caption(_("{paper}. The preset “Paper” sets all of these.", paper=literal(procedure.paper)))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
