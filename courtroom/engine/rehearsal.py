"""A rehearsal: a procedure played through in memory by the offline model, to see how many calls it will take.

It needs no figures of its own for any procedure: it counts what the procedure really asks.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from courtroom.case import Case, Medium
from courtroom.engine.control import Control
from courtroom.engine.court import Court
from courtroom.engine.events import Called, Event, Retrieved
from courtroom.engine.gate import Gate
from courtroom.engine.ports import Knows, Sees
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.models.offline import answer_offline
from courtroom.models.prices import IMAGE_TOKENS, estimate_tokens
from courtroom.models.prompts import Prompts
from courtroom.models.request import Reply, Request, Usage, Watch
from courtroom.models.spec import OFFLINE

FRAMES_OF_A_VIDEO = 30
"""Frames that are sent of a video, at most."""


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
    teaches: bool = False

    def add(self, event: Event) -> bool:
        """Keep an event."""
        self.events.append(event)
        return True

    def flush(self) -> None:
        """There is no disk."""

    def called(self, path: str) -> Called | None:
        """Nothing has happened before a rehearsal."""
        return None

    def learned(self, path: str) -> bool:
        """A rehearsal teaches nothing: all counts as learned."""
        return True

    def retrieval(self, key: str) -> Retrieved | None:
        """What a forebear saw."""
        return self.seen(key)


@dataclass
class Counting:
    """Answers from the record, else by the offline model whichever is asked, and counts what that one would have read."""

    on_record: Callable[[str], Reply | None]
    known: dict[str, Reply] = field(default_factory=dict)
    """Answers that count as on record, as an earlier rehearsal has come to them; this one's are added."""
    calls: Counter[str] = field(default_factory=Counter)
    prompt: Counter[str] = field(default_factory=Counter)
    completion: Counter[str] = field(default_factory=Counter)
    found: int = 0

    async def answer(
        self, request: Request, permit: Callable[[], None], watch: Watch | None = None
    ) -> tuple[Reply, bool]:
        """See `ports.Asks`."""
        model = request.spec.id
        self.calls[model] += 1
        if kept := self.on_record(request.key) or self.known.get(request.key):
            self.found += 1
            return kept, False
        text = answer_offline(request.task, random.Random(request.key)).model_dump_json()
        if model != OFFLINE:
            self.prompt[model] += sum(_tokens(part) for message in request.messages for part in message.parts)
            self.completion[model] += estimate_tokens(text)
        reply = self.known[request.key] = Reply(text=text, usage=Usage(), cost=0.0)
        return reply, True


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
) -> Estimate:
    """Play a run through in memory and count its calls. Nothing is asked of any language model or put on disk.

    Args:
        on_record: the answer that is on record under a key.
        seen: what a forebear saw when it looked up the same.
        known: answers that rehearsals of runs before this one came to; they count as on record, and this one's are added.
    """
    setup, members = procedure.prepare(case, setup, seed)
    counting = Counting(on_record, {} if known is None else known)
    court = Court(
        case=case.blind(),
        unsealed=case,
        setup=setup,
        seed=seed,
        members=members,
        prompts=Prompts(procedure.prompts, {"case": case.blind(), "setup": setup}, setup.prompts),
        stage_kinds=frozenset(kind.name for kind in procedure.stages),
        ledger=MemoryLedger(seen=seen),
        asker=counting,
        knowledge=knowledge,
        sight=sight,
        gate=Gate(Control(), -1, paused=lambda why, control: None, resumed=lambda: None),
    )
    await procedure.deliberate(court)
    loads = tuple(
        Load(model, calls, counting.prompt[model], counting.completion[model])
        for model, calls in counting.calls.items()
    )
    return Estimate(loads, procedure.at_most(case, setup), counting.found)


def _tokens(part: str | Medium) -> int:
    if isinstance(part, str):
        return estimate_tokens(part)
    return IMAGE_TOKENS * (FRAMES_OF_A_VIDEO if part.kind == "video" else 1)
