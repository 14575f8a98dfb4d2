"""The one object a procedure speaks to. Everything that isn't deterministic goes through it."""

import asyncio
import hashlib
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from courtroom.cases.case import Case
from courtroom.engine.changes import changed
from courtroom.engine.errors import Abstained, QuorumLost
from courtroom.engine.events import Called, Learned, Retrieved, Seated, StageBegan, StageEnded, Tallied, Voted
from courtroom.engine.exchange import Exchange, problem_of
from courtroom.engine.interventions import AddEvidence, AddNote, ChangeSetup, Intervention, Overrule
from courtroom.engine.services import Asked, OpenCall, Services
from courtroom.engine.setup import Member, Setup
from courtroom.errors import CourtroomError
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.prompts import Prompts
from courtroom.models.request import digest_text
from courtroom.models.task import Task


@dataclass(frozen=True)
class StageInput:
    """All that a procedure sees of a run's input at one stage."""

    case: Any
    """Without anything that a member must not know. Of the kind that the procedure takes, as `setup` is."""
    unsealed: Any
    setup: Any
    members: tuple[Member, ...]
    prompts: Prompts


class RunInput:
    """The input of a run as it was at the beginning, and what persons did to it."""

    def __init__(
        self,
        panel: Callable[[Setup], tuple[Member, ...]],
        prompts: Path,
        case: Case,
        setup: Setup,
        seed: int,
        interventions: Sequence[Intervention] = (),
    ) -> None:
        self._panel, self._prompts, self._case, self._setup, self._seed = panel, prompts, case, setup, seed
        self._interventions = tuple(interventions)
        self._stages: dict[tuple[str, ...], StageInput] = {}

    def at(self, index: int) -> StageInput:
        held = tuple(one for one in self._interventions if one.index <= index and not isinstance(one.action, Overrule))
        key = tuple(one.id for one in held)
        if key not in self._stages:
            self._stages[key] = self._stage(held)
        return self._stages[key]

    def overruled(self, path: str) -> Intervention | None:
        found = [one for one in self._interventions if isinstance(one.action, Overrule) and one.action.path == path]
        return found[-1] if found else None

    def _stage(self, held: Sequence[Intervention]) -> StageInput:
        case, setup = self._case, self._setup
        notes: list[str] = []
        for one in held:
            if isinstance(one.action, ChangeSetup):
                setup = changed(setup, {one.action.key: one.action.value}, recorded=True).complete(case, self._seed)
            elif isinstance(one.action, AddEvidence):
                case = case.with_addition(one.action.text, one.action.side)
            elif isinstance(one.action, AddNote):
                notes.append(one.action.text)
        members = self._panel(setup)
        blind = case.blind()
        common: dict[str, Any] = {"case": blind, "setup": setup}
        prompts = Prompts(self._prompts, common, setup.prompts, notes=tuple(notes))
        return StageInput(blind, case, setup, members, prompts)


class Stages:
    """The stages of one deliberation, one after the other. `kinds`: the kinds of stage that the procedure declares."""

    def __init__(self, kinds: frozenset[str], services: Services) -> None:
        self._kinds, self._services = kinds, services
        self._current: StageBegan | None = None
        self._used: set[str] = set()

    @property
    def current(self) -> StageBegan:
        assert self._current is not None, "a stage must begin first"
        return self._current

    @property
    def here(self) -> str:
        """Path of the current stage; empty before the first."""
        return self._current.path if self._current else ""

    def next(self, name: str, kind: str) -> StageBegan:
        """The stage after the current one, not begun yet."""
        if kind not in self._kinds:
            raise ValueError(f"stage kind {kind!r} is not declared")
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        index = self._current.index + 1 if self._current else 0
        return StageBegan(path=slug, stage=slug, name=name, stage_kind=kind, index=index)

    async def begin(self, stage: StageBegan) -> None:
        """End the current stage and begin this one, as soon as the run may."""
        self.end()
        await self._services.gate.enter(stage)
        self._current = stage

    def end(self) -> None:
        if self._current is not None:
            self._services.ledger.add(StageEnded(path=self._current.path, stage=self._current.path))

    def path(self, *parts: str) -> str:
        """A path in the current stage; empty parts are left out."""
        return "/".join((self.current.path, *filter(None, parts)))

    def new_path(self, *parts: str) -> str:
        """A path in the current stage that nothing else has."""
        path = self.path(*parts)
        if path in self._used:
            raise ValueError(f"{path} is used twice: give the second a step of its own")
        self._used.add(path)
        return path


def chance(seed: int, *path: str) -> random.Random:
    """A source of chance that depends on a run's seed and a path, and on nothing else."""
    return random.Random(hashlib.sha256("/".join((str(seed), *path)).encode()).digest())


A = TypeVar("A", bound=BaseModel)
C = TypeVar("C", bound=Case, covariant=True)
S = TypeVar("S", bound=Setup, covariant=True)
T = TypeVar("T")


class Court(Generic[C, S]):
    """A court in session: the case, who sits in it, and the ways to ask, look up, draw and vote."""

    case: C
    """Without anything that a member must not know."""
    unsealed: C
    """With what is known of the real outcome: for what comes after the verdict alone."""
    setup: S
    """As it is at the current stage; read it there, as a person may have changed it."""
    seed: int

    def __init__(
        self, seed: int, run_input: RunInput, stages: Stages, choices: Collection[str], services: Services
    ) -> None:
        self.seed, self._declared = seed, choices
        self._input, self._stages, self._services = run_input, stages, services
        self._choices: dict[tuple[str, str], str] = {}
        self._errors = defaultdict[str, list[str]](list)
        """Why there is no answer, by stage."""
        self._ballots: dict[str, dict[str, str | None]] = {}
        self._see(run_input.at(0))

    def panel(self, role: str) -> tuple[Member, ...]:
        """All members with a role, in the order of their seats."""
        return tuple(member for member in self._members if member.role == role)

    def member(self, role: str) -> Member:
        """The one member with a role."""
        (member,) = self.panel(role)
        return member

    def random(self, *path: str) -> random.Random:
        """A source of chance that depends on the run's seed and the path, and on nothing else."""
        return chance(self.seed, *path)

    async def stage(self, name: str, kind: str) -> None:
        """Begin a stage. The run may wait here for as long as a person likes.

        Args:
            name: given while running, e.g. `Round 2`; its slug is the first part of the paths within.
            kind: one of the procedure's declared kinds of stage.
        """
        began = self._stages.next(name, kind)
        if began.index == 0:
            self._services.ledger.add(Seated(stage="", members=self._members))
        await self._stages.begin(began)
        self._ballots = {}
        seated = self._members
        self._see(self._input.at(began.index))
        if self._members != seated:
            self._services.ledger.add(Seated(path=f"panel/{began.path}", stage=began.path, members=self._members))
        self._services.ledger.add(began)

    async def ask(self, member: Member, task: Task[A], step: str = "") -> A:
        """Ask a member and wait for an answer that fits the task's schema.

        Args:
            step: distinguishes several askings of one task in one stage, e.g. `buyer-2`.

        Raises:
            Abstained: the member has no answer; recorded. Within `all` and by `try_ask` this becomes None.
        """
        services = self._services
        path = self._stages.new_path(member.id, f"{task.name}-{step}" if step else task.name)
        if (overruled := self._input.overruled(path)) is not None:
            return self._said_instead(member, task, path, overruled)
        before = services.ledger.called(path)
        if before is not None and before.value is None:
            self._errors[self._stages.here].append(before.error)
            raise Abstained(before.error)
        await services.gate.open()
        asked = Asked(member, task, self.setup, self._prompts, self.seed, path, self._stages.here)
        services.asking(asked)
        exchange = Exchange(services, asked)
        services.live.calls[path] = OpenCall(member.id, task.title, member.spec.id)
        try:
            answer = await exchange.run()
        finally:
            services.live.calls.pop(path, None)
        called = exchange.called()
        services.record(called)
        if answer is None:
            self._errors[self._stages.here].append(called.error)
            raise Abstained(called.error)
        return answer

    async def try_ask(self, member: Member, task: Task[A], step: str = "") -> A | None:
        """Like `ask`, where the deliberation can go on without an answer: None is an abstention."""
        try:
            return await self.ask(member, task, step)
        except Abstained:
            return None

    async def all(self, work: Iterable[Awaitable[T]]) -> list[T | None]:
        """Do independent work at once; None where a member abstained.

        All of it comes to its end before anything else that went wrong is raised: answers under way are kept.
        """
        results = await asyncio.gather(*work, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException) and not isinstance(result, Abstained):
                raise result
        return [None if isinstance(result, BaseException) else result for result in results]

    async def retrieve(self, name: str, query: Query) -> tuple[Hit, ...]:
        """Look something up in the knowledge base; recorded like an answer.

        A fork sees what its parent saw, even if the collection has grown since.
        """
        embedding = self.setup.embedding
        key = digest_text(query.model_dump_json() + (f"\n{embedding}" if embedding else ""))
        seen = self._services.ledger.retrieval(key)
        hits = seen.hits if seen else await self._services.look_up(query, embedding)
        path, stage = self._stages.new_path(name), self._stages.here
        self._services.record(Retrieved(path=path, stage=stage, key=key, query=query, hits=hits, embedding=embedding))
        return hits

    async def learn(self, name: str, lesson: Lesson) -> None:
        """Teach the knowledge base. Done once: driving the run again does not undo what was done to it since.

        A fork asks "what if", so it leaves the knowledge base as it is; what it would have taught is recorded.
        """
        path = self._stages.new_path(name)
        if not self._services.ledger.learned(path):
            if self._services.ledger.teaches:
                # What the lesson rests on is on disk before it: found again after a kill, not looked up anew.
                await self._services.ledger.teach(
                    partial(self._services.learn, self._services.ledger.run, path, lesson)
                )
            held_back = not self._services.ledger.teaches
            self._services.record(Learned(path=path, stage=self._stages.here, lesson=lesson, held_back=held_back))

    def vote(
        self, member: Member, choice: str | None, reasons: Iterable[str] = (), *, on: str = "", anew: bool = False
    ) -> None:
        """Record a member's vote in a ballot of the current stage; None is an abstention.

        Args:
            on: distinguishes several ballots of one stage, e.g. a text's id. Votes on the same are compared.
            anew: the question was not voted on before, so that nobody changes sides by this vote.

        Raises:
            CourtroomError: the choice is not declared.
        """
        if choice is not None:
            self._refuse([choice], self._declared, "no declared choice")
        ballot = self._stages.path(on)
        before = None if anew else self._choices.get((on, member.id))
        self._ballots.setdefault(ballot, {})[member.id] = choice
        self._services.record(
            Voted(
                path=f"{ballot}/{member.id}",
                stage=self._stages.here,
                ballot=ballot,
                member=member.id,
                choice=choice,
                reasons=tuple(reasons),
                before=before,
            )
        )
        if choice is not None:
            self._choices[on, member.id] = choice

    def tally(self, choices: Iterable[str], consensus: float, *, on: str = "") -> Tallied:
        """Count a ballot of the current stage.

        Args:
            choices: all that could be voted for, so that an option without a vote counts 0.
            consensus: the share of all seats that must be exceeded.
            on: which ballot, as in `vote`.

        Raises:
            QuorumLost: too few members voted.
            CourtroomError: a choice is not declared, or a vote is for none of these.
        """
        votes = list(self._ballots.get(self._stages.path(on), {}).values())
        counts = {choice: votes.count(choice) for choice in choices}
        self._refuse(counts, self._declared, "no declared choice")
        self._refuse(filter(None, votes), counts, "voted for, but not counted here")
        seats, voted = len(votes), sum(counts.values())
        self.needs(voted, seats, f"members could vote in {self._stages.current.name}")
        share = max(counts.values()) / seats
        tallied = Tallied(
            path=self._stages.path(on),
            stage=self._stages.here,
            counts=counts,
            abstained=seats - voted,
            share=round(share, 6),
            consensus=share > consensus,
        )
        self._services.record(tallied)
        return tallied

    def enough(self, have: int, of: int) -> bool:
        """Whether there are any, and as many as the setup's quorum asks for."""
        return bool(have) and have >= self.setup.quorum * of

    def needs(self, have: int, of: int, what: str) -> None:
        """Stop the run where there are too few to go on; it can be continued.

        Args:
            what: what they are and have done, e.g. `jurors proposed a length`.

        Raises:
            QuorumLost: there are none, or fewer than the setup's quorum asks for.
        """
        if self.enough(have, of):
            return
        if errors := Counter(self._errors[self._stages.here]).most_common(1):
            raise QuorumLost(
                f"Only {have} of {of} {what}, fewer than the quorum asks for. Most often: “{errors[0][0]}” "
                "Mend that, then continue: those who failed are asked again."
            )
        raise QuorumLost(
            f"Only {have} of {of} {what}, fewer than the quorum asks for. "
            "Check the models' server and keys, then continue: those who failed are asked again."
        )

    def note(self, name: str, text: str) -> None:
        """Record one sentence that a reader of the run should know."""
        self._services.note(name, text, self._stages.here)

    # --- within ---------------------------------------------------------------------------------------------

    def _see(self, stage_input: StageInput) -> None:
        self.case, self.unsealed, self.setup = stage_input.case, stage_input.unsealed, stage_input.setup
        self._members, self._prompts = stage_input.members, stage_input.prompts

    @staticmethod
    def _refuse(names: Iterable[str], among: Collection[str], why: str) -> None:
        """Stop the run where its author's code has a name that is not among these, with the file and line of that code."""
        if wrong := [name for name in names if name not in among]:
            caller = sys._getframe(2)
            raise CourtroomError(
                f"{caller.f_code.co_filename}, line {caller.f_lineno}: “{wrong[0]}” is {why}. "
                f"Use one of {', '.join(among) or 'none'}, or add it."
            )

    def _said_instead(self, member: Member, task: Task[A], path: str, overruled: Intervention) -> A:
        try:
            answer: A = task.declared(task.form.model_validate(overruled.after))
            problem = problem_of(task, answer, path)
        except ValidationError as error:
            problem = str(error.errors()[0]["msg"])
        if problem:
            raise CourtroomError(f"The answer put in for {path} doesn't fit: {problem}. Undo it, or put in another.")
        self._services.record(
            Called(
                path=path,
                stage=self._stages.current.path,
                member=member.id,
                task=task.name,
                title=task.title,
                model=member.spec.id,
                source="person",
                keys=(),
                value=answer.model_dump(mode="json"),
                cost=0.0,
            )
        )
        return answer
