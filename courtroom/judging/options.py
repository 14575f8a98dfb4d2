"""What procedures share that take any case with options: how options look, answers that members propose, and an offline formula."""

import math
import random
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, SerializeAsAny

from courtroom.cases.case import Case
from courtroom.cases.question import LETTERS
from courtroom.declarations.parts import Choice, StageKind
from courtroom.declarations.setup import Member, Setup
from courtroom.engine.court import Court
from courtroom.judging.explained import said
from courtroom.language import N_
from courtroom.media.medium import Medium
from courtroom.models.narrow import known, narrowed, same
from courtroom.models.task import Answer, Label, Longest, Reason, Sentence, Task, filled
from courtroom.text.words import sentences, words

SHAPES = (("circle", "●"), ("square", "■"), ("diamond", "◆"), ("triangle-up", "▲"), ("star", "★"), ("cross", "✚"))
PROPOSAL_TITLES = (
    *(N_("Proposal A"), N_("Proposal B"), N_("Proposal C")),
    *(N_("Proposal D"), N_("Proposal E"), N_("Proposal F")),
)
PROPOSING = StageKind(
    "proposals", N_("Proposals"), N_("Where a question has no options, members propose answers, one after the other.")
)


def choices(case: Case) -> tuple[Choice, ...]:
    """What can be voted for in a case: its options, or the answers that members propose."""
    named = [(option.name, option.title) for option in case.choices] or list(zip(LETTERS, PROPOSAL_TITLES, strict=True))
    return tuple(Choice(name, title, tone, *SHAPES[tone]) for tone, (name, title) in enumerate(named))


def names(case: Case, proposals: Sequence[str]) -> tuple[str, ...]:
    """What is voted for, by name."""
    return tuple(option.name for option in case.choices) or tuple(LETTERS[: len(proposals)])


def titled(case: Case, proposals: Sequence[str], name: str) -> str:
    """What a choice says."""
    title = next((option.title for option in case.choices if option.name == name), "")
    return title or proposals[LETTERS.index(name)]


def outcome(case: Case, proposals: Sequence[str], name: str) -> str:
    """What a verdict for a choice is called: its name or, where members proposed it, its words."""
    return name if case.choices else titled(case, proposals, name)


class Proposal(Answer):
    """An answer that others can vote for."""

    reasons: Annotated[tuple[Reason, ...], Longest(3, 4)] = Field(
        default=(),  # the first release did not ask for them
        min_length=1,
        max_length=20,
        description="What decides, in one or two sentences each, the weightiest first?",
    )
    answer: Sentence = filled("What is your own answer, in one sentence?")
    same_as: Label | None = Field(
        description="Which answer above says the same as yours, by its letter? None where none does."
    )


def media(court: Court[Any, Any]) -> tuple[Medium, ...]:
    """Return the pictures and videos that members are shown."""
    return tuple(court.case.media()) if court.setup.show_media else ()


class Propose(Task[Proposal]):
    """What is your own answer?"""

    name, title = "propose", N_("Proposal")
    case: SerializeAsAny[Case]
    as_whom: str = ""
    proposals: tuple[str, ...] = ()
    seen: tuple[Medium, ...] = ()

    @property
    def form(self) -> type[BaseModel]:
        """The first who proposes is not asked whether somebody else has said the same."""
        letters = tuple(LETTERS[: len(self.proposals)])
        return narrowed(Proposal, {"same_as": letters}) if letters else known(Proposal, "same_as", None)

    def media(self) -> tuple[Medium, ...]:
        return self.seen


async def proposed(
    court: Court[Case, Setup], members: Sequence[Member], as_whom: Callable[[Member], str], seen: tuple[Medium, ...]
) -> tuple[str, ...]:
    """Have members propose answers where the case has none, or take over one that stands: they group them themselves.
    `members`: of these the first six propose. `as_whom`: in what part a member speaks. `seen`: the pictures and videos
    that go with the question."""
    if court.case.choices:
        return ()
    await court.stage("Proposals", PROPOSING.name)
    found: tuple[str, ...] = ()
    answered, proposers = 0, members[: len(LETTERS)]
    for member in proposers:
        task = Propose(case=court.case, as_whom=as_whom(member), proposals=found, seen=seen)
        if answer := await court.try_ask(member, task):
            answered += 1
            if answer.same_as is None and same(answer.answer, found) not in found:
                found = (*found, answer.answer)
    court.needs(answered, len(proposers), "members proposed an answer")
    return found


COMPANY, STAYS, NAMED, BY_LOT = 1.0, 0.4, 0.3, 0.3
"""Offline, in the unit of one piece of material: what it weighs where all the others agree; a member's own last vote; a sentence that
speaks for nobody and shares a word with an option; and the standard deviation of what differs from one answer to the next."""
DIFFERS = 0.5
"""How much a piece weighs with one member differs from what it weighs with another: standard deviation of the log weight."""


@lru_cache(maxsize=4096)
def _weighed(case: Case, proposals: tuple[str, ...], who: str) -> Mapping[str, float]:
    """What the words of the material weigh for each choice with a member."""
    pieces = {option.name: option.pieces for option in case.choices}
    neutral = [sentence for text in case.for_nobody for sentence in sentences(text)]
    return {
        name: sum(math.exp(random.Random(f"{who}/{piece}").gauss(0, DIFFERS)) for piece in pieces.get(name, ()))
        + NAMED * sum(bool({*words(titled(case, proposals, name))} & {*words(one)}) for one in neutral)
        for name in names(case, proposals)
    }


def weighed_choice(
    case: Case,
    proposals: tuple[str, ...],
    draw: random.Random,
    *,
    who: str,
    others: Sequence[str] = (),
    own: str = "",
    pull: float = 1.0,
) -> tuple[str, str]:
    """Return what the offline formula chooses, by name, and how it came to it in words.

    Args:
        who: by which words a member weighs otherwise than another.
        others: the votes of the others, as far as the member knows them.
        own: its own last vote.
        pull: how far others move it, against the usual.
    """
    weights = _weighed(case, proposals, who)
    share = COMPANY * pull / len(others) if others else 0.0
    scores = {
        name: weight + share * list(others).count(name) + STAYS * (name == own) + draw.gauss(0, BY_LOT)
        for name, weight in weights.items()
    }
    chosen, language = max(scores, key=scores.__getitem__), case.language
    titles = {name: titled(case, proposals, name) for name in weights}
    listed = (said(language, "asked-answer", side=titles[name], weight=weight) for name, weight in weights.items())
    how = said(language, "asked-answers", listed=said(language, "comma").join(listed))
    how = how if any(weights.values()) else said(language, "asked-by-lot")
    return chosen, said(language, "asked-formula", how=how, side=titles[chosen])


def own_answer(case: Case, draw: random.Random) -> str:
    """Return the offline answer to a case without options: a sentence that shares words with the question, or one by lot."""
    asked = {*words(case.title)}
    found = [one for text in case.for_nobody for one in sentences(text) if asked & {*words(one)}]
    ranked = sorted(dict.fromkeys(found), key=lambda one: -len(asked & {*words(one)}))[: len(LETTERS)]
    lot = draw.choice(ranked or ["yes", "no"])
    nearest = said(case.language, "asked-nearest", sentence=lot)[:600]
    return nearest if ranked else said(case.language, f"asked-lot-{lot}")


def propose(task: Propose, draw: random.Random) -> Proposal:
    """The offline proposal; taken over by its letter where it stands already."""
    answer = own_answer(task.case, draw)
    reasons, stands = (said(task.case.language, "council-formula"),), dict(zip(task.proposals, LETTERS, strict=False))
    return Proposal(reasons=reasons, answer=answer, same_as=stands.get(answer))
