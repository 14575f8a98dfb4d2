"""Two to four runs beside each other, as data: what was put in, what came of it, and where they part.

Votes, answers and look-ups of different runs are found by their paths, such as `round-2/juror-05/judge`. All that has
one value a run is a tuple in the order of the runs.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Literal, TypeVar

from courtroom.cases.case import Case
from courtroom.declarations.changes import leaves
from courtroom.declarations.setup import Setup
from courtroom.engine.events import Called, Retrieved, Source, Tallied, Voted
from courtroom.engine.interventions import Intervention
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import Run
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.knowledge.search import Hit
from courtroom.law import Both
from courtroom.strict import Strict

MAX_COMPARED_RUNS = 4
T = TypeVar("T")

State = Literal["same", "differs", "only in some", "not yet"]
"""An answer is only in some runs where another is past its stage without it; where all others may still come to it, it
can't be compared yet."""
APART = ("differs", "only in some")


class Difference(Strict):
    """One thing that is not the same in all runs; None where a run does not have it."""

    path: str
    values: tuple[Any, ...]


class Differences(Strict):
    """What was put into the runs and is not the same in all, a field a kind of input."""

    case: tuple[Difference, ...] = ()
    procedure: tuple[Difference, ...] = ()
    setup: tuple[Difference, ...] = ()
    """By paths as in `jury.5.traits`; between procedures, of the knobs that all of them have."""
    seed: tuple[Difference, ...] = ()
    interventions: tuple[Difference, ...] = ()
    """What persons did that is not the same in all, by what it was done to."""

    def all(self) -> Iterator[tuple[str, Difference]]:
        return ((kind, difference) for kind in type(self).model_fields for difference in getattr(self, kind))


class MemberVotes(Strict):
    """One member's votes in one ballot; None where it has not voted."""

    member: str
    name: str
    votes: tuple[Voted | None, ...]
    differs: bool


class BallotComparison(Strict):
    """One ballot by its path; a tally is None where a run has none, or none yet."""

    path: str
    name: str
    tallies: tuple[Tallied | None, ...]
    members: tuple[MemberVotes, ...]


class MemberDifferences(Strict):
    """A member that is not the same, votes differently or answers differently."""

    member: str
    name: str
    seat: tuple[Difference, ...]
    """What differs in who it is: persona, model, or that it sits at all."""
    ballots: tuple[str, ...]
    """Paths of the ballots in which its votes differ."""
    answers: int
    """How many of its answers are not the same in all runs."""


class AnswerComparison(Strict):
    """One call by its path."""

    path: str
    stage: str
    member: str
    title: str
    state: State
    same_question: bool
    """Whether those who have it were asked the very same."""
    sources: tuple[Source | None, ...]
    fields: tuple[Difference, ...]
    """Fields of the answer that differ between the runs that have it."""


class FoundRecord(Strict):
    """Something that a look-up found in at least one run."""

    id: str
    title: str
    runs: tuple[bool, ...]


class LookUp(Strict):
    """One look-up by its path."""

    path: str
    where: str
    """The collection, or what kind of look-up it was."""
    made: tuple[bool, ...]
    same_query: bool
    found: tuple[FoundRecord, ...]


class Comparison(Strict):
    differences: Differences
    verdict: tuple[Difference, ...]
    """What differs between the verdicts of the runs that have one."""
    ballots: tuple[BallotComparison, ...]
    members: tuple[MemberDifferences, ...]
    answers: tuple[AnswerComparison, ...]
    parts_at: str
    """Path of the first answer that is not the same in all runs; empty where there is none."""
    look_ups: tuple[LookUp, ...]


def checked(runs: Iterable[str]) -> tuple[str, ...]:
    """Ids of runs that can be compared, each once. Raises `CourtroomError`: there are too few or too many."""
    named = tuple(dict.fromkeys(runs))
    if not 2 <= len(named) <= MAX_COMPARED_RUNS:
        raise CourtroomError(
            f"Two to four different runs can be compared, and {len(named)} {'is' if len(named) == 1 else 'are'} named."
        )
    return named


def compare(records: Sequence[Record]) -> Comparison:
    """Compare runs as they stand on record; one that is still going on is compared as far as it is. Raises
    `CourtroomError`: there are too few or too many."""
    checked(record.run.id for record in records)
    ballots, answers = tuple(_ballots(records)), tuple(_answers(records))
    given = [(record.run, record.case, record.setup) for record in records]
    verdicts = [record.run.verdict and record.run.verdict.model_dump(mode="json") for record in records]
    return Comparison(
        differences=put_in(given, [record.interventions for record in records]),
        verdict=_differences(verdicts) if sum(one is not None for one in verdicts) > 1 else (),
        ballots=ballots,
        members=tuple(_members(records, ballots, answers)),
        answers=answers,
        parts_at=next((answer.path for answer in answers if answer.state in APART), ""),
        look_ups=tuple(_look_ups(records)),
    )


def put_in(
    runs: Sequence[tuple[Run, Case, Setup]], interventions: Sequence[Sequence[Intervention]] = ()
) -> Differences:
    """What differs in what the runs were given, and in what persons did to them."""
    rows, cases, setups = zip(*runs, strict=True)
    given = [setup.model_dump(mode="json") for setup in setups]
    if len({row.procedure for row in rows}) > 1:
        shared = set.intersection(*(set(values) for values in given))
        given = [{name: value for name, value in values.items() if name in shared} for values in given]
    return Differences(
        case=_differences([case.model_dump(mode="json") for case in cases]),
        procedure=_differences([row.procedure for row in rows], "procedure"),
        setup=_differences(given),
        seed=_differences([row.seed for row in rows], "seed"),
        interventions=_done(interventions),
    )


def _done(interventions: Sequence[Sequence[Intervention]]) -> tuple[Difference, ...]:
    """By what was done to what from where; the last one of a kind counts."""
    rows = _aligned({f"{one.described()}, from {one.stage}": one.after for one in done} for done in interventions)
    apart = ((name, values) for name, values in rows.items() if len(set(map(str, values))) > 1)
    return tuple(Difference(path=name, values=values) for name, values in apart)


def _differences(values: Sequence[Any], path: str = "") -> tuple[Difference, ...]:
    return tuple(Difference(path=where, values=found) for where, found in leaves(values, path))


def _aligned(several: Iterable[Mapping[str, T]]) -> dict[str, tuple[T | None, ...]]:
    """Put what has the same path in several runs side by side."""
    runs = list(several)
    return {path: tuple(run.get(path) for run in runs) for path in dict.fromkeys(path for run in runs for path in run)}


def _stages(records: Sequence[Record]) -> dict[str, str]:
    """Names of all stages by path, in their order; a round that only one run came to stands before the verdict."""
    found = _aligned({stage.path: stage for stage in record.stages} for record in records)
    last = {path: max(stage.index for stage in stages if stage) for path, stages in found.items()}
    return {path: _first(found[path]).name for path in sorted(last, key=last.__getitem__)}


def _first(several: Iterable[T | None]) -> T:
    return next(one for one in several if one is not None)


def _seats(records: Sequence[Record]) -> dict[str, str]:
    """Names of all members by id, in the order of their seats."""
    found = _aligned({member.id: member for member in record.members} for record in records)
    return {member: _first(several).name for member, several in found.items()}


def _ballots(records: Sequence[Record]) -> Iterator[BallotComparison]:
    seats, stages = _seats(records), list(_stages(records))
    held = {
        path: next(one for one in records if path in one.ballots) for path in _aligned(one.ballots for one in records)
    }
    for path, first in sorted(held.items(), key=lambda one: stages.index(one[1].ballot_stage(one[0]))):
        cast = _aligned(record.ballots.get(path, {}) for record in records)
        rows = (
            MemberVotes(member=member, name=name, votes=votes, differs=len({vote.choice for vote in votes if vote}) > 1)
            for member, name in seats.items()
            if (votes := cast.get(member))
        )
        tallies = tuple(record.tallies.get(path) for record in records)
        yield BallotComparison(path=path, name=first.ballot_name(path), tallies=tallies, members=tuple(rows))


def _answers(records: Sequence[Record]) -> Iterator[AnswerComparison]:
    stages, seats = list(_stages(records)), list(_seats(records))
    calls = _aligned({call.path: call for call in record.calls} for record in records)
    first = {path: _first(made) for path, made in calls.items()}
    for path in sorted(first, key=lambda path: (stages.index(first[path].stage), seats.index(first[path].member))):
        made, one = calls[path], first[path]
        there = [call for call in made if call is not None]
        fields = tuple(_fields(made))
        past = [record.run.status == "done" or one.stage in record.ended for record in records]
        state: State = "differs" if fields else "same" if len(there) > 1 else "not yet"
        if any(gone and call is None for gone, call in zip(past, made, strict=True)):
            state = "only in some"
        yield AnswerComparison(
            path=path,
            stage=one.stage,
            member=one.member,
            title=one.title,
            state=state,
            same_question=len({call.keys[:1] for call in there}) == 1,
            sources=tuple(call.source if call else None for call in made),
            fields=fields,
        )


def _fields(made: Sequence[Called | None]) -> Iterator[Difference]:
    """What differs between the answers that are there; those that are not have None in each."""
    for path, found in leaves([call.value or {"no_answer": call.error} for call in made if call]):
        values = iter(found)
        yield Difference(path=path, values=tuple(next(values) if call else None for call in made))


def _members(
    records: Sequence[Record], ballots: Sequence[BallotComparison], answers: Sequence[AnswerComparison]
) -> Iterator[MemberDifferences]:
    begun = all(record.members for record in records)
    for member, name in _seats(records).items():
        sitting = [record.member(member) for record in records] if begun else []
        found = leaves([one and one.model_dump(mode="json") for one in sitting])
        # Without a path it is not in all.
        seat = tuple(Difference(path=path or "seat", values=values) for path, values in found)
        apart = tuple(b.path for b in ballots for row in b.members if row.member == member and row.differs)
        other = sum(answer.member == member and answer.state in APART for answer in answers)
        if seat or apart or other:
            yield MemberDifferences(member=member, name=name, seat=seat, ballots=apart, answers=other)


def _look_ups(records: Sequence[Record]) -> Iterator[LookUp]:
    made = _aligned({retrieval.path: retrieval for retrieval in record.retrievals} for record in records)
    language = records[0].case.language
    for path, looked in made.items():
        there = [retrieval for retrieval in looked if retrieval]
        found = _aligned({_name(one, hit): hit for hit in one.hits} if one else {} for one in looked)
        yield LookUp(
            path=path,
            where=str(getattr(there[0].query, "collection", there[0].query.kind)),
            made=tuple(one is not None for one in looked),
            same_query=len({one.key for one in there}) == 1,
            found=tuple(
                FoundRecord(id=name, title=_title(_first(hits), language), runs=tuple(hit is not None for hit in hits))
                for name, hits in found.items()
            ),
        )


def _name(retrieval: Retrieved, hit: Hit) -> str:
    """What a hit is known by; a ranked candidate's id is but its place in that one question."""
    return str(hit.record["text"]) if retrieval.query.kind == "rank" else hit.id


def _title(hit: Hit, language: str) -> str:
    text = next((hit.record[name] for name in ("title", "name", "text") if hit.record.get(name)), hit.id)
    return Both.model_validate(text).in_language(language) if isinstance(text, dict) else str(text)


class Relative(Strict):
    """One run of a family, `depth` forks away from the first."""

    run: Run
    depth: int
    changes: Differences
    """What it changed against the run that it was forked from."""


def family(
    store: RunStore, procedures: Mapping[str, Procedure], run: str, most: int | None = None
) -> tuple[Relative, ...]:
    """The tree that a run belongs to, each run followed by its forks, oldest first. A run whose parent was deleted
    begins a tree of its own. `most`: runs that are given at most, the first ones."""
    rows = {row.id: row for row in store.kin(run)}
    forks = defaultdict[str | None, list[Run]](list)
    for row in rows.values():
        forks[row.parent].append(row)
    first = rows[run]
    while first.parent in rows:
        first = rows[str(first.parent)]

    def branch(row: Run, depth: int) -> Iterator[Relative]:
        changes = forked(store, procedures, rows[str(row.parent)], row) if depth else Differences()
        yield Relative(run=row, depth=depth, changes=changes)
        for fork in forks[row.id]:
            yield from branch(fork, depth + 1)

    return tuple(islice(branch(first, 0), most))


def forked(store: RunStore, procedures: Mapping[str, Procedure], *runs: Run) -> Differences:
    """What a fork changed against the run that it was forked from."""
    given = [(row, store.case(row), store.setup(row.id, procedures[row.procedure].setup)) for row in runs]
    return put_in(given, [store.interventions.of(row.id) for row in runs])
