"""What members and chair are asked."""

import random
from collections.abc import Sequence
from typing import Annotated, Generic, TypeVar

from pydantic import BaseModel, Field, SerializeAsAny

from courtroom import Answer, Case, Medium, Strict, Task
from courtroom.cases.question import LETTERS
from courtroom.judging.explained import said
from courtroom.judging.options import names, own_answer, titled, weighed_choice
from courtroom.models.narrow import bounded, chosen, narrowed, same
from courtroom.models.offline import methods
from courtroom.models.script import Script
from courtroom.models.task import Label, Longest, Overview, Reason, Sentence, filled
from courtroom.procedures.council import ranks
from courtroom.text.words import words

Reasons = Annotated[tuple[Reason, ...], Longest(3, 4)]
Letters = Annotated[tuple[Label, ...], Longest(len(ranks.LETTERS))]


class Reply(Answer):
    """What a member answers; the reasons come first."""

    reasons: Reasons = filled("What decides, in one or two sentences each, the weightiest first?", max_length=20)
    answer: Label = Field(description="What do you decide for?")


class OwnReply(Reply):
    """What a member answers where no answers are given."""

    answer: Sentence = filled("What is your own answer, in one sentence?")


class Shown(Strict):
    """A member's answer as others read it; nothing says whose it is."""

    letter: str
    votes_for: str = ""
    """What it decides for, by name; empty where it is not grouped yet."""
    own_words: str = ""
    """The answer itself, where no answers are given."""
    reasons: tuple[str, ...]
    mean_rank: float | None = None


class Ranking(Answer):
    """All answers in order."""

    reasons: Overview = filled("What does each answer get right, and what does it miss or get wrong?")
    order: Letters = Field(
        description="In which order do you put the answers, by their letters, each once, the best first?"
    )


class Group(Answer):
    """Answers that say the same."""

    opens_with = ("letters",)
    letters: Letters = filled("Which answers say the same, by their letters?")
    answer: Sentence = filled("What do they all say, in one sentence?")


class Groups(Answer):
    """All answers, those together that say the same."""

    groups: tuple[Group, ...] = Field(min_length=1, max_length=len(LETTERS))


class Conclusion(Answer):
    """The answer of the council."""

    answer: Overview = filled("What decides, the weightiest first, and what does the council therefore answer?")
    against: Reasons = filled(
        "What speaks against this answer, each so that it can stand below it by itself?", max_length=20
    )
    choice: Label = Field(description="What does this answer decide for?")


A = TypeVar("A", bound=BaseModel)


class Question(Task[A], Generic[A]):
    """What all of them are asked about."""

    case: SerializeAsAny[Case]
    seen: tuple[Medium, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        return self.seen


class Respond(Question[Reply]):
    """What do you say, apart from all others?"""

    name, title = "respond", "Answer"
    offline_only = ("seat",)  # the words of the case weigh otherwise with each
    seat: int

    @property
    def form(self) -> type[BaseModel]:
        options = names(self.case, ())
        return narrowed(Reply, {"answer": options}) if options else OwnReply

    def by_script(self, script: Script) -> Reply:
        """What is written."""
        answer, words = script.said(names(self.case, ()), 1)
        return Reply(reasons=(words,), answer=answer)


class GroupAnswers(Question[Groups]):
    """Which answers say the same?"""

    name, title = "group", "Groups of answers"
    answers: tuple[Shown, ...]

    @property
    def form(self) -> type[BaseModel]:
        letters = tuple(one.letter for one in self.answers)
        one = bounded(narrowed(Group, {"letters": letters}), "letters", 1, len(letters))
        return bounded(Groups, "groups", 1, min(len(LETTERS), len(letters)), of=one)

    def problem(self, answer: Groups) -> str | None:
        return uneven([letter for group in answer.groups for letter in group.letters], self.answers)


class RankAnswers(Question[Ranking]):
    """Which answer is the best, and which comes after it?"""

    name, title = "rank", "Ranking"
    answers: tuple[Shown, ...]

    @property
    def form(self) -> type[BaseModel]:
        letters = tuple(one.letter for one in self.answers)
        return bounded(narrowed(Ranking, {"order": letters}), "order", len(letters), len(letters))

    def by_script(self, script: Script) -> Ranking:
        """Those first that say what it holds, the others in the order in which they stand."""
        held = script.holds(names(self.case, ()))
        order = sorted(self.answers, key=lambda one: one.votes_for != held)
        return Ranking(reasons=script.words[0], order=tuple(one.letter for one in order))

    def problem(self, answer: Ranking) -> str | None:
        return uneven(answer.order, self.answers)


class Conclude(Question[Conclusion]):
    """What does the council answer?"""

    name, title = "conclude", "Conclusion"
    proposals: tuple[str, ...] = ()
    """What the members' answers come to, where the case has no options."""
    answers: tuple[Shown, ...]

    @property
    def form(self) -> type[BaseModel]:
        return chosen(Conclusion, "choice", names(self.case, self.proposals))


def uneven(letters: Sequence[str], answers: Sequence[Shown]) -> str | None:
    """Say what is wrong where letters do not name each answer once."""
    expected = sorted(one.letter for one in answers)
    return None if sorted(letters) == expected else f"Name each of {', '.join(expected)} once."


def respond(task: Respond, draw: random.Random) -> Reply:
    """The option for which the words of the material weigh more; where there is none, a sentence of the material."""
    if not task.case.choices:
        answer = own_answer(task.case, draw)
        return OwnReply(reasons=(said(task.case.language, "council-formula"),), answer=answer)
    name, why = weighed_choice(task.case, (), draw, who=f"member-{task.seat}")
    return Reply(reasons=(why,), answer=name)


def group(task: GroupAnswers, draw: random.Random) -> Groups:
    """Answers with the same words together."""
    found: dict[str, list[str]] = {}
    for one in task.answers:
        found.setdefault(str(same(one.own_words, tuple(found))), []).append(one.letter)
    return Groups(groups=tuple(Group(answer=answer, letters=tuple(letters)) for answer, letters in found.items()))


def rank(task: RankAnswers, draw: random.Random) -> Ranking:
    """Answers by how many words of the case stand in them; equal ones by lot."""
    language, known = task.case.language, {word for _, text in task.case.sections() for word in words(text)}
    shared = {one.letter: len({*words(" ".join((one.own_words, *one.reasons)))} & known) for one in task.answers}
    order = sorted(draw.sample([*shared], len(shared)), key=lambda letter: -shared[letter])
    listed = said(language, "comma").join(f"{letter} {shared[letter]}" for letter in order)
    return Ranking(reasons=said(language, "council-ranked", listed=listed), order=tuple(order))


def conclude(task: Conclude, draw: random.Random) -> Conclusion:
    """The answer with the best mean rank; against it stand the best ones that say something else."""
    language, best = task.case.language, sorted(task.answers, key=lambda one: one.mean_rank or len(task.answers))
    against = tuple(one.reasons[0] for one in best if one.votes_for != best[0].votes_for)[:2]
    title = titled(task.case, task.proposals, best[0].votes_for)
    answer = said(language, "council-concluded", side=title, first=best[0].reasons[0])
    return Conclusion(answer=answer, against=against or (said(language, "council-alone"),), choice=best[0].votes_for)


METHODS = methods(respond, group, rank, conclude)
