"""One what-if: how far it is, and what it has shown."""

import time
from collections.abc import Collection

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Choice
from courtroom.experiments.spec import Change, Experiment
from courtroom.experiments.store import StoredExperiment
from courtroom.experiments.what_if import CHANGES, WhatIf, results
from courtroom.figures.what_if import draw_flips, draw_shares, draw_swings
from courtroom.language import _, listed
from pages.parts.experiments.view import downloads, every_cell, failures, leave, progress_view, run_links
from pages.parts.experiments.yardstick_view import yardstick_chosen, yardstick_view
from pages.parts.shared.inert import literal
from pages.parts.shared.table import many, table

LIVE_S = 1.0
REDRAW_S = 3.0
"""Charts are drawn again at most so often while runs come in."""
KINDS: tuple[tuple[Change, str], ...] = (("evidence", "evidence"), ("member", "members"))


def what_if_view(house: Courthouse, kept: StoredExperiment) -> None:
    """Progress above, then what came out: in a sentence, as charts, as tables."""
    store, experiment, base = house.experiments.store, kept.experiment, kept.experiment.dataset.run
    cells = list(store.cells(kept.id))
    drawn_at = time.monotonic()
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _(
                "**{title}** · {variants}, {seeds} · base run [{base}](deliberation?run={base})",
                title=literal(experiment.title),
                variants=many(len(experiment.arms), "variant"),
                seeds=many(len(experiment.seeds), "seed"),
                base=literal(base),
            )
        )
        if st.button(_("Another what-if"), icon=":material/add:"):
            st.session_state["what-if-run"] = base
            leave()

    @st.fragment(run_every=LIVE_S if kept.status == "running" else None)
    def live() -> None:
        now, counts = store.experiment(kept.id), store.counts(kept.id)
        progress_view(house, now)
        done = sum(number for (_arm, state), number in counts.items() if state == "done")
        late = time.monotonic() - drawn_at > REDRAW_S
        if now.status != kept.status or (late and done != sum(cell.state == "done" for cell in cells)):
            st.rerun()

    live()
    choices: tuple[Choice, ...] = ()
    if there := house.store.status(base) != "deleted":
        run = house.store.run(base)
        choices = house.procedures[run.procedure].about(house.store.case(run)).choices
        everything = house.experiments.results(kept.id)
        failures(house, everything)
        if yardstick_chosen(house, kept):
            yardstick_view(house, kept)
            return
    what_if = results(experiment, cells)
    if not what_if.decided:
        st.info(_("The base run is not there any more, or not done: nothing can be compared with it yet."))
        return
    theme = st.context.theme.type or "light"
    _told(what_if)
    compared = [row for row in what_if.rows[1:] if row.pairs]
    moved = [row for row in compared if row.swing or row.flips]
    if moved:
        st.subheader(
            _("What moves it"),
            help=_(
                "Change of the support for what the base decided: of its share of the votes, or, where nobody votes, of "
                "the runs. The farthest on top."
            ),
        )
        st.plotly_chart(draw_swings(what_if, choices, theme), key="what-if-swings")
    if compared:
        st.caption(
            _("{moved} of {compared} changes move the support at all.", moved=len(moved), compared=len(compared))
        )
        if len(experiment.seeds) == 1:
            st.caption(
                _(
                    "Each change was heard once, under one seed: a vote more or less may be chance. More seeds show which changes matter."
                )
            )
    if any(row.flips for row in what_if.rows):
        st.subheader(
            _("What turns it"), help=_("Seeds under which the verdict differs from the base's under the same seed.")
        )
        st.plotly_chart(draw_flips(what_if, theme), key="what-if-flips")
    if len(experiment.seeds) > 1:
        st.subheader(
            _("How sure that is"),
            help=_("Share of the runs that end as the base did, with the exact 95 % interval of a share."),
        )
        st.plotly_chart(draw_shares(what_if, choices, theme), key="what-if-shares")
    _variants(experiment, what_if, {cell.run for cell in cells if cell.state == "waiting"})
    if there:
        every_cell(everything)
        downloads(house, everything)


MOST_NAMED = 3


def _told(what_if: WhatIf) -> None:
    """The answer in a sentence or two."""
    turned = [row for row in what_if.influential() if row.flips]
    compared = sum(row.pairs > 0 for row in what_if.rows[1:])
    if not compared:
        return
    moved = [row for row in what_if.influential() if row.swing or row.flips]
    names = "; ".join(literal(row.name) for row in (turned or moved)[:MOST_NAMED])
    if turned:
        meaning = _(
            "What decided it: **{turned} of {compared}** changes turn the verdict under some seed, first of all {names}",
            turned=len(turned),
            compared=compared,
            names=names,
        )
    elif moved:
        meaning = _(
            "What decided it: no single thing. None of {compared} changes turns the verdict; the most is moved by {names}",
            compared=compared,
            names=names,
        )
    else:
        meaning = _("What decided it: no single thing. None of {compared} changes moves it", compared=compared)
    if idle := _idle(what_if):
        meaning = _("{meaning}. What did not matter: {idle}", meaning=meaning, idle=idle)
    (st.success if turned else st.info)(meaning, icon=":material/alt_route:" if turned else ":material/anchor:")
    for kind, title in KINDS:
        best = [row for row in what_if.influential(kind) if row.swing or row.flips]
        alike = [row for row in best if (row.swing, row.flips) == (best[0].swing, best[0].flips)]
        if len(alike) > MOST_NAMED:
            points = f"{100 * (best[0].swing or 0):+.0f}"
            st.caption(
                _(
                    "Most influential {title}: no single one. {alike} changes move it equally far ({points} points).",
                    title=title,
                    alike=len(alike),
                    points=points,
                )
            )
        elif best:
            named = "; ".join(
                _("{name} ({points} points)", name=literal(row.name), points=f"{100 * (row.swing or 0):+.0f}")
                for row in best[:MOST_NAMED]
            )
            st.caption(_("Most influential {title}: {named}", title=title, named=named))


def _idle(what_if: WhatIf) -> str:
    """What moved nothing, by kind of change, with how many of its kind."""
    rows = [row for row in what_if.rows[1:] if row.pairs]
    kinds = dict.fromkeys(row.kind for row in rows if row.kind)
    counts = {kind: [not (row.swing or row.flips) for row in rows if row.kind == kind] for kind in kinds}
    return listed(
        _("{what} ({idle} of {all})", what=literal(CHANGES[kind]), idle=sum(still), all=len(still))
        for kind, still in counts.items()
        if any(still)
    )


def _variants(experiment: Experiment, what_if: WhatIf, waiting: Collection[str]) -> None:
    """A line a variant; each leads to its run."""
    lines = []
    for row in what_if.rows:
        first = next((run for run in row.runs if run not in waiting), None)
        share = row.shares.get(what_if.decided)
        lines.append(
            {
                "change": row.name,
                "what": CHANGES[row.kind or "base"],
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
        ("votes", _("votes"), _("Mean share of the votes for {decided}.", decided=literal(what_if.decided))),
        ("share", _("runs"), _("Share of the runs that end with {decided}.", decided=literal(what_if.decided))),
        ("low", _("from"), _("Lower end of the 95 % interval.")),
        ("high", _("to"), _("Upper end of the 95 % interval.")),
    )}  # fmt: skip
    st.subheader(_("Every variant"))
    variants = pd.DataFrame(lines)
    if len(experiment.seeds) == 1:  # one run has no interval worth telling
        variants = variants.drop(columns=["share", "low", "high"])
    table(variants, {**percent, **run_links()})


def _rounded(share: float | None) -> float | None:
    return None if share is None else round(share, 2)
