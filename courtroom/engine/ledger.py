"""Where a deliberation writes down what happens: in the store for a run, in memory for all else."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import cache, partial

from courtroom.engine.budget import Payer, Payment, Payments
from courtroom.engine.events import Called, Event, Retrieved
from courtroom.engine.lease import FencedWriter
from courtroom.engine.store import RunStore

GATHER_S = 0.05
"""For so long events are gathered that are written in one transaction."""


class Ledger:
    """Where a court writes down what happens: here a list, of a rehearsal, a replay, or questions outside of a run.

    No call happened before, nothing was paid, and all counts as learned.

    Args:
        run: the run's id; empty in a rehearsal.
        root: the run from which all of its family stems; empty in a rehearsal of a new one.
        seen: what an ancestor saw when it looked up the same.
        asked_at: the addresses at which the family asked a model through a connection.
    """

    teaches = False
    """Whether what is learned goes into the knowledge base."""

    def __init__(
        self,
        run: str = "",
        root: str = "",
        seen: Callable[[str], Retrieved | None] = lambda key: None,
        asked_at: Callable[[str, str], frozenset[str]] = lambda model, connection: frozenset(),
    ) -> None:
        self.run, self.root, self.retrieval, self.asked_at = run, root, seen, asked_at
        self.events: list[Event] = []

    def add(self, event: Event) -> bool:
        """Record an event; False when it is on record already."""
        self.events.append(event)
        return True

    def check(self) -> None:
        """Raise `LeaseLost` where another process writes this run by now, so that nothing more is billed."""

    async def teach(self, lesson: Callable[[], None]) -> None:
        """Teach the knowledge base, after all that was recorded is on disk."""

    def called(self, path: str) -> Called | None:
        """The call recorded under this path."""
        return None

    def paid(self, path: str, key: str) -> Payment | None:
        """What was paid at this path for the answer under this key, also in a process that died; None is nothing."""
        return None

    def failures(self, path: str) -> int:
        """How often the call of this path failed and the run went on to ask it again."""
        return 0

    def learned(self, path: str) -> bool:
        """Whether this was learned already."""
        return True


class RunLedger(Ledger):
    """A run's events: known in memory, written in batches, in order.

    Answers do not wait for it: they are on disk before. A process that is killed in between loses events that running
    the procedure again writes again.

    Args:
        events: what is on record.
        teaches: whether the run may change the knowledge base.
        overtaken: calls that stood in the run before it was rewound.
    """

    def __init__(
        self,
        store: RunStore,
        run: str,
        events: Iterable[Event],
        writer: FencedWriter,
        *,
        teaches: bool = True,
        overtaken: Iterable[Called] = (),
    ) -> None:
        super().__init__(
            run, store.families.root(run), partial(store.retrieval, run), cache(partial(store.asked_at, run))
        )
        self.store, self.teaches, self._writer = store, teaches, writer
        self._failures = Counter(call.path for call in overtaken if call.value is None)
        self._known: dict[tuple[str, str], Event] = {(event.kind, event.path): event for event in events}
        self._new: list[Event] = []

    def add(self, event: Event) -> bool:
        if self._known.setdefault((event.kind, event.path), event) is not event:
            return False
        if not self._new or isinstance(event, Retrieved):
            # What was looked up is on disk before an answer that rests on it; all else can be worked out again.
            asyncio.get_running_loop().call_later(0.0 if isinstance(event, Retrieved) else GATHER_S, self.flush)
        self._new.append(event)
        return True

    @property
    def idle(self) -> bool:
        """Whether all events are with the writer."""
        return not self._new

    def flush(self) -> None:
        """Write new events before anything that is written later."""
        if self._new:
            self._writer.do(self.take_new_events())

    def take_new_events(self) -> Callable[[], None]:
        """A function that writes the new events; they count as written from now on."""
        new, self._new = self._new, []
        return partial(self.store.add, self.run, new) if new else lambda: None

    def check(self) -> None:
        self._writer.check()

    async def teach(self, lesson: Callable[[], None]) -> None:
        self.flush()
        await asyncio.wrap_future(self._writer.do(lesson))

    def called(self, path: str) -> Called | None:
        event = self._known.get(("call", path))
        return event if isinstance(event, Called) else None

    def paid(self, path: str, key: str) -> Payment | None:
        return self.store.payments.found(Payer(self.run, path), key)

    def failures(self, path: str) -> int:
        return self._failures[path]

    def learned(self, path: str) -> bool:
        return ("learned", path) in self._known


class SideLedger(Ledger):
    """Of questions that are asked outside of a run: their payments are on record, and so is how often each, by its path, failed."""

    def __init__(self, payments: Payments, run: str, root: str, failures: Mapping[str, int]) -> None:
        super().__init__(run, root)
        self._payments, self._failures = payments, failures

    def paid(self, path: str, key: str) -> Payment | None:
        return self._payments.found(Payer(self.run, path, beside=True), key)

    def failures(self, path: str) -> int:
        return self._failures.get(path, 0)
