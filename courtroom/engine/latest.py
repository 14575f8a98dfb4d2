"""Runs as they stand now, read once for all who look at them."""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from courtroom.engine.record import Record

MOST = 30
"""Runs whose records are kept, at most: those that were looked at last."""

Pulse = tuple[object, ...]


@dataclass
class _KeptRecord:
    pulse: Pulse | None = None
    record: Record | None = None
    at: float = 0.0
    """When its pulse was last taken, by a clock that nobody sets."""
    reading: threading.Lock = field(default_factory=threading.Lock)


class LatestRecords:
    """One record of each run for all sessions of this process; methods may be called from any thread.

    Who asks while another reads waits for that: so many who look on at one run cost no more than one does. `pulse` differs as soon as
    anything in a run has changed; `demand` refuses a run that the person who acts may not see.
    """

    def __init__(
        self,
        record: Callable[[str], Record],
        pulse: Callable[[str], Pulse],
        demand: Callable[[str], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._record, self._pulse, self._demand, self._now = record, pulse, demand, now
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, _KeptRecord] = OrderedDict()

    def of(self, run: str, age_s: float = 0.0) -> Record:
        """A run as it stands; the very same object for as long as nothing in it changes.

        Args:
            age_s: how long ago it may have been looked up. Who looks again soon may take what another has just read.
        """
        self._demand(run)
        with self._lock:
            kept = self._kept.setdefault(run, _KeptRecord())
            self._kept.move_to_end(run)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
        if kept.record is not None and self._now() - kept.at < age_s:
            return kept.record
        with kept.reading:
            kept.at = self._now()
            pulse = self._pulse(run)  # before the record: what comes in between is read once more
            if kept.record is None or kept.pulse != pulse:
                kept.record, kept.pulse = self._record(run), pulse
            return kept.record
