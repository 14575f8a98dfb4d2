"""How many calls a server gets at once and a minute, over all runs of a process, and how long its silence is borne."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

from courtroom.models import local
from courtroom.models.card import estimate_prompt_tokens
from courtroom.models.failures import is_loading, retry_after
from courtroom.models.request import Request, Usage
from courtroom.models.spec import LOCAL, ModelSpec

if TYPE_CHECKING:
    from pyrate_limiter import InMemoryBucket

TOKENS_AN_ENTRY = 10
"""Tokens are counted by tens: the bucket keeps an entry for each."""
FIRST_ANSWER = 256
"""Tokens that an answer is taken to have while there is none to go by."""
MARGIN = 1.01
"""How much longer our minute is than a provider's, as calls take differently long to get there."""
PATIENCE = 5
"""Time-outs for which a silent call waits while later ones are answered, and for which an answer may trickle in."""
TOKENS_A_TIMEOUT = 60
"""So many tokens of a stream may take as long as a time-out: one a second where that is a minute."""
WHOLE_TOKENS_A_TIMEOUT = 600
"""The same of an answer that comes whole: nothing is heard of it until it is there."""
OVERLOADED = (408, 429, 503, 504)
"""Statuses by which a server says that it has too much to do."""


class CallLimits(NamedTuple):
    """The limits that a setup gives for a model."""

    at_once: int
    requests: int | None
    """A minute, as tokens."""
    tokens: int | None


def limited_together(spec: ModelSpec) -> tuple[str, str]:
    """What calls have in common that share their limits."""
    return spec.connection, spec.id


def server_of(request: Request) -> tuple[str, ...]:
    """What calls have in common that one server answers; a provider's own address stands for many servers."""
    return (request.address,) if request.address else limited_together(request.spec)


@dataclass
class ServerClock:
    """When a server was last heard, over all calls to it."""

    heard_at: float = -math.inf
    newest_sent_at: float = -math.inf
    """When the latest of the calls was sent that it has answered."""

    def heard(self, sent_at: float) -> None:
        """Something came in answer to a call that was sent then."""
        self.heard_at = time.monotonic()
        self.newest_sent_at = max(self.newest_sent_at, sent_at)


@dataclass
class Slot:
    """The place of one call among the calls of its model."""

    limits: CallLimits
    estimate: Callable[[], int]
    """Works out how many tokens the prompt has, about."""
    max_answer: int
    """Tokens that the answer may have at most."""
    server: ServerClock = field(default_factory=ServerClock)
    by_batch: bool = False
    """Whether the call goes by batch, whose price it has."""
    counted: int = 0
    """Tokens that were counted when the call began."""
    entered_at: float = 0.0
    sent_at: float = 0.0
    first_heard_at: float = math.inf
    last_heard_at: float = 0.0
    usage: Usage | None = None
    """Put in when the answer is there, so that the tokens really used are counted."""
    in_time: bool | None = None
    """Whether the server keeps up with its calls; None where the call does not show it."""
    pause_s: float | None = None
    """For how long the provider wants no further call."""

    @classmethod
    def of(cls, request: Request, server: ServerClock) -> Slot:
        """The slot of a call that asks this."""
        spec, estimate = request.spec, partial(estimate_prompt_tokens, request.messages)
        at_once = min(spec.concurrency, local.at_once(spec.id)) if spec.id.startswith(LOCAL) else spec.concurrency
        limits = CallLimits(at_once, spec.requests_per_minute, spec.tokens_per_minute)
        return cls(limits, estimate, spec.max_tokens, server, request.by_batch)

    @cached_property
    def prompt_tokens(self) -> int:
        """Tokens of the prompt, about."""
        return self.estimate()

    def heard(self) -> None:
        """A part of the answer has come."""
        self.last_heard_at = time.monotonic()
        self.first_heard_at = min(self.first_heard_at, self.last_heard_at)
        self.server.heard(self.sent_at)

    @asynccontextmanager
    async def time_out(self, limit_s: float, *, whole: bool = False) -> AsyncIterator[None]:
        """Give the block up once the server has been silent for so long.

        A server with more calls than it can work on has them wait. While it answers others, it is not silent. `whole`:
        whether it comes in one piece, and the silence before it may last as long as the longest takes. Raises
        `TimeoutError`: it was silent, or answered calls that were sent long after this one, or the answer trickles."""
        loop, timer = asyncio.get_running_loop(), asyncio.timeout(None)
        silence_s = limit_s * (1 + self.max_answer / WHOLE_TOKENS_A_TIMEOUT) if whole else limit_s
        next_look: asyncio.TimerHandle

        def look() -> None:
            nonlocal next_look
            if (rest := self._rest(silence_s)) > 0:
                next_look = loop.call_later(rest, look)
            else:
                timer.reschedule(loop.time())

        self.sent_at = self.last_heard_at = time.monotonic()
        next_look = loop.call_later(silence_s, look)
        async with timer:
            try:
                yield
                self.heard()
                self.in_time = self.first_heard_at - self.sent_at <= limit_s
            finally:
                next_look.cancel()

    def _rest(self, limit_s: float) -> float:
        """Seconds until it is worth looking again whether the server is silent; 0 or less where it is."""
        now = time.monotonic()
        if now - self.first_heard_at > limit_s * (PATIENCE + self.max_answer / TOKENS_A_TIMEOUT):
            return 0.0
        rest = self.last_heard_at + limit_s - now
        if rest <= 0 and self.server.newest_sent_at - self.sent_at <= limit_s * PATIENCE:
            rest = self.server.heard_at + limit_s - now
        return rest

    def failed(self, error: Exception) -> None:
        self.pause_s = retry_after(error)
        is_overloaded = getattr(error, "status_code", None) in OVERLOADED and not is_loading(error)
        if isinstance(error, TimeoutError) or is_overloaded:
            self.in_time = False


class Limits:
    """The limits of all models: who says when a call may be made. Lives on the engine's loop.

    Where runs give different limits for one model, the strictest that was given within the last minute holds for all of
    them: a provider counts them together. A `Retry-After` that one call is given holds for all calls of its model.
    `minute_s`: how long a minute is, in seconds; tests have a shorter one."""

    def __init__(self, minute_s: float = 60.0) -> None:
        self.limiters: defaultdict[Hashable, RateLimiter] = defaultdict(lambda: RateLimiter(minute_s))
        """By model, or what else is limited together."""
        self._servers: defaultdict[Hashable, ServerClock] = defaultdict(ServerClock)

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[Slot]:
        """Wait for a slot, and hold it for one call. A `Retry-After` that one call is given makes all wait."""
        limiter = self.limiters[limited_together(request.spec)]
        slot = Slot.of(request, self._servers[server_of(request)])
        await limiter.enter(slot)
        try:
            yield slot
        except Exception as error:
            slot.failed(error)
            raise
        finally:
            limiter.leave(slot)


@dataclass
class RateLimiter:
    """The limits of one model, or of what is limited together. First come, first served.

    Calls at once adapt to the server: half as many after a time-out, a 429 or an answer that was late; while calls
    wait, one more after as many answers in time as there are calls at once; never more than is set.
    """

    minute_s: float
    _under_way: int = 0
    _adapted: float = math.inf
    """Calls at once with which the server keeps up; infinite until it does not."""
    _halved_at: float = -math.inf
    _users: Counter[CallLimits] = field(default_factory=Counter)
    """The limits that calls under way or waiting have, and how many of them."""
    _used_at: dict[CallLimits, float] = field(default_factory=dict)
    """When a call with these limits was last here."""
    _queue: asyncio.Lock = field(default_factory=asyncio.Lock)
    _freed: asyncio.Event = field(default_factory=asyncio.Event)
    _paused_until: float = 0.0
    _uncounted: int = 0
    """Tokens that calls took beyond what was counted for them, or less; the next one makes up for it."""
    _answers: int = 0
    _answer_tokens: int = 0

    def __post_init__(self) -> None:
        from pyrate_limiter import InMemoryBucket, Rate  # only where a model is asked: importing it takes long

        self._minute_ms = round(self.minute_s * 1000 * MARGIN)
        self._requests, self._tokens = (InMemoryBucket([Rate(1, self._minute_ms)]) for _ in range(2))

    @property
    def slowed_to(self) -> int | None:
        """How many calls at once a model gets while others wait for its slow server; None where it keeps up. Read by
        other threads."""
        return int(self._adapted) if self._adapted < math.inf and self._queue.locked() else None

    async def enter(self, slot: Slot) -> None:
        """Wait until one more call may be made."""
        self._use(slot, 1)
        try:
            async with self._queue:  # the first in the queue waits, and the others behind it
                while self._under_way + 1 > min(self._strictest().at_once, self._adapted):
                    self._freed.clear()
                    await self._freed.wait()
                while wait_s := self._wait_s(slot):  # noqa: ASYNC110  it is time that is waited for
                    await asyncio.sleep(wait_s)
                self._under_way += 1
                slot.entered_at = time.monotonic()
        except BaseException:
            self._use(slot, -1)
            raise

    def leave(self, slot: Slot) -> None:
        self._adapt(slot)
        self._under_way -= 1
        self._freed.set()
        self._use(slot, -1)
        if slot.pause_s:
            self._paused_until = max(self._paused_until, time.monotonic() + slot.pause_s)
        if (usage := slot.usage) is not None:
            self._answers += 1
            self._answer_tokens += usage.completion
            if slot.counted:
                self._uncounted += usage.prompt + usage.completion - slot.counted

    def _adapt(self, slot: Slot) -> None:
        """Follow what a call shows of its server. Calls sent before calls at once were halved halve them no further."""
        if slot.in_time is False and slot.entered_at >= self._halved_at:
            self._adapted = max(1.0, min(self._adapted, self._under_way) / 2)
            self._halved_at = time.monotonic()
        elif slot.in_time and self._adapted < math.inf and self._queue.locked():
            self._adapted += 1 / int(self._adapted)
            if self._adapted >= self._strictest().at_once:
                self._adapted = math.inf

    def _wait_s(self, slot: Slot) -> float:
        """Seconds until it is worth trying again; 0 where the call is counted and may be made."""
        rest = self._paused_until - time.monotonic()
        if rest > 0:
            return rest
        _, requests, tokens = self._strictest()
        if requests is not None and (wait_s := self._take(self._requests, requests, 1)):
            return wait_s
        if tokens is not None:
            answer = self._answer_tokens // self._answers if self._answers else FIRST_ANSWER
            counted = slot.prompt_tokens + min(slot.max_answer, answer)
            most = max(1, tokens // TOKENS_AN_ENTRY)
            weight = min(most, max(1, -(-(counted + self._uncounted) // TOKENS_AN_ENTRY)))
            if wait_s := self._take(self._tokens, most, weight):
                if requests is not None:
                    del self._requests.items[-1]  # not made yet: it counts from when it is
                return wait_s
            slot.counted, self._uncounted = max(1, counted), 0
        return 0.0

    def _take(self, bucket: InMemoryBucket, most: int, weight: int) -> float:
        """Count a call within the last minute; where that would be too much, the seconds until it is not."""
        from pyrate_limiter import Rate, RateItem

        item = RateItem("call", int(time.monotonic() * 1000), weight)
        bucket.rates = [Rate(most, self._minute_ms)]
        bucket.leak(item.timestamp)
        if bucket.put(item):
            return 0.0
        wait_ms = bucket.waiting(item)
        assert isinstance(wait_ms, int), "a bucket in memory never keeps us waiting for its answer"
        return max(1, wait_ms) / 1000

    def _strictest(self) -> CallLimits:
        now = time.monotonic()
        for limits, at in [*self._used_at.items()]:
            if now - at > self.minute_s and not self._users[limits]:
                del self._used_at[limits], self._users[limits]
        if len(self._used_at) == 1:
            return next(iter(self._used_at))
        at_once, *others = zip(*self._used_at, strict=True)
        return CallLimits(min(at_once), *(min(filter(None, given), default=None) for given in others))

    def _use(self, slot: Slot, more: int) -> None:
        self._users[slot.limits] += more
        self._used_at[slot.limits] = time.monotonic()
