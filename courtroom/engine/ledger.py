"""Where a deliberation writes down what happens: in memory, and of a run that is driven in the store too."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import cache, partial

from courtroom.engine.budget import Payer, Payment
from courtroom.engine.events import Event, Retrieved
from courtroom.engine.record import Record
from courtroom.engine.store import RunStore
from courtroom.store.connection import StoreLock
from courtroom.store.writer import LockLost

GATHER_S = 0.05
"""For so long events are gathered that are written in one transaction."""


class Ledger:
    """What is known of a deliberation, kept in memory: of a rehearsal, a replay, or questions outside of a run.

    Args:
        run: the run's id; empty in a rehearsal.
        root: the run from which all of its family stems; empty in a rehearsal of a new one.
        events: what is on record.
        failures: how often the call of a path failed and was to be asked again.
        seen: what the run, or an ancestor, saw when it looked up the same.
        asked_at: the addresses at which the family asked a model through a connection.
        paid: what was paid at a path for the answer under a key, also in a process that died; None is nothing.
    """

    teaches = False
    """Whether what is learned goes into the knowledge base."""

    def __init__(
        self,
        run: str = "",
        root: str = "",
        *,
        events: Iterable[Event] = (),
        failures: Mapping[str, int] | None = None,
        seen: Callable[[str], Retrieved | None] = lambda key: None,
        asked_at: Callable[[str, str], frozenset[str]] = lambda model, connection: frozenset(),
        paid: Callable[[str, str], Payment | None] = lambda path, key: None,
    ) -> None:
        self.run, self.root, self.seen, self.asked_at, self.paid = run, root, seen, asked_at, paid
        self.failures: Mapping[str, int] = failures or {}
        self.known: dict[tuple[str, str], Event] = {(event.kind, event.path): event for event in events}
        self.new: list[Event] = []
        """What has happened, and was not written yet."""

    def add(self, event: Event) -> bool:
        """Record an event; False when it is on record already."""
        if self.known.setdefault((event.kind, event.path), event) is not event:
            return False
        self.new.append(event)
        return True

    def check(self) -> None:
        """Raise `LockLost` where another process may write this run by now, so that nothing more is billed."""

    async def teach(self, lesson: Callable[[], None]) -> None:
        """Teach the knowledge base, after all that was recorded is on disk."""


class RunLedger(Ledger):
    """A run's events: known in memory, written in batches, in order.

    Answers do not wait for it: they are on disk before. A process that is killed in between loses events that running
    the procedure again writes again.

    Args:
        teaches: whether the run may change the knowledge base.
        write: writes as long as the lock is held.
    """

    def __init__(
        self,
        record: Record,
        store: RunStore,
        lock: StoreLock,
        write: Callable[[Callable[[], None]], Future[None]],
        *,
        teaches: bool,
    ) -> None:
        run = record.run.id
        super().__init__(
            run,
            store.root(run),
            events=(event for _, event in record.events),
            failures=Counter(call.path for call in record.overtaken if call.value is None),
            seen=partial(store.retrieval, run),
            asked_at=cache(partial(store.asked_at, run)),
            paid=lambda path, key: store.payments.found(Payer(run, path), key),
        )
        self._store, self.teaches, self._lock, self._write = store, teaches, lock, write

    def add(self, event: Event) -> bool:
        is_first = not self.new
        if is_new := super().add(event):
            if isinstance(event, Retrieved):  # on disk before an answer that rests on it
                asyncio.get_running_loop().call_soon(self.flush)
            elif is_first:
                asyncio.get_running_loop().call_later(GATHER_S, self.flush)
        return is_new

    def flush(self) -> None:
        """Write new events before anything that is written later."""
        if self.new:
            events, self.new = self.new, []
            self._write(partial(self._store.add, self.run, events))

    def check(self) -> None:
        if not self._lock.held:
            raise LockLost

    async def teach(self, lesson: Callable[[], None]) -> None:
        self.flush()
        await asyncio.wrap_future(self._write(lesson))
