"""The room of a run: drawn with the page, kept up to date by a pulse that alone is drawn again; and a film of it."""

import json
import threading
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import pandas as pd
import streamlit as st

from courtroom import Courthouse, Procedure, Record
from courtroom.access import Resource
from courtroom.language import _, language
from courtroom.room.player import DrawnScene, Scenes, program, read, static, words
from courtroom.room.scene import RoomScene, speaking
from pages.parts.shared.share_view import download
from pages.parts.shared.shown import errors_shown

What = Literal["page", "look"]
SHARES: dict[What, float] = {"page": 0.25, "look": 0.1}
"""Of one core: what drawing pages again, and looking for news, may take for all who look on together."""
AWAY_S = 20.0
"""Who has not looked for so long has left."""
MAX_COUNTED_S = 0.2
"""The first page takes longer: it loads what the later ones have."""
WEIGHT_OF_LAST = 0.2


class Pace:
    """How long a page waits before it is drawn again by itself: the more sessions look on, the longer."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._looked: dict[str, float] = {}
        self._took = dict.fromkeys(SHARES, 0.0)

    def took(self, what: What, seconds: float, session: str = "") -> None:
        """Count what drawing a page took, or a look of a session."""
        with self._lock:
            if session:
                self._looked[session] = time.monotonic()
            before, counted = self._took[what], min(seconds, MAX_COUNTED_S)
            self._took[what] = before + WEIGHT_OF_LAST * (counted - before) if before else counted

    def wait_s(self, what: What) -> float:
        """Seconds that a session is to leave between one page, or look, and the next."""
        since = time.monotonic() - AWAY_S
        with self._lock:
            self._looked = {name: at for name, at in self._looked.items() if at >= since}
            return len(self._looked) * self._took[what] / SHARES[what]


PACE, SCENES = Pace(), Scenes()
"""The pace of this server, and the scenes of its runs, each made once for each state of a record: for all sessions."""
room = st.components.v2.component("courtroom_room", css=static("room.css"), js=f"{program()}\n{static('in_page.js')}")
pulse = st.components.v2.component("courtroom_pulse", js=static("in_pulse.js"))

LIVE_S = 0.7
"""How often a running hearing is looked at, at most: where many look on, each does less often."""


def room_view(record: Record, procedure: Procedure, start: int | None = None, *, play: bool = False) -> None:
    """Draw the whole room, from the moment at a place on, else from its end; `play`: played when it is first shown."""
    run, (scene, version) = record.run.id, SCENES.of(record, procedure).told()
    data = {"language": language(), "words": words(), "start": start, "play": play, "version": version}
    # Two lines of JSON: what is given, and the scene. As bytes they go to the browser as they are; plain data would be
    # looked through for tables first.
    room(
        data=_bytes(data) + b"\n" + scene.encode(),
        key=f"room-{run}",
        on_call_change=lambda: _to("Calls", run, "call"),
        on_member_change=lambda: _to("Members", run, "member"),
    )


def pulse_view(house: Courthouse, record: Record, procedure: Procedure, drawn: DrawnScene) -> bool:
    """What came since the room was drawn; False where the room itself is to be drawn again."""
    before, now = drawn.scene, SCENES.of(record, procedure).scene
    have = len(before.moments)
    if now is not before and (now.moments[:have] != before.moments or now.seats != before.seats):
        return False
    how: dict[str, Any] = {"mode": "json", "exclude_defaults": True}
    changes = now.model_dump(include={"status", "reason", "verdict", "ballots", "stages_to_come", "ended"}, **how)
    changes["moments"] = [moment.model_dump(**how) for moment in now.moments[have:]]
    changes["live"] = [one.model_dump(**how) for one in speaking(house.runner.open_calls(record.run.id))]
    waits = now.status == "running" and bool(house.people.waiting(record.run.id))
    data = {**read(changes), "run": record.run.id, "waits": waits, "version": drawn.told()[1], "from": have}
    pulse(data=_bytes(data), key=f"pulse-{record.run.id}", height=1)
    return True


def place_of(shown: RoomScene, record: Record, index: str, path: str) -> int | None:
    """The place of a stage's last moment, by the stage's index, else of a call's, by its path; None where there is neither."""
    stage = next((stage.path for stage in record.stages if str(stage.index) == index), None)
    if stage is not None:
        return max((n for n, moment in enumerate(shown.moments) if moment.stage == stage), default=None)
    return next((n for n, one in enumerate(shown.moments) if one.kind == "call" and one.path == path), None)


def _bytes(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def _to(tab: str, run: str, what: str) -> None:
    chosen = st.session_state[f"room-{run}"].get(what)
    if isinstance(chosen, str) and chosen:
        st.session_state[f"tab-{run}"] = tab
        st.session_state[what] = chosen


OPEN = "film_open"
"""The run whose storyboard is open, in the session: whatever draws the page anew must not close it."""
DRAWN = "film_drawn"
"""The film that was drawn last, in the session: its run, its kind and its content."""
_one_at_a_time = threading.Lock()
"""A film takes a core for some seconds: on a server with many people they are drawn one after another."""


def film_button(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """The button that opens the storyboard, and the storyboard while it is open."""
    run = record.run.id
    opened = {DRAWN: None, OPEN: run, f"sharing-{run}": False}  # else the list of files lies over the storyboard
    looks: dict[str, Any] = {"icon": ":material/movie:", "help": _("MP4 or GIF of its moments, to take along.")}
    st.button(_("Film"), key="do-film", on_click=st.session_state.update, args=(opened,), **looks)
    if st.session_state.get(OPEN) == run:
        dialog = st.dialog(_("A film of this run"), width="large", on_dismiss=lambda: st.session_state.pop(OPEN, None))
        dialog(_storyboard)(house, procedure, record)


def _storyboard(house: Courthouse, procedure: Procedure, record: Record) -> None:
    # Slow to import: only for a film.
    from courtroom.film import MAX_FILM_S, MIN_FILM_S, Painter, film, length, scene_to_film, storyboard

    told = scene_to_film(record, procedure)
    result = st.container()
    kinds = {"mp4": _("MP4, a video"), "gif": _("GIF, a moving picture")}
    shapes = {"wide": _("16:9, for a screen"), "tall": _("9:16, for a phone")}
    themes = {"light": _("Light"), "dark": _("Dark")}
    dark = int(st.context.theme.type == "dark")
    with st.container(horizontal=True):
        kind = st.radio(_("File"), list(kinds), format_func=kinds.__getitem__, key="film-kind")
        shape = st.radio(_("Shape"), list(shapes), format_func=shapes.__getitem__, key="film-shape")
        theme = st.radio(_("Colours"), list(themes), dark, format_func=themes.__getitem__, key="film-theme")
        seconds = st.slider(_("Seconds, about"), int(MIN_FILM_S), int(MAX_FILM_S), 45, 5, key="film-seconds")
    # What the film shows stands first, and below it what could be shown too.
    shots = sorted(storyboard(told, seconds), key=lambda shot: not shot.kept)
    rows = [(shot.kept, shot.head, shot.caption, round(shot.seconds, 1)) for shot in shots]
    heads = {"show": _("Show"), "who": _("Who"), "caption": _("Caption"), "seconds": _("Seconds")}
    shown, fixed = pd.DataFrame(rows, columns=list(heads)), list(heads)[1:]
    looks: dict[str, Any] = {"key": f"film-shots-{seconds}", "hide_index": True, "height": 300}
    edited = st.data_editor(shown, disabled=fixed, column_config=heads, **looks)
    chosen = sorted(
        (shot.model_copy(update={"kept": bool(show)}) for shot, show in zip(shots, edited["show"], strict=True)),
        key=lambda shot: (shot.kind != "title", shot.moment, shot.kind == "verdict"),
    )
    st.caption(_("{seconds} seconds are chosen.", seconds=f"{length(chosen):.0f}"))
    if st.button(_("Draw the film"), type="primary", icon=":material/movie:", key="do-draw-film"):
        bar = st.progress(0.0, _("The film is being drawn ..."))
        with errors_shown(), TemporaryDirectory() as folder, _one_at_a_time:
            file = Path(folder) / f"film.{kind}"
            film(Painter(told, shape, theme), chosen, file, bar.progress)  # type: ignore[arg-type]
            st.session_state[DRAWN] = (record.run.id, kind, file.read_bytes())
        bar.empty()
    drawn: tuple[str, str, bytes] | None = st.session_state.get(DRAWN)
    if drawn and drawn[0] == record.run.id:
        _run, made, content = drawn
        with result:
            width = 300 if shape == "tall" else 640
            if made == "mp4":
                st.video(content, autoplay=True, muted=True, width=width)
            else:
                st.image(content, width=width)
            of = Resource(kind="run", id=record.run.id)
            download(house, _("Download the film"), content, f"{of.id}.{made}", of, key="film-file")
