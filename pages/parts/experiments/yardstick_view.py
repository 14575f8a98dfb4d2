"""Runs of an experiment or a what-if beside juries of people: do they move as people do?"""

import json

import pandas as pd
import streamlit as st

from courtroom.access import Resource
from courtroom.courthouse import Courthouse
from courtroom.evaluation.yardstick import Line, Yardstick, applies, of_runs
from courtroom.experiments.store import StoredExperiment
from courtroom.figures.experiment import draw_yardstick
from courtroom.language import _, translated
from pages.parts.shared.share_view import download
from pages.parts.shared.shown import literal, one_of, table

PARTS = ("Results", "Beside people")
ALL_ARMS = "All arms"


def yardstick_chosen(house: Courthouse, kept: StoredExperiment) -> bool:
    """Whether a reader wants the runs beside people; nobody is asked where no arm votes."""
    arms = (house.procedures.get(arm.procedure) for arm in kept.experiment.arms)
    if not any(procedure and applies(procedure) for procedure in arms):
        return False
    return one_of(_("Show"), PARTS, f"yardstick-part-{kept.id}", PARTS[0]) == PARTS[1]


def yardstick_view(house: Courthouse, kept: StoredExperiment) -> None:
    """The sentences, the curve and the table, of all arms or of one."""
    names = [arm.name for arm in kept.experiment.arms]
    arm = (
        st.selectbox(_("Arm"), [ALL_ARMS, *names], key="yardstick-arm", format_func=literal) if names[1:] else ALL_ARMS
    )
    if arm == ALL_ARMS and names[1:]:
        st.caption(_("The runs of all arms together, controls too. Choose an arm to see its juries alone."))
    runs = tuple(house.experiments.runs(kept.id, "" if arm == ALL_ARMS else arm))
    with st.spinner(_("Adding up ...")):
        found = _read(house, runs)
    if not found.lines:
        st.info(_("Nobody has voted in these runs."))
        return
    for sentence in found.sentences:
        st.markdown(f"- {literal(sentence)}")
    if found.model:
        st.plotly_chart(draw_yardstick(found, st.context.theme.type or "light"), key="yardstick-curve")
        st.caption(
            _(
                "People: juries with a known first ballot and verdict, real and mock mixed; death-penalty cases are left out. How hung juries "
                "are coded there is not known. Of these runs, a hung jury counts as one that found nothing proven."
            )
        )
    table(pd.DataFrame([_row(line) for line in found.lines]))
    data = json.dumps(found.as_data(), ensure_ascii=False, indent=1)
    download(house, _("As JSON"), data, f"{kept.name}-yardstick.json", Resource(kind="experiment", id=kept.id))


def _row(line: Line) -> dict[str, str]:
    def shown(value: float | None) -> str:
        return "–" if value is None else f"{100 * value:.0f} %" if line.percent else f"{value:.2f}"

    def within(value: float | None, low: float | None, high: float | None, n: int | None) -> str:
        ends = f" ({shown(low)} – {shown(high)})" if low is not None else ""
        return shown(value) + ends + (f", n = {n:,}" if n else "")

    return {
        "measure": translated(line.title),
        "these runs": within(line.value, line.low, line.high, line.n),
        "people": within(line.people, line.people_low, line.people_high, line.people_n),
        "p": "–" if line.p is None else "< 0.001" if line.p < 0.001 else f"{line.p:.3f}",
        "source": line.source,
    }


@st.cache_resource(max_entries=8, show_spinner=False)
def _read(_house: Courthouse, runs: tuple[str, ...]) -> Yardstick:
    """Read once for the same runs: what is done does not change."""
    return of_runs(runs, _house.record, _house.procedures)
