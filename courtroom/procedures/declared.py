"""What a procedure declares in a TOML file beside its code: texts, roles, stages, tabs, presets, and what its paper sets."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from courtroom.declarations.blocks import Block
from courtroom.declarations.changes import merged
from courtroom.declarations.paper import PaperSetting, changes
from courtroom.declarations.parts import Choice, Controls, Ending, Preset, Role, StageKind, View
from courtroom.engine.record import Record
from courtroom.models.offline import Methods

Draw = Callable[[Record], Mapping[str, Sequence[Block]]]


def declared(
    code: str, offline: Methods, draws: Sequence[Draw] = (), stages: Sequence[StageKind] = ()
) -> dict[str, Any]:
    """Return the arguments of a `Procedure` that stand in the TOML file with the name of a module, of which `code` is the
    `__file__`. `offline`: how the offline model answers each of the tasks. `draws`: what draws each of the file's views, in
    its order. `stages`: those that other procedures have too; those of the file come after them."""
    path = Path(code).with_suffix(".toml")
    file = tomllib.loads(path.read_text(encoding="utf-8"))
    # A setting without a value is one that the paper leaves out, such as a limit.
    settings = {
        whose: [PaperSetting(**{"value": None, **row}) for row in rows]
        for whose, rows in file.pop("settings", {}).items()
    }
    file.pop("knobs", None)  # which the module's setup reads
    views = zip(file.pop("views", ()), draws, strict=True)
    controls = file.pop("controls", None)
    presets = []
    for preset in file["presets"]:  # the paper's settings that it names, then changes of its own
        published = changes(setting for whose in preset.get("settings", ()) for setting in settings[whose])
        own = preset.get("changes", {})
        presets.append(Preset(preset["title"], preset["help"], merged(published, own)))
    return {
        **file,
        "roles": tuple(Role(**role) for role in file["roles"]),
        "stages": (*stages, *(StageKind(**stage) for stage in file["stages"])),
        "choices": tuple(Choice(**choice) for choice in file.get("choices", ())),
        "views": tuple(View(**view, draw=draw) for view, draw in views),
        "presets": tuple(presets),
        "paper_settings": tuple(settings.get("paper", ())),
        "looks_in": tuple(file.get("looks_in", ())),
        "ending": Ending(**file.get("ending", {})),
        "controls": TypeAdapter(Controls).validate_python(controls) if controls else None,
        "tasks": tuple(offline),
        "offline": offline,
        "prompts": path.parent / "prompts",
    }


def role_titles(code: str) -> dict[str, str]:
    """Return what roles are called, by name, as `procedure.toml` beside a module declares them. `code`: its `__file__`."""
    file = tomllib.loads(Path(code).with_name("procedure.toml").read_text(encoding="utf-8"))
    return {role["name"]: role["title"] for role in file["roles"]}
