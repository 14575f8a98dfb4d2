"""Where a run waits: before a stage, and before a new call while it is paused."""

import asyncio
import time
from collections.abc import Callable

from courtroom.engine.events import Event, StageBegan, Tallied, Voted
from courtroom.engine.run import Control


class Gate:
    """Obeys a `Control`, which may change at any time. Lives on the engine's loop.

    Args:
        paused: called when the run comes to wait, with a sentence on why.
        resumed: called when it goes on.
        asked: called when it comes to wait for a reply to members; None: nobody would reply, so it does not wait.

    `waited_s` is how long the run has waited, in seconds; it does not count as its wall time.
    """

    def __init__(
        self,
        paused: Callable[[str, Control], None] = lambda why, control: None,
        resumed: Callable[[], object] = lambda: None,
        asked: Callable[[], None] | None = None,
    ) -> None:
        self.control = Control()
        self.frontier = -1
        """Index of the last stage that had begun when the run was taken up; up to it all is on record."""
        self._paused, self._resumed, self._asked = paused, resumed, asked
        self._changed = asyncio.Event()
        self._since: float | None = None
        self.why = ""
        """A sentence on why it waits, or waited last."""
        self.waited_s = 0.0
        self._target_begun = False
        self._target_done = False
        self._held: float | None = None

    def hold(self, held: bool) -> None:
        """Let nothing new begin while writes are held, as what would be asked could not be kept."""
        if held and self._held is None:
            self._held = time.perf_counter()
        elif not held and self._held is not None:
            if not self.waits:
                self.waited_s += time.perf_counter() - self._held
            self._held = None
            self._changed.set()

    def set(self, control: Control) -> None:
        if control != self.control:
            if control.stage != self.control.stage:
                self._target_begun = self._target_done = False
            self.control = control
            self._changed.set()
            if control.paused:
                self._say_paused("Paused. Answers under way still arrive and are kept.")
            else:
                self._go_on()

    @property
    def waits(self) -> bool:
        return self._since is not None

    async def enter(self, stage: StageBegan, *, unanswered: int = 0) -> None:
        """Wait until a stage may begin. `unanswered`: questions to the court without which it may not; once there is a
        reply, the run is taken up anew."""
        self._target_done = self._target_begun
        waits = unanswered > 0 and self._asked is not None and stage.index > self.frontier
        if waits and self._asked:
            self._asked()
        while waits or self._held is not None or not self._may_begin(stage):
            if waits:
                self._say_paused(f"Members ask the court something ({unanswered}). Reply, then let the run go on.")
            elif self._held is None:
                self._say_paused(f"Paused before {stage.name}.")
            await self._change()
        self._go_on()
        wanted = (self.control.stage or "").casefold()
        self._target_begun |= bool(wanted) and wanted in (stage.name.casefold(), stage.path, stage.stage_kind)

    async def open(self) -> None:
        while self._held is not None or self.control.paused or self.control.stopped:
            await self._change()
        self._go_on()

    def notice(self, event: Event) -> None:
        """Pause where the run is to break on what has just happened."""
        breaks = self.control.breaks
        if isinstance(event, Voted) and event.changed and "change" in breaks:
            why = f"Paused: {event.member} changed from {event.before} to {event.choice}."
        elif isinstance(event, Tallied) and event.consensus and "consensus" in breaks:
            why = "Paused: consensus is reached."
        elif isinstance(event, Tallied) and "round" in breaks:
            why = "Paused after the round."
        else:
            return
        self.control = self.control.model_copy(update={"paused": True})
        self._say_paused(why)

    def _may_begin(self, stage: StageBegan) -> bool:
        control = self.control
        if control.paused or control.stopped:
            return False
        if stage.index <= self.frontier:
            return True
        if control.upto is not None and stage.index > control.upto:
            return False
        return not (control.stage and self._target_done)

    def _say_paused(self, why: str) -> None:
        if self._since is None:
            self._since, self.why = time.perf_counter(), why
            self._paused(why, self.control)

    def _go_on(self) -> None:
        if self._since is not None:
            self.waited_s += time.perf_counter() - self._since
            self._since = None
            self._resumed()

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
