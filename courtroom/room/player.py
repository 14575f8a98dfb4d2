"""The player's own files: the same code draws the room on the live page and in the HTML report."""

import json
import re
import threading
from collections import OrderedDict
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import ENGLISH, _, language, translated
from courtroom.room.scene import RoomScene, scene

TEXT = re.compile(r"""\bt\((["'])((?:(?!\1).)*)\1""")
"""A text of the player, as its program says it: `t("Play")`."""


def words() -> dict[str, str]:
    """The player's own words by their English; nothing in English."""
    return {} if language() == ENGLISH else {text: _(text) for text in _said()}


@cache
def _said() -> tuple[str, ...]:
    source = program() + static("in_page.js", "in_report.js")
    return tuple(dict.fromkeys(found[2] for found in TEXT.finditer(source)))


def read(scene: dict[str, Any]) -> dict[str, Any]:
    """A scene, or a part of one, as plain data with what the engine says in it translated; what members say stays."""
    if language() == ENGLISH:
        return scene
    return {name: _of_engine(value, name) for name, value in scene.items()}


OF_ENGINE = {
    "": {"procedure", "reason", "ending", "real_title", "notice", "stages_to_come", "turnout", "ballots"},
    "sides": {"title"},
    "seats": {"name", "role"},
    "moments": {"title"},
    "live": {"title"},
    "parts": {"label"},
    "facts": {"label", "value"},
    "verdict": {"outcome", "note", "summary", "turnout"},
}
"""Names of what the engine says, by the part of a scene; the run's title and what members say stay as they are."""


def _of_engine(value: Any, name: str, part: str = "") -> Any:
    """Return a value of a scene, translated where the engine says it."""
    if isinstance(value, dict) and name in OF_ENGINE:
        made = {key: _of_engine(one, key, name) for key, one in value.items()}
        if value.get("failed"):  # why there is no answer stands where the answer would
            made["parts"] = [{**one, "text": translated(one["text"])} for one in made["parts"]]
        return made
    if isinstance(value, list | tuple):
        return [_of_engine(one, name, part) for one in value]
    if name not in OF_ENGINE[part]:
        return value
    if isinstance(value, dict):
        return {key: translated(one) for key, one in value.items()}
    return translated(value) if isinstance(value, str) else value


MAX_SCENES_KEPT = 30


class DrawnScene:
    """A scene, with what it is in each language in which somebody reads it."""

    def __init__(self, shown: RoomScene) -> None:
        self.scene = shown
        self._drawn: dict[str, tuple[str, str]] = {}

    def told(self) -> tuple[str, str]:
        """Return it as JSON, as it is read, and a digest of that: the same where nothing is different."""
        if (drawn := self._drawn.get(language())) is None:
            text = json.dumps(read(self.scene.model_dump(mode="json", exclude_defaults=True)), ensure_ascii=False)
            version = blake2b(f"{language()}\n{text}".encode(), digest_size=8).hexdigest()
            drawn = self._drawn[language()] = text, version
        return drawn


class Scenes:
    """The scenes of the runs that are looked at. Methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, tuple[Record, DrawnScene]] = OrderedDict()

    def of(self, record: Record, procedure: Procedure) -> DrawnScene:
        """The scene of a record, made once for each state of it. `procedure`: as it is about the record's case."""
        with self._lock:
            kept = self._kept.get(record.run.id)
            if kept is None or kept[0] is not record:
                kept = self._kept[record.run.id] = (record, DrawnScene(scene(record, procedure)))
            self._kept.move_to_end(record.run.id)
            while len(self._kept) > MAX_SCENES_KEPT:
                self._kept.popitem(last=False)
            return kept[1]


PROGRAM = ("dom", "story", "recount", "bench", "flow", "tally", "transcript", "timeline", "drawer", "room")
"""The files of the program, each after those that it uses."""


def program() -> str:
    """The JavaScript that defines `mountRoom(host, hooks)`."""
    return static(*(f"{name}.js" for name in PROGRAM))


@cache
def static(*names: str) -> str:
    """Return what stands in files of the player; those named `in_` put a part of it into its place in a browser."""
    return "\n".join((Path(__file__).parent / "static" / name).read_text(encoding="utf-8") for name in names)
