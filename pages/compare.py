"""Compare: two to four runs next to each other."""

import streamlit as st

from courtroom.engine.procedure import Procedure
from courtroom.evaluation.comparison import Comparison, compare
from courtroom.language import _
from pages.parts import compare as beside
from pages.parts.shared.differences import differences_view, family_view, worded
from pages.parts.shared.house import courthouse
from pages.parts.shared.shown import declared, literal, one_of

LIVE_S = 1.5

TITLES = {"case": "Case", "procedure": "Procedure", "setup": "Setup", "seed": "Seed"}

house = courthouse()
st.title(_("Compare"))
records = beside.chosen_runs(house)
if len(records) < 2:
    st.info(_("Choose two to four runs; their address can be shared."), icon=":material/compare:")
    st.stop()
comparison: Comparison = compare(records)
procedures: list[Procedure] = [house.procedures[one.run.procedure].about(one.case) for one in records]
drawn = beside.standing(records)


@st.fragment(run_every=LIVE_S if any(record.run.status != "done" for record in records) else None)
def live() -> None:
    """Draws the page again once a run that is not done has come a step further, also by somebody else's doing."""
    if beside.standing(house.record(record.run.id) for record in records) != drawn:
        st.rerun()


live()
beside.run_cards(house, records, procedures)
with st.container(horizontal=True, vertical_alignment="center"):
    st.markdown(beside.in_a_sentence(comparison, records))
    with st.popover(_("Share")):
        st.caption(_("This address opens the same comparison, also in another browser:"))
        runs = ",".join(one.run.id for one in records)
        st.code(f"{st.context.url}?runs={runs}", language=None, wrap_lines=True)


def inputs() -> None:
    if not any(comparison.differences.all()):
        st.caption(_("All runs were given the same case, procedure, setup and seed."))
    for kind in type(comparison.differences).model_fields:
        if differences := getattr(comparison.differences, kind):
            st.markdown(f"**{literal(TITLES.get(kind, kind.capitalize()))}**")
            kind_of = type(records[0].setup)
            differences_view([worded(kind, one, kind_of) for one in differences])
    if len({procedure.name for procedure in procedures}) > 1:
        st.caption(_("Between different procedures, the settings that all of them have are compared."))
    if comparison.verdict:
        titles = {procedure.ending.title for procedure in procedures}
        st.markdown(f"**{declared(titles.pop() if len(titles) == 1 else 'Outcome')}**")
        beside.verdict_beside(comparison, procedures[0])


def families() -> None:
    shown: set[str] = set()
    for record in records:
        family_ids = house.store.family_ids(record.run.id)
        if not shown & family_ids:
            family_view(house, record.run.id, [one.run.id for one in records])
        shown |= family_ids


tabs = {
    "What differs": inputs,
    "Votes": lambda: beside.votes_beside(comparison, procedures),
    "Members": lambda: beside.members_beside(comparison, records, procedures),
    "Answers": lambda: beside.answers_beside(comparison, records),
    "Views": lambda: beside.views_beside(records, procedures),
    "Looked up": lambda: beside.look_ups_beside(comparison),
    "Family": families,
}
tabs[one_of(_("Look at"), list(tabs), "tab-compare", "What differs")]()
