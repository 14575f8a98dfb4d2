"""Records as pages read them: anew only when something has changed, once for all who look."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from weakref import WeakKeyDictionary

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record

MOST = 8
"""Runs that are kept of a courthouse, those that were looked at last."""


@dataclass
class _LastRead:
    lock: Lock = field(default_factory=Lock)
    runs: OrderedDict[str, tuple[object, Record]] = field(default_factory=OrderedDict)


_kept: WeakKeyDictionary[Courthouse, _LastRead] = WeakKeyDictionary()


def read(house: Courthouse, run: str) -> Record:
    """A run as it stands; the same object until its pulse changes. May be called from any thread.

    Raises:
        NoSuchRun: there is none of this id.
    """
    kept = _kept.setdefault(house, _LastRead())
    pulse = house.store.pulse(run)
    with kept.lock:
        found = kept.runs.get(run)
        if found is not None and found[0] == pulse:
            kept.runs.move_to_end(run)
            return found[1]
    record = house.record(run)
    with kept.lock:
        kept.runs[run] = (pulse, record)
        kept.runs.move_to_end(run)
        while len(kept.runs) > MOST:
            kept.runs.popitem(last=False)
    return record
