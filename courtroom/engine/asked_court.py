"""Questions of fact that members put to the court beside their votes, and the replies that all are told."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from courtroom.engine.events import Replied, Voted
from courtroom.engine.interventions import ReplyToQuestions
from courtroom.engine.record import Record
from courtroom.models.prompts import Reply

NO_MORE = "The court has no more on this."
"""The reply where nothing that was prepared fits a question."""
ARROW = "=>"
"""In a line of prepared replies, between the words of a question and the reply."""


@dataclass(frozen=True)
class QuestionToCourt:
    """A question as it was first put, and who put it."""

    text: str
    askers: tuple[str, ...]
    """Ids of members."""


def unanswered(votes: Sequence[Voted], answered: Iterable[str]) -> tuple[QuestionToCourt, ...]:
    """Return what was asked and not replied to; the same question by several members is there once.

    Args:
        votes: in the order of their stages; within one, votes come in any order, so that here seats say which is first.
        answered: the questions that have a reply.
    """
    stages, asked = list(dict.fromkeys(vote.stage for vote in votes)), dict[str, QuestionToCourt]()
    for vote in sorted(votes, key=lambda vote: (stages.index(vote.stage), vote.path)):
        known = asked.get(_bare(vote.question), QuestionToCourt(vote.question, ()))
        asked[_bare(vote.question)] = replace(known, askers=tuple(dict.fromkeys((*known.askers, vote.member))))
    done = {"", *map(_bare, answered)}
    return tuple(question for key, question in asked.items() if key not in done)


def waiting(record: Record) -> tuple[QuestionToCourt, ...]:
    """Return the questions of a run to which nobody has replied."""
    return unanswered(record.of(Voted), (question for questions, _ in replies(record) for question in questions))


def replies(record: Record) -> tuple[Reply, ...]:
    """Return what the court has replied in a run, persons' replies first."""
    acts = (one.action for one in record.interventions)
    by_persons = [(act.questions, act.text) for act in acts if isinstance(act, ReplyToQuestions)]
    return (*by_persons, *((reply.questions, reply.text) for reply in record.of(Replied)))


def prepared(lines: str, questions: Sequence[QuestionToCourt], given: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what prepared replies say to questions: each with the questions that it is for; nothing where none are.

    A line with words before an arrow is for questions in which all of these stand; one without is for the next question
    for which there is no such line.

    Args:
        given: the replies that were given before.
    """
    if not lines.strip():
        return {}
    parts = [[part.strip() for part in line.rpartition(ARROW)] for line in lines.splitlines() if line.strip()]
    by_words = [(words.casefold().split(), reply) for words, arrow, reply in parts if arrow]
    in_order = [reply for _, arrow, reply in parts if not arrow]
    following = iter(in_order[sum(reply in in_order for reply in given) :])
    found: dict[str, tuple[str, ...]] = {}
    for question in questions:
        asked = question.text.casefold()
        fitting = (reply for words, reply in by_words if all(word in asked for word in words))
        reply = next(fitting, None) or next(following, NO_MORE)
        found[reply] = (*found.get(reply, ()), question.text)
    return found


def _bare(question: str) -> str:
    """What two wordings of the same question have in common: its letters and digits."""
    return "".join(letter for letter in question.casefold() if letter.isalnum())
