"""The runs that are selected in the list, and what can be done with all of them at once."""

import streamlit as st

from courtroom import report
from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.engine.store import Deleted
from courtroom.evaluation.comparison import MOST
from courtroom.evaluation.run_list import RunList
from courtroom.language import _, translated
from pages.parts.shared.actions import errors_shown, undo_bar
from pages.parts.shared.download import download
from pages.parts.shared.inert import literal
from pages.parts.shared.marks_view import keep_mark
from pages.parts.shared.sign_in import your_name
from pages.parts.shared.table import many

MOST_AT_ONCE = 100
"""So many can be marked, exported or deleted at once: what is deleted is kept in memory, to be brought back."""
DELETED = "deleted_runs"
TABLE = "table_runs"


def picked() -> list[str]:
    runs: list[str] = st.session_state.setdefault("picked", [])
    return runs


def is_picked(run: str) -> bool:
    return run in picked()


def pick(run: str) -> None:
    others = [other for other in picked() if other != run]
    st.session_state["picked"] = [*others, run] if st.session_state[f"pick-{run}"] else others


def pick_all(runs: list[str]) -> None:
    """Select more runs; those that are selected stay so."""
    st.session_state["picked"] = list(dict.fromkeys((*picked(), *runs)))
    for run in runs:
        st.session_state[f"pick-{run}"] = True


def pick_none() -> None:
    for run in picked():
        st.session_state[f"pick-{run}"] = False
    st.session_state["picked"] = []


def selected_bar(house: Courthouse, listed: RunList) -> None:
    runs = listed.there(picked())
    if not runs:
        return
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(_("**{runs} selected**", runs=many(len(runs), "run")), width="content")
        comparable = 2 <= len(runs) <= MOST
        if st.button(
            _("Compare {runs} runs", runs=len(runs)) if len(runs) > 1 else _("Compare"),
            type="primary" if comparable else "secondary",
            icon=":material/compare:",
            disabled=not comparable,
            help=_("Two to four runs can be read next to each other. More fit into the comparison table."),
        ):
            st.switch_page("pages/compare.py", query_params={"runs": ",".join(runs)})
        if len(runs) > MOST_AT_ONCE:
            st.caption(
                _(
                    "At most {most_at_once} runs can be tabled, marked, exported or deleted at once. Select fewer.",
                    most_at_once=MOST_AT_ONCE,
                )
            )
        else:
            _many(house, runs)
        st.button(_("Clear"), icon=":material/close:", type="tertiary", on_click=pick_none, help=_("Select no run."))


def _many(house: Courthouse, runs: list[str]) -> None:
    if st.button(
        _("Add to the table"), icon=":material/table_rows:", help=_("The comparison table is on the page Compare.")
    ):
        tabled: list[str] = st.session_state.setdefault(TABLE, [])
        st.session_state[TABLE] = list(dict.fromkeys((*tabled, *runs)))[:MOST_AT_ONCE]
        st.switch_page("pages/compare.py")
    with st.popover(_("Star or tag"), icon=":material/bookmark_add:"):
        _mark(house, runs)
    download(
        house,
        _("Export"),
        lambda: report.as_zip(house.files.export(run) for run in runs),
        "runs.zip",
        help_=_("One zip with a JSON file for each run. Each file can be imported by another Courtroom."),
    )
    if may(Access.RUN) and st.button(_("Delete"), icon=":material/delete:", key="delete-selected"):
        with errors_shown():
            st.session_state[DELETED] = delete(house, runs)
            pick_none()
            st.rerun(scope="app")


def _mark(house: Courthouse, runs: list[str]) -> None:
    with st.form("mark-selected", border=False):
        who = your_name()
        star = st.toggle(_("Star"))
        tags = st.multiselect(_("Tags to add"), house.marks.tags(), accept_new_options=True, format_func=translated)
        if not st.form_submit_button(_("Mark these runs")):
            return
    keep_mark(who, lambda: house.marks.add(runs, who, star=star, tags=tags))


def delete(house: Courthouse, runs: list[str]) -> tuple[Deleted, ...]:
    """Delete runs, all or none; what brings them back."""
    for run in runs:
        house.record(run)
        if house.runner.drives(run):
            house.runner.stop(run)
    with house.store.together():
        return tuple(house.store.delete(run) for run in runs)


def undo_deletion(house: Courthouse) -> None:

    def restore(deleted: tuple[Deleted, ...]) -> None:
        with house.store.together():
            for run in deleted:
                house.store.restore(run)

    deleted: tuple[Deleted, ...] = st.session_state.get(DELETED, ())
    if deleted:
        with undo_bar(DELETED, restore):
            if len(deleted) == 1:
                st.markdown(_("The run of “{title}” is deleted.", title=literal(deleted[0].title)))
            else:
                st.markdown(_("{deleted} are deleted.", deleted=many(len(deleted), "run")))
