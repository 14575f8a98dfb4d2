"""A run as a scene: who sits where, and moment after moment what happened. Plain data, made from the record alone."""

from __future__ import annotations

import math
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any, Literal

from pydantic_core import from_json

from courtroom.declarations.changes import value_at
from courtroom.declarations.knobs import Widget, fields_drawn
from courtroom.declarations.parts import ROUND, Seating
from courtroom.declarations.setup import Member
from courtroom.engine.events import Called, Event, Noted, Replied, Retrieved, StageBegan, Tallied, Voted
from courtroom.engine.interventions import AddEvidence, AddNote, Intervention, ReplyToQuestions
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.services import OpenCall
from courtroom.evaluation.turnout import given_by, turnout
from courtroom.figures.layout import tone
from courtroom.knowledge.search import Search
from courtroom.strict import Strict
from courtroom.text.words import short


class Side(Strict):
    """What can be voted for, shown by word, shape and colour."""

    name: str
    title: str
    mark: str
    symbol: str
    light: str
    dark: str


class RoomSeat(Strict):
    id: str
    name: str
    role: str
    votes: bool
    model: str
    place: Place | None = None
    """None for who has left."""
    about: str = ""
    """Who the persona is, in a line."""
    traits: tuple[str, ...] = ()
    follows: tuple[str, ...] = ()
    """Ids of those whose opinions of the round before it is shown."""


class Moment(Strict):
    """One thing that happened; which fields there are depends on its kind."""

    kind: Literal["stage", "call", "vote", "tally", "look", "act", "note", "verdict"]
    stage: str = ""
    seconds: float = 0
    """Since the run began."""
    path: str = ""
    """Of a stage, a call or a ballot."""
    title: str = ""
    member: str = ""
    parts: tuple[SpokenPart, ...] = ()
    facts: tuple[Fact, ...] = ()
    person: bool = False
    failed: bool = False
    side: str = ""
    """The choice for which a call puts something forward."""
    ballot: str = ""
    choice: str | None = None
    before: str | None = None
    call: str = ""
    """Path of the call by which a vote was given."""
    given: str = ""
    """`set` where a vote was set by the setup, `script` where it was written; see `given_by`."""
    counts: dict[str, int] = {}
    abstained: int = 0
    above: bool = False
    """Whether a tally exceeded the share that ends the discussion."""


class Ended(Strict):
    outcome: str
    choice: bool
    counts: dict[str, int]
    abstained: int
    note: str
    summary: str
    turnout: tuple[str, ...] = ()
    """Who has no vote and why, and what stand-ins answered; a sentence each."""


class RoomScene(Strict):
    run: str
    title: str
    procedure: str
    status: str
    reason: str = ""
    sides: tuple[Side, ...]
    seats: tuple[RoomSeat, ...]
    seating: str
    carries: bool
    """Whether members vote on the same question again, so that a vote stands until the next."""
    above: float | None
    tie: str | None
    rule: str
    """How the run counts its votes; see `Counting`."""
    stages_to_come: tuple[str, ...]
    ended: tuple[str, ...]
    ballots: dict[str, str]
    moments: tuple[Moment, ...]
    real: dict[str, int]
    real_title: str
    """Whose they are."""
    verdict: Ended | None
    ending: str = "Verdict"
    """What the end of the run is called."""
    notice: str = ""
    """What has to be known of who answered, wherever the room is shown."""


def scene(record: Record, procedure: Procedure) -> RoomScene:
    """The scene of a run as it stands. `procedure`: as it is about the record's case."""
    counting = procedure.counting(record.setup)
    verdict = record.run.verdict
    known = {choice.name: choice.title for choice in procedure.choices}
    begun = {stage.stage_kind for stage in record.stages}
    last = max((n for n, kind in enumerate(procedure.stages) if kind.name in begun), default=-1)
    tones = ((choice, tone(choice.tone), tone(choice.tone, "dark")) for choice in procedure.choices)
    sides = tuple(Side(name=c.name, title=c.title, mark=c.mark, symbol=c.symbol, light=a, dark=b) for c, a, b in tones)
    return RoomScene(
        run=record.run.id,
        procedure=procedure.title,
        **record.run.model_dump(include={"title", "status", "reason"}),
        **vars(counting),
        sides=sides,
        seats=tuple(_seats(record, procedure)),
        seating=procedure.seating,
        carries=any(kind.name == ROUND for kind in procedure.stages),
        stages_to_come=() if verdict else tuple(kind.title for kind in procedure.stages[last + 1 :]),
        ended=tuple(stage.path for stage in record.stages if stage.path in record.ended),
        ballots={ballot: record.ballot_name(ballot) for ballot in record.ballots},
        moments=tuple(_moments(record, procedure)),
        real=dict(procedure.real_counts(record.case)),
        real_title=record.case.votes_title,
        ending=procedure.ending.title,
        notice=" ".join(record.answered_by),
        verdict=verdict
        and Ended(
            outcome=known.get(verdict.outcome, verdict.outcome),
            choice=verdict.outcome in known,
            turnout=turnout(record),
            **verdict.model_dump(include={"counts", "abstained", "note", "summary"}),
        ),
    )


def speaking(open_calls: Mapping[str, OpenCall]) -> tuple[Moment, ...]:
    """Return who answers now, with what has come so far."""
    said = ((path, one, spoken_so_far(one.text).parts) for path, one in open_calls.items())
    return tuple(Moment(kind="call", path=path, member=one.member, title=one.title, parts=p) for path, one, p in said)


def _seats(record: Record, procedure: Procedure) -> Iterator[RoomSeat]:
    members = record.members or procedure.panel(record.setup)
    titles = {role.name: role.title for role in procedure.roles}
    voting = {role.name for role in procedure.roles if role.votes}
    voters = [member for member in members if member.role in voting]
    # One who never was asked anything has no seat once the run is over.
    others = [m.id for m in members if m.role not in voting and (not record.run.verdict or record.calls_of(m.id))]
    placed = places(procedure.seating, [m.id for m in voters], others)
    follows = _follows(record, voters)
    seated = {member.id for member in members}
    for member in (*members, *(one for one in record.everybody if one.id not in seated)):
        persona = member.persona
        yield RoomSeat(
            id=member.id,
            name=member.name,
            role=titles.get(member.role, member.role),
            votes=member.role in voting,
            model=member.spec.id,
            place=placed.get(member.id),
            about=f"{persona.age}, {persona.gender}, {persona.status}. {persona.more}" if persona else "",
            traits=persona.traits if persona else (),
            follows=follows.get(member.id, ()),
        )


def _follows(record: Record, voters: list[Member]) -> dict[str, tuple[str, ...]]:
    field = fields_drawn(type(record.setup)).get(Widget.GRAPH)
    edges: list[Any] = (value_at(record.setup, f"{field}.edges") or []) if field else []
    by_seat = {int(number): m.id for m in voters if (number := m.id.rpartition("-")[2]).isdigit()}
    found: dict[str, tuple[str, ...]] = {}
    for one, other in edges:
        if (follower := by_seat.get(one + 1)) and (followed := by_seat.get(other + 1)):
            found[follower] = (*found.get(follower, ()), followed)
    return found


def _moments(record: Record, procedure: Procedure) -> Iterator[Moment]:
    start = record.events[0][0] if record.events else 0.0
    waiting = list(record.interventions)
    latest: dict[str, str] = {}
    for at, event in record.events:
        if isinstance(event, StageBegan):
            while waiting and waiting[0].index <= event.index:
                yield _act(waiting.pop(0), record, start)
        if isinstance(event, Called):
            latest[event.member] = event.path
        if moment := _moment(record, procedure, event, at - start, latest):
            yield moment
        if isinstance(event, Voted) and event.question:
            title = f"{record.name_of(event.member)} asks the court: “{event.question}”"
            yield Moment(kind="note", stage=event.stage, seconds=round(at - start, 2), title=title)
    yield from (_act(one, record, start) for one in waiting)
    if record.run.verdict:
        yield Moment(kind="verdict", title=record.run.verdict.outcome, seconds=record.events[-1][0] - start)


def _moment(record: Record, procedure: Procedure, event: Event, after: float, last: Mapping[str, str]) -> Moment | None:
    at: dict[str, Any] = {"stage": event.stage, "seconds": round(after, 2)}
    match event:
        case StageBegan():
            return Moment(kind="stage", path=event.path, title=event.name, **at)
        case Called():
            said, failed = spoken(event.value or {}), event.value is None
            return Moment(
                kind="call",
                path=event.path,
                title=" · ".join(filter(None, (event.title, procedure.about_what(record, event)))),
                member=event.member,
                parts=(SpokenPart(label="No answer", text=event.error or "-"),) if failed else said.parts,
                facts=said.facts,
                person=event.source == "person",
                failed=failed,
                side=procedure.speaks_for(record, event) or "",
                **at,
            )
        case Voted():
            vote = event.model_dump(include={"ballot", "member", "choice", "before"})
            return Moment(kind="vote", call=last.get(event.member, ""), given=given_by(record, event), **vote, **at)
        case Tallied(path=ballot, counts=counts, abstained=abstained, consensus=above):
            return Moment(kind="tally", ballot=ballot, counts=counts, abstained=abstained, above=above, **at)
        case Retrieved(query=Search() as query):
            return Moment(kind="look", path=event.path, title=f"{len(event.hits)} found in {query.collection}", **at)
        case Noted():
            return Moment(kind="note", title=event.text, **at)
        case Replied(text=reply):
            return Moment(kind="note", title=f"The court replies: “{reply}”", **at)
        case _:
            return None


def _act(one: Intervention, record: Record, start: float) -> Moment:
    title = f"{one.who} {one.described(type(record.setup))}"
    words = one.after if isinstance(one.action, AddEvidence | AddNote | ReplyToQuestions) else ""
    parts = (SpokenPart(label="", text=words),) if words else ()
    return Moment(kind="act", title=title, parts=parts, seconds=round(max(0.0, one.at - start), 2))


Place = tuple[float, float]
"""Across and down, each from 0 to 100."""
ONE_RING = 24
"""Seats that a single ring holds; more sit in an outer and an inner ring."""
FEW = 12
"""Seats of a ring that leaves the corners free."""
PER_ROW = 4
LONGEST_BENCH = 11


def places(seating: Seating, voters: Sequence[str], others: Sequence[str]) -> dict[str, Place]:
    """Return a place for each member, by id: who votes in the order of seats, the rest in the order of their work."""
    if seating == "rows" or not voters:
        members = [*others, *voters] if seating == "rows" else others
        count = max(1, math.ceil(len(members) / PER_ROW))
        return _lines(members, count, 30 if count > 2 else 36, 12, 88)
    if seating == "bench":  # voters on one or several benches at the back, the others before them
        return _lines(voters, math.ceil(len(voters) / LONGEST_BENCH), 21, 9, 91, sag=5) | _line(others, 87, 9, 91)
    if len(voters) > ONE_RING:
        outer = math.ceil(len(voters) * 0.6)
        rings = _ring(voters[:outer], 45, 44) | _ring(voters[outer:], 31, 28)
    else:
        rings = _ring(voters, 44, 39)
    if len(others) == 2 and 3 <= len(voters) <= FEW:  # the corners, into which no ring reaches
        return rings | _line(others, 89, 7.5, 92.5)
    return rings | _line(others, 88 if len(voters) < 3 else 68, 34, 66)


def _lines(seats: Sequence[str], rows: int, gap: float, left: float, right: float, sag: float = 0) -> dict[str, Place]:
    """One line behind the other, the last one at the back."""
    size, found = math.ceil(len(seats) / rows) or 1, dict[str, Place]()
    for row in range(rows):
        found |= _line(seats[row * size : (row + 1) * size], 16 + gap * row, left, right, sag=sag)
    return found


def _ring(members: Sequence[str], across: float, down: float) -> dict[str, Place]:
    """Around an ellipse, clockwise from the top, at equal distances along it as the eye sees them."""
    if len(members) == 1:
        return {members[0]: (50.0, 50.0 - down)}
    # Equal steps along the curve, not of the angle: near its ends a flat ellipse would crowd them.
    fine = 720
    angles = [2 * math.pi * n / fine for n in range(fine + 1)]
    points = [(50 + across * math.sin(angle), 50 - down * math.cos(angle)) for angle in angles]
    wide = 1.9  # a room is about this much wider than high
    steps = (math.dist((a * wide, b), (c * wide, d)) for (a, b), (c, d) in pairwise(points))
    walked = list(accumulate(steps, initial=0.0))
    shares = ((member, walked[-1] * number / len(members)) for number, member in enumerate(members))
    return {member: points[bisect_right(walked, share + 1e-9) - 1] for member, share in shares}


def _line(members: Sequence[str], down: float, left: float, right: float, *, sag: float = 0) -> dict[str, Place]:
    """Side by side; with a sag the middle sits further back than the ends."""
    if len(members) == 1:
        return {members[0]: ((left + right) / 2, down - sag)}
    step = (right - left) / max(1, len(members) - 1)
    middle = (len(members) - 1) / 2
    bowed = [down - sag + sag * 2 * ((n - middle) / max(1.0, middle)) ** 2 for n in range(len(members))]
    return {member: (left + step * n, bowed[n]) for n, member in enumerate(members)}


LONGEST = 12_000
"""Characters of one part that are kept: more than any model is asked for; the call itself has the rest."""
SHORT = 60
"""A text of at most this length without the shape of a sentence is a fact, e.g. a name or a label."""
_SENTENCE = re.compile(r"\S+\s+\S+\s+\S+\s+\S|[\u3400-\u9fff，、：；（）。]{8}")
"""Four words, or eight Chinese characters."""


class SpokenPart(Strict):
    """A few sentences with the name of their field."""

    label: str
    text: str


class Fact(Strict):
    """Something short, e.g. a degree, a number, an article."""

    label: str
    value: str


class SpokenAnswer(Strict):
    """An answer as people read it."""

    parts: tuple[SpokenPart, ...] = ()
    facts: tuple[Fact, ...] = ()


def spoken(value: Mapping[str, Any]) -> SpokenAnswer:
    """The sentences and the facts of an answer, in its own order; quotes and lists of sentences are joined."""
    parts: list[SpokenPart] = []
    facts: list[Fact] = []
    leaves = list(_leaves(value))
    inner = Counter(name.rpartition("/")[2] for name, _ in leaves)
    for name, item in leaves:
        own = name.rpartition("/")[2]
        label = (own if inner[own] == 1 else name).replace("/", " ").replace("_", " ").capitalize()
        if isinstance(item, bool):
            item = "yes" if item else "no"
        several = item if isinstance(item, list) else [] if item is None else [item]
        texts = [str(one).strip() for one in several if str(one).strip()]
        if any(_SENTENCE.search(text) or len(text) > SHORT for text in texts):
            parts.append(SpokenPart(label=label, text=short("\n".join(texts), LONGEST)))
        elif texts:
            facts.append(Fact(label=label, value=", ".join(texts)))
    return SpokenAnswer(parts=tuple(parts), facts=tuple(facts))


def spoken_so_far(text: str) -> SpokenAnswer:
    """What an answer says while it streams in: the sentences so far, never the JSON around them."""
    begun = text.rpartition("</think>")[2]
    start = begun.find("{")
    if start < 0:
        return SpokenAnswer()
    try:
        value = from_json(begun[start:].partition("```")[0], allow_partial="trailing-strings")
    except ValueError:
        return SpokenAnswer()
    return SpokenAnswer(parts=spoken(value).parts) if isinstance(value, dict) else SpokenAnswer()


def _leaves(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Fields with what they hold: a text, a number, or a list of texts; groups are gone into."""
    for name, item in value.items():
        if isinstance(item, Mapping):
            yield from _leaves(item, f"{name}/")
        elif isinstance(item, list) and any(isinstance(one, Mapping) for one in item):
            yield f"{prefix}{name}", [_in_line(one) for one in item if isinstance(one, Mapping)]
        elif isinstance(item, list):
            yield f"{prefix}{name}", [one for one in item if not isinstance(one, list)]
        else:
            yield f"{prefix}{name}", item


def _in_line(item: Mapping[str, Any]) -> str:
    """One entry of a list as a line: its sentences, and what is short with its name."""
    said = spoken(item)
    facts = ", ".join(f"{one.label.lower()} {one.value}" if one.value.isdigit() else one.value for one in said.facts)
    sentences = " ".join(part.text for part in said.parts)
    return " ".join(filter(None, (f"({facts})" if facts and sentences else facts, sentences)))
