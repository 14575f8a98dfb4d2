"""The room of a run: drawn with the page, kept up to date by a pulse that alone is drawn again and again, as often as the server has time."""

import json
import secrets
import threading
import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import language
from courtroom.room import RoomScene
from courtroom.room.player import DrawnScene, Scenes, adapter, program, read, style, words
from courtroom.room.scene import speaking

SHARE = 0.25
"""Of one core: what drawing pages again may take, for all who look on together."""
LOOKS_SHARE = 0.1
"""The same for their looks."""
AWAY_S = 20.0
"""Who has not looked for so long has left."""
MOST_S = 0.2
"""What counts of a page at most: the first one loads what the later ones have."""
LAST = 0.2
"""How much the page that was drawn last counts in the average."""


class Pace:
    """How long a page waits before it is drawn again by itself. With one session it hardly ever does; with many each waits longer."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._looked: dict[str, float] = {}
        self._page_s = self._look_s = 0.0

    def drew(self, seconds: float) -> None:
        with self._lock:
            self._page_s = _average(self._page_s, seconds)

    def looked(self, session: str, seconds: float) -> None:
        with self._lock:
            self._looked[session] = self._now()
            self._look_s = _average(self._look_s, seconds)

    @property
    def page_s(self) -> float:
        """Seconds that a session is to leave between one page and the next."""
        return self._lookers() * self._page_s / SHARE

    @property
    def look_s(self) -> float:
        """Seconds that a session is to leave between one look and the next."""
        return self._lookers() * self._look_s / LOOKS_SHARE

    def _lookers(self) -> int:
        now = self._now()
        with self._lock:
            for gone in [name for name, at in self._looked.items() if now - at > AWAY_S]:
                del self._looked[gone]
            return len(self._looked)


def _average(before: float, last: float) -> float:
    counted = min(last, MOST_S)
    return before + LAST * (counted - before) if before else counted


@st.cache_resource(show_spinner=False)
def pace() -> Pace:
    return Pace()


def this_session() -> str:
    return str(st.session_state.setdefault("session-name", secrets.token_hex(8)))


room = st.components.v2.component("courtroom_room", css=style(), js=f"{program()}\n{adapter('page')}")
pulse = st.components.v2.component("courtroom_pulse", js=adapter("pulse"))

LIVE_S = 0.7
"""How often a running hearing is looked at, at most: where many look on, each does less often."""


def room_view(record: Record, procedure: Procedure, start: int | None = None, *, play: bool = False) -> None:
    """The whole room. `start`: the place of the moment at which a run that is opened begins; None is its end. `play`: whether it
    is played from its beginning when it is first shown."""
    run = record.run.id
    data = {"language": language(), "words": words(), "start": start, "play": play}
    room(
        data=_with_scene(data, record, procedure),
        key=f"room-{run}",
        on_call_change=lambda: _to("Calls", run, "call"),
        on_member_change=lambda: _to("Members", run, "member"),
    )


def pulse_view(house: Courthouse, record: Record, procedure: Procedure, drawn: DrawnScene) -> bool:
    """What came since the room was drawn; False where the room itself is to be drawn again."""
    before, now = drawn.scene, scene_of(record, procedure).scene
    have = len(before.moments)
    if now is not before and (now.moments[:have] != before.moments or now.seats != before.seats):
        return False
    open_calls = house.runner.live(record.run.id).snapshot()
    changes = now.model_dump(
        mode="json",
        exclude_defaults=True,
        include={"status", "reason", "verdict", "ballots", "stages_to_come", "ended"},
    )
    changes |= {
        "moments": [moment.model_dump(mode="json", exclude_defaults=True) for moment in now.moments[have:]],
        "live": [one.model_dump(mode="json", exclude_defaults=True) for one in speaking(open_calls)],
    }
    data = {**read(changes), "run": record.run.id, "version": drawn.version, "from": have}
    pulse(data=_bytes(data), key=f"pulse-{record.run.id}", height=1)
    return True


def end_of_stage(shown: RoomScene, record: Record, index: str) -> int | None:
    """The place of a stage's last moment, by the stage's index; None where there is no such stage."""
    stage = next((stage.path for stage in record.stages if str(stage.index) == index), None)
    return max((n for n, moment in enumerate(shown.moments) if moment.stage == stage), default=None)


def scene_of(record: Record, procedure: Procedure) -> DrawnScene:
    """A scene is made once for each state of the record, for all sessions."""
    return _scenes().of(record, procedure)


@st.cache_resource(show_spinner=False)
def _scenes() -> Scenes:
    return Scenes()


def _with_scene(data: dict[str, Any], record: Record, procedure: Procedure) -> bytes:
    """Two lines of JSON: what is given, and the scene. As bytes they go to the browser as they are; plain data would be
    looked through for tables first."""
    drawn = scene_of(record, procedure)
    return _bytes({**data, "version": drawn.version}) + b"\n" + drawn.text.encode()


def _bytes(data: dict[str, Any]) -> bytes:
    return json.dumps(data, ensure_ascii=False).encode()


def _to(tab: str, run: str, what: str) -> None:
    chosen = st.session_state[f"room-{run}"].get(what)
    if isinstance(chosen, str) and chosen:
        st.session_state[f"tab-{run}"] = tab
        st.session_state[what] = chosen
