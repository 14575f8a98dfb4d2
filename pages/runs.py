"""Runs: all hearings, newest first, a page at a time; the runs of a sweep or an experiment are one line."""

from __future__ import annotations

import streamlit as st

from courtroom.errors import Unreadable
from courtroom.evaluation.comparison import MOST
from courtroom.evaluation.run_list import ExperimentLine, Order, RunLine, RunList, SweepLine, Wanted
from courtroom.language import _, translated
from pages.parts.runs.run_actions import more
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.controls import STATUS
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import literal
from pages.parts.shared.marks_view import marks_filter
from pages.parts.shared.units import many, moment

LIVE_S = 2.0
PAGE = 25
WIDTHS = (5, 2.5, 3, 2, 2.5, 2, 3)
COLUMNS = ("Case", "Procedure", "Verdict", "Status", "When", "", "")
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "case": "By case"}

house = courthouse()
listed = RunList(house.database)
st.title(_("Runs"))

if deleted := st.session_state.get("deleted_run"):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(_("The run of “{title}” is deleted.", title=literal(deleted.title)))
        if st.button(_("Undo"), icon=":material/undo:"):
            house.store.restore(deleted)
            del st.session_state["deleted_run"]
            st.rerun()

if not listed.count(Wanted()):
    st.info(_("No hearing yet. Pick a case and start one."), icon=":material/gavel:")
    if st.button(_("Pick a case"), type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()

top = st.columns([3, 2, 2, 2])
by_marks = marks_filter(house)
wanted = Wanted(
    **by_marks,
    text=top[0].text_input(_("Search"), placeholder=_("case, verdict or id")).strip(),
    status=top[1].selectbox(
        _("Status"), ["", *STATUS], format_func=lambda name: translated(STATUS[name][1]) if name in STATUS else _("All")
    ),
    procedure=top[2].selectbox(
        _("Procedure"),
        ["", *house.procedures],
        format_func=lambda name: house.procedures[name].title if name in house.procedures else _("All"),
    ),
)
order: Order = top[3].selectbox(_("Order"), list(ORDERS), format_func=lambda order: translated(ORDERS[order]))


def run_line(row: RunLine) -> None:
    """One run."""
    case, procedure, verdict, status, when, beside, act = st.columns(WIDTHS, vertical_alignment="center")
    known = house.procedures.get(row.procedure)
    origin = _(" · a fork of {parent}", parent=literal(row.parent)) if row.parent else ""
    star = ":material/star: " if row.id in starred else ""
    case.markdown(f"{star}**{literal(row.title)}**  \n:small[:gray[{literal(row.id)}{origin}]]")
    procedure.markdown(
        literal(known.title) if known else _("{procedure} (not installed)", procedure=literal(row.procedure))
    )
    with verdict:
        if row.outcome and known:
            st.html(choice_html(known, row.outcome))
        elif row.outcome:
            st.markdown(literal(row.outcome))
    interrupted = row.status == "running" and house.runner.interrupted(row.id)
    icon, word, colour = STATUS["paused" if interrupted else row.status]
    status.badge(_("Interrupted") if interrupted else translated(word), icon=icon, color=colour)
    when.markdown(moment(row.created))
    if not known:
        return
    beside.checkbox(
        _("Compare"),
        row.id in picked(),
        key=f"pick-{row.id}",
        on_change=pick,
        args=(row.id,),
    )
    with act, st.container(horizontal=True, vertical_alignment="center"):
        if st.button(_("Open"), key=f"open-{row.id}", type="primary"):
            st.session_state["run"] = row.id
            st.switch_page("pages/deliberation.py", query_params={"run": row.id})
        more(house, row, interrupted)


def sweep_line(row: SweepLine) -> None:
    """All runs of one sweep."""
    case, procedure, _verdict, status, when, _beside, act = st.columns(WIDTHS, vertical_alignment="center")
    case.markdown(
        _(
            "**{runs} of the what-if on “{title}”**  \n:small[:gray[{id} · forks of {base}]]",
            runs=many(row.runs, "run"),
            title=literal(row.title),
            id=literal(row.id),
            base=literal(row.base),
        )
    )
    known = house.procedures.get(row.procedure)
    procedure.markdown(literal(known.title) if known else "")
    status.badge(literal(row.status.capitalize()), color="gray")
    when.markdown(moment(row.created))
    if act.button(_("Open"), key=f"sweep-{row.id}", icon=":material/alt_route:"):
        st.session_state["sweep"] = row.id
        st.switch_page("pages/sweep.py", query_params={"sweep": row.id})


def experiment_line(row: ExperimentLine) -> None:
    """All runs of one experiment."""
    case, _procedure, _verdict, status, when, _beside, act = st.columns(WIDTHS, vertical_alignment="center")
    case.markdown(
        _(
            "**{runs} of the experiment “{title}”**  \n:small[:gray[{id}]]",
            runs=many(row.runs, "run"),
            title=literal(row.title),
            id=literal(row.id),
        )
    )
    status.badge(literal(row.status.capitalize()), color="gray")
    when.markdown(moment(row.created))
    if act.button(_("Open"), key=f"experiment-{row.id}", icon=":material/science:"):
        st.session_state["experiment"] = row.id
        st.switch_page("pages/experiments.py", query_params={"experiment": row.id})


def picked() -> list[str]:
    """The runs that are to be compared, in the order in which they were picked."""
    runs: list[str] = st.session_state.setdefault("picked", [])
    return runs


def pick(run: str) -> None:
    """Take a run among those to be compared, or out again."""
    others = [other for other in picked() if other != run]
    st.session_state["picked"] = [*others, run] if st.session_state[f"pick-{run}"] else others


def comparing() -> None:
    """How many runs are picked, and the way to their comparison."""
    known = [run for run in picked() if house.store.status(run) != "deleted"]
    if not known:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        fits_in = 2 <= len(known) <= MOST
        if st.button(
            _("Compare {known} runs", known=len(known)) if len(known) > 1 else _("Compare"),
            type="primary",
            icon=":material/compare:",
            disabled=not fits_in,
        ):
            st.switch_page("pages/compare.py", query_params={"runs": ",".join(known)})
        if len(known) == 1:
            st.caption(_("Pick one to three more."))
        elif not fits_in:
            st.caption(_("Four at most can be read beside each other."))


live = listed.running()
starred = house.marks.starred()


@st.fragment(run_every=LIVE_S if live else None)
def listing() -> None:
    """The lines that fit, a page at a time."""
    comparing()
    total = listed.count(wanted)
    if not total:
        st.info(_("No run fits these filters. Loosen them."), icon=":material/filter_alt_off:")
        return
    pages = (total - 1) // PAGE + 1
    if st.session_state.get("runs-page", 1) > pages:  # lines have gone since
        st.session_state["runs-page"] = pages
    page = (
        int(st.number_input(_("Page of {pages}", pages=f"{pages:d}"), 1, pages, 1, key="runs-page", width=160))
        if pages > 1
        else 1
    )
    for column, name in zip(st.columns(WIDTHS), COLUMNS, strict=True):
        column.caption(translated(name))
    for line in listed.page(wanted, (page - 1) * PAGE, PAGE, order):
        with st.container(border=True):
            match line:
                case RunLine():
                    run_line(line)
                case SweepLine():
                    sweep_line(line)
                case ExperimentLine():
                    experiment_line(line)
                case Unreadable():
                    st.warning(literal(str(line)), icon=":material/broken_image:")
    if live and not listed.running():
        st.rerun()


listing()
