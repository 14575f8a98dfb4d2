"""Multi-agent debate: one speaks for each option of a case, and a judge decides when enough was said."""

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, ClassVar, Self

from pydantic import BaseModel, Field, SerializeAsAny

from courtroom import Answer, Case, Court, Medium, Member, Preset, Procedure, Role, Setup, StageKind, Task, Verdict
from courtroom.cases.dispute import Dispute, Side
from courtroom.cases.kinds import WITH_OPTIONS
from courtroom.declarations.knobs import Widget, knob
from courtroom.judging import options
from courtroom.judging.dispute_weights import contributions, stance
from courtroom.judging.explained import points, said, weighed_up
from courtroom.models.narrow import chosen, known
from courtroom.models.task import Label, Longest, Paragraph, Point, Reason
from courtroom.strict import Strict

PROPOSERS = 3
"""How many debaters there are where the case has no options: each argues for what it proposes."""


class Debater(Strict):
    """Who speaks for an option."""

    id: str
    name: str


class Remark(Strict):
    """What somebody said."""

    by: str
    """The option of a debater, or `judge`."""
    words: str
    winner: str = ""
    """What the judge decided for; empty: a debater spoke."""
    open: str = ""


class DebateSetup(Setup):
    """How long they may debate."""

    rounds: int = knob(2, "Rounds at most", "The judge can end it earlier.", ge=1, le=5)
    debaters: tuple[Debater, ...] = knob((), "Debaters", widget=Widget.FROM_CASE, varied=False)
    show_media: ClassVar[bool] = True
    """Debaters and judge see all pictures and videos."""

    def complete(self, case: Case, seed: int) -> Self:
        """With a debater for each option of the case."""
        open_seats = (Debater(id=f"debater-{n}", name=f"Debater {n}") for n in range(1, PROPOSERS + 1))
        seats = tuple(
            Debater(id=option.name, name=f"Debater for the {option.name}")
            if option.is_party
            else Debater(id=f"debater-{n}", name=f"Debater for “{option.title}”")
            for n, option in enumerate(case.choices, start=1)
        )
        return self.model_copy(update={"debaters": seats or tuple(open_seats)})


def members(setup: DebateSetup) -> tuple[Member, ...]:
    """A debater for each option, and the judge."""
    seats = (setup.seat(one.id, "debater", one.name) for one in setup.debaters)
    return (*seats, setup.seat("judge", "judge", "Judge"))


class Argument(Answer):
    """What a debater says."""

    argument: Paragraph = Field(min_length=1, description="What do you say, the weightiest first?")


class Ruling(Answer):
    """What the judge decides after a round; the reasons come first."""

    reasons: Annotated[tuple[Reason, ...], Longest(3, 4)] = Field(
        min_length=1, max_length=20, description="What decides, in one or two sentences each, the weightiest first?"
    )
    open: Point = Field(default="", description="What is still open? An empty text where nothing is.")
    winner: Label = Field(description="What do you decide for?")
    settled: bool = Field(description="Is it certain that nothing that could still be said would change your decision?")


class Argue(Task[Argument]):
    """What speaks for one side?"""

    name, title = "argue", "Argument"
    case: SerializeAsAny[Case]
    side: str
    proposals: tuple[str, ...] = ()
    said: tuple[Remark, ...]
    round: int = 1
    seen: tuple[Medium, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        return self.seen


class Rule(Task[Ruling]):
    """Who is right, and was enough said?"""

    name, title = "rule", "Ruling"
    case: SerializeAsAny[Case]
    proposals: tuple[str, ...] = ()
    said: tuple[Remark, ...]
    round: int = 1
    last: bool = False
    seen: tuple[Medium, ...] = ()

    @property
    def form(self) -> type[BaseModel]:
        """In the last round nothing is asked of another one."""
        form = chosen(Ruling, "winner", options.names(self.case, self.proposals))
        return known(known(form, "open", ""), "settled", True) if self.last else form

    def media(self) -> tuple[Medium, ...]:
        return self.seen


async def deliberate(court: Court[Case, DebateSetup]) -> Verdict:
    """Rounds of argument and answer, until the judge has heard enough."""
    said: tuple[Remark, ...] = ()
    judge = court.member("judge")
    seen = tuple(court.case.media())
    proposals = await options.proposed(court, court.panel("debater"), lambda one: "", seen)
    sides = options.names(court.case, proposals)
    rounds = court.setup.rounds if len(sides) > 1 else 1
    for number in range(1, rounds + 1):
        await court.stage(f"Round {number}", "round")
        speakers = [*zip(court.panel("debater"), sides, strict=False)]
        first = (number - 1) % len(sides)  # another in each round, so that nobody always has the last word
        for debater, side in (*speakers[first:], *speakers[:first]):
            task = Argue(case=court.case, side=side, proposals=proposals, said=said, round=number, seen=seen)
            answer = await court.try_ask(debater, task)
            said = (*said, Remark(by=side, words=answer.argument)) if answer else said
        last = number == rounds
        rule = Rule(case=court.case, proposals=proposals, said=said, round=number, last=last, seen=seen)
        ruling = await court.ask(judge, rule)
        remark = Remark(by="judge", words="\n".join(ruling.reasons), winner=ruling.winner, open=ruling.open)
        said = (*said, remark)
        court.vote(judge, ruling.winner, ruling.reasons)
        tally = court.tally(sides, consensus=0)
        if ruling.settled:
            break
    decided = options.outcome(court.case, proposals, ruling.winner)
    return Verdict(outcome=decided, counts=tally.counts, summary="\n\n".join(ruling.reasons))


def argue(task: Argue, draw: random.Random) -> Argument:
    """The next point that the words of the case make for this side."""
    heard = " ".join(one.words for one in task.said)
    language, dispute = task.case.language, isinstance(task.case, Dispute)
    if isinstance(task.case, Dispute):
        told: Sequence[str] = points(task.case, "buyer" if task.side == "buyer" else "seller", contributions(task.case))
    else:
        told = [piece for option in task.case.choices if option.name == task.side for piece in option.pieces]
    title = said(language, task.side) if dispute else options.titled(task.case, task.proposals, task.side)
    nothing = said(language, "no-point" if dispute else "asked-no-piece", side=title)
    return Argument(argument=next((one for one in told if one and one not in heard), nothing))


def rule(task: Rule, draw: random.Random) -> Ruling:
    """The side for which the words of the case weigh more; settled where they weigh much more."""
    still_open = said(task.case.language, "still-open")
    if not isinstance(task.case, Dispute):
        name, why = options.weighed_choice(task.case, task.proposals, draw, who="judge")
        return Ruling(reasons=(why,), open=still_open, winner=name, settled=False)
    winner: Side = "buyer" if stance(task.case) >= 0 else "seller"
    reasons = weighed_up(task.case, winner, contributions(task.case))
    settled = abs(stance(task.case)) > 2
    return Ruling(reasons=reasons, open="" if settled else still_open, winner=winner, settled=settled)


DEBATE = Procedure(
    name="debate",
    title="Debate",
    summary="A baseline: a debater for each option argues; a judge decides after each round whether it heard enough.",
    paper="Du et al. (2023), arXiv:2305.14325; with sides and a judge as in Liang et al. (2023), arXiv:2305.19118",
    case_kind=WITH_OPTIONS,
    designed_for="dispute",
    setup=DebateSetup,
    roles=(
        Role("debater", "Debater", "Argues for one option, whatever the evidence, and answers the others."),
        Role("judge", "Judge", "Decides, and says whether another round is needed.", votes=True),
    ),
    stages=(options.PROPOSING, StageKind("round", "Round", "All sides argue, then the judge rules.")),
    choices=(),
    choices_in=options.choices,
    members=members,
    tasks=(options.Propose, Argue, Rule),
    offline={options.Propose: options.propose, Argue: argue, Rule: rule},
    prompts=Path(__file__).parent / "prompts",
    deliberate=deliberate,
    at_most=lambda case, setup: (
        (len(case.choices or setup.debaters) + 1) * setup.rounds + (0 if case.choices else PROPOSERS)
    ),
    presets=(Preset("Two rounds", "Each side answers the other."), Preset("One round", "No answers.", {"rounds": 1})),
)
