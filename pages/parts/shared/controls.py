"""Step, Run, Run to, Pause, Stop; where to break; budget, link and exports; a second run with one thing changed."""

from concurrent.futures import TimeoutError as TookLong
from functools import partial
from itertools import groupby, zip_longest
from typing import Literal

import streamlit as st

from courtroom import report
from courtroom.access import Access, Resource, may
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import value_at
from courtroom.engine.knobs import choice_in_words, field_at, path_in_words
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import BREAKS
from courtroom.engine.setup import Budget
from courtroom.engine.store import READ_ONLY
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import Variant
from courtroom.experiments.what_if import applied, proposals
from courtroom.language import _, translated
from courtroom.sharing import may_change
from pages.parts.live.audience_view import invite_button
from pages.parts.live.room_view import film_button
from pages.parts.shared.actions import do, offered
from pages.parts.shared.house import open_run
from pages.parts.shared.models_form import stand_in_choice, typed_keys
from pages.parts.shared.share_view import download, share_view
from pages.parts.shared.shown import declared, literal

STATUS: dict[str, tuple[str, str, Literal["blue", "orange", "green", "red"]]] = {
    "running": (":material/play_circle:", "Running", "blue"),
    "paused": (":material/pause_circle:", "Paused", "orange"),
    "done": (":material/check_circle:", "Done", "green"),
    "failed": (":material/error:", "Stopped", "red"),
}


def status_badge(status: str, *, interrupted: bool = False) -> None:
    icon, word, colour = STATUS["paused" if interrupted else status]
    st.badge(_("Interrupted") if interrupted else translated(word), icon=icon, color=colour)


def standing(house: Courthouse, record: Record) -> tuple[object, ...]:
    """What the controls show of a run: where it differs, they are to be drawn again."""
    run = record.run
    interrupted = run.status == "running" and not house.runner.drives(run.id) and house.runner.interrupted(run.id)
    return run.status, run.reason, run.control.breaks, interrupted, house.runner.trouble(run.id), bool(record.events)


def controls(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Buttons are enabled where they make sense."""
    run, status = record.run, record.run.status
    interrupted = house.runner.interrupted(run.id)
    runner = house.runner
    of = Resource(kind="run", id=run.id)
    mine = may_change(house.database, of)
    with st.container(horizontal=True, vertical_alignment="center"):
        status_badge(status, interrupted=interrupted)
        idle = status in ("paused", "failed") or interrupted
        if status != "done" and not run.imported and mine:
            if st.button(
                _("Step"), key="do-step", icon=":material/skip_next:", disabled=not idle, shortcut="s",
                help=_("Work on one stage."),
            ):  # fmt: skip
                do(lambda: runner.step(run.id, typed_keys()))
            if st.button(
                _("Run"), key="do-run", icon=":material/play_arrow:", disabled=not idle, shortcut="g",
                type="primary" if idle else "secondary", help=_("Run on to the end, or to the next break."),
            ):  # fmt: skip
                do(lambda: runner.go(run.id, keys=typed_keys()))
            if st.button(
                _("Pause"), key="do-pause", icon=":material/pause:", disabled=idle, shortcut="p",
                help=_("Ask nothing more for now. Answers under way still arrive and are kept."),
            ):  # fmt: skip
                do(lambda: runner.pause(run.id))
            if st.button(
                _("Stop"), key="do-stop", icon=":material/stop:", disabled=idle and not runner.drives(run.id),
                help=_("Stop the run here; it can go on at any time."),
            ):  # fmt: skip
                do(lambda: runner.stop(run.id))
            with st.popover(_("Run to ..."), disabled=not idle):
                target = st.selectbox(
                    _("Run until this stage is done"),
                    [kind.title for kind in procedure.stages],
                    key=f"to-{run.id}",
                    format_func=translated,
                )
                if st.button(_("Run to it")):
                    kind = next(kind.name for kind in procedure.stages if kind.title == target)
                    do(lambda: runner.run_to(run.id, kind, typed_keys()))
            with st.popover(_("Break")):
                breaks = st.pills(
                    _("Pause by itself"), list(BREAKS), selection_mode="multi", default=list(run.control.breaks),
                    format_func=lambda one: translated(BREAKS[one]), key=f"breaks-{run.id}",
                )  # fmt: skip
                if tuple(breaks) != run.control.breaks:
                    runner.set_breaks(run.id, house.store.control(run.id).model_copy(update={"breaks": tuple(breaks)}))
        forks = record.events and may(Access.RUN)
        about = _("Run this case again with something changed; the rest is served from the record.")
        if forks and st.button(_("Fork"), key="do-fork", icon=":material/fork_right:", help=about):
            st.session_state["fork"] = run.id
            st.switch_page("pages/setup.py", query_params={"fork": run.id})
        if status == "done" and may(Access.RUN):
            change_one(house, procedure, record)
        if mine:
            invite_button(house, procedure, record)
        with st.popover(_("Share"), key=f"sharing-{run.id}", on_change="rerun"):
            st.caption(_("This address opens the same run, also in another browser:"))
            st.code(f"{st.context.url}?run={run.id}", language=None, wrap_lines=True)
            share_view(house, of)
            _downloads(house, procedure, record, of)
    if run.is_unverified:
        st.caption(
            _(":material/lock: {read_only} A fork of it can go on, and asks every question again.", read_only=READ_ONLY)
        )
    if interrupted:
        st.warning(
            _("The server that ran this hearing has stopped. Run it on: nothing that was answered is asked again.")
        )
    elif status == "failed":
        st.error(literal(run.reason))
    elif trouble := runner.trouble(run.id):
        st.warning(literal(trouble))
    elif run.reason:
        st.caption(literal(run.reason))
    if status == "paused" and "budget" in run.reason and not run.imported and mine:
        with st.form("budget", border=True):
            budget, hint = record.setup.budget, _("no limit")
            columns = st.columns(3)
            calls = columns[0].number_input(_("Calls"), 1, None, budget.calls, placeholder=hint)
            tokens = columns[1].number_input(_("Tokens"), 1, None, budget.tokens, placeholder=hint)
            dollars = columns[2].number_input(_("Money (US$)"), 0.0, None, budget.money, placeholder=hint)
            if st.form_submit_button(_("Set the budget and run on"), type="primary"):
                new = Budget(calls=calls, tokens=tokens, money=dollars)
                house.store.replace_setup(run.id, record.setup.model_copy(update={"budget": new}))
                runner.stop(run.id)
                do(lambda: runner.go(run.id, keys=typed_keys()))


def report_html(house: Courthouse, run: str) -> str:
    record = house.record(run)
    sure = " ".join(filter(None, (house.experiments.repeats.sentence(run), house.worth(run))))
    procedure = house.procedures[record.run.procedure]
    return report.as_html(record, procedure, house.answers, house.media, house.beside.of(run), sure)


def _downloads(house: Courthouse, procedure: Procedure, record: Record, of: Resource) -> None:
    run = record.run.id
    download(
        house, _("HTML report"), lambda: report_html(house, run), f"{run}.html", of, icon=":material/article:",
        help_=_("One page with everything inside; opens without the app."),
    )  # fmt: skip
    if record.events and may(Access.RUN):
        film_button(house, procedure, record)
    download(house, _("JSON"), lambda: house.files.export(run)[1], f"{run}.json", of, icon=":material/data_object:")
    for own in procedure.exports:
        write = partial(own.write, record, house.answers)
        download(house, declared(own.title), write, f"{run}-{own.file}", of, icon=":material/dataset:")


MOST = 6
WAIT_S = 8.0
"""How long the page waits for the other run before it shows it as it goes on."""


@offered(Access.RUN)
def change_one(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """A few single changes that the case and the setup offer, and one button; worked out when it is opened."""
    opened = st.popover(
        _("Change one thing"), icon=":material/alt_route:", key=f"changing-{record.run.id}", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        if not (offered := _offered(procedure, record)):
            st.caption(_("This run offers nothing that could be changed alone. Fork it to change its setup."))
            return
        chosen = st.radio(
            _("What is different the second time"),
            offered,
            format_func=lambda variant: literal(_told(record, variant)),
            key=f"change-one-{record.run.id}",
        )
        stand_in = stand_in_choice(house, record.setup, f"change-one-{record.run.id}")
        if st.button(_("Run it again, and show both"), type="primary", key="do-change-one"):
            _both(house, record, chosen, stand_in)


def _offered(procedure: Procedure, record: Record) -> list[Variant]:
    """Some of each kind: evidence, a member, a rule, knobs. Kept, as each draw of the page would try them all again."""
    key = f"offered-{record.run.id}"
    if key not in st.session_state:
        variants = proposals(procedure, record.setup, record.case, record.run.seed)
        by_kind = groupby(sorted(variants, key=lambda one: one.kind or ""), key=lambda one: one.kind)
        kinds = [_varied(list(group)) for _, group in by_kind]
        st.session_state[key] = [one for row in zip_longest(*kinds) for one in row if one][:MOST]
    offered: list[Variant] = st.session_state[key]
    return offered


def _varied(variants: list[Variant]) -> list[Variant]:
    """Of several values of one knob the first; numbers before words, as what they do is seen at once."""
    paths = {next(iter(one.set), "") if one.kind == "knob" else one.name: one for one in reversed(variants)}
    return sorted(paths.values(), key=lambda one: any(isinstance(value, str) for value in one.set.values()))


def _told(record: Record, variant: Variant) -> str:
    """A knob by its title with both values; what is left out, by its name."""
    if variant.kind != "knob":
        return variant.name[:1].upper() + variant.name[1:]
    ((path, value),) = variant.set.items()
    field = field_at(type(record.setup), path)
    before, after = (translated(choice_in_words(field, one)) for one in (value_at(record.setup, path), value))
    return f"{translated(path_in_words(type(record.setup), path))}: {before} → {after}"


def _both(house: Courthouse, record: Record, variant: Variant, stand_in: str) -> None:
    st.session_state.pop("play", None)
    try:
        setup, case = applied(variant, record.setup, record.case)
        fork = house.fork(record.run.id, house.with_stand_in(setup, stand_in) if stand_in else setup, case=case)
        house.runner.go(fork)
        with st.spinner(_("The second run is under way ...")):
            house.runner.wait(fork, WAIT_S)
    except TookLong:
        open_run(fork)
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.switch_page("pages/compare.py", query_params={"runs": f"{record.run.id},{fork}"})
