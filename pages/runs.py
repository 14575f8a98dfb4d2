"""Runs: all hearings, a page at a time; those of an experiment or a case are one line; import of a run's file."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom import Courthouse, report
from courtroom.access import Access, acting_account, may
from courtroom.engine.run import ABOUT_RECORDINGS, Run
from courtroom.engine.store import Deleted
from courtroom.errors import Unreadable
from courtroom.evaluation.comparison import MAX_COMPARED_RUNS
from courtroom.evaluation.run_list import GroupLine, Order, RunFilter, RunList, Whose, run_table
from courtroom.evaluation.turnout import turnout
from courtroom.experiments.written import csv_of
from courtroom.language import N_, _, translated
from courtroom.questions.marks import Short
from courtroom.room.said import search_said
from pages.parts.experiments.list import open_experiment
from pages.parts.live.questions_view import keep_mark, marks_filter
from pages.parts.shared import shown
from pages.parts.shared.controls import STATUS
from pages.parts.shared.differences import fork_name, outcome_title, procedure_of
from pages.parts.shared.house import courthouse, open_run, your_name
from pages.parts.shared.share_view import download
from pages.parts.shared.shown import literal, many, moment

MAX_FOUND = 50
MIN_BYTES_SEARCHED = 3
"""Of a search that is worth looking for in all that was said; a Chinese character has three."""


DELETED = "deleted_runs"
WITHIN = "runs-within"
"""The part of the list that is shown by itself, in the session: the kind and the id of a group."""


def run_row(house: Courthouse, line: Run, marked: Short, missing: str) -> dict[str, Any]:
    """What the table says of a run. `missing`: who has no vote."""
    known = procedure_of(house, line.id, line.procedure)
    change = fork_name(house, line.id, line.parent)
    interrupted = line.status == "running" and house.runner.interrupted(line.id)
    origin = N_("recorded") if line.origin in ABOUT_RECORDINGS else N_("imported") if line.imported else ""
    return {
        "Case": f"{'★ ' if marked.star else ''}{line.title}{f' · {change}' if change else ''}",
        "Procedure": known.title if known else _("{procedure} (not installed)", procedure=line.procedure),
        "Outcome": outcome_title(known, line.outcome),
        "State": _("Interrupted") if interrupted else STATUS[line.status][1],
        "When": moment(line.created),
        "Note": " · ".join(filter(None, (translated(missing), translated(origin), *marked.tags))),
        "run": line.id,
    }


def group_row(house: Courthouse, line: GroupLine) -> dict[str, Any]:
    """What the table says of all runs of an experiment or a case."""
    values = {"runs": many(line.runs, "run"), "title": line.title}
    row = {"When": moment(line.created), "run": line.id}
    if line.kind == "case":
        return {"Case": _("{runs} on “{title}”", **values), **row}
    row["State"] = line.status.capitalize()
    if not line.parent:
        return {"Case": _("{runs} of the experiment “{title}”", **values), **row}
    known = house.procedures.get(line.procedure)
    row["Note"] = _("forks of {parent}", parent=line.parent)
    return {"Case": _("{runs} of the what-if on “{title}”", **values), "Procedure": known.title if known else "", **row}


def chosen_bar(house: Courthouse, chosen: Sequence[Run | GroupLine]) -> None:
    """What can be done with the lines that are chosen."""
    runs = [line.id for line in chosen if isinstance(line, Run)]
    installed = all(line.procedure in house.procedures for line in chosen if isinstance(line, Run))
    with st.container(horizontal=True, vertical_alignment="center"):
        if len(chosen) == 1:
            _one(chosen[0], installed=installed)
        if not runs:
            return
        if len(runs) > 1:
            fit, about = len(runs) <= MAX_COMPARED_RUNS, _("Two to four runs can be read next to each other.")
            title, icon = _("Compare {runs} runs", runs=len(runs)), ":material/compare:"
            if st.button(title, type="primary", icon=icon, disabled=not (fit and installed), help=about):
                st.switch_page("pages/compare.py", query_params={"runs": ",".join(runs)})
        with st.popover(_("Star or tag"), icon=":material/bookmark_add:"):
            with st.form("mark-selected", border=False):
                who, star = your_name(), st.toggle(_("Star"))
                known = house.marks.tags()
                tags = st.multiselect(_("Tags to add"), known, accept_new_options=True, format_func=translated)
                pressed = st.form_submit_button(_("Mark these runs"))
            if pressed:
                keep_mark(who, lambda: house.marks.add(runs, who, star=star, tags=tags))
        with st.popover(_("Table"), icon=":material/table_rows:"):
            frame = pd.DataFrame(run_table([house.record(run) for run in runs]))
            shown.table(frame)
            st.download_button(_("CSV"), csv_of(frame), "runs.csv", "text/csv", icon=":material/download:")
        about = _("One zip with a JSON file for each run. Each file can be imported by another Courtroom.")
        download(house, _("Export"), lambda: report.as_zip(map(house.files.export, runs)), "runs.zip", help=about)
        if may(Access.RUN) and st.button(_("Delete"), icon=":material/delete:", key="delete-selected"):
            with shown.errors_shown():
                for run in runs:
                    house.record(run)
                    if house.runner.drives(run):
                        house.runner.stop(run)
                with house.store.together():  # all or none
                    st.session_state[DELETED] = tuple(house.store.delete(run) for run in runs)
                st.rerun(scope="app")


def _one(line: Run | GroupLine, *, installed: bool) -> None:
    if isinstance(line, Run):
        if st.button(_("Open"), key="open", type="primary", disabled=not installed):
            open_run(line.id)
        return
    if line.kind == "experiment" and st.button(_("Open"), key="open", type="primary"):
        open_experiment(line.id, what_if=bool(line.parent))
    about, alone = _("List these runs alone, to filter, mark or select them."), {WITHIN: (line.kind, line.id)}
    # Set before the page is drawn: the number of a list that is drawn can't be set.
    act, args = st.session_state.update, ({**alone, "runs-page": 1},)
    if st.button(_("Show runs"), key="show-runs", help=about, on_click=act, args=args):
        st.rerun(scope="app")


LIVE_S = 2.0
PAGE = 50
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "case": "By case"}

house = courthouse()
listed = RunList(house.database)


@shown.offered
def import_run() -> None:
    """The file of a run from another install: it is checked, kept to be read, and opened."""
    with st.popover(_("Import run"), icon=":material/upload_file:"):
        st.caption(_("A run that was exported as JSON; a file that was changed is refused."))
        st.caption(_("An imported run can be read, compared, marked and forked, and not continued."))
        with st.form("import-run", border=False, clear_on_submit=True):
            file = shown.uploader(st, _("JSON file"), ["json"], key="import-run-file")
            if not st.form_submit_button(_("Import"), type="primary") or file is None:
                return
        with shown.errors_shown():
            open_run(house.files.take_in(file.getvalue()))


with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
    st.title(_("Runs"))
    import_run()


def restore(deleted: tuple[Deleted, ...]) -> None:
    with house.store.together():
        for run in deleted:
            house.store.restore(run)


deleted: tuple[Deleted, ...] = st.session_state.get(DELETED, ())
if deleted:
    one = _("The run of “{title}” is deleted.", title=literal(deleted[0].title))
    with shown.undo_bar(DELETED, restore):
        st.markdown(_("{deleted} are deleted.", deleted=many(len(deleted), "run")) if len(deleted) > 1 else one)

if not listed.count(RunFilter()):
    st.info(_("No hearing yet. Pick a case and start one."), icon=":material/gavel:")
    if st.button(_("Pick a case"), type="primary"):
        st.switch_page("pages/cases.py")
    st.stop()

top = st.columns([3, 2, 2, 2])
part: dict[str, Any] = dict([st.session_state[WITHIN]]) if WITHIN in st.session_state else {}
states = {"": _("All"), **{name: translated(word) for name, (_icon, word, _colour) in STATUS.items()}}
procedures = {"": _("All"), **{name: translated(procedure.title) for name, procedure in house.procedures.items()}}
person = acting_account()
words: dict[Whose, str] = {"": _("All"), "mine": _("Mine"), "others": _("Shared with me")}
signed_in = person is not None and person.id  # else nothing is whose, and there is nothing to choose
wanted = RunFilter(
    **marks_filter(house),
    **part,
    whose=shown.one_of(_("Whose"), list(words), "whose-runs", "", words.__getitem__) if signed_in else "",
    text=top[0].text_input(_("Search"), placeholder=_("case, outcome, id, or what was said")).strip(),
    status=top[1].selectbox(_("State"), list(states), format_func=states.__getitem__),
    procedure=top[2].selectbox(_("Procedure"), list(procedures), format_func=procedures.__getitem__),
)
order: Order = top[3].selectbox(_("Order"), list(ORDERS), format_func=lambda one: translated(ORDERS[one]))
if part:
    about = {"case": _("Only runs on “{title}” are listed."), "experiment": _("Only runs of “{title}” are listed.")}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(about[next(iter(part))].format(title=literal(listed.what_is_wanted(wanted))), width="content")
        looks: dict[str, Any] = {"icon": ":material/close:", "type": "tertiary"}
        st.button(_("Show all runs"), on_click=st.session_state.__delitem__, args=(WITHIN,), **looks)

live = listed.running()


@st.fragment(run_every=LIVE_S if live else None)
@shown.plainly()
def listing() -> None:
    total = listed.count(wanted, order)
    if not total:
        told = _("No run fits these filters. Loosen them.")
        if said_so:
            told = _("No run that fits has these words in its case, outcome or id. Where they were said stands above.")
        st.info(told, icon=":material/filter_alt_off:")
        return
    found = listed.page(wanted, shown.first_of_page(total, PAGE, "runs-page"), PAGE, order)
    shown.unreadable_rows([line for line in found if isinstance(line, Unreadable)])
    lines = [line for line in found if not isinstance(line, Unreadable)]
    runs = [line for line in lines if isinstance(line, Run)]
    marks = house.marks.short(line.id for line in runs)
    done = [line.id for line in runs if line.outcome and line.procedure in house.procedures]
    missing = {run: " ".join(turnout(house.record(run))) for run in (house.store.incomplete(*done) if done else ())}
    rows = []
    for line in lines:
        marked, without = marks.get(line.id, Short()), missing.get(line.id, "")
        rows.append(run_row(house, line, marked, without) if isinstance(line, Run) else group_row(house, line))
    bar = st.container()
    # Its key is of these lines: what was chosen among others is not taken for one of them.
    key = f"runs-{hash(tuple(line.id for line in lines))}"
    places = shown.rows_chosen(pd.DataFrame(rows).fillna(""), key, selection_mode="multi-row")
    chosen = [lines[place] for place in places]
    with bar:
        if chosen:
            chosen_bar(house, chosen)
        else:
            st.caption(_("Select a row to open it; select several to compare, mark, export or delete them."))
    for origin in dict.fromkeys(line.origin for line in runs if line.origin in ABOUT_RECORDINGS):
        st.caption(translated(ABOUT_RECORDINGS[origin]))
    if live and not listed.running():
        st.rerun()


# Answers of all runs in which the words of the search stand, each with the moment at which it was given.
searched = len(wanted.text.encode()) >= MIN_BYTES_SEARCHED
if said_so := search_said(house.database, wanted.text, MAX_FOUND) if searched else ():
    number = f"{len(said_so)}{'+' if len(said_so) == MAX_FOUND else ''}"
    with st.expander(_("Said: {number}", number=number), not listed.count(wanted, order), icon=":material/forum:"):
        for said in said_so:
            key = f"{said.run}-{said.call.path}"
            with st.container(horizontal=True, vertical_alignment="center", key=f"said-{key}"):
                name = house.record(said.run).name_of(said.call.member)
                st.html(shown.html_of("found", said=said, name=name), width="stretch")
                if st.button(_("Open the moment"), key=f"moment-{key}", type="tertiary"):
                    st.switch_page("pages/deliberation.py", query_params={"run": said.run, "moment": said.call.path})
listing()
