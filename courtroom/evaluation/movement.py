"""What moved a panel: who changed sides, whose words each member had been shown by then, and who never heard the other
side.

It is read off the record alone: a member has heard another where the other's words stand in a question that it was
asked.
"""

import re
from collections import Counter, defaultdict
from dataclasses import dataclass

from courtroom.declarations.setup import Member
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called, Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.turnout import call_of
from courtroom.text.words import plain, sentences

MIN_SENTENCE_CHARACTERS = 12
"""A sentence that is shorter could stand in a question by chance."""


@dataclass(frozen=True)
class Heard:
    """A statement of another member that stands in a member's question."""

    vote: Voted
    """The vote with which it was given."""
    is_new: bool
    """Whether it was not in the member's question for its vote before."""
    is_named: bool
    """Whether the member names who said it in the statement with its vote."""


@dataclass(frozen=True)
class SeatVote:
    """A vote as it looked from its seat."""

    vote: Voted
    call: Called | None
    """The answer it followed from; None where a person put it in."""
    heard: tuple[Heard, ...]

    @property
    def heard_against(self) -> bool:
        """Whether it was shown a reason against the side on which it stood."""
        stood_for = self.vote.before or self.vote.choice
        return any(one.vote.choice not in (None, stood_for) for one in self.heard)

    def sides(self) -> Counter[str]:
        """How many members it had heard for each choice, by their last words that it was shown."""
        last = {one.vote.member: one.vote.choice for one in self.heard}
        return Counter(filter(None, last.values()))


@dataclass(frozen=True)
class Movement:
    """How the votes of a run moved, as each looked from its seat."""

    record: Record
    voters: tuple[Member, ...]
    votes: tuple[SeatVote, ...]
    """Ballot by ballot."""

    @property
    def changes(self) -> tuple[SeatVote, ...]:
        """Changes of sides, in the order in which they were made."""
        return tuple(seen for seen in self.votes if seen.vote.changed)

    def of(self, member: Member) -> list[SeatVote]:
        """Return a member's votes, in the order of the ballots."""
        return [seen for seen in self.votes if seen.vote.member == member.id]

    def hearers(self, member: Member) -> set[str]:
        """Return the ids of those who were shown a member's words at any time."""
        return {seen.vote.member for seen in self.votes for one in seen.heard if one.vote.member == member.id}

    @property
    def asked_again(self) -> list[Member]:
        return [member for member in self.voters if len(self.of(member)) > 1]

    @property
    def never_heard_other_side(self) -> list[Member]:
        """Members who, whenever they were asked again, were shown no reason against the side on which they stood."""
        return [one for one in self.asked_again if not any(seen.heard_against for seen in self.of(one))]

    def heard(self, ballot: str | None = None) -> dict[tuple[str, str], tuple[Heard, ...]]:
        """What went along each way in a ballot, or in all, each statement once; by hearer and speaker."""
        found = defaultdict[tuple[str, str], dict[str, Heard]](dict)
        for seen in self.votes:
            for one in seen.heard if ballot in (None, seen.vote.ballot) else ():
                found[seen.vote.member, one.vote.member][one.vote.path] = one
        return {way: tuple(said.values()) for way, said in found.items()}


def question(answers: AnswerStore, call: Called | None, *, to_all: bool = False) -> str:
    """Return what was sent for an answer; empty where a person gave it, or it is not on record. `to_all`: only what
    went to all alike. A prompt gives what is each member's own in its last part."""
    messages = answers.request(call.keys[0]) if call and call.keys else ()
    sent = (one.parts[: -1 if to_all else None] for one in messages if not to_all or one.role == "user")
    return "\n".join(part for parts in sent for part in parts if isinstance(part, str))


def movement(record: Record, procedure: Procedure, answers: AnswerStore) -> Movement:
    """Read how votes moved. `answers`: as the run's own answers are read, see `AnswerStore.of`."""
    voting_roles = {role.name for role in procedure.roles if role.votes}
    voters = tuple(member for member in record.everybody if member.role in voting_roles)
    order = {event.path: place for place, (_, event) in enumerate(record.events) if isinstance(event, Called | Voted)}
    spoken = {vote.path: vote for vote in record.of(Voted)}
    known = {path: [*map(plain, sentences("\n".join(vote.reasons)))] for path, vote in spoken.items()}
    at_first = ""
    """What stood in a question from the beginning, such as a piece of evidence that is quoted, tells nothing."""
    votes: list[SeatVote] = []
    shown_before: dict[str, set[str]] = {}
    for vote in (vote for ballot in record.ballots.values() for vote in ballot.values()):
        call = call_of(record, vote)
        text = plain(question(answers, call))
        at_first = at_first or text
        said = [
            other
            for path, other in spoken.items()
            if other.member != vote.member
            and call is not None
            and order[path] < order[call.path]
            # All of what was said stands there; a single sentence may be another's quotation.
            and (new := [one for one in known[path] if len(one) >= MIN_SENTENCE_CHARACTERS and one not in at_first])
            and all(one in text for one in new)
        ]
        before, mine = shown_before.get(vote.member, set()), "\n".join(vote.reasons)
        heard = (Heard(one, one.path not in before, _names(mine, record.name_of(one.member))) for one in said)
        votes.append(SeatVote(vote, call, tuple(heard)))
        shown_before[vote.member] = {one.path for one in said}
    return Movement(record, voters, tuple(votes))


def _names(said: str, name: str) -> bool:
    """Whether a text has somebody's name, or a part of it, as a word."""
    return bool(name) and (name in said or not set(name.split()).isdisjoint(re.split(r"[\W_]+", said)))
