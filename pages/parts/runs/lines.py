"""One line of the list of runs: a run, or all runs of an experiment or a case."""

from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.access.account import Resource
from courtroom.courthouse import Courthouse
from courtroom.errors import Unreadable
from courtroom.evaluation.run_list import CaseLine, ExperimentLine, Line, RunLine
from courtroom.language import _
from courtroom.questions.marks import Short
from courtroom.sharing.rules import may_change
from pages.parts.experiments.list import open_experiment
from pages.parts.runs.picked import DELETED, delete, is_picked, pick
from pages.parts.shared.actions import do, errors_shown
from pages.parts.shared.blocks_view import choice_html
from pages.parts.shared.controls import report_html, status_badge
from pages.parts.shared.download import download
from pages.parts.shared.house import open_run
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.table import many, moment


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
    """Draws lines. `marks`: by run, for the runs of this page of the list."""

    house: Courthouse
    marks: dict[str, Short]

    def draw(self, line: Line) -> None:
        with st.container(border=True):
            match line:
                case RunLine():
                    self._run(line)
                case ExperimentLine():
                    self._experiment(line)
                case CaseLine():
                    self._case(line)
                case Unreadable():
                    st.warning(literal(str(line)), icon=":material/broken_image:")

    def _run(self, row: RunLine) -> None:
        box, case, procedure, verdict, status, when, act = st.columns(WIDTHS, vertical_alignment="center")
        known = self.house.procedures.get(row.procedure)
        marked = self.marks.get(row.id, Short())
        box.checkbox(
            _("Select {id}", id=literal(row.id)),
            is_picked(row.id),
            key=f"pick-{row.id}",
            on_change=pick,
            args=(row.id,),
            label_visibility="collapsed",
        )
        origin = _(" · a fork of {parent}", parent=literal(row.parent)) if row.parent else ""
        origin += _(" · imported") if row.imported else ""
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

    def _experiment(self, row: ExperimentLine) -> None:
        case, of, act = _group(row)
        runs, title, name = many(row.runs, "run"), literal(row.title), literal(row.id)
        if row.parent:
            case.markdown(
                _(
                    "**{runs} of the what-if on “{title}”**  \n:small[:gray[{id} · forks of {base}]]",
                    runs=runs,
                    title=title,
                    id=name,
                    base=literal(row.parent),
                )
            )
            known = self.house.procedures.get(row.procedure)
            of.markdown(literal(known.title) if known else "")
        else:
            case.markdown(
                _("**{runs} of the experiment “{title}”**  \n:small[:gray[{id}]]", runs=runs, title=title, id=name)
            )
        with act, st.container(horizontal=True, vertical_alignment="center"):
            icon = ":material/alt_route:" if row.parent else ":material/science:"
            if st.button(_("Open"), key=f"experiment-{row.id}", icon=icon):
                open_experiment(row.id, what_if=bool(row.parent))
            _within("experiment", row.id)

    def _case(self, row: CaseLine) -> None:
        case, _of, act = _group(row)
        case.markdown(
            _(
                "**{runs} on “{title}”**  \n:small[:gray[{id}]]",
                runs=many(row.runs, "run"),
                title=literal(row.title),
                id=literal(row.id),
            )
        )
        with act:
            _within("case", row.id)


def _group(row: ExperimentLine | CaseLine) -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]:
    """A line for several runs; gives its places for the title, the procedure and the buttons."""
    _, case, of, _, status, when, act = st.columns(WIDTHS, vertical_alignment="center")
    if not isinstance(row, CaseLine):
        status.badge(literal(row.status.capitalize()), color="gray")
    when.markdown(moment(row.created))
    return case, of, act


def _within(part: Part, name: str) -> None:
    if st.button(
        _("Show runs"), key=f"within-{part}-{name}", help=_("List these runs alone, to filter, mark or select them.")
    ):
        st.session_state[WITHIN] = (part, name)
        st.session_state["runs-page"] = 1
        st.rerun(scope="app")
