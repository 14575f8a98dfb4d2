"""What the app needs around it: libraries, settings, a folder that may be written to, room on the disk."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, requires, version
from typing import TYPE_CHECKING

from courtroom.errors import CourtroomError
from courtroom.settings import Settings, from_environment
from courtroom.settings import variables as settings_variables
from courtroom.upkeep.doctor.result import CheckResult, fine, wrong

if TYPE_CHECKING:
    from packaging.requirements import Requirement

PREFIX = "COURTROOM_"
KNOWN = ("COURTROOM_REAL_DATA",)
"""Variables of tests and benchmarks, besides the settings."""
ROOM = 2**30
"""Bytes that should be free: runs with many members, and videos, take some."""


def libraries() -> Iterator[CheckResult]:
    """Installed versions against those that the package asks for."""
    from packaging.requirements import Requirement

    try:
        asked = map(Requirement, requires("courtroom") or ())
    except PackageNotFoundError:
        yield wrong("libraries", "Courtroom is not installed as a package. Use `pip install -r requirements.txt`.")
        return
    wanted = [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})]
    bad = [text for one in wanted if (text := _library(one))]
    if bad:
        yield wrong("libraries", f"{'; '.join(bad)}. Use `pip install -r requirements.txt`.")
    else:
        yield fine("libraries", f"All {len(wanted)} are installed in a version that fits.")


def _library(wanted: Requirement) -> str:
    try:
        there = version(wanted.name)
    except PackageNotFoundError:
        return f"{wanted.name} is not installed"
    fits = wanted.specifier.contains(there, prereleases=True)
    return "" if fits else f"{wanted.name} {there} is installed, {wanted.specifier} is needed"


def variables(environment: Mapping[str, str] = os.environ) -> Iterator[CheckResult]:
    """COURTROOM_* variables that nothing reads, with what was probably meant, and values that do not fit."""
    known = [*sorted(settings_variables()), *KNOWN]
    given = [name for name in environment if name.upper().startswith(PREFIX)]
    unknown = [name for name in given if name.upper() not in known]
    for name in sorted(unknown):
        near = get_close_matches(name.upper(), known, 1)
        yield wrong(
            "settings", f"{name} is not known{f'; do you mean {near[0]}?' if near else '.'} Rename it, or unset it."
        )
    try:
        from_environment()
    except CourtroomError as error:
        yield wrong("settings", str(error))
        return
    if not unknown:
        yield fine(
            "settings", f"Set and fitting: {', '.join(sorted(given))}." if given else "None is set; the defaults hold."
        )


def place(settings: Settings) -> Iterator[CheckResult]:
    """The folder in which everything is kept."""
    home = settings.home
    near = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    if not near.is_dir():
        yield wrong("folder", f"{home} can't be a folder, as {near} is a file. Move it away, or set COURTROOM_HOME.")
        return
    try:
        with tempfile.TemporaryFile(dir=near):
            pass
    except OSError as error:
        yield wrong("folder", f"{home} can't be written to: {error.strerror}. Allow it, or set COURTROOM_HOME.")
        return
    yield fine("folder", f"{home} may be written to.")
    free = shutil.disk_usage(near).free
    text = f"{free / 2**30:.1f} GB are free where {home} lies."
    yield fine("disk", text) if free >= ROOM else wrong("disk", f"{text} Make room.")
