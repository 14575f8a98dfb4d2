"""What speakers and clerk are asked."""

import random

from pydantic import Field

from courtroom import Answer, Task
from courtroom.cases.dispute import SIDES, Dispute, Side
from courtroom.engine.procedure import Peers
from courtroom.judging.dispute_weights import contributions, stance
from courtroom.judging.explained import said, weighed_up
from courtroom.judging.jurors import HEARD, TITLE, InPrivate
from courtroom.media.medium import Medium
from courtroom.models.offline import methods
from courtroom.models.task import Overview, Paragraph
from courtroom.strict import Strict


class Statement(Answer):
    """What a speaker says in a turn; the reasons come before the vote."""

    statement: Paragraph = Field(min_length=1, description="What do you say, and what in the material decides?")
    verdict: Side = Field(description="Who is more in the right about what the buyer asks for, as you see it now?")


class Digest(Answer):
    """What was said in the turns so far."""

    summary: Overview = Field(
        min_length=1, description="On which points do the speakers agree, and on which do they differ?"
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
    seen: tuple[Medium, ...] = ()
    in_private: InPrivate = False

    def media(self) -> tuple[Medium, ...]:
        return self.seen


class SpeakInPrivate(Speak):
    """Who would be right, if nobody heard it?"""

    title = TITLE


class SumUp(Task[Digest]):
    """What was said so far?"""

    name, title = "sum-up", "Summary of a turn"
    case: Dispute
    said: tuple[Remark, ...]
    before: str = ""


def shown(task: Speak, votes: bool, reasons: bool) -> Speak:
    """The same question with so much of what others said. A summary is free text: it counts as reasons."""
    said = tuple(
        one.model_copy(
            update={"verdict": one.verdict if votes else None, "statement": one.statement if reasons else ""}
        )
        for one in task.said
        if votes or reasons
    )
    return task.model_copy(update={"said": said, "summary": task.summary if reasons else ""})


def choice(task: Speak, answer: Statement) -> str:
    return answer.verdict


PEERS = (Peers(Speak, shown, choice),)

DOUBT = 0.8
"""Standard deviation of a speaker's own view of the stance, in its unit."""
COMPANY = 1.0
"""What it weighs where all the others agree, in the same unit."""


def speak(task: Speak, draw: random.Random) -> Statement:
    """The side for which the words weigh more, with a doubt of the speaker's own and what the others vote."""
    votes = [one.verdict for one in task.said if one.verdict]
    company = sum(1 if vote == "buyer" else -1 for vote in votes) / len(votes) if votes else 0.0
    shift = draw.gauss(0, DOUBT) + COMPANY * company * (HEARD if task.in_private else 1.0)
    side: Side = "buyer" if stance(task.case) + shift >= 0 else "seller"
    doubt = said(task.case.language, "doubt", shift=shift)
    reasons = weighed_up(task.case, side, contributions(task.case), doubt)
    return Statement(statement=said(task.case.language, "space").join(reasons), verdict=side)


def sum_up(task: SumUp, draw: random.Random) -> Digest:
    """How many hold which side, and the first statement for each."""
    language, parts = task.case.language, []
    for side in SIDES:
        own = [one.statement for one in task.said if one.verdict == side]
        if own:
            counts = {"count": len(own), "all": len(task.said)}
            parts.append(said(language, "hold", side=said(language, side), first=own[0], **counts))
    return Digest(summary=said(language, "space").join(parts) or said(language, "nobody"))


METHODS = methods(speak, sum_up)

POINTS_OF_VIEW: tuple[tuple[str, str], ...] = (
    ("Member of the public", "You buy and sell online now and then. Judge as most people in your place would."),
    ("Critic", "Look for gaps and contradictions in what each side says, and in what the other speakers say."),
    ("Psychologist", "Ask what each side knew and wanted when it acted, and how the two dealt with each other."),
    ("News author", "Check who said what and when. Keep apart what is shown and what is merely claimed."),
    ("Scientist", "Ask what each piece of evidence proves, what it does not prove, and what would be needed."),
)
"""Names and what each looks at, in our own words. The five parts are those that ChatEval gives its referees."""
IN_CHINESE = ("公众代表", "批评者", "心理学家", "新闻作者", "科学家")
"""The names where a case is Chinese, so that a discussion is in one language."""
