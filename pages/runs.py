"""Runs: all hearings, newest first."""

from __future__ import annotations

import streamlit as st

from courtroom import report
from courtroom.engine.store import Run
from courtroom.errors import CourtroomError
from courtroom.evaluation.comparison import MOST
from pages.parts.choice_mark import choice_html
from pages.parts.controls import STATUS
from pages.parts.house import courthouse
from pages.parts.inert import literal
from pages.parts.models_form import typed_keys
from pages.parts.records import read
from pages.parts.units import count, duration, moment, money

LIVE_S = 2.0
PAGE = 25

house = courthouse()
st.title("Runs")

if deleted := st.session_state.get("deleted_run"):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"The run of “{literal(deleted.run.title)}” is deleted.")
        if st.button("Undo", icon=":material/undo:"):
            house.store.restore(deleted)
            del st.session_state["deleted_run"]
            st.rerun()

rows = list(reversed(house.store.runs()))
if not rows:
    st.info("No hearing yet. Pick a case and start one.", icon=":material/gavel:")
    if st.button("Pick a case", type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()

top = st.columns([3, 2, 2])
text = top[0].text_input("Search", placeholder="case, verdict or id").casefold()
status = top[1].selectbox(
    "Status", ["All", *STATUS], format_func=lambda name: STATUS[name][1] if name in STATUS else name
)
kind = top[2].selectbox(
    "Procedure",
    ["All", *house.procedures],
    format_func=lambda n: house.procedures[n].title if n in house.procedures else n,
)


def fits(row: Run) -> bool:
    """Whether a run passes the filters."""
    outcome = row.verdict.outcome if row.verdict else ""
    return (
        text in f"{row.title} {row.id} {outcome}".casefold()
        and status in ("All", row.status)
        and kind in ("All", row.procedure)
    )


def line(row: Run) -> None:
    """One run."""
    procedure = house.procedures[row.procedure]
    record = read(house, row.id)
    interrupted = house.runner.interrupted(row.id)
    icon, word, colour = STATUS["paused" if interrupted else row.status]
    with st.container(border=True):
        what, how, act = st.columns([4, 4, 4], vertical_alignment="center")
        with what:
            st.markdown(f"**{literal(row.title)}**")
            origin = f" · a fork of {literal(row.parent)}" if row.parent else ""
            st.caption(f"{procedure.title} · {moment(row.created)} · {literal(row.id)}{origin}")
        with how:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.badge("Interrupted" if interrupted else word, icon=icon, color=colour)
                if row.verdict:
                    st.html(choice_html(procedure, row.verdict.outcome))
            prompt, completion = record.tokens
            st.caption(
                f"{count(record.asked)} asked, {count(record.recorded)} on record · {count(prompt + completion)} tokens · "
                f"{literal(money(record.cost))}" + (f" · {duration(row.wall_s)}" if row.wall_s else "")
            )
        with act, st.container(horizontal=True):
            if st.button("Open", key=f"open-{row.id}", type="primary"):
                st.session_state["run"] = row.id
                st.switch_page("pages/deliberation.py", query_params={"run": row.id})
            if (row.status in ("paused", "failed") or interrupted) and st.button("Continue", key=f"go-{row.id}"):
                try:
                    house.runner.go(row.id, keys=typed_keys())
                except CourtroomError as error:
                    st.error(literal(str(error)))
                else:
                    st.rerun()
            with st.popover("Export"):
                st.download_button(
                    "JSON", lambda: report.as_json(record, house.answers), f"{row.id}.json", key=f"json-{row.id}"
                )
                st.download_button(
                    "HTML report",
                    lambda: report.as_html(record, procedure, house.answers, house.media),
                    f"{row.id}.html",
                    key=f"html-{row.id}",
                )
            if st.button("Delete", key=f"delete-{row.id}", icon=":material/delete:"):
                if house.runner.drives(row.id):
                    house.runner.stop(row.id)
                st.session_state["deleted_run"] = read(house, row.id)
                house.store.delete(row.id)
                st.rerun()
            st.checkbox("Compare", row.id in picked(), key=f"pick-{row.id}", on_change=pick, args=(row.id,))


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
            f"Compare {len(known)} runs" if len(known) > 1 else "Compare",
            type="primary",
            icon=":material/compare:",
            disabled=not fits_in,
        ):
            st.switch_page("pages/compare.py", query_params={"runs": ",".join(known)})
        if len(known) == 1:
            st.caption("Pick one to three more.")
        elif not fits_in:
            st.caption("Four at most can be read beside each other.")


@st.fragment(run_every=LIVE_S if any(row.status == "running" for row in rows) else None)
def listing() -> None:
    """The runs that fit, a page at a time."""
    comparing()
    shown = [row for row in reversed(house.store.runs()) if fits(row)]
    if not shown:
        st.info("No run fits these filters. Loosen them.", icon=":material/filter_alt_off:")
        return
    pages = (len(shown) - 1) // PAGE + 1
    page = st.number_input("Page", 1, pages, 1) if pages > 1 else 1
    for row in shown[(page - 1) * PAGE : page * PAGE]:
        line(row)
    if any(row.status == "running" for row in rows) and not any(row.status == "running" for row in shown):
        st.rerun()


listing()
