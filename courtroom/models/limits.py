"""How many calls a model gets at once and a minute, over all runs of a process."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Protocol

from courtroom.models.prices import estimate_prompt
from courtroom.models.request import Request, Usage
from courtroom.models.spec import ModelSpec

if TYPE_CHECKING:
    from pyrate_limiter import InMemoryBucket

PART = 10
"""Tokens are counted by tens: the limiter keeps an entry for each."""
FIRST = 256
"""Tokens that an answer is taken to have while there is none to go by."""
MARGIN = 1.01
"""How much longer our minute is than a provider's, as calls take differently long to get there."""

Asked = tuple[int, int | None, int | None]
"""Calls at once, requests a minute, tokens a minute."""


def shared_by(spec: ModelSpec) -> tuple[str, str]:
    """What calls have in common that share their limits."""
    return spec.connection, spec.id


def asked_of(spec: ModelSpec) -> Asked:
    """The limits that a setup gives for a model."""
    return spec.concurrency, spec.requests_per_minute, spec.tokens_per_minute


@dataclass
class CallPlace:
    """One call's place."""

    size: Callable[[], int]
    """Works out how many tokens the prompt has, about."""
    longest: int
    """Tokens that the answer may have at most."""
    counted: int = 0
    """Tokens that were counted when the call began."""
    usage: Usage | None = None
    """Put in when the answer is there, so that the tokens really used are counted."""

    @classmethod
    def of(cls, request: Request) -> CallPlace:
        """The place of a call that asks this."""
        return cls(partial(estimate_prompt, request.messages), request.spec.max_tokens)

    @cached_property
    def prompt(self) -> int:
        """Tokens of the prompt, about."""
        return self.size()


class Turns(Protocol):
    """Who says when a call may be made."""

    def turn(self, request: Request) -> AbstractAsyncContextManager[CallPlace]:
        """Wait for a place, and hold it for one call. Whoever must come later makes all wait."""
        ...


class Limits:
    """The limits of all models. Lives on the engine's loop.

    Where runs give different limits for one model, the strictest that was given within the last minute holds for all of
    them: a provider counts them together. A `Retry-After` that one call is given holds for all calls of its model.

    Args:
        minute_s: how long a minute is, in seconds; tests have a shorter one.
    """

    def __init__(self, minute_s: float = 60.0) -> None:
        self._minute_s = minute_s
        self._doors: dict[Hashable, Door] = {}

    @asynccontextmanager
    async def turn(self, request: Request) -> AsyncIterator[CallPlace]:
        """See `Turns`."""
        door, asked = self.door(shared_by(request.spec)), asked_of(request.spec)
        turn = CallPlace.of(request)
        await door.enter(asked, turn)
        try:
            yield turn
        except Exception as error:
            from courtroom.models.failures import retry_after

            door.pause(retry_after(error))
            raise
        finally:
            door.leave(asked, turn)

    def door(self, shared: Hashable) -> Door:
        """The limits of one model, or of what is limited together."""
        if shared not in self._doors:
            self._doors[shared] = Door(self._minute_s)
        return self._doors[shared]


@dataclass
class Door:
    """The limits of one model, or of what is limited together. First come, first served."""

    minute_s: float
    _under_way: int = 0
    _given: Counter[Asked] = field(default_factory=Counter)
    """The limits that calls under way or waiting have, and how many of them."""
    _last: dict[Asked, float] = field(default_factory=dict)
    """When a call with these limits was last here."""
    _line: asyncio.Lock = field(default_factory=asyncio.Lock)
    _left: asyncio.Event = field(default_factory=asyncio.Event)
    _closed_until: float = 0.0
    _owed: int = 0
    """Tokens that calls took beyond what was counted for them, or less; the next one makes up for it."""
    _answers: list[int] = field(default_factory=lambda: [0, 0])
    """How many answers there were, and their tokens."""

    def __post_init__(self) -> None:
        self._minute_ms = round(self.minute_s * 1000 * MARGIN)
        from pyrate_limiter import InMemoryBucket, Rate  # only where a model is asked: importing it takes long

        self._requests, self._tokens = (InMemoryBucket([Rate(1, self._minute_ms)]) for _ in range(2))

    async def enter(self, asked: Asked, turn: CallPlace) -> None:
        """Wait until one more call may be made."""
        self._given[asked] += 1
        self._last[asked] = time.monotonic()
        try:
            async with self._line:  # the first in line waits, and the others behind it
                while self._under_way >= (self._strictest(0) or 1):
                    self._left.clear()
                    await self._left.wait()
                while wait_s := self._wait_s(turn):  # noqa: ASYNC110  it is time that is waited for
                    await asyncio.sleep(wait_s)
                self._under_way += 1
        except BaseException:
            self._gone(asked)
            raise

    def leave(self, asked: Asked, turn: CallPlace) -> None:
        """The call has ended."""
        self._under_way -= 1
        self._left.set()
        self._gone(asked)
        if (usage := turn.usage) is not None:
            self._answers[0] += 1
            self._answers[1] += usage.completion
            if turn.counted:
                self._owed += usage.prompt + usage.completion - turn.counted

    def pause(self, seconds: float | None) -> None:
        """Let nobody in for so long."""
        if seconds:
            self._closed_until = max(self._closed_until, time.monotonic() + seconds)

    def _wait_s(self, turn: CallPlace) -> float:
        """Seconds until it is worth trying again; 0 where the call is counted and may be made."""
        rest = self._closed_until - time.monotonic()
        if rest > 0:
            return rest
        requests, tokens = self._strictest(1), self._strictest(2)
        if requests is not None and (wait_s := self._take(self._requests, requests, 1)):
            return wait_s
        if tokens is not None:
            number, answered = self._answers
            counted = turn.prompt + min(turn.longest, answered // number if number else FIRST)
            most = max(1, tokens // PART)
            weight = min(most, max(1, -(-(counted + self._owed) // PART)))
            if wait_s := self._take(self._tokens, most, weight):
                if requests is not None:
                    del self._requests.items[-1]  # not made yet: it counts from when it is
                return wait_s
            turn.counted, self._owed = max(1, counted), 0
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

    def _strictest(self, which: int) -> int | None:
        """The smallest limit that a call of the last minute was given; None where there was none."""
        now = time.monotonic()
        for asked in [asked for asked, at in self._last.items() if now - at > self.minute_s and not self._given[asked]]:
            del self._last[asked], self._given[asked]
        return min((limit for asked in self._last if (limit := asked[which]) is not None), default=None)

    def _gone(self, asked: Asked) -> None:
        self._given[asked] -= 1
        self._last[asked] = time.monotonic()
