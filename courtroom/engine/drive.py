"""Driving one run: from its record, through its procedure, to a verdict or a stop that can be continued."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from courtroom.engine.asker import Asker
from courtroom.engine.control import Control
from courtroom.engine.deliberation import Deliberation
from courtroom.engine.errors import Abstained, BudgetReached, QuorumLost
from courtroom.engine.events import Called, Event, Retrieved, StageBegan, Verdict
from courtroom.engine.gate import Gate
from courtroom.engine.lease import Hand
from courtroom.engine.live import Live
from courtroom.engine.payments import Payer, Payment, in_sum
from courtroom.engine.ports import Knows, Seats, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.run import CELL, Run, Status
from courtroom.engine.services import Services
from courtroom.engine.spent import Spent
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError, Unreadable, log_file

log = logging.getLogger(__name__)


class DiskLedger:
    """A run's events: known in memory, written together once the loop has done what was at hand.

    Answers do not wait for it: they are on disk before. A process killed in between loses events that driving the run
    again writes anew.

    Args:
        hand: writes of the run what this process is to write.
    """

    def __init__(
        self,
        store: RunStore,
        run: str,
        events: Iterable[Event],
        hand: Hand,
        *,
        teaches: bool = True,
        overtaken: Iterable[Called] = (),
    ) -> None:
        self.store, self.run, self.teaches, self._hand = store, run, teaches, hand
        self.root = store.families.root(run)
        before = tuple(overtaken)
        self._had = {(call.path, key) for call in before for key in call.keys}
        self._failures = Counter(call.path for call in before if call.value is None)
        self._known: dict[tuple[str, str], Event] = {(event.kind, event.path): event for event in events}
        self._new: list[Event] = []

    def add(self, event: Event) -> bool:
        """Record an event; False when it is on record already."""
        if self._known.setdefault((event.kind, event.path), event) is not event:
            return False
        if not self._new:
            asyncio.get_running_loop().call_soon(self.flush)
        self._new.append(event)
        return True

    def flush(self) -> None:
        """Have written what is new, before all that is written later."""
        if self._new:
            self._hand.do(self.taken())

    def taken(self) -> Callable[[], None]:
        """What writes that which is new; it counts as written."""
        new, self._new = self._new, []
        return partial(self.store.add, self.run, new) if new else lambda: None

    def check(self) -> None:
        """Raise `LeaseLost` where another process drives this run by now."""
        self._hand.check()

    async def teach(self, lesson: Callable[[], None]) -> None:
        """Teach the knowledge base, after all that was recorded is on disk."""
        self.flush()
        await asyncio.wrap_future(self._hand.do(lesson))

    def called(self, path: str) -> Called | None:
        """The call recorded under this path."""
        event = self._known.get(("call", path))
        return event if isinstance(event, Called) else None

    def had(self, path: str, key: str) -> bool:
        """Whether this run took this answer at this path before."""
        called = self.called(path)
        return (path, key) in self._had or (called is not None and key in called.keys)

    def paid(self, path: str, key: str) -> Payment | None:
        """What this run has paid at this path for this answer, also in a process that died before it wrote the event."""
        return self.store.payments.found(Payer(self.run, path), key)

    def failures(self, path: str) -> int:
        """How often the call of this path failed and the run went on to ask it again."""
        return self._failures[path]

    def learned(self, path: str) -> bool:
        """Whether this was learned already."""
        return ("learned", path) in self._known

    def retrieval(self, key: str) -> Retrieved | None:
        """What this run or its forebears saw."""
        return self.store.retrieval(self.run, key)


@dataclass(frozen=True)
class Drive:
    """One run being driven by this process.

    `gate` is where others reach in while it is driven.
    """

    run: str
    store: RunStore
    procedure: Procedure
    deliberation: Deliberation
    gate: Gate
    ledger: DiskLedger
    hand: Hand
    interventions_seen: int
    """The `count` of interventions that this drive knows of."""

    @classmethod
    def take_up(
        cls,
        run: str,
        store: RunStore,
        procedures: Mapping[str, Procedure],
        asker: Asker,
        knowledge: Knows,
        sight: Sees,
        seats: Seats,
        live: Live,
        hand: Hand,
        notify: Callable[[], None],
    ) -> Drive:
        """Get a deliberation ready from what is on record. It reads and works a lot: called in a thread of its own.

        Args:
            notify: called, in the writer's thread, when the run's status is on disk.
        """
        row = store.run(run)
        procedure = installed(procedures, row)
        if store.rewinding.due(run):
            hand.do(partial(store.rewinding.rewind, run)).result()
        interventions_seen, interventions = store.interventions.count(run), store.interventions.of(run)
        events = [event for _, event in store.events(run)]
        stages = [event for event in events if isinstance(event, StageBegan)]

        overtaken = store.rewinding.overtaken(run)
        paid = in_sum(store.payments.of(run).values())
        ledger = DiskLedger(
            store, run, events, hand, teaches=row.parent is None and row.origin != CELL, overtaken=overtaken
        )

        def resumed() -> None:
            hand.do(partial(store.set_status, run, "running"))

        def paused(why: str, control: Control) -> None:
            ledger.flush()
            hand.do(partial(store.set_control, run, control))
            hand.do(partial(store.set_status, run, "paused", why)).add_done_callback(lambda done: notify())

        services = Services(
            ledger=ledger,
            asker=asker,
            knowledge=knowledge,
            sight=sight,
            seats=seats,
            gate=Gate(row.control, stages[-1].index if stages else -1, paused=paused, resumed=resumed),
            live=live,
            spent=Spent(paid.calls, paid.tokens, store.payments.known_money(run), paid.number),
            purses=store.purses,
            payer=store.purses.payer(run),
        )
        setup = store.setup(run, procedure.setup)
        deliberation = Deliberation(procedure, store.case(row), setup, row.seed, interventions, services)
        return cls(run, store, procedure, deliberation, services.gate, ledger, hand, interventions_seen)

    async def go(self) -> None:
        """Deliberate until there is a verdict, or something stops the run. Its state is kept in any case."""
        began = time.perf_counter()
        verdict: Verdict | None = None
        try:
            verdict = await self._verdict()
        finally:
            took = max(0.0, time.perf_counter() - began - self.gate.waited_s)
            self.hand.do(partial(self._end, self.ledger.taken(), took, verdict))

    def _end(self, events: Callable[[], None], took: float, verdict: Verdict | None) -> None:
        """Write all that the end of a drive is, at once."""
        events()
        self.store.add_wall(self.run, took)
        if verdict is not None:
            self.store.finish(self.run, verdict)

    async def _verdict(self) -> Verdict | None:
        try:
            verdict = await self.deliberation.verdict()
        except BudgetReached as reached:
            self._set("paused", str(reached))
        except QuorumLost as lost:
            self._set("failed", str(lost))
        except Abstained as abstained:
            self._set("failed", f"The run can't go on without this answer. {abstained}")
        except CourtroomError as error:
            log.exception("run %s stopped", self.run)
            self._set("failed", str(error))
        except Exception:  # noqa: BLE001  the last line of defence: the run's state is kept, the log has the rest
            log.exception("run %s failed", self.run)
            self._set("failed", f"Something went wrong inside the program; {log_file()} says what. The run is kept.")
        else:
            return verdict
        return None

    def _set(self, status: Status, reason: str) -> None:
        self.ledger.flush()
        self.hand.do(partial(self.store.set_status, self.run, status, reason))


def installed(procedures: Mapping[str, Procedure], run: Run) -> Procedure:
    """The procedure of a run.

    Raises:
        Unreadable: it is of another package, which is not installed here.
    """
    if (procedure := procedures.get(run.procedure)) is None:
        raise Unreadable("run", run.id, f"its procedure “{run.procedure}” is not installed here")
    return procedure
