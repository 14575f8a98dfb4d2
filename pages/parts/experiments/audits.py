"""Over an experiment: what share of changes of sides was instability, conformity or persuasion; and the audits that tell."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.audits import arm_audits, first_runs
from courtroom.experiments.results import ExperimentResults
from courtroom.language import _
from courtroom.questions.audit import MOST_SEEDS, SEEDS, Audit, AuditPlan, auditable
from courtroom.questions.naming import MEANINGS
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.offered import offered
from pages.parts.shared.records import read
from pages.parts.shared.table import table
from pages.parts.shared.units import count, many, money

LOOK_S = 1.0
MOST_RUNS = 50
"""Runs of each arm that are audited at once."""


def audits_view(house: Courthouse, found: ExperimentResults) -> None:
    """The table of what was found, and a form for more audits; empty where no arm's members can be audited."""
    procedures = {arm.procedure for arm in found.kept.experiment.arms if arm.procedure}
    if not any(house.procedures[name].peers for name in procedures if name in house.procedures):
        return
    with st.expander(_("Why members changed sides"), icon=":material/troubleshoot:"):
        _table(house, found)
        st.caption(
            _(
                "An audit asks each change of sides again: as it was, with the peers' votes alone, with their reasons alone, "
                "and with neither. The answers are kept beside the runs and change nothing in them."
            )
        )
        if _under_way(house, first_runs(found.rows, MOST_RUNS)):
            return
        if not may(Access.RUN):
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            each = int(st.number_input(_("Runs of each arm"), 1, MOST_RUNS, 3, key="audits-runs", width=160))
            seeds = int(st.number_input(_("Answers in each way"), 1, MOST_SEEDS, SEEDS, key="audits-seeds", width=160))
            asked = st.button(_("What would it take?"), key="audits-estimate")
        wanted = (found.kept.id, each, seeds)
        if asked:
            st.session_state["audits-planned"] = wanted
        if st.session_state.get("audits-planned") == wanted:
            _start(house, first_runs(found.rows, each), seeds)


def _table(house: Courthouse, found: ExperimentResults) -> None:
    def audits_of(run: str) -> Sequence[Audit]:
        return house.audits.of(read(house, run))

    lines = arm_audits(found.rows, house.asides.audited(), audits_of)
    if not lines:
        st.caption(_("No change of sides in these runs was audited yet."))
        return
    names = [name for name in MEANINGS if any(name in line.shares for line in lines)]
    audited = [
        {
            "arm": line.arm,
            "runs": line.runs,
            "votes audited": len(line.audits),
            **{name: f"{line.shares.get(name, 0.0):.0%}" for name in names},
        }
        for line in lines
    ]
    table(pd.DataFrame(audited))


@offered(Access.RUN)
def _start(house: Courthouse, runs: Sequence[str], seeds: int) -> None:
    """What it takes, said before the button that starts it."""
    try:
        plans = [plan for run in runs if (plan := _plan(house, run, seeds)).questions]
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    if not plans:
        st.caption(_("There is nothing to ask: in these runs nobody changed sides, or the answers are there already."))
        return
    estimates = [plan.estimate for plan in plans]
    asked = sum(one.calls - one.on_record for one in estimates)
    tokens = sum(load.prompt_tokens + load.completion_tokens for one in estimates for load in one.loads)
    prices = [house.price(one) for one in estimates]
    whole = None if None in prices else sum(price for price in prices if price is not None)
    st.caption(
        _(
            "In {plans}: {asked} to be asked, {on_record} on record; about {tokens} tokens, {whole}.",
            plans=many(len(plans), "run"),
            asked=many(asked, "call"),
            on_record=f"{sum(one.on_record for one in estimates):d}",
            tokens=count(tokens),
            whole=literal(money(whole)),
        )
    )
    if st.button(_("Start the audits"), type="primary", key="audits-start"):
        st.session_state.pop("audits-planned", None)
        try:
            for plan in plans:
                house.audits.start(plan, typed_keys())
        except CourtroomError as error:
            st.error(literal(str(error)))
        else:
            st.rerun()


def _plan(house: Courthouse, run: str, seeds: int) -> AuditPlan:
    record = read(house, run)
    procedure = house.procedures[record.run.procedure]
    return house.audits.plan(record, [one.call.path for one in auditable(procedure, record)], seeds)


def _under_way(house: Courthouse, runs: Sequence[str]) -> bool:
    """Whether audits of these runs go on; the page is drawn anew once they have ended."""
    if not _open(house, runs):
        return False

    @st.fragment(run_every=LOOK_S)
    def look() -> None:
        left = _open(house, runs)
        if not left:
            st.rerun()
        st.caption(_(":material/hourglass: {left} still being audited.", left=many(left, "run")))

    look()
    return True


def _open(house: Courthouse, runs: Sequence[str]) -> int:
    under_way = house.audits.under_way
    return sum(run in under_way and not under_way[run].done() for run in runs)
