"""Runs: all hearings, a page at a time; those of an experiment or a case are one line; import of a run's file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd
import streamlit as st

from courtroom import report
from courtroom.access import Access, Resource, may
from courtroom.courthouse import Courthouse
from courtroom.engine.run import ABOUT_RECORDINGS
from courtroom.engine.store import Deleted
from courtroom.errors import Unreadable
from courtroom.evaluation.comparison import MAX_COMPARED_RUNS
from courtroom.evaluation.run_list import (
    CaseLine,
    ExperimentLine,
    Line,
    Order,
    RunFilter,
    RunLine,
    RunList,
    run_table,
)
from courtroom.evaluation.turnout import turnout
from courtroom.experiments.written import csv_of
from courtroom.language import _, translated
from courtroom.questions.marks import Short
from courtroom.room.said import search_said
from courtroom.sharing import may_change
from pages.parts.experiments.list import open_experiment
from pages.parts.live.questions_view import keep_mark, marks_filter
from pages.parts.shared.blocks_view import choice_html
from pages.parts.shared.controls import STATUS, report_html, status_badge
from pages.parts.shared.differences import fork_name, procedure_of
from pages.parts.shared.house import courthouse, open_run, whose_filter, your_name
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.share_view import download
from pages.parts.shared.shown import (
    do,
    errors_shown,
    html_of,
    literal,
    many,
    moment,
    offered,
    page_of,
    table,
    undo_bar,
    uploader,
)

MAX_FOUND = 50
MIN_BYTES_SEARCHED = 3
"""Of a search that is worth looking for in all that was said; a Chinese character has three."""


def said_view(house: Courthouse, words: str) -> None:
    """Answers of all runs in which the words of the search stand, each with the moment at which it was given."""
    if len(words.encode()) < MIN_BYTES_SEARCHED or not (found := search_said(house.database, words, MAX_FOUND)):
        return
    number = f"{len(found)}{'+' if len(found) == MAX_FOUND else ''}"
    with st.expander(_("Said {number} times", number=number), icon=":material/forum:"):
        for said in found:
            key = f"{said.run}-{said.path}"
            with st.container(horizontal=True, vertical_alignment="center", key=f"said-{key}"):
                name = house.record(said.run).name_of(said.member)
                st.html(html_of("found", said=said, name=name), width="stretch")
                if st.button(_("Open the moment"), key=f"moment-{key}", type="tertiary"):
                    st.switch_page("pages/deliberation.py", query_params={"run": said.run, "moment": said.path})


MAX_AT_ONCE = 100
"""Runs that are marked, exported or deleted at once: what is deleted is kept in memory, to be brought back."""
DELETED = "deleted_runs"


def picked() -> list[str]:
    runs: list[str] = st.session_state.setdefault("picked", [])
    return runs


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
        unfit, about = not 2 <= len(runs) <= MAX_COMPARED_RUNS, _("Two to four runs can be read next to each other.")
        title = _("Compare {runs} runs", runs=len(runs)) if len(runs) > 1 else _("Compare")
        if st.button(title, type="primary", icon=":material/compare:", disabled=unfit, help=about):
            st.switch_page("pages/compare.py", query_params={"runs": ",".join(runs)})
        if len(runs) > MAX_AT_ONCE:
            most = {"most_at_once": MAX_AT_ONCE}
            st.caption(
                _("At most {most_at_once} runs can be marked, exported or deleted at once. Select fewer.", **most)
            )
        else:
            _many(house, runs)
        st.button(_("Clear"), icon=":material/close:", type="tertiary", on_click=pick_none, help=_("Select no run."))


def _many(house: Courthouse, runs: list[str]) -> None:
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
        table(frame)
        st.download_button(_("CSV"), csv_of(frame), "runs.csv", "text/csv", icon=":material/download:")
    about = _("One zip with a JSON file for each run. Each file can be imported by another Courtroom.")
    download(house, _("Export"), lambda: report.as_zip(map(house.files.export, runs)), "runs.zip", help_=about)
    if may(Access.RUN) and st.button(_("Delete"), icon=":material/delete:", key="delete-selected"):
        with errors_shown():
            st.session_state[DELETED] = delete(house, runs)
            pick_none()
            st.rerun(scope="app")


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


def more(house: Courthouse, row: RunLine, interrupted: bool) -> None:
    of = Resource(kind="run", id=row.id)
    mine = may_change(house.database, of)
    waits = (row.status in ("paused", "failed") or interrupted) and not row.imported
    if waits and mine and st.button(_("Continue"), key=f"go-{row.id}"):
        do(lambda: house.runner.go(row.id, keys=typed_keys()))
    exports: dict[str, tuple[str, Callable[[], str]]] = {
        "json": (_("Export as JSON"), lambda: house.files.export(row.id)[1]),
        "html": (_("Export as HTML report"), lambda: report_html(house, row.id)),
    }
    for ending, (label, content) in exports.items():
        download(house, label, content, f"{row.id}.{ending}", of, icon=None, key=f"{ending}-{row.id}")
    if mine and st.button(_("Delete"), key=f"delete-{row.id}", icon=":material/delete:", type="tertiary"):
        with errors_shown():
            st.session_state[DELETED] = delete(house, [row.id])
            st.rerun()


WIDTHS = (0.5, 5, 2.5, 3, 2, 2.2, 3)
WITHIN = "runs-within"
"""The part of the list that is shown by itself, in the session: one of `Part`, and an id."""

Part = Literal["case", "experiment"]


@dataclass(frozen=True)
class Lines:
    """Draws lines. `marks`: by run; `turnout`: who has no vote, in runs where not all have."""

    house: Courthouse
    marks: dict[str, Short]
    turnout: Mapping[str, str]

    def draw(self, line: Line) -> None:
        with st.container(border=True):
            match line:
                case RunLine():
                    self._run(line)
                case ExperimentLine() | CaseLine():
                    self._group(line)
                case Unreadable():
                    st.warning(literal(str(line)), icon=":material/broken_image:")

    def _run(self, row: RunLine) -> None:
        box, case, procedure, verdict, status, when, act = st.columns(WIDTHS, vertical_alignment="center")
        known = procedure_of(self.house, row.id, row.procedure)
        marked = self.marks.get(row.id, Short())
        text, key = _("Select {id}", id=literal(row.id)), f"pick-{row.id}"
        chosen = row.id in picked()
        box.checkbox(text, chosen, key=key, on_change=pick, args=(row.id,), label_visibility="collapsed")
        change = fork_name(self.house, row.id, row.parent)
        about = ABOUT_RECORDINGS.get(row.origin)
        origin = f" · {translated(about)}" if about else _(" · imported") if row.imported else ""
        star = ":material/star: " if marked.star else ""
        tags = "".join(f" :gray-badge[{literal(tag)}]" for tag in marked.tags)
        fork = f"  \n:material/alt_route: {literal(change)}" if change else ""
        case.markdown(f"{star}**{literal(row.title)}**{tags}{fork}  \n:small[:gray[{literal(row.id)}{origin}]]")
        absent = _("{procedure} (not installed)", procedure=literal(row.procedure))
        procedure.markdown(literal(known.title) if known else absent)
        with verdict:
            if row.outcome and known:
                st.html(choice_html(known, row.outcome))
            elif row.outcome:
                st.markdown(literal(row.outcome))
            if told := self.turnout.get(row.id):
                st.caption(literal(told))
        interrupted = row.status == "running" and self.house.runner.interrupted(row.id)
        with status:
            status_badge(row.status, interrupted=interrupted)
        when.markdown(moment(row.created))
        if not known:
            return
        with act, st.container(horizontal=True, vertical_alignment="center"):
            if st.button(_("Open"), key=f"open-{row.id}", type="primary"):
                open_run(row.id)
            with st.popover(_("More")):
                more(self.house, row, interrupted)

    def _group(self, row: ExperimentLine | CaseLine) -> None:
        """All runs of an experiment or a case in one line."""
        _box, title, of, _outcome, status, when, act = st.columns(WIDTHS, vertical_alignment="center")
        values = {"runs": many(row.runs, "run"), "title": literal(row.title), "id": literal(row.id)}
        when.markdown(moment(row.created))
        if isinstance(row, CaseLine):
            title.markdown(_("**{runs} on “{title}”**  \n:small[:gray[{id}]]", **values))
            with act:
                _within("case", row.id)
            return
        status.badge(literal(row.status.capitalize()), color="gray")
        if row.parent:
            values["parent"] = literal(row.parent)
            text = _("**{runs} of the what-if on “{title}”**  \n:small[:gray[{id} · forks of {parent}]]", **values)
            title.markdown(text)
            known = self.house.procedures.get(row.procedure)
            of.markdown(literal(known.title) if known else "")
        else:
            title.markdown(_("**{runs} of the experiment “{title}”**  \n:small[:gray[{id}]]", **values))
        with act, st.container(horizontal=True, vertical_alignment="center"):
            icon = ":material/alt_route:" if row.parent else ":material/science:"
            if st.button(_("Open"), key=f"experiment-{row.id}", icon=icon):
                open_experiment(row.id, what_if=bool(row.parent))
            _within("experiment", row.id)


def _within(part: Part, name: str) -> None:
    about = _("List these runs alone, to filter, mark or select them.")
    if st.button(_("Show runs"), key=f"within-{part}-{name}", help=about):
        st.session_state[WITHIN] = (part, name)
        st.session_state["runs-page"] = 1
        st.rerun(scope="app")


LIVE_S = 2.0
PAGE = 25
ORDERS: dict[Order, str] = {"newest": "Newest first", "oldest": "Oldest first", "case": "By case"}

house = courthouse()
listed = RunList(house.database)


@offered(Access.RUN)
def import_run() -> None:
    """The file of a run from another install: it is checked, kept to be read, and opened."""
    with st.popover(_("Import run"), icon=":material/upload_file:"):
        st.caption(_("A run that was exported as JSON; a file that was changed is refused."))
        st.caption(_("An imported run can be read, compared, marked and forked, and not continued."))
        with st.form("import-run", border=False, clear_on_submit=True):
            file = uploader(st, _("JSON file"), ["json"], key="import-run-file")
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
states = {"": _("All"), **{name: translated(word) for name, (_icon, word, _colour) in STATUS.items()}}
procedures = {"": _("All"), **{name: procedure.title for name, procedure in house.procedures.items()}}
wanted = RunFilter(
    **by_marks,
    **part,
    whose=whose_filter("runs"),
    text=top[0].text_input(_("Search"), placeholder=_("case, outcome, id, or what was said")).strip(),
    status=top[1].selectbox(_("State"), list(states), format_func=states.__getitem__),
    procedure=top[2].selectbox(_("Procedure"), list(procedures), format_func=procedures.__getitem__),
)
order: Order = top[3].selectbox(_("Order"), list(ORDERS), format_func=lambda one: translated(ORDERS[one]))
if part:
    words = {"case": _("Only runs on “{title}” are listed."), "experiment": _("Only runs of “{title}” are listed.")}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(words[next(iter(part))].format(title=literal(listed.what_is_wanted(wanted))), width="content")
        if st.button(_("Show all runs"), icon=":material/close:", type="tertiary"):
            del st.session_state[WITHIN]
            st.rerun()

live = listed.running()


def pick_all_that_fit() -> None:
    pick_all(listed.runs(wanted, MAX_AT_ONCE))


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
            st.button(_("Select this page"), key="select-page", type="tertiary", on_click=pick_all, args=(here,))
        if total > PAGE or len(here) < len(lines):
            about = _("Up to {most_at_once} runs, the newest first.", most_at_once=MAX_AT_ONCE)
            st.button(
                _("Select all that fit"), key="select-all", type="tertiary", help=about, on_click=pick_all_that_fit
            )
    st.html("<style>@media (max-width: 640px) { .st-key-heads { display: none; } }</style>")  # there columns are rows
    heads = ("", _("Case"), _("Procedure"), _("Outcome"), _("State"), _("When"), "")
    with st.container(key="heads"):
        for column, name in zip(st.columns(WIDTHS), heads, strict=True):
            column.caption(name)
    done = [line.id for line in lines if isinstance(line, RunLine) and line.outcome and line.id in here]
    incomplete = house.store.incomplete(*done) if done else ()
    told = {run: " ".join(map(translated, turnout(house.record(run)))) for run in incomplete}
    drawn = Lines(house, house.marks.short(line.id for line in lines if isinstance(line, RunLine)), told)
    for line in lines:
        drawn.draw(line)
    if live and not listed.running():
        st.rerun()


said_view(house, wanted.text)
listing()
