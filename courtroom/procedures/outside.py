"""Procedures from other packages: each names its `Procedure` as an entry point of the group `courtroom.procedures`."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from traceback import extract_tb

from courtroom.engine.procedure import Procedure
from courtroom.engine.registration import RegistrationError, register
from courtroom.errors import CourtroomError

GROUP = "courtroom.procedures"
log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outside:
    """All procedures, and where those of other packages come from.

    `origins` gives the package of a procedure by the procedure's name; `broken` a sentence for each that can't be used.
    """

    procedures: dict[str, Procedure]
    origins: Mapping[str, str] = field(default_factory=dict)
    broken: Mapping[str, str] = field(default_factory=dict)


def find(known: Mapping[str, Procedure]) -> Outside:
    """The known procedures and those of installed packages. One that can't be used leaves the others alone."""
    procedures, origins, broken = dict(known), {}, {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            found = _loaded(point)
            procedures = register((found,), procedures)
            origins[found.name] = origin
        except Exception as error:  # noqa: BLE001  a stranger's package can fail in any way; the log has the rest
            log.exception("the procedure “%s” of %s can't be used", point.name, origin)
            broken[point.name] = f"The procedure “{point.name}” of {origin} can't be used: {_why(error)}"
    return Outside(procedures, origins, broken)


def _loaded(point: EntryPoint) -> Procedure:
    found = point.load()
    if not isinstance(found, Procedure):
        raise CourtroomError(f"{point.value} is no Procedure. Mend the entry point in its pyproject.toml.")
    return found


def _why(error: Exception) -> str:
    """An author's error in one sentence: the first mistake, else what was raised and where."""
    if isinstance(error, RegistrationError):
        first, *more = str(error).splitlines()
        return first + (f" ({len(more)} more in the log)" if more else "")
    if isinstance(error, CourtroomError):
        return str(error)
    place = extract_tb(error.__traceback__)[-1]
    text = " ".join(str(error).split())
    return f"{Path(place.filename)}, line {place.lineno}: {type(error).__name__}: {text}. Mend it there, or remove the package."
