"""Runs as they stand now, read once for all who look at them."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from courtroom.engine.record import Record

MOST = 30
"""Runs whose records are kept, at most: those that were looked at last."""

Pulse = tuple[object, ...]


@dataclass
class _Kept:
    """What was read of one run."""

    pulse: Pulse | None = None
    record: Record | None = None
    reading: threading.Lock = field(default_factory=threading.Lock)


class LatestRecords:
    """One record of each run for all sessions of this process; methods may be called from any thread.

    Who asks while another reads waits for that: so many who look on at one run cost no more than one does.

    Args:
        record: a run as it stands.
        pulse: differs as soon as anything in a run has changed; cheap.
    """

    def __init__(self, record: Callable[[str], Record], pulse: Callable[[str], Pulse]) -> None:
        self._record, self._pulse = record, pulse
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _Kept] = OrderedDict()

    def of(self, run: str) -> Record:
        """A run as it stands; the very same object for as long as nothing in it changes.

        Raises:
            NoSuchRun: there is none of this id.
        """
        with self._lock:
            kept = self._kept.setdefault(run, _Kept())
            self._kept.move_to_end(run)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        with kept.reading:
            pulse = self._pulse(run)  # before the record: what comes in between is read once more
            if kept.record is None or kept.pulse != pulse:
                kept.record, kept.pulse = self._record(run), pulse
            return kept.record
