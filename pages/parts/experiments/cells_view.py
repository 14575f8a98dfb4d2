"""The cells of an experiment: those that failed with their reasons, all of them, and files to take away."""

from __future__ import annotations

import io
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.access.account import Access, Resource
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.written import latex, markdown
from courtroom.language import _
from pages.parts.experiments.progress import do
from pages.parts.shared.download import download
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.table import table
from pages.parts.shared.units import many

MOST_REASONS = 5


def _link() -> Any:
    return st.column_config.LinkColumn(_("run"), display_text=r"run=(.+)$")


def failures(house: Courthouse, found: ExperimentResults) -> None:
    """Cells that failed: how many for which reason, each as a row, and a button that tries them again."""
    failed = [row for row in found.rows if row.state == "failed"]
    if not failed:
        return
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                _(
                    "**{failed} failed.** They are left out of the table; the others count.",
                    failed=many(len(failed), "cell"),
                )
            )
            if may(Access.RUN) and found.kept.status != "running" and st.button(
                _("Try these again"), icon=":material/replay:", key="experiment-again", type="primary",
                help=_("Answers that are on record are not asked for again."),
            ):  # fmt: skip
                do(lambda: house.experiments.try_again(found.kept.id, typed_keys()))
        for arm, reason, number in found.failures[:MOST_REASONS]:
            st.caption(f"{literal(arm)}, {many(number, 'cell')}: {literal(reason)}")
        with st.expander(_("Each of them")):
            lines = [
                {
                    "arm": row.arm,
                    "case": row.row,
                    "repeat": row.repeat + 1,
                    "reason": row.reason,
                    "run": f"deliberation?run={row.run}" if row.run else None,
                }
                for row in failed
            ]
            table(pd.DataFrame(lines), {"run": _link()})


def every_cell(found: ExperimentResults) -> None:
    """Each cell as a row, with a link to its run."""
    with st.expander(_("Every cell ({rows})", rows=f"{len(found.rows):,}")):
        frame = found.frame.copy()
        frame["run"] = [
            f"deliberation?run={row.run}" if row.run and row.state == "done" else None for row in found.rows
        ]
        table(frame, {"run": _link()})


def downloads(house: Courthouse, found: ExperimentResults) -> None:
    """The table for a paper, and the cells for other programs."""
    name, of = found.kept.name, Resource(kind="experiment", id=found.kept.id)
    with st.container(horizontal=True):
        text = markdown(found.table, found.pairs, found.overall, found.notes)
        download(house, _("Table as Markdown"), text, f"{name}.md", of)
        download(house, _("Table as LaTeX"), latex(found.table, found.pairs), f"{name}.tex", of)
        download(house, _("Cells as CSV"), lambda: str(found.frame.to_csv(index=False)), f"{name}.csv", of)
        download(house, _("Cells as Parquet"), lambda: _parquet(found), f"{name}.parquet", of)


def _parquet(found: ExperimentResults) -> bytes:
    file = io.BytesIO()
    found.frame.to_parquet(file, index=False)
    return file.getvalue()
