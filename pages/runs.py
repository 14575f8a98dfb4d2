"""Runs: all hearings, newest first, a page at a time; the runs of an experiment or a case are one line; import of a run's file."""

from typing import Any

import streamlit as st

from courtroom.access import Access
from courtroom.engine.turnout import turnout
from courtroom.evaluation.run_list import Order, RunFilter, RunLine, RunList
from courtroom.language import _, translated
from pages.parts.live.questions_view import marks_filter
from pages.parts.runs import MOST_AT_ONCE, WIDTHS, WITHIN, Lines, pick_all, selected_bar, undo_deletion
from pages.parts.shared.actions import errors_shown, offered
from pages.parts.shared.controls import STATUS
from pages.parts.shared.house import courthouse, open_run, whose_filter
from pages.parts.shared.shown import literal, page_of

LIVE_S = 2.0
PAGE = 25
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "case": "By case"}

house = courthouse()
listed = RunList(house.database)


@offered(Access.RUN)
def import_run() -> None:
    """The file of a run from another install: it is checked, kept to be read, and opened."""
    with st.popover(_("Import run"), icon=":material/upload_file:"):
        st.caption(
            _(
                "A run that was exported as JSON, by this Courtroom or another. Its hash is checked: a file that was changed "
                "is refused. An imported run can be read, compared, marked and forked, and not continued."
            )
        )
        with st.form("import-run", border=False, clear_on_submit=True):
            file = st.file_uploader(_("JSON file"), type=["json"])
            if not st.form_submit_button(_("Import"), type="primary") or file is None:
                return
        with errors_shown():
            open_run(house.files.take_in(file.getvalue()))


with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.title(_("Runs"))
    import_run()
undo_deletion(house)

if not listed.count(RunFilter()):
    st.info(_("No hearing yet. Pick a case and start one."), icon=":material/gavel:")
    if st.button(_("Pick a case"), type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()

top = st.columns([3, 2, 2, 2])
by_marks = marks_filter(house)
part: dict[str, Any] = dict([st.session_state[WITHIN]]) if WITHIN in st.session_state else {}
wanted = RunFilter(
    **by_marks,
    **part,
    whose=whose_filter("runs"),
    text=top[0].text_input(_("Search"), placeholder=_("case, outcome or id")).strip(),
    status=top[1].selectbox(
        _("State"), ["", *STATUS], format_func=lambda name: translated(STATUS[name][1]) if name in STATUS else _("All")
    ),
    procedure=top[2].selectbox(
        _("Procedure"),
        ["", *house.procedures],
        format_func=lambda name: house.procedures[name].title if name in house.procedures else _("All"),
    ),
)
order: Order = top[3].selectbox(_("Order"), list(ORDERS), format_func=lambda one: translated(ORDERS[one]))
if part:
    words = {
        "case": _("Only runs on “{title}” are listed."),
        "experiment": _("Only runs of “{title}” are listed."),
    }
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(words[next(iter(part))].format(title=literal(listed.what_is_wanted(wanted))), width="content")
        if st.button(_("Show all runs"), icon=":material/close:", type="tertiary"):
            del st.session_state[WITHIN]
            st.rerun()

live = listed.running()


@st.fragment(run_every=LIVE_S if live else None)
def listing() -> None:
    total = listed.count(wanted, order)
    if not total:
        st.info(_("No run fits these filters. Loosen them."), icon=":material/filter_alt_off:")
        return
    selected_bar(house, listed)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        page = page_of(total, PAGE, "runs-page")
        lines = listed.page(wanted, (page - 1) * PAGE, PAGE, order)
        here = [line.id for line in lines if isinstance(line, RunLine) and line.procedure in house.procedures]
        if here:
            icon = ":material/check_box:"
            st.button(
                _("Select this page"), key="select-page", icon=icon, type="tertiary", on_click=pick_all, args=(here,)
            )
        if total > PAGE or len(here) < len(lines):
            st.button(
                _("Select all that fit"),
                key="select-all",
                icon=":material/done_all:",
                type="tertiary",
                help=_(
                    "Up to {most_at_once} runs, the newest first; also those that stand together in one line.",
                    most_at_once=MOST_AT_ONCE,
                ),
                on_click=lambda: pick_all(listed.runs(wanted, MOST_AT_ONCE)),
            )
    st.html("<style>@media (max-width: 640px) { .st-key-heads { display: none; } }</style>")  # there columns are rows
    heads = ("", _("Case"), _("Procedure"), _("Outcome"), _("State"), _("When"), "")
    with st.container(key="heads"):
        for column, name in zip(st.columns(WIDTHS), heads, strict=True):
            column.caption(name)
    done = [line.id for line in lines if isinstance(line, RunLine) and line.outcome and line.id in here]
    told = (
        {run: " ".join(map(translated, turnout(house.runner.latest.of(run)))) for run in house.store.incomplete(*done)}
        if done
        else {}
    )
    drawn = Lines(house, house.marks.short(line.id for line in lines if isinstance(line, RunLine)), told)
    for line in lines:
        drawn.draw(line)
    if live and not listed.running():
        st.rerun()


listing()
