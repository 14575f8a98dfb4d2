"""A rehearsal: a procedure played through in memory by the offline model, to see how many calls it will take.

It needs no figures of its own for any procedure: it counts what the procedure really asks.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from courtroom.cases.case import Case
from courtroom.engine.budget import Payer
from courtroom.engine.errors import Abstained, NotOnRecord, QuorumLost
from courtroom.engine.events import Called, Retrieved
from courtroom.engine.interventions import Intervention
from courtroom.engine.ledger import Ledger
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.services import Asked, LookUp, Permit, Services
from courtroom.engine.setup import Setup
from courtroom.models.capabilities import Capabilities
from courtroom.models.card import estimate_prompt_tokens, estimate_tokens
from courtroom.models.offline import OfflineModel
from courtroom.models.request import Model, Reply, Request, Usage, Watch
from courtroom.models.spec import OFFLINE, PERSON


@dataclass(frozen=True)
class Load:
    """What one model will have to do: calls and estimated tokens."""

    model: str
    calls: int
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Estimate:
    """About what a run will take."""

    loads: tuple[Load, ...]
    at_most: int
    on_record: int
    """How many of the calls have their answer on record already."""
    anew: Mapping[str, int] = field(default_factory=dict)
    moved: tuple[str, ...] = ()
    """Models that the family of runs asked at another address, so that what is on record of them is not found here."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person should know of it, a sentence each."""
        return tuple(
            f"{model} was asked at another address: its answers on record are not found, and are asked for again. "
            "Set the address of before, or list it as a connection."
            for model in self.moved
        )

    @property
    def calls(self) -> int:
        return sum(load.calls for load in self.loads)


@dataclass
class CountingAsker:
    """Answers from the record, else by the offline model whichever is asked, and counts what that one would have read."""

    on_record: Callable[[str], Reply | None]
    offline: OfflineModel
    known: dict[str, Reply] = field(default_factory=dict)
    """Answers that count as on record, as an earlier rehearsal has come to them; this one's are added."""
    calls: Counter[str] = field(default_factory=Counter)
    prompt: Counter[str] = field(default_factory=Counter)
    completion: Counter[str] = field(default_factory=Counter)
    anew: Counter[str] = field(default_factory=Counter)
    found: int = 0

    def knows(self, key: str) -> bool:
        return self._reply(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        model = request.spec.id
        self.calls[model] += 1
        if kept := self._reply(request.key):
            self.found += 1
            return kept, False
        self.anew[request.task.title] += 1
        text = (await self.offline.answer(request)).text
        if model not in (OFFLINE, PERSON):
            self.prompt[model] += estimate_prompt_tokens(request.messages)
            self.completion[model] += estimate_tokens(text)
        reply = self.known[request.key] = Reply(text=text, usage=Usage(), cost=0.0)
        return reply, True

    def _reply(self, key: str) -> Reply | None:
        return self.on_record(key) or self.known.get(key)


async def rehearse(
    procedure: Procedure,
    case: Case,
    setup: Setup,
    seed: int,
    look_up: LookUp,
    sight: Capabilities,
    on_record: Callable[[str], Reply | None] = lambda key: None,
    seen: Callable[[str], Retrieved | None] = lambda key: None,
    known: dict[str, Reply] | None = None,
    interventions: Sequence[Intervention] = (),
    root: str = "",
    asked_at: Callable[[str, str], frozenset[str]] = lambda model, connection: frozenset(),
) -> Estimate:
    """Play a run through in memory and count its calls. Nothing is asked of any language model or put on disk.

    Args:
        known: answers that rehearsals of runs before this one came to; they count as on record, and this one's are added.
    """
    counting = CountingAsker(on_record, OfflineModel(procedure.offline), {} if known is None else known)
    services = Services(Ledger("", root, seen, asked_at), counting, sight, look_up)
    setup, _ = procedure.prepare(case, setup, seed)
    await procedure.deliberation(case, setup, seed, interventions, services)()
    loads = tuple(
        Load(model, calls, counting.prompt[model], counting.completion[model])
        for model, calls in counting.calls.items()
    )
    return Estimate(loads, procedure.at_most(case, setup), counting.found, dict(counting.anew))


class RecordLedger(Ledger):
    """Events in a list, after those that are on record."""

    def __init__(self, record: Record, root: str, seen: Callable[[str], Retrieved | None]) -> None:
        super().__init__(record.run.id, root, seen)
        self._record = record

    def called(self, path: str) -> Called | None:
        return self._record.call(path)


@dataclass(frozen=True)
class Recorded:
    """Answers and look-ups from the record, and from nowhere else."""

    on_record: Callable[[str], Reply | None]

    def knows(self, key: str) -> bool:
        return self.on_record(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        if (reply := self.on_record(request.key)) is None:
            raise NotOnRecord("This answer is not on record.")
        return reply, False


async def replay(
    procedure: Procedure,
    record: Record,
    sight: Capabilities,
    root: str,
    on_record: Callable[[str], Reply | None],
    seen: Callable[[str], Retrieved | None],
) -> Mapping[str, Asked[Any]]:
    """The questions of a run by path: those alone whose answers are found again under the same keys."""
    asked: dict[str, Asked[Any]] = {}
    ledger = RecordLedger(record, root, seen)
    services = Services(ledger, Recorded(on_record), sight, asking=lambda one: asked.update({one.path: one}))
    setup, _ = procedure.prepare(record.case, record.setup, record.run.seed)
    deliberate = procedure.deliberation(record.case, setup, record.run.seed, record.interventions, services)
    with suppress(NotOnRecord, QuorumLost, Abstained):  # the run went no further
        await deliberate()
    found = {event.path for event in ledger.events if isinstance(event, Called)}
    return {path: one for path, one in asked.items() if path in found}
