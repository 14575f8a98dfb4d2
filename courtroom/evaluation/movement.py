"""What moved a panel: who changed sides, whose words each member had been shown by then, and who never heard the other
side.

It is read off the record alone: a member has heard another where the other's words stand in a question that it was
asked.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from courtroom.declarations.setup import Member
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called, Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.turnout import call_of
from courtroom.text.words import sentences

MIN_SENTENCE_CHARACTERS = 12
"""A sentence that is shorter could stand in a question by chance."""
_NOT_IN_WORDS = re.compile(r"[\W_]+")


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

    def sides(self) -> Counter[str]:
        """How many members it had heard for each choice, by their last words that it was shown."""
        last = {one.vote.member: one.vote.choice for one in self.heard}
        return Counter(filter(None, last.values()))


@dataclass(frozen=True)
class Movement:
    """How the votes of a run moved, seat by seat."""

    record: Record
    voters: tuple[Member, ...]
    votes: Mapping[str, tuple[SeatVote, ...]]
    """By member, in the order of the ballots."""

    @cached_property
    def changes(self) -> tuple[SeatVote, ...]:
        """Changes of sides, in the order in which they were made."""
        order = {ballot: place for place, ballot in enumerate(self.record.ballots)}
        changed = [one for votes in self.votes.values() for one in votes if one.vote.changed]
        return tuple(sorted(changed, key=lambda one: order[one.vote.ballot]))

    @property
    def rows(self) -> list[tuple[Member, SeatVote]]:
        """Each vote with who gave it, member by member."""
        return [(member, seen) for member in self.voters for seen in self.votes.get(member.id, ())]

    @cached_property
    def hearers(self) -> dict[str, tuple[str, ...]]:
        """Ids of those who were shown a member's words at any time, by that member's id."""
        ways = self.heard()
        return {one.id: tuple(hearer for hearer, speaker in ways if speaker == one.id) for one in self.voters}

    @cached_property
    def never_heard_other_side(self) -> tuple[Member, ...]:
        """Members who, whenever they were asked again, were shown no reason against the side on which they stood."""
        return tuple(member for member in self._asked_again if not any(map(_heard_against, self.votes[member.id])))

    @cached_property
    def hear_nobody(self) -> tuple[Member, ...]:
        """Members who were asked again and were never shown another's words."""
        return tuple(member for member in self._asked_again if not any(seen.heard for seen in self.votes[member.id]))

    @cached_property
    def heard_by_nobody(self) -> tuple[Member, ...]:
        """Members who were asked again, and whose words no other was ever shown."""
        return tuple(member for member in self._asked_again if not self.hearers[member.id])

    @property
    def _asked_again(self) -> list[Member]:
        return [member for member in self.voters if len(self.votes.get(member.id, ())) > 1]

    def heard(self, ballot: str | None = None) -> dict[tuple[str, str], tuple[Heard, ...]]:
        """What went along each way in a ballot, or in all, each statement once; by hearer and speaker."""
        found: dict[tuple[str, str], dict[str, Heard]] = {}
        for hearer, votes in self.votes.items():
            for one in (one for seen in votes if ballot in (None, seen.vote.ballot) for one in seen.heard):
                found.setdefault((hearer, one.vote.member), {})[one.vote.path] = one
        return {way: tuple(said.values()) for way, said in found.items()}


def question(answers: AnswerStore, call: Called | None, *, to_all: bool = False) -> str:
    """Return what was sent for an answer; empty where a person gave it, or it is not on record.

    Args:
        to_all: only what went to all alike. A prompt gives what is each member's own in its last part.
    """
    messages = answers.request(call.keys[0]) if call and call.keys else ()
    sent = (one.parts[: -1 if to_all else None] for one in messages if not to_all or one.role == "user")
    return "\n".join(part for parts in sent for part in parts if isinstance(part, str))


def movement(record: Record, procedure: Procedure, answers: AnswerStore) -> Movement:
    """Read how votes moved. `answers`: as the run's own answers are read, see `AnswerStore.of`."""
    voting_roles = {role.name for role in procedure.roles if role.votes}
    voters = tuple(member for member in record.everybody if member.role in voting_roles)
    order = {event.path: place for place, (_, event) in enumerate(record.events) if isinstance(event, Called)}
    spoken = [(place, vote) for place, (_, vote) in enumerate(record.events) if isinstance(vote, Voted)]
    sentences_of = {vote.path: _known_by(vote) for _, vote in spoken}
    votes: dict[str, list[SeatVote]] = {}
    at_first = ""
    shown_before: dict[str, set[str]] = {}
    for ballot in record.ballots.values():
        for vote in ballot.values():
            call = call_of(record, vote)
            text = _words(question(answers, call))
            at_first = at_first or text
            said = [
                other
                for place, other in spoken
                if other.member != vote.member
                and call is not None
                and place < order[call.path]
                and _stands_in(text, [one for one in sentences_of[other.path] if one not in at_first])
            ]
            before = shown_before.get(vote.member, set())
            mine = "\n".join(vote.reasons)
            heard = tuple(
                Heard(one, is_new=one.path not in before, is_named=_names(mine, record.name_of(one.member)))
                for one in said
            )
            shown_before[vote.member] = {one.path for one in said}
            votes.setdefault(vote.member, []).append(SeatVote(vote, call, heard))
    return Movement(record, voters, {member: tuple(given) for member, given in votes.items()})


def _names(said: str, name: str) -> bool:
    """Whether a text has somebody's name, or a part of it, as a word."""
    return bool(name) and (name in said or not set(name.split()).isdisjoint(_NOT_IN_WORDS.split(said)))


def _heard_against(seen: SeatVote) -> bool:
    stood_for = seen.vote.before or seen.vote.choice
    return any(one.vote.choice not in (None, stood_for) for one in seen.heard)


def _known_by(vote: Voted) -> tuple[str, ...]:
    """The sentences by which a member's words are found in another's question; one that stood there from the beginning, such as
    a piece of evidence that is quoted, tells nothing."""
    said = (_words(sentence).strip() for reason in vote.reasons for sentence in sentences(reason))
    return tuple(one for one in said if len(one) >= MIN_SENTENCE_CHARACTERS)


def _stands_in(text: str, said: Sequence[str]) -> bool:
    """Whether all of what was said stands in a text; a single sentence may be another's quotation."""
    return bool(said) and all(sentence in text for sentence in said)


def _words(text: str) -> str:
    """A text without anything but its words, so that quotation marks and line breaks of a prompt make no difference."""
    return _NOT_IN_WORDS.sub(" ", text)
