"""Which procedures were found right before: what has not changed since is not read again at every start.

Reading all templates and modules of the shipped procedures takes longer than loading them. As Python does with what it has compiled, a
file beside it says for which state of the files it holds; where that can't be written, all is checked at each start.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from importlib.util import cache_from_source
from pathlib import Path

from courtroom.engine.procedure import Procedure

PACKAGE = Path(__file__).parents[1]
READ = (".py", ".j2")
"""What a check reads."""


def found_right(procedure: Procedure) -> bool:
    """Whether this procedure, declared in this way, was found right in these states of its files."""
    file = _file(procedure)
    try:
        return file is not None and file.read_text(encoding="ascii") == _state(procedure)
    except OSError:
        return False


def remember(procedure: Procedure) -> None:
    """Keep that it was found right."""
    file = _file(procedure)
    if file is None or sys.dont_write_bytecode:
        return
    with suppress(OSError):  # a folder that may not be written
        file.parent.mkdir(exist_ok=True)
        new = file.with_name(f"{file.name}.{os.getpid()}")
        new.write_text(_state(procedure), encoding="ascii")
        new.replace(file)


def _file(procedure: Procedure) -> Path | None:
    source = getattr(sys.modules.get(procedure.deliberate.__module__), "__file__", None)
    return Path(cache_from_source(source)).with_name(f"{procedure.name}.checked") if source else None


def _state(procedure: Procedure) -> str:
    """A digest of all that a check depends on."""
    modules = {procedure.deliberate.__module__, *(task.__module__ for task in procedure.tasks)}
    own = {folder for name in modules for folder in _folders(name)} | {procedure.prompts}
    declared = (
        procedure.case_kind,
        str(procedure.prompts),
        [stage.name for stage in procedure.stages],
        [role.name for role in procedure.roles],
        [(f"{one.__module__}.{one.__qualname__}", sorted(one.model_fields), list(one.offline_only)) for one in procedure.tasks],
    )  # fmt: skip
    files = [_of_package(), *(list(_files(folder)) for folder in sorted(own - {PACKAGE}))]
    return hashlib.sha256(json.dumps([sys.version, declared, files]).encode()).hexdigest()


def _folders(module: str) -> Iterator[Path]:
    """The folder of a module's whole package; its own file where it is in none."""
    file = getattr(sys.modules.get(module.partition(".")[0]), "__file__", None)
    if file:
        yield Path(file).parent if Path(file).name == "__init__.py" else Path(file)


@cache
def _of_package() -> list[tuple[object, ...]]:
    """The state of our own files and of what reads templates; they stay as they are while a process lives."""
    return [("jinja2", version("jinja2")), *_files(PACKAGE)]


def _files(top: Path) -> Iterator[tuple[object, ...]]:
    """Path, size and time of change (nanoseconds) of each file that a check may read."""
    found = [top] if top.is_file() else [path for path in sorted(top.rglob("*")) if path.suffix in READ]
    for path in found:
        about = path.stat()
        yield str(path), about.st_size, about.st_mtime_ns
