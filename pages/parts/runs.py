"""The list of runs: a line for a run, or for all of an experiment or a case; those that are selected; and runs to choose from elsewhere."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import streamlit as st

from courtroom import report
from courtroom.access import Access, Resource, may
from courtroom.courthouse import Courthouse
from courtroom.engine.run import ABOUT_RECORDINGS, Status
from courtroom.engine.store import Deleted
from courtroom.errors import Unreadable
from courtroom.evaluation.comparison import MOST
from courtroom.evaluation.run_list import CaseLine, ExperimentLine, Line, RunFilter, RunLine, RunList
from courtroom.language import _, translated
from courtroom.questions.marks import Short
from courtroom.sharing import may_change
from pages.parts.experiments.list import open_experiment
from pages.parts.live.questions_view import keep_mark
from pages.parts.shared.actions import do, errors_shown, undo_bar
from pages.parts.shared.blocks_view import choice_html
from pages.parts.shared.controls import report_html, status_badge
from pages.parts.shared.house import open_run, your_name
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.share_view import download
from pages.parts.shared.shown import literal, many, moment

MOST_OFFERED = 100
"""So many are offered at once; a search finds the others."""


def runs_to_choose(
    house: Courthouse, key: str, chosen: Iterable[str], status: Status | None = None
) -> dict[str, RunLine]:
    """The newest runs by their ids, newest first, and those that are chosen; a field for a search stands above where there are
    more. `key`: of the field, in the session. `status`: how the runs must stand."""
    listed = RunList(house.database)
    held = RunFilter(status=status or "")
    rows = listed.newest(held, MOST_OFFERED + 1)
    if len(rows) > MOST_OFFERED:
        about, hint = _("The newest {most} that fit can be chosen below.", most=MOST_OFFERED), _("case, outcome or id")
        text = st.text_input(_("Search runs"), key=key, placeholder=hint, help=about).strip()
        rows = listed.newest(replace(held, text=text), MOST_OFFERED) if text else rows[:MOST_OFFERED]
    rows += [one for one in listed.named(chosen) if one not in rows and status in (None, one.status)]
    return {one.id: one for one in rows}


MOST_AT_ONCE = 100
"""So many can be marked, exported or deleted at once: what is deleted is kept in memory, to be brought back."""
DELETED = "deleted_runs"
TABLE = "table_runs"


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
        with st.form("mark-selected", border=False):
            who, star = your_name(), st.toggle(_("Star"))
            known = house.marks.tags()
            tags = st.multiselect(_("Tags to add"), known, accept_new_options=True, format_func=translated)
            pressed = st.form_submit_button(_("Mark these runs"))
        if pressed:
            keep_mark(who, lambda: house.marks.add(runs, who, star=star, tags=tags))
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
    download(
        house, _("Export as JSON"), lambda: house.files.export(row.id)[1], f"{row.id}.json", of, icon=None,
        key=f"json-{row.id}",
        help_=_("One file with a hash over all of it. It opens again in another Courtroom: Import run, on this page there."),
    )  # fmt: skip
    download(
        house, _("Export as HTML report"), lambda: report_html(house, row.id), f"{row.id}.html", of, icon=None,
        key=f"html-{row.id}",
    )  # fmt: skip
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
    """Draws lines. `marks`: by run, for the runs of this page of the list; `turnout`: who has no vote, in those where not all have."""

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
        known = self.house.procedures.get(row.procedure)
        marked = self.marks.get(row.id, Short())
        text, key = _("Select {id}", id=literal(row.id)), f"pick-{row.id}"
        chosen = row.id in picked()
        box.checkbox(text, chosen, key=key, on_change=pick, args=(row.id,), label_visibility="collapsed")
        origin = _(" · a fork of {parent}", parent=literal(row.parent)) if row.parent else ""
        about = ABOUT_RECORDINGS.get(row.origin)
        origin += f" · {translated(about)}" if about else _(" · imported") if row.imported else ""
        star = ":material/star: " if marked.star else ""
        tags = "".join(f" :gray-badge[{literal(tag)}]" for tag in marked.tags)
        case.markdown(f"{star}**{literal(row.title)}**{tags}  \n:small[:gray[{literal(row.id)}{origin}]]")
        procedure.markdown(
            literal(known.title) if known else _("{procedure} (not installed)", procedure=literal(row.procedure))
        )
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
            title.markdown(
                _(
                    "**{runs} of the what-if on “{title}”**  \n:small[:gray[{id} · forks of {base}]]",
                    base=literal(row.parent),
                    **values,
                )
            )
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
    if st.button(
        _("Show runs"), key=f"within-{part}-{name}", help=_("List these runs alone, to filter, mark or select them.")
    ):
        st.session_state[WITHIN] = (part, name)
        st.session_state["runs-page"] = 1
        st.rerun(scope="app")
