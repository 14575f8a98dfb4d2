"""A scene as its reader reads it: what the engine says in it, in the language of the interface."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from courtroom.language import ENGLISH, _, language, translated
from courtroom.room.player import adapter, program

TEXT = re.compile(r"""\bt\((["'])((?:(?!\1).)*)\1""")
"""A text of the player, as its program says it: `t("Play")`."""


def words() -> dict[str, str]:
    """The player's own words by their English; nothing in English."""
    return {} if language() == ENGLISH else {text: _(text) for text in _said()}


@cache
def _said() -> tuple[str, ...]:
    sources = (program(), adapter("page"), adapter("report"))
    return tuple(dict.fromkeys(found[2] for source in sources for found in TEXT.finditer(source)))


def read(scene: dict[str, Any]) -> dict[str, Any]:
    """A scene, or a part of one, as plain data with what the engine says in it translated; what members say stays."""
    if language() == ENGLISH:
        return scene
    shown = dict(scene)
    for name in ("procedure", "reason", "ending"):
        if name in shown:
            shown[name] = translated(shown[name])
    for name, parts in (("sides", ("title",)), ("seats", ("name", "role"))):
        if name in shown:
            shown[name] = [_parts(one, parts) for one in shown[name]]
    if "moments" in shown:
        shown["moments"] = [_moment(one) for one in shown["moments"]]
    if "live" in shown:
        shown["live"] = [_moment(one) for one in shown["live"]]
    if "ballots" in shown:
        shown["ballots"] = {path: translated(name) for path, name in shown["ballots"].items()}
    if "stages_to_come" in shown:
        shown["stages_to_come"] = [translated(title) for title in shown["stages_to_come"]]
    if shown.get("verdict"):
        shown["verdict"] = _parts(shown["verdict"], ("outcome", "note", "summary"))
    return shown


def _moment(moment: dict[str, Any]) -> dict[str, Any]:
    shown = _parts(moment, ("title",))
    said = ("label", "text") if moment.get("failed") else ("label",)
    if "parts" in shown:
        shown["parts"] = [_parts(one, said) for one in shown["parts"]]
    if "facts" in shown:
        shown["facts"] = [_parts(one, ("label", "value")) for one in shown["facts"]]
    return shown


def _parts(given: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {**given, **{name: translated(given[name]) for name in names if given.get(name)}}
