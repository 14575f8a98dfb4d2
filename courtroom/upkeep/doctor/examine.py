"""The whole examination, in the order in which one thing rests on another."""

from __future__ import annotations

from collections.abc import Iterator

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from courtroom.upkeep.doctor import file, indexes, kept_media, leases, rows, servers, surroundings
from courtroom.upkeep.doctor.result import CheckResult, Progress


def examine(
    settings: Settings, *, mend: bool = False, progress: Progress = lambda about, done: None
) -> Iterator[CheckResult]:
    """Everything, one finding after the other. What a large store takes memory for are the rows that are mended.

    Args:
        mend: whether what can be mended is mended; else nothing is written.
        progress: is called where a large store takes long.
    """
    yield from surroundings.libraries()
    yield from surroundings.variables()
    yield from servers.reachable(settings)
    yield from surroundings.place(settings)
    progress("store", 0)
    checked = list(file.store(settings, mend))
    yield from checked
    if any(finding.state == "wrong" for finding in checked) or checked[-1].about != "schema":
        return  # what rests on the file can't be examined
    house = Courthouse(settings)
    try:
        yield from rows.readable(house, mend, progress)
        yield from rows.belonging(house, mend, progress)
        yield from leases.living(house, mend)
        yield from kept_media.whole(house, mend)
        yield from indexes.indexes(house, mend)
    finally:
        house.close()
