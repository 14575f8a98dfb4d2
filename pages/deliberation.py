"""Deliberation: one run, live; then all that can be seen of it."""

import secrets
import time

import streamlit as st

from courtroom.access import Resource
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.models.offline import NOTICE, SHORT_NOTICE
from courtroom.questions.marks import A_RUN
from pages.parts.live import room_view as room
from pages.parts.live.audience_view import audience_view
from pages.parts.live.intervene import interventions_view, seats
from pages.parts.live.questions_view import marks_view
from pages.parts.live.tabs_view import NOW, back, tabs_view, verdict_view, votes_worth
from pages.parts.shared.controls import bell_view, controls, standing
from pages.parts.shared.house import courthouse, heading
from pages.parts.shared.shown import STYLES, literal, plainly, spent_in_words

SHARED_BY_SESSIONS_S = 0.2
LOOK_AT_A_STANDING_RUN_S = 3.0

began = time.thread_time()
house = courthouse()
run: str = st.query_params.get("run") or st.session_state.get("run", "")  # another page drops the address's
try:
    found = house.record(run) if run else None
except NoSuchRun:
    found = None
    st.session_state.pop("run", None)
if found is None:
    st.title(_("Deliberation"))
    if run:
        st.error(_("There is no run {run} here; it may have been deleted. Choose another.", run=literal(run)))
    else:
        st.info(_("No hearing is chosen. Pick a case and start one, or open an earlier run."))
    with st.container(horizontal=True):
        if st.button(_("Pick a case"), type="primary"):
            st.switch_page("pages/cases.py")
        if st.button(_("Earlier runs")):
            st.switch_page("pages/runs.py")
    st.stop()
if st.session_state.get("run", run) != run:  # what was open is of another run
    for opened in ("member", "call"):
        st.session_state.pop(opened, None)
st.session_state["run"] = st.query_params["run"] = run
record = found

procedure = house.procedures[record.run.procedure].about(record.case)
votes = any(role.votes for role in procedure.roles)
st.session_state["case"] = record.run.case_id  # Setup offers it first
st.html(STYLES / "deliberation.css")  # the room is to stand on one screen, with what steers it
origin = _(" · a fork of [{parent}](?run={parent})", parent=literal(record.run.parent)) if record.run.parent else ""
family_ids = house.store.family_ids(run)
answered_by = "".join(f" · {translated(sentence)}" for sentence in record.answered_by)
top = st.container(key="top", gap="xsmall")
with top:
    heading(record.run.title)
    with st.container(horizontal=True, vertical_alignment="center"):
        values = {"title": literal(procedure.title), "run": literal(run), "seed": record.run.seed, "origin": origin}
        about = _("{title} · run {run} · seed {seed}{origin}", **values) + answered_by
        st.caption(about, width="content", help=translated(NOTICE) if SHORT_NOTICE in record.answered_by else None)
        marks_view(house, run, A_RUN)
        watched: set[str] = st.session_state.setdefault("watched", set())
        if record.run.status != "done":
            watched.add(run)
        if run in watched:  # also once it is done, which the browser is to tell
            bell_view(house, Resource(kind="run", id=run), record.run.title, record.run.status)
        label, icon = _("Compare with its parent"), ":material/compare:"
        if record.run.parent in family_ids and st.button(label, icon=icon, type="tertiary"):
            st.switch_page("pages/compare.py", query_params={"runs": f"{record.run.parent},{run}"})


def busy(now: Record) -> bool:
    """Whether something may still come without anybody's doing: a paused run's answers under way arrive too."""
    return now.run.status == "running" or bool(house.runner.open_calls(now.run.id))


def news(now: Record) -> tuple[object, ...]:
    return len(now.stages), sum(map(len, now.ballots.values())), len(now.tallies), 0 if votes else len(now.calls)


@st.fragment
@plainly()
def steer() -> None:
    """Status and controls, drawn apart: a click in them draws nothing else."""
    now = house.record(record.run.id)
    controls(house, procedure, now)
    if standing(house, now) != stood:
        st.rerun()


was_busy, stood, drawn_at = busy(record), standing(house, record), time.monotonic()
drawn, session = room.SCENES.of(record, procedure), st.session_state.setdefault("session-name", secrets.token_hex(8))
may_go_on = LOOK_AT_A_STANDING_RUN_S if record.run.status != "done" and not record.run.imported else None


@st.fragment(run_every=max(room.LIVE_S, room.PACE.wait_s("look")) if was_busy else may_go_on)
@plainly()
def live() -> None:
    """What comes in; the rest of the page is drawn again only when something has come of it."""
    looks = time.thread_time()
    now = house.record(record.run.id, SHARED_BY_SESSIONS_S)
    shown = room.pulse_view(house, now, procedure, drawn)
    if not shown or standing(house, now) != stood or (was_busy and not busy(now)):
        st.rerun()
    for model in sorted({call.model for call in house.runner.open_calls(now.run.id).values()} & house.pool.loading):
        text = _("{model} is still loading on its server, and is waited for.", model=literal(model))
        st.caption(f":material/hourglass_top: {text}")
    if was_busy and (calls := house.pool.slowed_to(now.setup.models)) is not None:
        st.caption(_(":material/hourglass_top: {calls} at once: the server is slow", calls=calls))
    room.PACE.took("look", time.thread_time() - looks, session)
    if news(now) != news(record) and time.monotonic() - drawn_at >= room.PACE.wait_s("page"):
        st.rerun()


with top:
    steer()
    live()
at = back()
start = room.place_of(drawn.scene, record, at, st.query_params.get("moment", ""))
room.room_view(record, procedure, start, play=st.session_state.get("play") == run)
for warning in record.setup.warnings():
    st.caption(f":material/warning: {literal(warning)}")
if record.notes:
    several = _("{notes} notes on this run", notes=len(record.notes))
    with st.expander(several, icon=":material/info:") if len(record.notes) > 1 else st.container():
        for note in record.notes:
            st.caption(f":material/info: {literal(note)}")
if at == NOW:
    audience_view(house, record)
    seats(house, record)
    interventions_view(house, procedure, record)
if record.run.verdict:
    verdict_view(record, procedure)
    for sentence in filter(None, (house.experiments.repeats.sentence(run), votes_worth(house, run))):
        st.caption(literal(sentence))
    text = _("Run it again with one thing changed at a time.")
    if st.button(translated(procedure.ending.what_if), icon=":material/alt_route:", help=text):
        st.session_state["what-if-run"] = run
        st.session_state.pop("what-if", None)
        st.switch_page("pages/what_if.py", query_params={"base": run})

tabs_view(house, procedure, run, family=len(family_ids) > 1)

st.divider()
st.caption(spent_in_words(record))
room.PACE.took("page", time.thread_time() - began)
