"""Private ballots: after its vote in a round each member is asked the same once more, alone; no other ever sees the answer.

So the public vote stands beside the private one, with nothing else changed than who hears it.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.engine.court import Court
from courtroom.engine.knobs import declared
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Member, Setup
from courtroom.language import N_
from courtroom.models.task import Task

PrivateBallots = Annotated[
    bool,
    Field(
        title=N_("Private ballots"),
        description=N_(
            "After its vote in each round every member is asked once more, alone, what it thinks. No other sees the answer, and it does not count. "
            "It takes about twice as many calls for votes."
        ),
        json_schema_extra=declared(),
    ),
]
"""The knob of a procedure in which members vote in rounds; its default is False."""
InPrivate = Annotated[bool, Field(exclude_if=lambda is_private: not is_private)]
"""The input of a task that says whether it is asked in private; its default is False."""
TITLE = N_("Private ballot")
STEP = "private"
HEARD = 0.5
"""How much of the others' pull is left with the offline model where nobody sees its vote; invented."""


async def ask_alone(
    court: Court[Case, Setup], wanted: bool, member: Member, task: Task[Any], private: type[Task[Any]]
) -> None:
    """Ask a member in private what it was just asked, where the setup wants it. An abstention is none of the run's business."""
    if wanted:
        await court.try_ask(member, private.model_validate({**dict(task), "in_private": True}), STEP)


def private_votes(record: Record, procedure: Procedure) -> dict[str, dict[str, str]]:
    """What members voted in private, by ballot and member; only ballots with any."""
    found: dict[str, dict[str, str]] = {}
    for ballot, votes in record.ballots.items():
        for member, vote in votes.items():
            for peers in procedure.peers:
                call = record.call(f"{vote.stage}/{member}/{peers.task.name}-{STEP}")
                if call is not None and call.value is not None:
                    answer = peers.task.answer.model_validate(call.value)
                    found.setdefault(ballot, {})[member] = peers.choice(None, answer)
    return found


def other_way(record: Record, private: Mapping[str, Mapping[str, str]]) -> tuple[str, int, tuple[str, ...]] | None:
    """In the last ballot with private votes: its path, how many voted in private, and the names of those who went the other way."""
    if not private:
        return None
    ballot, votes = list(private.items())[-1]
    public = {member: vote.choice for member, vote in record.ballots[ballot].items()}
    names = {one.id: one.name for one in record.everybody}
    apart = (names[who] for who, choice in votes.items() if public.get(who) not in (None, choice))
    return ballot, len(votes), tuple(apart)
