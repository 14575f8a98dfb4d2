"""What speakers and clerk are asked."""

import random
import tomllib
from pathlib import Path

from pydantic import BaseModel, Field, SerializeAsAny

from courtroom import Answer, Case, Medium, Strict, Task, narrowed
from courtroom.cases.dispute import Dispute, Side
from courtroom.declarations.parts import Peers, in_part
from courtroom.judging.dispute_weights import contributions, stance
from courtroom.judging.explained import said, weighed_up
from courtroom.judging.jurors import HEARD, InPrivate
from courtroom.judging.options import names, propose, titled, weighed_choice
from courtroom.models.offline import methods
from courtroom.models.script import Script
from courtroom.models.task import Label, Overview, Paragraph, filled


class Statement(Answer):
    """What a speaker says in a turn; the reasons come before the vote."""

    statement: Paragraph = filled("What do you say, and what in the material decides?")
    verdict: Label = Field(description="Who is more in the right about what the buyer asks for, as you see it now?")


class Opinion(Statement):
    """What a speaker says where there is no buyer who asks for something."""

    verdict: Label = Field(description="What do you vote for now?")


class Digest(Answer):
    """What was said in the turns so far."""

    summary: Overview = filled("On which points do the speakers agree, and on which do they differ?")


class Remark(Strict):
    """A statement as others read it."""

    name: str
    turn: int
    statement: str
    verdict: str | None
    """None where the vote is kept back."""
    in_short: bool = Field(default=False, exclude_if=lambda in_short: not in_short)
    """Whether `statement` is only the first sentence."""


class Speak(Task[Statement]):
    """Who is right, and why?"""

    name, title = "speak", "Statement"
    offline_only = ("seat",)
    case: SerializeAsAny[Case]
    proposals: tuple[str, ...] = ()
    """What members proposed, where the case has no options."""
    seat: int
    speaker: str
    point_of_view: str = ""
    turn: int
    turns: int
    said: tuple[Remark, ...] = ()
    summary: str = ""
    counts: dict[str, int] = Field(default_factory=dict, exclude_if=lambda counts: not counts)
    """Of the last turn, as far as the speaker sees it."""
    seen: tuple[Medium, ...] = ()
    in_private: InPrivate = False

    @property
    def form(self) -> type[BaseModel]:
        options = names(self.case, self.proposals)
        return narrowed(Statement if "buyer" in options else Opinion, {"verdict": options})

    def media(self) -> tuple[Medium, ...]:
        return self.seen

    def by_script(self, script: Script) -> Statement:
        """What is written, by what the others voted last."""
        heard = {one.name: one.verdict for one in self.said if one.name != self.speaker}
        verdict, words = script.said(names(self.case, self.proposals), self.turn, [*heard.values()])
        return Statement(statement=words, verdict=verdict)


class SumUp(Task[Digest]):
    """What was said so far?"""

    name, title = "sum-up", "Summary of a turn"
    case: SerializeAsAny[Case]
    proposals: tuple[str, ...] = ()
    said: tuple[Remark, ...]
    before: str = ""


def shown(task: Speak, votes: bool, reasons: bool) -> Speak:
    """The same question with so much of what others said. A summary is free text: it counts as reasons."""
    said = in_part(task.said, votes, reasons, no_vote={"verdict": None}, no_reason={"statement": ""})
    summary, counts = task.summary if reasons else "", task.counts if votes else {}
    return task.model_copy(update={"said": said, "summary": summary, "counts": counts})


PEERS = (Peers(Speak, shown, lambda task, answer: str(answer.verdict), "said", "speaker"),)

DOUBT = 0.8
"""Standard deviation of a speaker's own view of the stance, in its unit."""
COMPANY = 1.0
"""What it weighs where all the others agree, in the same unit."""


def speak(task: Speak, draw: random.Random) -> Statement:
    """The side for which the words weigh more, with a doubt of the speaker's own and what the others vote."""
    votes = [one.verdict for one in task.said if one.verdict]
    if not isinstance(task.case, Dispute):
        own = next((one.verdict for one in reversed(task.said) if one.name == task.speaker and one.verdict), "")
        pull = HEARD if task.in_private else 1.0
        given = (task.case, task.proposals, draw)
        name, why = weighed_choice(*given, who=task.speaker, others=votes, own=own, pull=pull)
        return Statement(statement=why, verdict=name)
    company = sum(1 if vote == "buyer" else -1 for vote in votes) / len(votes) if votes else 0.0
    shift = draw.gauss(0, DOUBT) + COMPANY * company * (HEARD if task.in_private else 1.0)
    side: Side = "buyer" if stance(task.case) + shift >= 0 else "seller"
    doubt = said(task.case.language, "doubt", shift=shift)
    reasons = weighed_up(task.case, side, contributions(task.case), doubt)
    return Statement(statement=said(task.case.language, "space").join(reasons), verdict=side)


def sum_up(task: SumUp, draw: random.Random) -> Digest:
    """How many hold which side, and the first statement for each."""
    language, parts, dispute = task.case.language, [], isinstance(task.case, Dispute)
    for side in names(task.case, task.proposals):
        own = [one.statement for one in task.said if one.verdict == side]
        if own:
            held = said(language, side) if dispute else titled(task.case, task.proposals, side)
            counts = {"count": len(own), "all": len(task.said)}
            parts.append(said(language, "hold" if dispute else "asked-hold-answer", side=held, first=own[0], **counts))
    return Digest(summary=said(language, "space").join(parts) or said(language, "nobody"))


METHODS = methods(speak, sum_up, propose)


class PointOfView(Strict):
    """What a speaker is called, and what it looks at."""

    name: str
    chinese: str
    looks_at: str
    elsewhere: str


_VIEWS = tomllib.loads((Path(__file__).parent / "prompts" / "points_of_view.toml").read_text(encoding="utf-8"))["views"]
POINTS_OF_VIEW = tuple(PointOfView(**view) for view in _VIEWS)
