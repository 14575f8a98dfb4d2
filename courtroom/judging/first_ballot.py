"""Seeded first ballots: so many members begin on a side, each with its best reasons for it; from then on all go on freely.

Courtroom can so draw the curve from the first ballot to the verdict for any model, on the axis of the data on people.
"""

import random
from collections.abc import Sequence
from typing import Annotated

from pydantic import Field, SerializeAsAny

from courtroom.cases.case import Case
from courtroom.cases.criminal import Trial
from courtroom.cases.dispute import Dispute
from courtroom.engine.court import Court
from courtroom.engine.knobs import declared
from courtroom.engine.record import Record
from courtroom.engine.setup import Member, Setup
from courtroom.judging.voices import points_for
from courtroom.language import N_
from courtroom.models.task import Answer, Longest, Sentence, Task
from courtroom.panel.personas import Persona

FirstVotes = Annotated[
    int | None,
    Field(
        title=N_("First votes that are set"),
        ge=0,
        le=51,
        description=N_(
            "So many members, drawn by the seed, begin on the side that has to prove its case (guilty, the plaintiff, the buyer), "
            "all others on the other side. Each is asked for its best reasons for it, and is free from the next round on. "
            "Not set: all vote freely from the beginning."
        ),
        json_schema_extra=declared(),
    ),
]
"""The knob of a procedure in which members vote again and again; its default is None."""


class Reasons(Answer):
    """What speaks for the side on which a member begins."""

    reasons: Annotated[tuple[Sentence, ...], Longest(4)] = Field(
        min_length=1, max_length=12, description=N_("What speaks best for this vote, the weightiest first?")
    )


class BestReasons(Task[Reasons]):
    """What speaks for the side on which the setup has a member begin?"""

    name, title = "best-reasons", N_("Best reasons for a side")
    case: SerializeAsAny[Case]  # all of it counts for the key of the answer
    side: str
    persona: Persona | None = None


def seeded(
    court: Court[Case, Setup], members: Sequence[Member], first: int | None, sides: tuple[str, str]
) -> dict[str, str]:
    """On which side each member begins, by id; empty where nothing is set.

    Args:
        first: how many begin on the first side; all, where there are fewer members.
    """
    if first is None:
        return {}
    chosen = court.random("first-ballot").sample(range(len(members)), min(first, len(members)))
    return {member.id: sides[place not in chosen] for place, member in enumerate(members)}


def was_set(record: Record) -> bool:
    """Whether members of a run began on sides that the setup gave them."""
    return any(call.task == BestReasons.name for call in record.calls)


def best_reasons(task: BestReasons, draw: random.Random) -> Reasons:
    """The offline answer: points of the case for this side, in an order of chance."""
    points: list[str] = []
    if isinstance(task.case, Dispute):
        points = points_for(task.case, "buyer" if task.side == "buyer" else "seller")
    elif isinstance(task.case, Trial):
        points = list(task.case.evidence(task.side))
    draw.shuffle(points)
    return Reasons(reasons=tuple(points[:2]) or ("…",))
