"""A run as a scene: who sits where, and moment after moment what happened. Plain data, made from the record alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from courtroom.engine.changes import value_at
from courtroom.engine.events import Called, Event, Noted, Retrieved, StageBegan, Tallied, Voted
from courtroom.engine.interventions import Intervention
from courtroom.engine.knobs import Widget, fields_drawn
from courtroom.engine.live import OpenCall
from courtroom.engine.procedure import ROUND, Procedure
from courtroom.engine.record import Record
from courtroom.engine.setup import Member
from courtroom.figures.palette import tone
from courtroom.knowledge.search import Search
from courtroom.room.seating import Place, places
from courtroom.room.spoken import Fact, SpokenPart, spoken, spoken_so_far
from courtroom.strict import Strict


class Side(Strict):
    """What can be voted for, shown by word, shape and colour."""

    name: str
    title: str
    mark: str
    symbol: str
    light: str
    dark: str


class RoomSeat(Strict):
    """A member in the room."""

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
    """Path of the stage."""
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
    counts: dict[str, int] = {}
    abstained: int = 0
    above: bool = False
    """Whether a tally exceeded the share that ends the discussion."""


class Speaking(Strict):
    """A member who answers now, with what has come so far."""

    path: str
    member: str
    title: str
    parts: tuple[SpokenPart, ...] = ()


class Ended(Strict):
    """How it ended."""

    outcome: str
    choice: bool
    counts: dict[str, int]
    abstained: int
    note: str
    summary: str


class RoomScene(Strict):
    """All that the player needs."""

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
    by_last: bool
    stages_to_come: tuple[str, ...]
    ended: tuple[str, ...]
    """Paths of the stages whose work is done."""
    ballots: dict[str, str]
    """Names by path."""
    moments: tuple[Moment, ...]
    real: dict[str, int]
    verdict: Ended | None
    ending: str = "Verdict"
    """What the end of the run is called."""


def scene(record: Record, procedure: Procedure) -> RoomScene:
    """The scene of a run as it stands.

    Args:
        procedure: as it is about the record's case.
    """
    counting = procedure.counting(record.setup)
    verdict = record.run.verdict
    known = {choice.name for choice in procedure.choices}
    begun = {stage.stage_kind for stage in record.stages}
    last = max((n for n, kind in enumerate(procedure.stages) if kind.name in begun), default=-1)
    return RoomScene(
        run=record.run.id,
        title=record.run.title,
        procedure=procedure.title,
        status=record.run.status,
        reason=record.run.reason,
        sides=tuple(
            Side(
                name=c.name, title=c.title, mark=c.mark, symbol=c.symbol, light=tone(c.tone), dark=tone(c.tone, "dark")
            )
            for c in procedure.choices
        ),
        seats=tuple(_seats(record, procedure)),
        seating=procedure.seating,
        carries=any(kind.name == ROUND for kind in procedure.stages),
        above=counting.above,
        tie=counting.tie,
        by_last=counting.by_last,
        stages_to_come=() if verdict else tuple(kind.title for kind in procedure.stages[last + 1 :]),
        ended=tuple(stage.path for stage in record.stages if stage.path in record.ended),
        ballots={ballot: record.ballot_name(ballot) for ballot in record.ballots},
        moments=tuple(_moments(record, procedure)),
        real=dict(record.real_counts),
        ending=procedure.ending.title,
        verdict=verdict
        and Ended(
            outcome=next((c.title for c in procedure.choices if c.name == verdict.outcome), verdict.outcome),
            choice=verdict.outcome in known,
            counts=verdict.counts,
            abstained=verdict.abstained,
            note=verdict.note,
            summary=verdict.summary,
        ),
    )


def speaking(open_calls: Mapping[str, OpenCall]) -> tuple[Speaking, ...]:
    """Who answers now, with the sentences so far."""
    return tuple(
        Speaking(path=path, member=call.member, title=call.title, parts=spoken_so_far(call.text).parts)
        for path, call in open_calls.items()
    )


def _seats(record: Record, procedure: Procedure) -> Iterator[RoomSeat]:
    members = record.members or procedure.panel(record.setup)
    titles = {role.name: role.title for role in procedure.roles}
    voting = {role.name for role in procedure.roles if role.votes}
    voters = [member for member in members if member.role in voting]
    placed = places(
        procedure.seating, [m.id for m in voters], [m.id for m in members if m.role not in voting and _asked(record, m)]
    )
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
            about=f"{persona.age}, {persona.gender}, {persona.status}. {persona.background}" if persona else "",
            traits=persona.traits if persona else (),
            follows=follows.get(member.id, ()),
        )


def _asked(record: Record, member: Member) -> bool:
    """Whether a member takes part in this run; one who never was asked anything has no seat once the run is over."""
    return record.run.verdict is None or bool(record.calls_of(member.id))


def _follows(record: Record, voters: list[Member]) -> dict[str, tuple[str, ...]]:
    """Who is shown whose opinions, where the setup has a follow-graph."""
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
                yield _act(waiting.pop(0), start)
        if isinstance(event, Called):
            latest[event.member] = event.path
        if moment := _moment(record, procedure, event, at - start, latest):
            yield moment
    yield from (_act(one, start) for one in waiting)
    if record.run.verdict:
        yield Moment(kind="verdict", title=record.run.verdict.outcome, seconds=record.events[-1][0] - start)


def _moment(
    record: Record, procedure: Procedure, event: Event, seconds: float, latest: Mapping[str, str]
) -> Moment | None:
    seconds = round(seconds, 2)
    match event:
        case StageBegan():
            return Moment(kind="stage", path=event.path, stage=event.path, title=event.name, seconds=seconds)
        case Called():
            said = spoken(event.value or {})
            return Moment(
                kind="call",
                stage=event.stage,
                seconds=seconds,
                path=event.path,
                title=event.title,
                member=event.member,
                parts=said.parts
                if event.value is not None
                else (SpokenPart(label="No answer", text=event.error or "-"),),
                facts=said.facts,
                person=event.source == "person",
                failed=event.value is None,
                side=procedure.speaks_for(record, event) or "",
            )
        case Voted():
            return Moment(
                kind="vote",
                stage=event.stage,
                seconds=seconds,
                ballot=event.ballot,
                member=event.member,
                choice=event.choice,
                before=event.before,
                call=latest.get(event.member, ""),
            )
        case Tallied():
            return Moment(
                kind="tally",
                stage=event.stage,
                seconds=seconds,
                ballot=event.path,
                counts=event.counts,
                abstained=event.abstained,
                above=event.consensus,
            )
        case Retrieved(query=Search() as query):
            found = f"{len(event.hits)} found in {query.collection}"
            return Moment(kind="look", stage=event.stage, seconds=seconds, path=event.path, title=found)
        case Noted():
            return Moment(kind="note", stage=event.stage, seconds=seconds, title=event.text)
        case _:
            return None


def _act(one: Intervention, start: float) -> Moment:
    return Moment(kind="act", title=f"{one.who} {one.described()}", seconds=round(max(0.0, one.at - start), 2))
