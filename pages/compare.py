"""Compare: two to four runs beside each other."""

from __future__ import annotations

import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.evaluation.comparison import Comparison, compare
from courtroom.language import _
from pages.parts.compare.answers import answers_beside
from pages.parts.compare.runs import chosen_runs, in_a_sentence, run_cards, standing
from pages.parts.compare.table import comparison_table
from pages.parts.compare.views import look_ups_beside, views_beside
from pages.parts.compare.votes import members_beside, votes_beside
from pages.parts.shared.beside import differences_view
from pages.parts.shared.family_view import family_view
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import declared, literal
from pages.parts.shared.records import read

LIVE_S = 1.5
"""How often runs that go on are looked at."""

TITLES = {"case": "Case", "procedure": "Procedure", "setup": "Setup", "seed": "Seed"}

house = courthouse()
st.title(_("Compare"))
comparison_table(house)
records = chosen_runs(house)
if len(records) < 2:
    st.info(_("Choose two to four runs; their address can be shared."), icon=":material/compare:")
    st.stop()
comparison: Comparison = compare(records)
procedures: list[Procedure] = [house.procedures[one.run.procedure].about(one.case) for one in records]
drawn = standing(records)


@st.fragment(run_every=LIVE_S if any(record.run.status != "done" for record in records) else None)
def live() -> None:
    """Draws the page anew once a run that is not done has come a step further, also by somebody else's doing."""
    if standing(read(house, record.run.id) for record in records) != drawn:
        st.rerun()


live()
run_cards(house, comparison, procedures)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(in_a_sentence(comparison))
    with st.popover(_("Share")):
        st.caption(_("This address opens the same comparison, also in another browser:"))
        st.code(f"{st.context.url}?runs={','.join(one.run.id for one in records)}", language=None, wrap_lines=True)


def inputs() -> None:
    """What was put in, and how the outcomes differ."""
    if not any(comparison.differences.all()):
        st.caption(_("All runs were given the same case, procedure, setup and seed."))
    for kind in type(comparison.differences).model_fields:
        if differences := getattr(comparison.differences, kind):
            st.markdown(f"**{literal(TITLES.get(kind, kind.capitalize()))}**")
            differences_view(differences)
    if len({procedure.name for procedure in procedures}) > 1:
        st.caption(_("Between different procedures, the settings that all of them have are compared."))
    if comparison.verdict:
        titles = {procedure.ending.title for procedure in procedures}
        st.markdown(f"**{declared(titles.pop() if len(titles) == 1 else 'Outcome')}**")
        differences_view(comparison.verdict)


def families() -> None:
    """Each family that one of the runs belongs to, once."""
    shown: set[str] = set()
    for record in records:
        kin = house.store.families.ids(record.run.id)
        if not shown & kin:
            family_view(house, record.run.id, [one.run.id for one in records])
        shown |= kin


tabs = {
    "What differs": inputs,
    "Votes": lambda: votes_beside(comparison, procedures),
    "Members": lambda: members_beside(comparison, procedures),
    "Answers": lambda: answers_beside(comparison, records),
    "Views": lambda: views_beside(records, procedures),
    "Looked up": lambda: look_ups_beside(comparison),
    "Family": families,
}
shown = st.segmented_control(
    _("Look at"),
    list(tabs),
    default="What differs",
    key="tab-compare",
    label_visibility="collapsed",
    format_func=literal,
)
tabs[shown or "What differs"]()
