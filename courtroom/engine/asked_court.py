"""Questions of fact that members put to the court beside their votes, and the replies that all are told."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from courtroom.engine.events import Replied, Voted
from courtroom.engine.interventions import ReplyToQuestions
from courtroom.engine.record import Record
from courtroom.models.prompts import Reply
from courtroom.text.words import plain

NO_MORE = "The court has no more on this."
"""The reply where nothing that was prepared fits a question."""
ARROW = "=>"
"""In a line of prepared replies, between the words of a question and the reply."""
ToCourt = Mapping[str, tuple[str, ...]]
"""The ids of the members who put a question, by the question as it was first put."""


def unanswered(votes: Sequence[Voted], replied: Iterable[Reply]) -> ToCourt:
    """Return what was asked and not replied to; the same question by several members is there once. `votes`: in the
    order of their stages; within one, votes come in any order, so that here seats say which is first."""
    stages = list(dict.fromkeys(vote.stage for vote in votes))
    done = {"", *(plain(question) for questions, _ in replied for question in questions)}
    first, asked = dict[str, str](), defaultdict[str, dict[str, None]](dict)
    for vote in sorted(votes, key=lambda vote: (stages.index(vote.stage), vote.path)):
        if plain(vote.question) not in done:
            asked[first.setdefault(plain(vote.question), vote.question)][vote.member] = None
    return {question: tuple(askers) for question, askers in asked.items()}


def waiting(record: Record) -> ToCourt:
    """Return the questions of a run to which nobody has replied."""
    return unanswered(record.of(Voted), replies(record))


def replies(record: Record) -> tuple[Reply, ...]:
    """Return what the court has replied in a run, persons' replies first."""
    acts = (one.action for one in record.interventions)
    by_persons = [(act.questions, act.text) for act in acts if isinstance(act, ReplyToQuestions)]
    return (*by_persons, *((reply.questions, reply.text) for reply in record.of(Replied)))


def prepared(lines: str, questions: Iterable[str], replied: Iterable[Reply]) -> dict[str, tuple[str, ...]]:
    """Return what prepared replies say to questions: each with the questions that it is for; nothing where none are.

    A line with words before an arrow is for questions in which all of these stand; one without is for the next question
    for which there is no such line. `replied`: what the court has said before."""
    if not lines.strip():
        return {}
    parts = [[part.strip() for part in line.rpartition(ARROW)] for line in lines.splitlines() if line.strip()]
    by_words = [(words.casefold().split(), reply) for words, arrow, reply in parts if arrow]
    in_order = [reply for _, arrow, reply in parts if not arrow]
    following = iter(in_order[sum(reply in in_order for _, reply in replied) :])
    found: dict[str, tuple[str, ...]] = {}
    for question in questions:
        fitting = (reply for words, reply in by_words if all(word in question.casefold() for word in words))
        reply = next(fitting, None) or next(following, NO_MORE)
        found[reply] = (*found.get(reply, ()), question)
    return found
