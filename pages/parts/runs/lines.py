"""One line of the list of runs: a run, or all runs of a sweep, an experiment or a case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from courtroom.courthouse import Courthouse
from courtroom.errors import Unreadable
from courtroom.evaluation.run_list import CaseLine, ExperimentLine, Line, RunLine, SweepLine
from courtroom.language import _
from courtroom.questions.marks import Short
from pages.parts.runs.picked import is_picked, pick
from pages.parts.runs.run_actions import more
from pages.parts.shared.choice_mark import choice_html
from pages.parts.shared.controls import STATUS
from pages.parts.shared.inert import literal
from pages.parts.shared.units import many, moment

WIDTHS = (0.5, 5, 2.5, 3, 2, 2.2, 3)
COLUMNS = ("", "Case", "Procedure", "Outcome", "Status", "When", "")
WITHIN = "runs-within"
"""The part of the list that is shown by itself, in the session: one of `Part`, and an id."""

Part = Literal["case", "sweep", "experiment"]


@dataclass(frozen=True)
class Lines:
    """Draws lines.

    Args:
        marks: by run, for the runs of this page of the list.
    """

    house: Courthouse
    marks: dict[str, Short]

    def draw(self, line: Line) -> None:
        """One line in its box."""
        with st.container(border=True):
            match line:
                case RunLine():
                    self._run(line)
                case SweepLine():
                    self._sweep(line)
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
        icon, word, colour = STATUS["paused" if interrupted else row.status]
        status.badge(_("Interrupted") if interrupted else word, icon=icon, color=colour)
        when.markdown(moment(row.created))
        if not known:
            return
        with act, st.container(horizontal=True, vertical_alignment="center"):
            if st.button(_("Open"), key=f"open-{row.id}", type="primary"):
                st.session_state["run"] = row.id
                st.switch_page("pages/deliberation.py", query_params={"run": row.id})
            more(self.house, row, interrupted)

    def _sweep(self, row: SweepLine) -> None:
        case, of, act = _group(row)
        case.markdown(
            _(
                "**{runs} of the what-if on “{title}”**  \n:small[:gray[{id} · forks of {base}]]",
                runs=many(row.runs, "run"),
                title=literal(row.title),
                id=literal(row.id),
                base=literal(row.base),
            )
        )
        known = self.house.procedures.get(row.procedure)
        of.markdown(literal(known.title) if known else "")
        with act, st.container(horizontal=True, vertical_alignment="center"):
            if st.button(_("Open"), key=f"sweep-{row.id}", icon=":material/alt_route:"):
                st.session_state["sweep"] = row.id
                st.switch_page("pages/sweep.py", query_params={"sweep": row.id})
            _within("sweep", row.id)

    def _experiment(self, row: ExperimentLine) -> None:
        case, _of, act = _group(row)
        case.markdown(
            _(
                "**{runs} of the experiment “{title}”**  \n:small[:gray[{id}]]",
                runs=many(row.runs, "run"),
                title=literal(row.title),
                id=literal(row.id),
            )
        )
        with act, st.container(horizontal=True, vertical_alignment="center"):
            if st.button(_("Open"), key=f"experiment-{row.id}", icon=":material/science:"):
                st.session_state["experiment"] = row.id
                st.switch_page("pages/experiments.py", query_params={"experiment": row.id})
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


def _group(row: SweepLine | ExperimentLine | CaseLine) -> tuple[DeltaGenerator, DeltaGenerator, DeltaGenerator]:
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
