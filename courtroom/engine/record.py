"""A run as it stands on record: what pages, views, reports and exports read."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Self, TypeVar

from courtroom.cases.case import Case
from courtroom.declarations.setup import Member, Setup
from courtroom.engine.budget import Payment, in_sum
from courtroom.engine.events import Called, Event, Noted, Retrieved, Seated, StageBegan, StageEnded, Tallied, Voted
from courtroom.engine.interventions import Intervention
from courtroom.engine.run import ABOUT_RECORDINGS, UNVERIFIED, Run
from courtroom.language import N_
from courtroom.models.offline import SHORT_NOTICE
from courtroom.models.spec import OFFLINE

E = TypeVar("E")
ASSESSOR = "assessor"
"""Who only measures what the others did."""


@dataclass(frozen=True)
class Record:
    """A run with its case, setup and events so far. A snapshot: it never changes."""

    run: Run
    case: Case
    setup: Setup
    events: tuple[tuple[float, Event], ...]
    """Time (seconds since the epoch) and event, in order."""
    interventions: tuple[Intervention, ...] = ()
    overtaken: tuple[Called, ...] = ()
    """Calls that do not stand any more, since the run was worked out anew from an earlier stage."""
    paid: Mapping[str, Payment] = field(default_factory=dict)
    """What it was billed, by path; also for calls that are overtaken, or have not come to an end."""

    def of(self, kind: type[E]) -> list[E]:
        """All events of one type, in order."""
        return [event for _, event in self.events if isinstance(event, kind)]

    @cached_property
    def members(self) -> tuple[Member, ...]:
        """Who takes part; empty before the run has begun."""
        return next((_marked(seated.members) for seated in reversed(self.of(Seated))), ())

    @cached_property
    def everybody(self) -> tuple[Member, ...]:
        """All who ever took part: a person may have had somebody come or go."""
        return tuple({one.id: one for seated in self.of(Seated) for one in _marked(seated.members)}.values())

    @cached_property
    def stages(self) -> tuple[StageBegan, ...]:
        return tuple(self.of(StageBegan))

    @cached_property
    def ended(self) -> frozenset[str]:
        return frozenset(event.path for event in self.of(StageEnded))

    @cached_property
    def calls(self) -> tuple[Called, ...]:
        return tuple(self.of(Called))

    @property
    def assessed_s(self) -> float:
        """Seconds that an assessor's calls took."""
        return sum(call.latency_s for call in self.calls if call.member == ASSESSOR)

    @cached_property
    def times(self) -> Mapping[str, float]:
        return {event.path: at for at, event in self.events if isinstance(event, Called)}

    @cached_property
    def ballots(self) -> Mapping[str, Mapping[str, Voted]]:
        """Votes by ballot (a stage's path) and member."""
        ballots: dict[str, dict[str, Voted]] = {}
        for vote in self.of(Voted):
            ballots.setdefault(vote.ballot, {})[vote.member] = vote
        return ballots

    @cached_property
    def votes_move(self) -> bool:
        """Whether members voted on the same question again, so that votes can move from one ballot to the next."""
        return any(vote.before is not None for votes in self.ballots.values() for vote in votes.values())

    @cached_property
    def tallies(self) -> Mapping[str, Tallied]:
        return {tally.path: tally for tally in self.of(Tallied)}

    @cached_property
    def retrievals(self) -> tuple[Retrieved, ...]:
        return tuple(self.of(Retrieved))

    @property
    def answered_by(self) -> tuple[str, ...]:
        """What has to be known of who answered, wherever the run is shown, a sentence each."""
        about = UNVERIFIED if self.run.is_unverified else ABOUT_RECORDINGS.get(self.run.origin)
        asked = (*(member.spec.id for member in self.members), *(call.model for call in self.calls))
        scripted, of = sum(one.spec.script is not None for one in self.members), len(self.members)
        written = f"{scripted} of {of} members are scripted: they say what was written for them, and no model is asked."
        notice = (SHORT_NOTICE,) if OFFLINE in asked else ()
        return (*((about,) if about else ()), *notice, *((written,) if scripted else ()))

    @cached_property
    def notes(self) -> tuple[str, ...]:
        return tuple(note.text for note in self.of(Noted))

    def member(self, member: str) -> Member | None:
        return next((m for m in self.everybody if m.id == member), None)

    def name_of(self, member: str) -> str:
        """Return what a member is called; its id where nobody here has it."""
        return next((one.name for one in self.everybody if one.id == member), member)

    def until(self, index: int) -> Self:
        """The run as it stood at the end of a stage; nothing of what came after is lost by looking back."""
        later = {stage.path for stage in self.stages if stage.index > index}
        run = self.run.model_copy(update={"verdict": None if later else self.run.verdict})
        return replace(
            self,
            run=run,
            events=tuple((at, event) for at, event in self.events if event.stage not in later),
            paid={path: one for path, one in self.paid.items() if path.partition("/")[0] not in later},
        )

    def ballot_name(self, path: str) -> str:
        """What a ballot is called: its stage, and what it was on where a stage has several."""
        stage = self.stage(self.ballot_stage(path))
        on = path[len(stage.path) + 1 :]
        return f"{stage.name} · {on}" if on else stage.name

    def ballot_stage(self, path: str) -> str:
        return next(iter(self.ballots[path].values())).stage

    def stage(self, path: str) -> StageBegan:
        return next(stage for stage in self.stages if stage.path == path)

    def calls_of(self, member: str) -> list[Called]:
        """A member's calls, in the order in which they ended."""
        return [call for call in self.calls if call.member == member]

    def call(self, path: str) -> Called | None:
        return self._by_path.get(path)

    def place_of(self, call: Called) -> tuple[str, str, str]:
        """Return where an answer was given, in words: its stage, who gave it, and to what."""
        return self.stage(call.stage).name, self.name_of(call.member), call.title

    @cached_property
    def _by_path(self) -> Mapping[str, Called]:
        return {call.path: call for call in self.calls}

    @property
    def asked(self) -> int:
        return self.spent.calls

    @property
    def recorded(self) -> int:
        """Answers that were on record when the run first needed them."""
        return sum(max(0, len(call.keys) - call.asked) for call in self.calls)

    @property
    def failed(self) -> int:
        return sum(call.value is None for call in self.calls)

    @property
    def tokens(self) -> tuple[int, int]:
        """Prompt and completion tokens that this run has used."""
        return self.spent.prompt, self.spent.completion

    @property
    def cost(self) -> float | None:
        """US dollars that this run has spent; None where a price is unknown."""
        return self.spent.cost

    @cached_property
    def spent(self) -> Payment:
        """What all of its calls were billed."""
        return in_sum(self.paid.values())


def _marked(members: tuple[Member, ...]) -> tuple[Member, ...]:
    """Members as a reader is told of them: who is scripted says so in its name, which the other members never read."""
    return tuple(
        one.model_copy(update={"name": N_("{name} (scripted)").format(name=one.name)}) if one.spec.script else one
        for one in members
    )
