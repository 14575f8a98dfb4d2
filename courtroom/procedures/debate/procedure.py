"""Multi-agent debate: one speaks for the buyer, one for the seller, and a judge decides when enough was said."""

import random
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from courtroom import Answer, Court, Preset, Procedure, Role, Setup, StageKind, Task, Verdict
from courtroom.cases.dispute import SIDES, Dispute, Side
from courtroom.engine.knobs import knob
from courtroom.judging.dispute_weights import CHOICES, contributions, stance
from courtroom.judging.explained import points, said, weighed_up
from courtroom.media.medium import Medium
from courtroom.models.narrow import known
from courtroom.models.task import Longest, Paragraph, Reason

Said = tuple[tuple[str, str], ...]
"""Who said what, in order: the side of a debater, or `judge`."""


class DebateSetup(Setup):
    """How long they may debate."""

    rounds: int = knob(2, "Rounds at most", "The judge can end it earlier.", ge=1, le=5)


class Argument(Answer):
    """What a debater says."""

    argument: Paragraph = Field(
        min_length=1, description="What speaks for your side, and what does the other side get wrong?"
    )


class Ruling(Answer):
    """What the judge decides after a round; the reasons come first."""

    reasons: Annotated[tuple[Reason, ...], Longest(4, 5)] = Field(
        min_length=1, max_length=20, description="What decides, in one to three sentences each, the weightiest first?"
    )
    winner: Side = Field(description="Who is more in the right about what the buyer asks for?")
    settled: bool = Field(description="Is it certain that another round could not change the decision?")


class Argue(Task[Argument]):
    """What speaks for one side?"""

    name, title = "argue", "Argument"
    case: Dispute
    side: Side
    said: Said
    round: int = 1

    def media(self) -> tuple[Medium, ...]:
        return tuple(self.case.media())


class Rule(Task[Ruling]):
    """Who is right, and was enough said?"""

    name, title = "rule", "Ruling"
    case: Dispute
    said: Said
    round: int = 1
    last: bool = False

    @property
    def form(self) -> type[BaseModel]:
        """In the last round nothing is asked of another one."""
        return known(Ruling, "settled", True) if self.last else Ruling

    def media(self) -> tuple[Medium, ...]:
        return tuple(self.case.media())


async def deliberate(court: Court[Dispute, DebateSetup]) -> Verdict:
    """Rounds of argument and answer, until the judge has heard enough."""
    said: Said = ()
    judge = court.member("judge")
    for number in range(1, court.setup.rounds + 1):
        await court.stage(f"Round {number}", "round")
        for side in SIDES:
            answer = await court.try_ask(court.member(side), Argue(case=court.case, side=side, said=said, round=number))
            said = (*said, (side, answer.argument)) if answer else said
        last = number == court.setup.rounds
        ruling = await court.ask(judge, Rule(case=court.case, said=said, round=number, last=last))
        said = (*said, ("judge", "\n".join(ruling.reasons)))
        court.vote(judge, ruling.winner, ruling.reasons)
        tally = court.tally(SIDES, consensus=0)
        if ruling.settled:
            break
    return Verdict(outcome=ruling.winner, counts=tally.counts, summary="\n\n".join(ruling.reasons))


def argue(task: Argue, draw: random.Random) -> Argument:
    """The next point that the words of the case make for this side."""
    heard = " ".join(argument for _, argument in task.said)
    fresh = (point for point in points(task.case, task.side, contributions(task.case)) if point not in heard)
    nothing = said(task.case.language, "no-point", side=said(task.case.language, task.side))
    return Argument(argument=next(fresh, nothing))


def rule(task: Rule, draw: random.Random) -> Ruling:
    """The side for which the words of the case weigh more; settled where they weigh much more."""
    winner: Side = "buyer" if stance(task.case) >= 0 else "seller"
    reasons = weighed_up(task.case, winner, contributions(task.case))
    return Ruling(reasons=reasons, winner=winner, settled=abs(stance(task.case)) > 2)


DEBATE = Procedure(
    name="debate",
    title="Debate",
    summary="A baseline: two debaters argue for a side each; a judge decides after each round whether it heard enough.",
    paper="Du et al. (2023), arXiv:2305.14325; with sides and a judge as in Liang et al. (2023), arXiv:2305.19118",
    case_kind="dispute",
    setup=DebateSetup,
    roles=(
        Role("buyer", "Debater for the buyer", "Argues for the buyer, whatever the evidence."),
        Role("seller", "Debater for the seller", "Argues for the seller, and answers the buyer's debater."),
        Role("judge", "Judge", "Decides, and says whether another round is needed.", votes=True),
    ),
    stages=(StageKind("round", "Round", "Both sides argue, then the judge rules."),),
    choices=CHOICES,
    tasks=(Argue, Rule),
    offline={Argue: argue, Rule: rule},
    prompts=Path(__file__).parent / "prompts",
    deliberate=deliberate,
    at_most=lambda case, setup: 3 * setup.rounds,
    presets=(Preset("Two rounds", "Each side answers the other."), Preset("One round", "No answers.", {"rounds": 1})),
)
