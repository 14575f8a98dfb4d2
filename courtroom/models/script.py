"""Scripted members: what one says and votes is written before the run, and no model is asked."""

import random
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import Field

from courtroom.strict import Strict

FIRST, SECOND = "first", "second"
"""The sides of a case, by their places among what can be voted for."""
_SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class Written(Strict):
    """What is written for a scripted member, or for all of them."""

    side: str = Field(default=FIRST, max_length=80, **_SAID["side"])
    words: tuple[str, ...] = Field(
        default=("I have made up my mind, and I will not change it.",), min_length=1, max_length=20, **_SAID["words"]
    )
    rounds: int | None = Field(default=None, ge=1, le=21, **_SAID["rounds"])
    gives_in_at: int | None = Field(default=None, ge=1, le=50, **_SAID["gives_in_at"])
    gives_in_words: str = Field(
        default="I give in, and vote with the others.", min_length=1, max_length=1_500, **_SAID["gives_in_words"]
    )

    def holds(self, options: Sequence[str]) -> str:
        """Return what it votes for until it gives in."""
        return self.side if self.side in options else options[self.side == SECOND]


class Script(Written):
    """What one scripted member says and votes."""

    begins_with: int = Field(default=0, ge=0, exclude_if=lambda place: not place)
    """Which of the texts it says first."""

    def said(self, options: Sequence[str], ballot: int, heard: Sequence[str | None] = ()) -> tuple[str, str]:
        """Return what it votes for, and what it says.

        Args:
            options: what can be voted for.
            ballot: the number of the ballot; 1 is the first.
            heard: how those voted last whom it hears.
        """
        held = self.holds(options)
        against = Counter(vote for vote in heard if vote and vote != held)
        is_over = self.rounds is not None and ballot > self.rounds
        if against and (is_over or against.total() >= (self.gives_in_at or against.total() + 1)):
            return against.most_common(1)[0][0], self.gives_in_words
        return held, self.words[(self.begins_with + ballot - 1) % len(self.words)]


class ScriptedMembers(Written):
    """How many members are scripted, and what all of them say."""

    members: int = Field(default=0, ge=0, le=50, **_SAID["members"])
    seats: tuple[int, ...] = Field(default=(), max_length=51, **_SAID["seats"])

    def drawn(self, size: int, seed: int) -> Self:
        """The same with the order of all seats written out, where anybody is scripted."""
        left = [seat for seat in range(1, size + 1) if seat not in self.seats]
        lot = random.Random(f"{seed}/script").sample(left, len(left))
        return self.model_copy(update={"seats": (*self.seats, *lot)}) if self.members else self

    def scripts(self, seats: Sequence[int]) -> dict[int, Script]:
        """Return the script of each seat that has one, among those that are taken."""
        chosen = [seat for seat in self.seats if seat in seats][: self.members]
        base = Script(**self.model_dump(include={*Written.model_fields}))
        return {seat: base.model_copy(update={"begins_with": place}) for place, seat in enumerate(chosen)}
