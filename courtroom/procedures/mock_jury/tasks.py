"""What jurors are asked, and how the offline model answers."""

import math
import random
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache

from pydantic import BaseModel, Field, SerializeAsAny

from courtroom import Case, Medium, Strict, Trial, narrowed
from courtroom.declarations.parts import Peers, in_part
from courtroom.judging.explained import said
from courtroom.judging.jurors import HEARD, Earlier, InPrivate, best_reasons, without_words
from courtroom.judging.options import names, propose, weighed_choice
from courtroom.models.offline import methods
from courtroom.models.script import Script
from courtroom.models.task import Answer, Label, Paragraph, Task, filled
from courtroom.panel.personas import Persona
from courtroom.procedures.mock_jury.setup import Standard
from courtroom.settings import DATA


class Ballot(Answer):
    """What a juror says to the others, and its vote; the reasons come first."""

    statement: Paragraph = filled("What do you say, and what in the evidence decides?")
    vote: Label = Field(description="How do you vote now?")


class Said(Strict):
    """What a juror said last, and how it voted then."""

    name: str
    statement: str
    vote: str | None
    """None where ballots are secret."""


class Vote(Task[Ballot]):
    """What does this juror say, and how does it vote?"""

    name, title = "vote", "Statement and vote"
    case: SerializeAsAny[Case]
    proposals: tuple[str, ...] = ()
    """What jurors proposed, where the case has no options."""
    standard: Standard
    persona: Persona | None
    round: int
    """Of talk; 0 is the first ballot."""
    seats: int = 0
    """Of the jury."""
    own: tuple[Earlier, ...] = ()
    """What the juror itself said in earlier rounds."""
    heard: tuple[Said, ...] = ()
    counts: dict[str, int] = Field(default_factory=dict)
    """Of the last ballot, as far as the juror sees it."""
    in_private: InPrivate = False
    seen: tuple[Medium, ...] = ()

    @property
    def form(self) -> type[BaseModel]:
        return narrowed(Ballot, {"vote": names(self.case, self.proposals)})

    def media(self) -> tuple[Medium, ...]:
        return self.seen

    def by_script(self, script: Script) -> Ballot:
        """What is written, by what it hears or by the count."""
        heard = [one.vote for one in self.heard if one.vote] or [*Counter(self.counts).elements()]
        vote, words = script.said(names(self.case, self.proposals), self.round + 1, heard)
        return Ballot(statement=words, vote=vote)


def shown(task: Vote, votes: bool, reasons: bool) -> Vote:
    """The same question with so much of what others said. Counts are votes. What the juror itself said may quote others, so that
    without their reasons its own votes alone are left of it."""
    if not task.heard and not task.counts:
        return task
    heard = in_part(task.heard, votes, reasons, no_vote={"vote": None}, no_reason={"statement": ""})
    own = task.own if reasons else without_words(task.own)
    return task.model_copy(update={"heard": heard, "counts": task.counts if votes else {}, "own": own})


PEERS = (Peers(Vote, shown, lambda task, answer: str(answer.vote), "heard"),)

_WORDS = tomllib.loads((DATA / "trial_words.toml").read_text(encoding="utf-8"))
STRONG, WEAK = (re.compile(pattern, re.IGNORECASE) for pattern in _WORDS["pieces"].values())
PROVEN: dict[Standard, float] = {"reasonable-doubt": 0.3, "clear-and-convincing": 0.15, "preponderance": 0.0}
"""How far the balance of the evidence, -1 to 1, must be above 0."""
SPREAD = 0.8
"""How much a piece weighs with one juror differs from what it weighs with another: standard deviation of the log weight."""
DOUBT = 1.0
"""Weight of what is not known, in the unit of one piece of evidence."""
STAYS, COMPANY = 0.35, 1.1
"""Pull of a juror's own last vote, and of all others where they agree, on the scale of the balance."""
CHANCE = 0.15
"""Standard deviation of what differs from one answer to the next, on the same scale."""
YIELDS: Mapping[str, float] = _WORDS["yields"]
"""By trait, how far others move a juror, against the usual."""


@lru_cache(maxsize=8192)
def weight(piece: str, juror: str) -> float:
    """What a piece of evidence weighs with a juror: by its words, and by what this juror makes of such a piece."""
    plain = (1.6 if STRONG.search(piece) else 1.0) * (0.5 if WEAK.search(piece) else 1.0)
    return plain * math.exp(random.Random(f"{juror}/{piece}").gauss(0, SPREAD))


def vote(task: Vote, draw: random.Random) -> Ballot:
    """The balance of the evidence as this juror weighs it, against the standard; its own last vote and the others pull."""
    case, juror = task.case, task.persona.text() if task.persona else ""
    traits = task.persona.traits if task.persona else ()
    others = [one.vote for one in task.heard if one.vote] or [v for v, n in task.counts.items() for _ in range(n)]
    yields = (HEARD if task.in_private else 1.0) * math.prod(YIELDS.get(trait, 1.0) for trait in traits)
    if not isinstance(case, Trial):
        last = task.own[-1].vote if task.own else ""
        given = (case, task.proposals, draw)
        name, why = weighed_choice(*given, who=juror, others=others, own=last, pull=yields)
        return Ballot(statement=why, vote=name)
    first, second = case.sides
    pro, con = (sum(weight(piece, juror) for piece in case.evidence(side)) for side in case.sides)
    own = (pro - con) / (pro + con + DOUBT) - PROVEN[task.standard]
    company = (others.count(first) - others.count(second)) / len(others) if others else 0.0
    before = (1.0 if task.own[-1].vote == first else -1.0) if task.own else 0.0
    final = own + STAYS * before + COMPANY * yields * company + draw.gauss(0, CHANCE)
    side = first if final > 0 else second
    weighed = sorted(((weight(piece, juror), piece) for piece in case.evidence(side)), key=lambda pair: -pair[0])[:2]
    names = {"one": said(case.language, first), "other": said(case.language, second), "side": said(case.language, side)}
    told = [said(case.language, "piece", piece=piece, weight=weighs, **names) for weighs, piece in weighed]
    total = said(case.language, "trial", first=pro, second=con, final=final, **names)
    return Ballot(statement=said(case.language, "space").join([*told, total]), vote=side)


METHODS = methods(propose, vote, best_reasons)
