"""A rehearsal: a procedure played through in memory by the offline model, to see how many calls it will take.

It needs no figures of its own for any procedure: it counts what the procedure really asks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from courtroom.cases.case import Case
from courtroom.engine.control import Control
from courtroom.engine.deliberation import Deliberation
from courtroom.engine.events import Called, Event, Retrieved
from courtroom.engine.gate import Gate
from courtroom.engine.interventions import Intervention
from courtroom.engine.payments import Payer, Payment
from courtroom.engine.ports import Knows, Permit, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.services import Services
from courtroom.engine.setup import Member, Setup
from courtroom.models.offline import OfflineModel
from courtroom.models.prices import estimate_prompt, estimate_tokens
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
    """Upper bound on the calls, re-asks apart."""
    on_record: int
    """How many of the calls have their answer on record already."""
    anew: Mapping[str, int] = field(default_factory=dict)
    """How many calls of which title will be asked anew."""

    @property
    def calls(self) -> int:
        """Calls over all models."""
        return sum(load.calls for load in self.loads)


@dataclass
class MemoryLedger:
    """Events in a list."""

    events: list[Event] = field(default_factory=list)
    seen: Callable[[str], Retrieved | None] = lambda key: None
    run: str = ""
    root: str = ""
    teaches: bool = False

    def add(self, event: Event) -> bool:
        """Keep an event."""
        self.events.append(event)
        return True

    def check(self) -> None:
        """Nobody can take a rehearsal over."""

    async def teach(self, lesson: Callable[[], None]) -> None:
        """Never done, as all counts as learned."""

    def called(self, path: str) -> Called | None:
        """Nothing has happened before a rehearsal."""
        return None

    def had(self, path: str, key: str) -> bool:
        """Nothing was answered before a rehearsal."""
        return False

    def paid(self, path: str, key: str) -> Payment | None:
        """Nothing was paid before a rehearsal."""
        return None

    def failures(self, path: str) -> int:
        """Nothing has failed before a rehearsal."""
        return 0

    def learned(self, path: str) -> bool:
        """A rehearsal teaches nothing: all counts as learned."""
        return True

    def retrieval(self, key: str) -> Retrieved | None:
        """What a forebear saw."""
        return self.seen(key)


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
        """See `ports.Asks`."""
        return self._reply(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """See `ports.Asks`."""
        model = request.spec.id
        self.calls[model] += 1
        if kept := self._reply(request.key):
            self.found += 1
            return kept, False
        self.anew[request.task.title] += 1
        text = (await self.offline.answer(request)).text
        if model not in (OFFLINE, PERSON):
            self.prompt[model] += estimate_prompt(request.messages)
            self.completion[model] += estimate_tokens(text)
        reply = self.known[request.key] = Reply(text=text, usage=Usage(), cost=0.0)
        return reply, True

    def _reply(self, key: str) -> Reply | None:
        return self.on_record(key) or self.known.get(key)


class NobodySits:
    """A rehearsal asks no person: the offline model answers in their place."""

    def person(self, run: str, path: str, member: Member) -> Model:
        """Never asked, as `CountingAsker` answers all by itself."""
        return OfflineModel({})


async def rehearse(
    procedure: Procedure,
    case: Case,
    setup: Setup,
    seed: int,
    knowledge: Knows,
    sight: Sees,
    on_record: Callable[[str], Reply | None] = lambda key: None,
    seen: Callable[[str], Retrieved | None] = lambda key: None,
    known: dict[str, Reply] | None = None,
    interventions: Sequence[Intervention] = (),
    root: str = "",
) -> Estimate:
    """Play a run through in memory and count its calls. Nothing is asked of any language model or put on disk.

    Args:
        on_record: the answer that is on record under a key.
        seen: what a forebear saw when it looked up the same.
        known: answers that rehearsals of runs before this one came to; they count as on record, and this one's are added.
        interventions: what a person does to the run.
        root: the run from which all of its family stems.
    """
    counting = CountingAsker(on_record, OfflineModel(procedure.offline), {} if known is None else known)
    services = Services(
        ledger=MemoryLedger(seen=seen, root=root),
        asker=counting,
        knowledge=knowledge,
        sight=sight,
        seats=NobodySits(),
        gate=Gate(Control(), -1, paused=lambda why, control: None, resumed=lambda: None),
    )
    deliberation = Deliberation(procedure, case, setup, seed, interventions, services)
    await deliberation.verdict()
    loads = tuple(
        Load(model, calls, counting.prompt[model], counting.completion[model])
        for model, calls in counting.calls.items()
    )
    return Estimate(loads, procedure.at_most(case, deliberation.setup), counting.found, dict(counting.anew))
