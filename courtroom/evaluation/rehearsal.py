"""A rehearsal: a procedure played through in memory by the offline model, to see how many calls it will take.

It needs no figures of its own for any procedure: it counts what the procedure really asks.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from courtroom.engine.budget import Payer
from courtroom.engine.court import Court, RunInput, hear
from courtroom.engine.errors import NotOnRecord
from courtroom.engine.ledger import Ledger
from courtroom.engine.services import LookUp, Permit, Services
from courtroom.models.capabilities import Capabilities
from courtroom.models.card import estimate_prompt_tokens, estimate_tokens
from courtroom.models.offline import OfflineModel
from courtroom.models.prompt_cache import ExpectedCache
from courtroom.models.request import Model, Reply, Request, Usage, Watch
from courtroom.models.route import Connections
from courtroom.models.spec import NO_SERVER, SCRIPT


@dataclass(frozen=True)
class Load:
    """What one model will have to do: calls and estimated tokens."""

    model: str
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    read: int = 0
    """Of the prompt tokens, those that its provider will read from its cache."""
    written: int = 0
    """Those that it will write there."""


class LoadCount:
    """Adds up what models will have to do."""

    def __init__(self, connections: Connections) -> None:
        self._of, self._cache = defaultdict[str, Counter[str]](Counter), ExpectedCache(connections)

    def add(self, request: Request, *, completion: int | None) -> None:
        """Count a call. `completion`: tokens of its answer, about; None where that is on record."""
        model = request.spec.id
        if model == SCRIPT:  # nobody is asked
            return
        self._of[model]["calls"] += 1
        if completion is not None and model not in NO_SERVER:
            prompt, (read, written) = estimate_prompt_tokens(request.messages), self._cache.of(request)
            self._of[model].update(prompt_tokens=prompt, completion_tokens=completion, read=read, written=written)

    @property
    def loads(self) -> tuple[Load, ...]:
        """One for each model."""
        return tuple(Load(model, **load) for model, load in self._of.items())


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


@dataclass
class CountingAsker(Recorded):
    """Answers from the record, else by the offline model, and counts what the model that is asked would have read."""

    offline: OfflineModel
    count: LoadCount
    made: dict[str, Reply]
    """Answers of this rehearsal and of those before it, which count as on record."""
    anew: Counter[str] = field(default_factory=Counter)
    found: int = 0

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        if kept := self.on_record(request.key):
            self.count.add(request, completion=None)
            self.found += 1
            return kept, False
        self.anew[request.task.title] += 1
        text = (await self.offline.answer(request)).text
        self.count.add(request, completion=estimate_tokens(text))
        reply = self.made[request.key] = Reply(text=text, usage=Usage(), cost=0.0)
        return reply, True


async def rehearse(
    given: RunInput,
    ledger: Ledger,
    look_up: LookUp,
    capabilities: Capabilities,
    on_record: Callable[[str], Reply | None],
    known: dict[str, Reply] | None,
) -> Estimate:
    """Play a run through in memory and count its calls. Nothing is asked of any language model or put on disk. `known`:
    answers of rehearsals before this one, which count as on record; this one's are added."""
    count, procedure = LoadCount(capabilities.connections), given.procedure
    made = {} if known is None else known
    offline = OfflineModel(procedure.offline)
    counting = CountingAsker(lambda key: on_record(key) or made.get(key), offline, count, made)
    court = Court[Any, Any](given, Services(ledger, counting, capabilities, look_up))
    await hear(court, procedure.deliberate)
    at_most = procedure.at_most(given.case, given.setup)
    return Estimate(count.loads, at_most, counting.found, dict(counting.anew))
