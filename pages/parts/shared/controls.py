"""The controls of a run, its bell, links and exports; and a second run with one thing changed."""

from functools import partial
from itertools import groupby, zip_longest
from typing import Any, Literal

import streamlit as st

from courtroom import Courthouse, Procedure, Record
from courtroom.access import Access, Resource, may
from courtroom.declarations.changes import value_at
from courtroom.declarations.knobs import choice_in_words, field_at, path_in_words
from courtroom.engine.run import BREAKS
from courtroom.engine.store import READ_ONLY
from courtroom.experiments.spec import Variant
from courtroom.experiments.what_if import applied, proposals
from courtroom.language import _, translated
from courtroom.room.player import static
from courtroom.sharing import may_change
from pages.parts.live.audience_view import invite_button
from pages.parts.live.room_view import film_button
from pages.parts.shared.house import show_beside
from pages.parts.shared.knobs import budget_fields
from pages.parts.shared.models_form import stand_in_choice, typed_keys
from pages.parts.shared.share_view import download, share_view
from pages.parts.shared.shown import do, errors_shown, literal

STATUS: dict[str, tuple[str, str, Literal["blue", "orange", "green", "red"]]] = {
    "running": (":material/play_circle:", "Running", "blue"),
    "paused": (":material/pause_circle:", "Paused", "orange"),
    "done": (":material/check_circle:", "Done", "green"),
    "failed": (":material/error:", "Stopped", "red"),
}


def status_badge(status: str, *, interrupted: bool = False) -> None:
    icon, word, colour = STATUS["paused" if interrupted else status]
    st.badge(_("Interrupted") if interrupted else translated(word), icon=icon, color=colour)


component, BELL = st.components.v2.component, '<button type="button" class="bell" hidden></button>'
_bell = component("courtroom_bell", html=BELL, css=static("bell.css"), js=static("in_bell.js"), isolate_styles=False)


def bell_view(house: Courthouse, about: Resource, name: str, state: str) -> None:
    """Draw the button; the browser tells whoever pressed it when the state becomes another than `running`."""
    words = {"off": _("Notify me"), "on": _("You will be notified"), "blocked": _("This browser blocks notices.")}
    words["help"] = _("The browser tells you when this ends, waits for somebody or fails, as long as the page is open.")
    said = {one: translated(one) for one in ("done", "failed", "paused", "waits for a seat")}
    told = {**words, "kind": about.kind, "id": about.id, "name": name, "state": state, "said": said}
    _bell(data=told, key=f"bell-{about.kind}-{about.id}", height="content")
    if trouble := house.bell.trouble(about):
        st.toast(literal(trouble), icon=":material/notifications_off:", duration="long")


def standing(house: Courthouse, record: Record) -> tuple[object, ...]:
    """What the controls show of a run: where it differs, they are to be drawn again."""
    run = record.run
    interrupted = run.status == "running" and not house.runner.drives(run.id) and house.runner.interrupted(run.id)
    return run.status, run.reason, run.control.breaks, interrupted, house.runner.trouble(run.id), bool(record.events)


def controls(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """Buttons are enabled where they make sense."""
    run, status, runner = record.run, record.run.status, house.runner
    interrupted, of = runner.interrupted(run.id), Resource(kind="run", id=run.id)
    mine = may_change(house.database, of)
    with st.container(horizontal=True, vertical_alignment="center"):
        status_badge(status, interrupted=interrupted)
        idle = status in ("paused", "failed") or interrupted
        if status != "done" and not run.imported and mine:
            keys = typed_keys()
            means = {
                "step": _("Work on one stage."),
                "run": _("Run on to the end, or to the next break."),
                "pause": _("Ask nothing more for now. Answers under way still arrive and are kept."),
                "stop": _("Stop the run here; it can go on at any time."),
            }
            for name, label, icon, shortcut, off, act in (
                ("step", _("Step"), "skip_next", "s", not idle, partial(runner.step, run.id, keys)),
                ("run", _("Run"), "play_arrow", "g", not idle, partial(runner.go, run.id, keys=keys)),
                ("pause", _("Pause"), "pause", "p", idle, partial(runner.pause, run.id)),
                ("stop", _("Stop"), "stop", None, idle and not runner.drives(run.id), partial(runner.stop, run.id)),
            ):
                kind = "primary" if name == "run" and idle else "secondary"
                looks: dict[str, Any] = {"type": kind, "shortcut": shortcut}
                if st.button(label, f"do-{name}", means[name], icon=f":material/{icon}:", disabled=off, **looks):
                    do(act)
            with st.popover(_("Run to ..."), disabled=not idle):
                stages = {one.name: translated(one.title) for one in procedure.stages}
                title, key = _("Run until this stage is done"), f"to-{run.id}"
                target = st.selectbox(title, list(stages), format_func=stages.__getitem__, key=key)
                if st.button(_("Run to it")):
                    do(lambda: runner.run_to(run.id, target, typed_keys()))
            with st.popover(_("Break")):
                whens = {one: translated(when) for one, when in BREAKS.items()}
                looks = {"key": f"breaks-{run.id}", "default": list(run.control.breaks), "selection_mode": "multi"}
                breaks = st.pills(_("Pause by itself"), list(whens), format_func=whens.__getitem__, **looks)
                if tuple(breaks) != run.control.breaks:
                    control = house.store.run(run.id).control
                    runner.set_breaks(run.id, control.model_copy(update={"breaks": tuple(breaks)}))
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
        text = _("A fork of it can go on, and asks every question again.")
        st.caption(f":material/lock: {literal(READ_ONLY)} {text}")
    if interrupted:
        st.warning(_("The server that ran this hearing has stopped. Run it on: no answer is asked for again."))
    elif status == "failed":
        st.error(literal(run.reason))
    elif trouble := runner.trouble(run.id):
        st.warning(literal(trouble))
    elif run.reason:
        st.caption(literal(run.reason))
    if status == "paused" and "budget" in run.reason and not run.imported and mine:
        with st.form("budget", border=True):
            budget = budget_fields(record.setup.budget, f"budget-{run.id}")
            if st.form_submit_button(_("Set the budget and run on"), type="primary"):
                house.store.replace_setup(run.id, record.setup.model_copy(update={"budget": budget}))
                runner.stop(run.id)
                do(lambda: runner.go(run.id, keys=typed_keys()))


def _downloads(house: Courthouse, procedure: Procedure, record: Record, of: Resource) -> None:
    run = record.run.id
    if record.events and may(Access.RUN):
        film_button(house, procedure, record)
    files = [
        (_("HTML report"), ".html", "article", _("One page with everything inside; opens without the app.")),
        (_("JSON"), ".json", "data_object", None),
        (_("Markdown"), ".md", "notes", None),
        (_("Word"), ".docx", "description", None),
    ]
    if record.ballots:
        files += [(_("Votes as CSV"), ".csv", "download", None), (_("Votes as Parquet"), ".parquet", "download", None)]
    for label, ending, icon, about in files:
        name = f"{run}-votes{ending}" if ending in (".csv", ".parquet") else f"{run}{ending}"
        written = partial(house.files.written, run, ending)
        download(house, label, written, name, of, icon=f":material/{icon}:", help=about)
    for own in procedure.exports:
        content = partial(own.write, record, house.answers)
        download(house, translated(own.title), content, f"{run}-{own.file}", of, icon=":material/dataset:")


MAX_CHANGES_OFFERED = 6


def change_one(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """A few single changes that the case and the setup offer, and one button; worked out when it is opened."""
    title, key = _("Change one thing"), f"changing-{record.run.id}"
    opened = st.popover(title, icon=":material/alt_route:", key=key, on_change="rerun")
    if not opened.open:
        return
    with opened:
        if not (changes := _changes(procedure, record, record.run.id)):
            st.caption(_("This run offers nothing that could be changed alone. Fork it to change its setup."))
            return
        title, key = _("What is different the second time"), f"change-one-{record.run.id}"
        chosen = st.radio(title, changes, format_func=lambda variant: literal(_told(record, variant)), key=key)
        stand_in = stand_in_choice(house, record.setup, key)
        if st.button(_("Run it again, and show both"), type="primary", key="do-change-one"):
            st.session_state.pop("play", None)
            with errors_shown():
                setup, case = applied(chosen, record.setup, record.case)
                setup = house.with_stand_in(setup, stand_in) if stand_in else setup
                show_beside(house, record.run.id, house.fork(record.run.id, setup, case=case))


@st.cache_resource(scope="session", show_spinner=False)
def _changes(_procedure: Procedure, _record: Record, run: str) -> list[Variant]:
    """Some of each kind: evidence, a member, a rule, knobs. Kept, as each draw of the page would try them all again."""
    variants = proposals(_procedure, _record.setup, _record.case, _record.run.seed)
    by_kind = groupby(sorted(variants, key=lambda one: one.kind or ""), key=lambda one: one.kind)
    kinds = [_varied(list(group)) for _, group in by_kind]
    return [one for row in zip_longest(*kinds) for one in row if one][:MAX_CHANGES_OFFERED]


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
