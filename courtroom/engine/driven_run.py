"""One run that this process drives: its task, its typed keys, and what is done where its writes wait or fail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from courtroom.engine.control import Control
from courtroom.engine.drive import Drive
from courtroom.engine.lease import LeaseLost
from courtroom.engine.store import RunStore

log = logging.getLogger(__name__)


@dataclass(eq=False, repr=False)  # a repr would hold the keys
class DrivenRun:
    """One run that this process drives. Used on the loop alone."""

    run: str
    store: RunStore
    keys: dict[str, str]
    """Typed keys of whoever had the run go on last; in memory only. The task has this very object, so that it is changed
    in place."""
    drive: Drive | None = None
    """None until it is set up."""
    task: asyncio.Task[None] = field(init=False)

    def use(self, keys: Mapping[str, str]) -> None:
        """From here on, use these keys in place of anybody else's."""
        self.keys.clear()
        self.keys.update(keys)

    def obey(self, control: Control) -> bool:
        """Go as far as this allows. False while it is set up: it has yet to read the control that is on disk."""
        if self.drive is not None:
            self.drive.gate.set(control)
        return self.drive is not None

    def hold(self, trouble: str) -> None:
        """Ask nothing new while the disk takes no writes; go on when `trouble` is empty."""
        if self.drive is not None:
            self.drive.gate.hold(bool(trouble))
            if not trouble:
                self.drive.hand.do(partial(self.store.say, self.run, ""))

    def give_up(self, error: BaseException) -> None:
        """Drive it no longer, as nothing of it may, or can, be written."""
        if self.drive is None or self.task.cancelling():
            return
        if isinstance(error, LeaseLost):
            log.warning("run %s is driven by another process now", self.run)
        else:
            log.error("run %s could not be written", self.run, exc_info=error)
            text = "What happened could not be written down; the log says why. The run is kept."
            self.drive.hand.do(partial(self.store.set_status, self.run, "failed", text))
        self.task.cancel()
