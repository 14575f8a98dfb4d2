"""What speakers and clerk are asked."""

from __future__ import annotations

from pydantic import Field

from courtroom import Answer, Task
from courtroom.cases.dispute import Dispute, Side
from courtroom.strict import Strict


class Statement(Answer):
    """What a speaker says in a turn; the reasons come before the vote."""

    statement: str = Field(
        min_length=1,
        description="What in the material decides, and where you agree or disagree with what others said, if they spoke.",
    )
    verdict: Side = Field(description="Who is right, as you see it now.")


class Digest(Answer):
    """What was said in the turns so far."""

    summary: str = Field(
        min_length=1, description="The points on which the speakers agree and those on which they differ."
    )


class Remark(Strict):
    """A statement as others read it."""

    name: str
    turn: int
    statement: str
    verdict: Side | None
    """None where the vote is kept back."""


class Speak(Task[Statement]):
    """Who is right, and why?"""

    name, title = "speak", "Statement"
    offline_only = ("seat",)
    case: Dispute
    seat: int
    speaker: str
    point_of_view: str = ""
    turn: int
    turns: int
    said: tuple[Remark, ...] = ()
    summary: str = ""


class SumUp(Task[Digest]):
    """What was said so far?"""

    name, title = "sum-up", "Summary of a turn"
    case: Dispute
    said: tuple[Remark, ...]
    before: str = ""
