"""One sweep: how far it is, and what it has shown."""

from __future__ import annotations

import time
from collections import Counter
from typing import Literal

import pandas as pd
import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Choice
from courtroom.errors import CourtroomError
from courtroom.figures.sweep import draw_flips, draw_shares, draw_swings
from courtroom.language import _, translated
from courtroom.sweeps.plan import KINDS
from courtroom.sweeps.results import SweepResults, results
from courtroom.sweeps.store import Sweep, SweepCell
from pages.parts.shared.inert import literal
from pages.parts.shared.models_form import typed_keys
from pages.parts.shared.table import table
from pages.parts.shared.units import many

LIVE_S = 1.0
REDRAW_S = 3.0
"""Charts are drawn anew at most so often while runs come in."""
STATUS: dict[str, tuple[str, str, Literal["blue", "orange", "green", "red"]]] = {
    "running": (":material/play_circle:", "Running", "blue"),
    "paused": (":material/pause_circle:", "Paused", "orange"),
    "done": (":material/check_circle:", "Done", "green"),
    "cancelled": (":material/cancel:", "Cancelled", "red"),
}


def sweep_view(house: Courthouse, sweep: Sweep) -> None:
    """Progress above, then what came out: in a sentence, as charts, as tables."""
    store = house.sweeps.store
    cells = store.cells(sweep.id)
    drawn = (sweep.status, _done(cells))
    drawn_at = time.monotonic()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _(
                "**{title}** · {variants}, {seeds} · base run [{base}](deliberation?run={base})",
                title=literal(sweep.title),
                variants=many(len(sweep.plan.variants), "variant"),
                seeds=many(len(sweep.plan.seeds), "seed"),
                base=literal(sweep.base),
            )
        )
        if st.button(_("Another what-if"), icon=":material/add:"):
            st.session_state.pop("sweep", None)
            st.session_state["sweep_base"] = sweep.base
            st.query_params.clear()
            st.rerun()

    @st.fragment(run_every=LIVE_S if sweep.status == "running" else None)
    def live() -> None:
        now, shown = store.sweep(sweep.id), store.cells(sweep.id)
        _progress(house, now, shown)
        late = time.monotonic() - drawn_at > REDRAW_S
        if now.status != drawn[0] or (late and _done(shown) != drawn[1]):
            st.rerun()

    live()
    choices: tuple[Choice, ...] = ()
    if house.store.status(sweep.base) != "deleted":
        base = house.store.run(sweep.base)
        choices = house.procedures[base.procedure].about(house.store.case(base)).choices
    found = results(sweep.plan, cells)
    if not found.decided:
        st.info(_("The base run is not there any more, or not done: nothing can be compared with it yet."))
        return
    theme = st.context.theme.type or "light"
    _told(found)
    compared = [row for row in found.rows[1:] if row.pairs]
    moved = [row for row in compared if row.swing or row.flips]
    if moved:
        st.subheader(
            _("What moves it"),
            help=_(
                "Change of the support for what the base decided: of its share of the votes, or, where nobody votes, of "
                "the runs. The farthest on top."
            ),
        )
        st.plotly_chart(draw_swings(found, choices, theme), key="sweep-swings")
    if compared:
        st.caption(
            _("{moved} of {compared} changes move the support at all.", moved=len(moved), compared=len(compared))
        )
    if any(row.flips for row in found.rows):
        st.subheader(
            _("What turns it"), help=_("Seeds under which the verdict differs from the base's under the same seed.")
        )
        st.plotly_chart(draw_flips(found, theme), key="sweep-flips")
    if len(sweep.plan.seeds) > 1:
        st.subheader(
            _("How sure that is"), help=_("Share of the runs that end as the base did, with Wilson's 95 % interval.")
        )
        st.plotly_chart(draw_shares(found, choices, theme), key="sweep-shares")
    _tables(sweep, found, cells)


def _progress(house: Courthouse, sweep: Sweep, cells: list[SweepCell]) -> None:
    counts = Counter(cell.status for cell in cells)
    icon, word, colour = STATUS[sweep.status]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.badge(translated(word), icon=icon, color=colour)
        if (
            may(Access.RUN)
            and sweep.status == "running"
            and st.button(_("Pause"), icon=":material/pause:", key="sweep-pause")
        ):
            _do(lambda: house.sweeps.pause(sweep.id))
        if (
            may(Access.RUN)
            and sweep.status == "paused"
            and st.button(_("Go on"), icon=":material/play_arrow:", key="sweep-go", type="primary")
        ):
            _do(lambda: house.sweeps.go(sweep.id, typed_keys()))
        if (
            may(Access.RUN)
            and sweep.status in ("running", "paused")
            and st.button(_("Cancel"), icon=":material/cancel:", key="sweep-cancel")
        ):
            _do(lambda: house.sweeps.cancel(sweep.id))
        with st.popover(_("Delete"), icon=":material/delete:"):
            made = sum(cell.status != "waiting" and cell.run != sweep.base for cell in cells)
            st.caption(
                _(
                    "The sweep and its {made} runs are deleted. The base run stays, and so do all answers: the same sweep again asks nothing.",
                    made=made,
                )
            )
            if st.button(_("Delete the sweep"), key="sweep-delete", type="primary"):
                st.session_state.pop("sweep", None)
                st.query_params.clear()
                _do(lambda: house.sweeps.delete(sweep.id))
    if sweep.reason:
        st.caption(literal(sweep.reason))
    if sweep.status != "done":
        under_way = _(", {running} under way", running=f"{counts['running']:d}") if counts["running"] else ""
        st.progress(
            counts["done"] / len(cells),
            _(
                "{done} of {cells} runs are done{under_way}",
                done=f"{counts['done']:d}",
                cells=len(cells),
                under_way=under_way,
            ),
        )


def _told(found: SweepResults) -> None:
    """The answer in a sentence or two."""
    turned = [row for row in found.influential() if row.flips]
    compared = sum(row.pairs > 0 for row in found.rows[1:])
    if not compared:
        return
    names = "; ".join(literal(row.name) for row in turned[:3])
    if turned:
        st.success(
            _(
                "**{turned} of {compared}** changes turn the verdict under some seed, first of all: {names}",
                turned=len(turned),
                compared=compared,
                names=names,
            ),
            icon=":material/alt_route:",
        )
    else:
        st.info(_("None of {compared} changes turns the verdict.", compared=compared), icon=":material/anchor:")
    for kind, title in (("evidence", "evidence"), ("member", "members")):
        if best := [row for row in found.influential(kind) if row.swing or row.flips][:3]:  # type: ignore[arg-type]
            named = "; ".join(f"{literal(row.name)} ({row.swing or 0:+.0%})" for row in best)
            st.caption(_("Most influential {title}: {named}", title=title, named=named))


def _tables(sweep: Sweep, found: SweepResults, cells: list[SweepCell]) -> None:
    """A line a variant, and under several seeds a line a run; each leads to its run."""
    ready = {cell.run for cell in cells if cell.status != "waiting"}
    lines = []
    for row in found.rows:
        first = next((run for run in row.runs if run in ready), None)
        share = row.shares.get(found.decided)
        lines.append(
            {
                "change": row.name,
                "what": KINDS[row.kind],
                "verdict": row.outcome,
                "flips": _("{flips} of {pairs}", flips=row.flips, pairs=row.pairs) if row.pairs else "",
                "swing": _rounded(row.swing),
                "votes": _rounded(row.votes),
                "share": _rounded(share.value if share else None),
                "low": _rounded(share.low if share else None),
                "high": _rounded(share.high if share else None),
                "done": _("{done} of {planned}", done=row.done, planned=row.planned),
                "run": first and f"deliberation?run={first}",
            }
        )
    percent = {name: st.column_config.NumberColumn(title, format="percent", help=text) for name, title, text in (
        ("swing", _("change"), _("Of the support for what the base decided, against the base under the same seed.")),
        ("votes", _("votes"), _("Mean share of the votes for {decided}.", decided=literal(found.decided))),
        ("share", _("runs"), _("Share of the runs that end with {decided}.", decided=literal(found.decided))),
        ("low", _("from"), _("Lower end of the 95 % interval.")),
        ("high", _("to"), _("Upper end of the 95 % interval.")),
    )}  # fmt: skip
    link = st.column_config.LinkColumn(_("run"), display_text=r"run=(.+)$")
    st.subheader(_("Every variant"))
    variants = pd.DataFrame(lines)
    if len(sweep.plan.seeds) == 1:  # one run has no interval worth telling
        variants = variants.drop(columns=["share", "low", "high"])
    table(variants, {**percent, "run": link})
    if len(sweep.plan.seeds) > 1:
        with st.expander(_("Every run ({cells})", cells=len(cells))):
            runs = [
                {
                    "change": sweep.plan.variants[cell.variant].name,
                    "seed": cell.seed,
                    "status": cell.status,
                    "verdict": cell.verdict.outcome if cell.verdict else "",
                    **(cell.verdict.counts if cell.verdict else {}),
                    "run": f"deliberation?run={cell.run}" if cell.run in ready else None,
                }
                for cell in cells
            ]
            table(pd.DataFrame(runs), {"run": link})


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 2)


def _done(cells: list[SweepCell]) -> int:
    return sum(cell.status == "done" for cell in cells)


def _do(act: object) -> None:
    try:
        act()  # type: ignore[operator]
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.rerun()
