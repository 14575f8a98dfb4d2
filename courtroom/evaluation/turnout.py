"""Whose answers a verdict rests on: who has no vote and why, and what stand-ins answered."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from courtroom.engine.events import Called, Voted
from courtroom.engine.record import Record
from courtroom.judging.jurors import BestReasons

_NUMBERS = re.compile(r"\d[\d.,]*")


def turnout(record: Record) -> tuple[str, ...]:
    """Return what to know of who gave a verdict, a sentence each; none where everybody answered for itself."""
    last = {path[len(record.ballot_stage(path)) :]: votes for path, votes in record.ballots.items()}
    votes = [vote for ballot in last.values() for vote in ballot.values()]
    missing = _votes_missing(record, votes, ballots=len(last)) if votes else _answers_missing(record)
    spoke = {call.member for call in record.calls if call.speaks_as_model}
    names = (member.name for member in record.everybody if member.id in spoke)
    said = (f"{name} spoke of itself as a language model." for name in names)
    return (*missing, *_stood_in(record, votes), *said)


def call_of(record: Record, vote: Voted) -> Called | None:
    """Return the last answer that a member gave in the stage in which it voted; None where it gave none."""
    calls = (call for call in reversed(record.calls_of(vote.member)) if call.stage == vote.stage)
    return next((call for call in calls if call.value is not None), None)


def failure_of(record: Record, vote: Voted) -> Called | None:
    """Return the question on which a member failed that has no vote; None where it voted, or abstained of itself."""
    calls = record.calls_of(vote.member)
    asked = [call for call in calls if call.stage == vote.stage]
    if vote.choice is not None or (asked and all(call.value is not None for call in asked)):
        return None
    index = record.stage(vote.stage).index
    failed = (call for call in reversed(calls) if call.value is None and record.stage(call.stage).index <= index)
    return next(failed, None)


def stand_in_of(record: Record, vote: Voted) -> Called | None:
    """Return the answer of a stand-in on which a vote rests; None where the member's own model gave it."""
    calls = (call for call in record.calls_of(vote.member) if call.stage == vote.stage and call.value is not None)
    return next((call for call in calls if call.instead_of), None)


def given_by(record: Record, vote: Voted) -> Literal["", "set", "script"]:
    """Return whether a vote was set by the setup, or written in a script; empty where neither is so."""
    member, call = record.member(vote.member), call_of(record, vote)
    if member is not None and member.spec.script is not None:
        return "script"
    return "set" if call is not None and call.task == BestReasons.name else ""


def _votes_missing(record: Record, votes: Sequence[Voted], *, ballots: int) -> Iterator[str]:
    without = [vote for vote in votes if vote.choice is None]
    if not without:
        return
    failed = [call for vote in without if (call := failure_of(record, vote)) is not None]
    given, of = len(votes) - len(without), len(votes)
    yield f"{given} of {of} voted." if ballots == 1 else f"{given} of {of} votes were given."
    for model, why, number in _by_reason(failed):
        if number < len(without):
            yield f"{number} of {model} gave no answer."
        elif number > 1:
            yield f"The other {number}, all of {model}, gave no answer."
        else:
            yield f"The other one, of {model}, gave no answer."
        yield why
    if chose := len(without) - len(failed):
        yield f"{chose} abstained."


def _answers_missing(record: Record) -> Iterator[str]:
    calls = len(record.calls)
    for model, why, number in _by_reason([call for call in record.calls if call.value is None]):
        yield f"{number} of {calls} questions have no answer of {model}."
        yield why


def _by_reason(failed: Sequence[Called]) -> list[tuple[str, str, int]]:
    """Model, reason and how many, the most first. Reasons that differ in numbers alone are one."""
    whys: dict[tuple[str, str], list[str]] = defaultdict(list)
    for call in failed:
        whys[call.instead_of or call.model, _NUMBERS.sub("", call.error)].append(call.error)
    return sorted(((model, found[0], len(found)) for (model, _), found in whys.items()), key=lambda one: -one[2])


def _stood_in(record: Record, votes: Sequence[Voted]) -> list[str]:
    pairs = Counter((one.model, one.instead_of) for one in record.calls if one.instead_of and one.value is not None)
    rest = [call for vote in votes if vote.choice is not None and (call := stand_in_of(record, vote)) is not None]
    calls, given, of = len(record.calls), len(rest), len(votes)
    told = [f"{model} answered {n} of {calls} questions instead of {own}." for (model, own), n in pairs.items()]
    return [*told, f"{given} of {of} votes are of stand-ins."] if rest else told
