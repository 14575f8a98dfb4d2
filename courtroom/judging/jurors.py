"""What juries share: whose personas their jurors have, first ballots that are set, and private ballots."""

import random
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import cache, partial
from itertools import cycle, product
from typing import Annotated, Any, Literal, Self

from pydantic import Field, SerializeAsAny, create_model

from courtroom.cases.case import Case
from courtroom.cases.dispute import Dispute
from courtroom.declarations.knobs import knobs
from courtroom.declarations.setup import Member, ScriptedSetup, Setup, VotingSetup
from courtroom.engine.court import Court
from courtroom.engine.events import Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.judging.dispute_weights import contributions
from courtroom.judging.explained import points
from courtroom.language import N_
from courtroom.models.task import Answer, Longest, Reason, Room, Task, filled
from courtroom.panel.follow_graph import FollowGraph
from courtroom.panel.personas import DISPUTES, LONGEST_NAME, Persona, sample_panel
from courtroom.strict import Strict
from courtroom.text.words import sentences

knob = knobs(__file__)

ELSEWHERE = 1_000_003
"""Added to the seed of those who are drawn as others."""


def hearing_nobody(jury: Sequence[Persona], graph: FollowGraph) -> tuple[str, ...]:
    """Return a warning that names the jurors who follow nobody; none where edges are still to be drawn or nobody is to follow anybody."""
    followers = {follower for follower, _ in graph.edges or ()}
    alone = [one.name for seat, one in enumerate(jury) if seat not in followers]
    if not followers or not alone:
        return ()
    return (f"Nobody's words reach these in the follow-graph: {', '.join(alone)}.",)


def seated(given: Sequence[Persona], size: int, seed: int, whose: str, pool: str = DISPUTES) -> tuple[Persona, ...]:
    """The personas of so many seats: those that are given, and others drawn by the seed where they are missing."""
    drawn = partial(sample_panel, pool_name=pool)
    if whose == "others":
        names = {one.name for one in (given or drawn(size, seed))[:size]}
        given, seed = (), seed + ELSEWHERE
    else:
        names = {known.name for known in given}
    others = [one for one in drawn(51, seed) if one.name not in names]
    return tuple((*given[:size], *others, *drawn(51, seed))[:size])


CountSeen = Literal["all", "heard", "nobody"]


class TalkSetup(VotingSetup, ScriptedSetup):
    """A setup of members who hear each other, and vote again and again."""

    recall: Literal["nothing", "last", "line", "all"] = knob("recall", "all")
    count_seen: CountSeen = knob("count_seen", "nobody")
    peers_named: bool = knob("peers_named", True)
    private_ballots: bool = knob("private_ballots", False)


class JurySetup(TalkSetup):
    """A setup of jurors with personas."""

    jury_size: int = 12
    personas: Literal["own", "others", "none"] = knob("personas", "own")
    first_votes: int | None = knob("first_votes", None, ge=0, le=51)
    people: str = knob("people", "", max_length=LONGEST_NAME)
    jury: tuple[Persona, ...] = knob("jury", (), max_length=51)

    def undrawn(self, changed: Collection[str]) -> Self:
        """Of another pool of people other jurors are drawn."""
        return self.model_copy(update={"jury": ()}) if "people" in changed and "jury" not in changed else self

    def juror(self, number: int) -> Member:
        """Return the juror of a seat, with its persona unless all are asked the same."""
        persona = None if self.personas == "none" else self.jury[number - 1]
        return self.seat(f"juror-{number:02d}", "juror", persona.name if persona else f"Juror {number}", persona)


_Explained = Literal[
    "firmly-convinced", "moral-certainty", "any-reason", "hesitation",
    "abiding-conviction", "sure", "near-certainty", "undefined",
]  # fmt: skip
Doubt = Annotated[_Explained, knob("doubt", "firmly-convinced")]


class Earlier(Strict):
    """What a member said itself in an earlier round, and how it voted then."""

    round: int
    """0 is a first ballot before any talk."""
    vote: str
    words: str
    by_lot: bool = Field(default=False, exclude_if=lambda by_lot: not by_lot)
    """Whether the side was given to it."""
    in_short: bool = Field(default=False, exclude_if=lambda in_short: not in_short)
    """Whether `words` are only the first sentence."""


def recalled(said: Sequence[Earlier], recall: str, room: Room) -> tuple[Earlier, ...]:
    """As much of what a member said itself as it is told: in a tight room its last words whole, of those before the first sentence."""
    if recall == "nothing":
        return ()
    if recall == "line":
        return tuple(map(_in_short, said))
    before = said[:-1] if recall == "all" else ()
    return (*(map(_in_short, before) if room == "tight" else before), *said[-1:])


def _in_short(one: Earlier) -> Earlier:
    words = next(iter(sentences(one.words)), one.words)
    return one.model_copy(update={"words": words, "in_short": words != one.words})


def seen_count(whose: CountSeen, counts: Mapping[str, int], heard: Sequence[str | None] | None) -> dict[str, int]:
    """Return the count of the last ballot as a member sees it: of all, or of those whom it hears. `heard`: their last
    votes; None where they are all others, so that both counts are one."""
    if whose == "nobody" or (whose == "heard" and heard is not None and not heard):
        return {}
    return dict(counts) if whose == "all" or heard is None else {side: list(heard).count(side) for side in counts}


def without_words(said: Sequence[Earlier]) -> tuple[Earlier, ...]:
    """The votes alone."""
    return tuple(one.model_copy(update={"words": ""}) for one in said)


class Reasons(Answer):
    """What speaks for the side on which a member begins."""

    reasons: Annotated[tuple[Reason, ...], Longest(4, 5)] = filled(
        N_("What speaks best for this vote, in one or two sentences each, the weightiest first?"), max_length=100
    )


class BestReasons(Task[Reasons]):
    """What speaks for the side on which the setup has a member begin?"""

    name, title = "best-reasons", N_("Best reasons for a side")
    case: SerializeAsAny[Case]  # all of it counts for the key of the answer
    side: str
    persona: Persona | None = None
    proposals: tuple[str, ...] = ()
    """What members proposed, where the case has no options."""


def seeded(
    court: Court[Case, Setup], members: Sequence[Member], first: int | None, sides: Sequence[str]
) -> dict[str, str]:
    """Return the side on which each member begins, by id; `first`: how many on the first side, the others on those left."""
    if first is None:
        return {}
    members = [member for member in members if member.spec.script is None]
    chosen = court.random("first-ballot").sample(range(len(members)), min(first, len(members)))
    rest = cycle(sides[1:] or sides)
    return {member.id: sides[0] if place in chosen else next(rest) for place, member in enumerate(members)}


def was_set(record: Record) -> bool:
    """Whether members of a run began on sides that the setup gave them."""
    return any(call.task == BestReasons.name for call in record.calls)


def best_reasons(task: BestReasons, draw: random.Random) -> Reasons:
    """The offline answer: what weighs most for this side."""
    if isinstance(task.case, Dispute):
        found = points(task.case, "buyer" if task.side == "buyer" else "seller", contributions(task.case))
    else:
        found = [piece for option in task.case.choices if option.name == task.side for piece in option.pieces]
    return Reasons(reasons=tuple(found[:2]) or ("…",))


InPrivate = Annotated[bool, Field(exclude_if=lambda is_private: not is_private)]
"""The input of a task that says whether it is asked in private; its default is False."""
STEP = "private"
HEARD = 0.5
"""How much of the others' pull is left with the offline model where nobody sees its vote; invented."""


async def ask_alone(court: Court[Case, Setup], wanted: bool, member: Member, task: Task[Any]) -> None:
    """Ask a member in private what it was just asked, where the setup wants it. An abstention is none of the run's business."""
    if wanted:
        private = _in_private(type(task))
        await court.try_ask(member, private.model_validate({**dict(task), "in_private": True}), STEP)


@cache
def _in_private(kind: type[Task[Any]]) -> type[Task[Any]]:
    """Return the same kind of question under the title of a private ballot."""
    private = create_model(f"{kind.__name__}InPrivate", __base__=kind)
    private.title = N_("Private ballot")
    return private


def private_votes(record: Record, procedure: Procedure) -> dict[str, dict[str, str]]:
    """What members voted in private, by ballot and member; only ballots with any."""
    found = defaultdict[str, dict[str, str]](dict)
    for vote, peers in product(record.of(Voted), procedure.peers):
        call = record.call(f"{vote.stage}/{vote.member}/{peers.task.name}-{STEP}")
        if call is not None and call.value is not None:
            found[vote.ballot][vote.member] = peers.choice(None, peers.task.answer.model_validate(call.value))
    return found


def other_way(record: Record, private: Mapping[str, Mapping[str, str]]) -> tuple[str, int, tuple[str, ...]] | None:
    """In the last ballot with private votes: its path, how many voted in private, and the names of those who went the other way."""
    if not private:
        return None
    ballot, votes = list(private.items())[-1]
    public = {member: vote.choice for member, vote in record.ballots[ballot].items()}
    apart = (record.name_of(who) for who, choice in votes.items() if public.get(who) not in (None, choice))
    return ballot, len(votes), tuple(apart)
