"""The offline answers: what the words of the case weigh, each speaker with a doubt of its own, drawn a little to the others."""

from __future__ import annotations

import random

from courtroom.cases.dispute import SIDES, Side
from courtroom.judging.dispute_weights import points_for, stance
from courtroom.models.offline import Methods
from courtroom.procedures.discussion.tasks import Digest, Speak, Statement, SumUp

DOUBT = 0.8
"""Standard deviation of a speaker's own view of the stance, in its unit."""
COMPANY = 1.0
"""What it weighs where all the others agree, in the same unit."""


def speak(task: Speak, draw: random.Random) -> Statement:
    """The side for which the words weigh more, with the points that this speaker puts first."""
    votes = [one.verdict for one in task.said if one.verdict]
    company = sum(1 if vote == "buyer" else -1 for vote in votes) / len(votes) if votes else 0.0
    seen = stance(task.case) + draw.gauss(0, DOUBT) + COMPANY * company
    side: Side = "buyer" if seen >= 0 else "seller"
    points = points_for(task.case, side)
    first = (task.seat - 1) % len(points) if points else 0
    said = [*points[first:], *points[:first]][:2]
    heard = f" {votes.count(side)} of {len(votes)} statements before say so too." if votes else ""
    return Statement(
        statement=("; ".join(said) or f"Little in the record speaks against the {side}") + "." + heard, verdict=side
    )


def sum_up(task: SumUp, draw: random.Random) -> Digest:
    """How many hold which side, and the first statement for each."""
    parts = []
    for side in SIDES:
        own = [one.statement for one in task.said if one.verdict == side]
        if own:
            parts.append(f"{len(own)} of {len(task.said)} hold that the {side} is right: {own[0]}")
    return Digest(summary=" ".join(parts) or "Nobody has spoken.")


METHODS: Methods = {Speak: speak, SumUp: sum_up}
