"""Records as pages read them: anew only when something has changed, and once for all sessions."""

from __future__ import annotations

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record


def read(house: Courthouse, run: str, age_s: float = 0.0) -> Record:
    """A run as it stands.

    Args:
        age_s: how long ago it may have been looked up.

    Raises:
        NoSuchRun: there is none of this id.
    """
    return house.runner.latest.of(run, age_s)
