"""The one object a procedure speaks to. Everything that isn't deterministic goes through it."""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections.abc import Awaitable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Generic, TypeVar

from pydantic import BaseModel, ValidationError

from courtroom.cases.case import Case
from courtroom.engine.errors import Abstained, QuorumLost
from courtroom.engine.events import (
    Called,
    Event,
    Learned,
    Noted,
    Retrieved,
    Seated,
    StageBegan,
    StageEnded,
    Tallied,
    Voted,
)
from courtroom.engine.exchange import Exchange, problem_of
from courtroom.engine.gate import Gate
from courtroom.engine.interventions import Intervention
from courtroom.engine.live import Live, OpenCall
from courtroom.engine.ports import Asks, Knows, Ledger, Seats, Sees, Steers
from courtroom.engine.setup import Member, Setup
from courtroom.engine.spent import Spent
from courtroom.errors import CourtroomError
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.prompts import Prompts
from courtroom.models.request import digest_text
from courtroom.models.task import Task


def chance(seed: int, *path: str) -> random.Random:
    """A source of chance that depends on a run's seed and a path, and on nothing else."""
    return random.Random(hashlib.sha256("/".join((str(seed), *path)).encode()).digest())


A = TypeVar("A", bound=BaseModel)
C = TypeVar("C", bound=Case, covariant=True)
S = TypeVar("S", bound=Setup, covariant=True)
T = TypeVar("T")


@dataclass
class Court(Generic[C, S]):
    """A court in session: the case, who sits in it, and the ways to ask, look up, draw and vote."""

    case: C
    """Without anything that a member must not know."""
    unsealed: C
    """With what is known of the real outcome: for what comes after the verdict alone."""
    setup: S
    """As it is at the current stage; read it there, as a person may have changed it."""
    seed: int
    members: tuple[Member, ...]
    prompts: Prompts
    steering: Steers
    stage_kinds: frozenset[str]
    ledger: Ledger
    asker: Asks
    knowledge: Knows
    sight: Sees
    seats: Seats
    gate: Gate
    live: Live = field(default_factory=Live)
    spent: Spent = field(default_factory=Spent)
    _stage: StageBegan | None = None
    _choices: dict[tuple[str, str], str] = field(default_factory=dict)
    _ballots: dict[str, dict[str, str | None]] = field(default_factory=dict)
    _paths: set[str] = field(default_factory=set)

    def panel(self, role: str) -> tuple[Member, ...]:
        """All members with a role, in the order of their seats."""
        return tuple(member for member in self.members if member.role == role)

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
        if kind not in self.stage_kinds:
            raise ValueError(f"stage kind {kind!r} is not declared")
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        if self._stage is None:
            self.ledger.add(Seated(stage="", members=self.members))
        began = StageBegan(
            path=slug,
            stage=slug,
            name=name,
            stage_kind=kind,
            index=self._stage.index + 1 if self._stage else 0,
        )
        self.end_stage()
        await self.gate.enter(began)
        self._stage = began
        self._ballots = {}
        self._enter(began)
        self.ledger.add(began)

    def end_stage(self) -> None:
        """All of the current stage's work is done. Called by the next stage, and at the end."""
        if self._stage is not None:
            self.ledger.add(StageEnded(path=self._stage.path, stage=self._stage.path))

    async def ask(self, member: Member, task: Task[A], step: str = "") -> A:
        """Ask a member and wait for an answer that fits the task's schema.

        Args:
            member: who is asked.
            task: what is asked.
            step: tells apart several askings of one task in one stage, e.g. `buyer-2`.

        Raises:
            Abstained: the member has no answer; recorded. Within `all` this becomes None.
        """
        path = self._path(member.id, f"{task.name}-{step}" if step else task.name)
        if (overruled := self.steering.overruled(path)) is not None:
            return self._said_instead(member, task, path, overruled)
        before = self.ledger.called(path)
        if before is not None and before.value is None:
            raise Abstained(before.error)
        await self.gate.open()
        exchange = Exchange(self, member, task, path)
        self.live.calls[path] = OpenCall(member.id, task.title, member.spec.id)
        try:
            answer = await exchange.run()
        finally:
            self.live.calls.pop(path, None)
        assert self._stage is not None
        called = exchange.called(self._stage.path)
        self.spent.recorded += len(exchange.keys) - exchange.asked
        self.spent.failed += answer is None
        self._record(self.ledger.paid(called))
        if answer is None:
            raise Abstained(called.error)
        return answer

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
        key = digest_text(query.model_dump_json())
        seen = self.ledger.retrieval(key)
        hits = seen.hits if seen else await self.knowledge.answer(query)
        self._record(Retrieved(path=self._path(name), stage=self._stage_path, key=key, query=query, hits=hits))
        return hits

    async def learn(self, name: str, lesson: Lesson) -> None:
        """Teach the knowledge base. Done once: driving the run again does not undo what was done to it since.

        A fork asks "what if", so it leaves the knowledge base as it is; what it would have taught is recorded.
        """
        path = self._path(name)
        if not self.ledger.learned(path):
            if self.ledger.teaches:
                # What the lesson rests on is on disk before it: found again after a kill, not looked up anew.
                await self.ledger.teach(partial(self.knowledge.learn, self.ledger.run, path, lesson))
            self._record(Learned(path=path, stage=self._stage_path, lesson=lesson, held_back=not self.ledger.teaches))

    def vote(
        self, member: Member, choice: str | None, reasons: Iterable[str] = (), *, on: str = "", anew: bool = False
    ) -> None:
        """Record a member's vote in a ballot of the current stage; None is an abstention.

        Args:
            on: tells apart several ballots of one stage, e.g. a text's id. Votes on the same are compared.
            anew: the question was not voted on before, so that nobody changes sides by this vote.
        """
        ballot = self._ballot_path(on)
        before = None if anew else self._choices.get((on, member.id))
        self._ballots.setdefault(ballot, {})[member.id] = choice
        self._record(
            Voted(
                path=f"{ballot}/{member.id}",
                stage=self._stage_path,
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
        """
        assert self._stage is not None
        votes = list(self._ballots.get(self._ballot_path(on), {}).values())
        counts = {choice: votes.count(choice) for choice in choices}
        seats, voted = len(votes), sum(counts.values())
        if not voted or voted < self.setup.quorum * seats:
            raise QuorumLost(
                f"Only {voted} of {seats} members could vote in {self._stage.name}, fewer than the quorum asks for. "
                "Check the models' server and keys, then continue: those who failed are asked again."
            )
        share = max(counts.values()) / seats
        tallied = Tallied(
            path=self._ballot_path(on),
            stage=self._stage.path,
            counts=counts,
            abstained=seats - voted,
            share=round(share, 6),
            consensus=share > consensus,
        )
        self._record(tallied)
        return tallied

    def note(self, name: str, text: str) -> None:
        """Record one sentence that a reader of the run should know."""
        self.ledger.add(Noted(path=name, stage=self._stage_path, text=text))

    # --- within ---------------------------------------------------------------------------------------------

    def _enter(self, stage: StageBegan) -> None:
        """Take up what persons have changed from this stage on."""
        scene = self.steering.at(stage.index)
        changed = scene.members != self.members
        self.case, self.unsealed, self.setup = scene.case, scene.unsealed, scene.setup
        self.members, self.prompts = scene.members, scene.prompts
        if changed:
            self.ledger.add(Seated(path=f"panel/{stage.path}", stage=stage.path, members=self.members))

    def _said_instead(self, member: Member, task: Task[A], path: str, overruled: Intervention) -> A:
        """The answer that a person has put in place of a member's; the member isn't asked."""
        assert self._stage is not None
        try:
            answer: A = task.form.model_validate(overruled.after)  # type: ignore[assignment]
            problem = problem_of(task, answer, path)
        except ValidationError as error:
            problem = str(error.errors()[0]["msg"])
        if problem:
            raise CourtroomError(f"The answer put in for {path} doesn't fit: {problem}. Undo it, or put in another.")
        self._record(
            Called(
                path=path,
                stage=self._stage.path,
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

    @property
    def _stage_path(self) -> str:
        """Path of the current stage; empty before the first."""
        return self._stage.path if self._stage else ""

    def _ballot_path(self, on: str) -> str:
        assert self._stage is not None, "a stage must begin before anybody votes"
        return f"{self._stage.path}/{on}" if on else self._stage.path

    def _path(self, *parts: str) -> str:
        assert self._stage is not None, "a stage must begin before anything is asked"
        path = "/".join((self._stage.path, *parts))
        if path in self._paths:
            raise ValueError(f"{path} is used twice: give the second a step of its own")
        self._paths.add(path)
        return path

    def _record(self, event: Event) -> None:
        if self.ledger.add(event):
            self.gate.notice(event)
