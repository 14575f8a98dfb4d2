"""The one object a procedure speaks to. Everything that isn't deterministic goes through it."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from courtroom.cases.case import Case
from courtroom.declarations.changes import changed
from courtroom.declarations.setup import Member, Setup
from courtroom.engine import events
from courtroom.engine.asked_court import prepared, unanswered
from courtroom.engine.errors import Abstained, QuorumLost
from courtroom.engine.events import Verdict
from courtroom.engine.exchange import Exchange, problem_of
from courtroom.engine.interventions import AddEvidence, AddNote, ChangeSetup, Intervention, Overrule, ReplyToQuestions
from courtroom.engine.services import Asked, OpenCall, Services
from courtroom.errors import CourtroomError
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.beside import ASKED
from courtroom.models.prompts import Prompts, Reply
from courtroom.models.request import digest_text
from courtroom.models.task import Task

if TYPE_CHECKING:
    from courtroom.engine.procedure import Procedure


@dataclass(frozen=True)
class StageInput:
    """All that a procedure sees of a run's input at one stage."""

    case: Any
    """Without anything that a member must not know. Of the kind that the procedure takes, as `setup` is."""
    unsealed: Any
    setup: Any
    members: tuple[Member, ...]
    prompts: Prompts


@dataclass(frozen=True)
class RunInput:
    """The input of a run as it was at the beginning, and what persons did to it."""

    procedure: Procedure
    case: Case
    setup: Setup
    """A complete one."""
    seed: int
    interventions: Sequence[Intervention] = ()
    _stages: dict[tuple[object, ...], StageInput] = field(default_factory=dict)

    def at(self, index: int, replies: Sequence[Reply] = ()) -> StageInput:
        """Return what holds at a stage. `replies`: what the court has replied to members until then, for all to hear."""
        held = [one for one in self.interventions if one.index <= index and not isinstance(one.action, Overrule)]
        key = (*(one.id for one in held), *replies)
        if key in self._stages:
            return self._stages[key]
        case, setup = self.case, self.setup
        notes: list[str] = []
        for one in held:
            if isinstance(one.action, ChangeSetup):
                setup = changed(setup, {one.action.key: one.action.value}, recorded=True).complete(case, self.seed)
            elif isinstance(one.action, AddEvidence):
                case = case.with_addition(one.action.text, one.action.side)
            elif isinstance(one.action, AddNote):
                notes.append(one.action.text)
        blind = case.blind()
        prompts = Prompts(self.procedure.prompts, {"case": blind, "setup": setup}, setup.prompts, notes, replies)
        made = self._stages[key] = StageInput(blind, case, setup, self.procedure.panel(setup), prompts)
        return made


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

    def __init__(self, run_input: RunInput, services: Services) -> None:
        self.seed, procedure = run_input.seed, run_input.procedure
        self._input, self._services = run_input, services
        self._kinds = {kind.name for kind in procedure.stages}
        self._declared = {choice.name: choice.title for choice in procedure.about(run_input.case).choices}
        self._voting = tuple(peers.task for peers in procedure.peers)  # from whose answers votes follow
        self._overruled = {one.action.path: one for one in run_input.interventions if isinstance(one.action, Overrule)}
        self._stage: events.StageBegan | None = None
        self._here = ""
        """The path of the current stage; empty before the first."""
        self._used: set[str] = set()
        self._choices: dict[tuple[str, str], str] = {}
        self._beside: dict[str, dict[str, Any]] = {}
        """What each member said last beside a vote, by its id."""
        self._errors = defaultdict[str, list[str]](list)
        """Why there is no answer, by stage."""
        self._ballots: dict[str, dict[str, str | None]] = {}
        self._votes: list[events.Voted] = []
        self._replies: list[Reply] = []
        """What the court has replied to members so far."""
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
        if kind not in self._kinds:
            raise ValueError(f"stage kind {kind!r} is not declared")
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        index = self._stage.index + 1 if self._stage else 0
        began = events.StageBegan(path=slug, stage=slug, name=name, stage_kind=kind, index=index)
        services, setup = self._services, self._input.at(index).setup
        acts = (one.action for one in self._input.interventions if one.index == index)
        self._replies += [(act.questions, act.text) for act in acts if isinstance(act, ReplyToQuestions)]
        is_again = self._stage is not None and self._stage.stage_kind == kind
        questions = unanswered(self._votes, self._replies) if is_again else {}
        if self._stage is None:
            services.ledger.add(events.Seated(stage="", members=self._members))
        else:
            services.ledger.add(events.StageEnded(path=self._here, stage=self._here))
        waits = questions and setup.asks_court == "waits" and not setup.prepared_replies
        await services.gate.enter(began, unanswered=len(questions) if waits else 0)
        self._stage, self._here, self._ballots = began, slug, {}
        seated = self._members
        given = prepared(setup.prepared_replies, questions, self._replies) if questions else {}
        self._replies += [(asked, text) for text, asked in given.items()]
        self._see(self._input.at(index, self._replies))
        if self._members != seated:
            services.ledger.add(events.Seated(path=f"panel/{slug}", stage=slug, members=self._members))
        services.ledger.add(began)
        for number, (text, asked) in enumerate(given.items(), start=1):
            services.record(events.Replied(path=f"{slug}/reply-{number}", stage=slug, questions=asked, text=text))

    async def ask(self, member: Member, task: Task[A], step: str = "") -> A:
        """Ask a member and wait for an answer that fits the task's schema. `step`: distinguishes several askings of one
        task in one stage, e.g. `buyer-2`. Raises `Abstained`: the member has no answer; recorded. Within `all` and by
        `try_ask` this becomes None."""
        services, beside = self._services, self.setup.asked_beside(self.case)
        task = task.asking(beside) if beside and isinstance(task, self._voting) else task
        path = self._new_path(member.id, f"{task.name}-{step}" if step else task.name)
        asked = Asked(member, task, self.setup, self._prompts, self.seed, path, self._here)
        exchange = Exchange(services, asked)
        if (overruled := self._overruled.get(path)) is not None:
            try:
                said_instead: A = task.declared(task.form.model_validate(overruled.after))
                problem = problem_of(task, said_instead, path)
            except ValidationError as error:
                problem = str(error.errors()[0]["msg"])
            if problem:
                raise CourtroomError(
                    f"The answer put in for {path} doesn't fit: {problem}. Undo it, or put in another."
                )
            services.record(exchange.overruled(said_instead))
            return said_instead
        before = services.ledger.known.get(("call", path))
        if isinstance(before, events.Called) and before.value is None:
            self._errors[self._here].append(before.error)
            raise Abstained(before.error)
        await services.gate.open()
        services.asking(asked)
        services.calls[path] = OpenCall(member.id, task.title, member.spec.id)
        try:
            answer = await exchange.run()
        finally:
            services.calls.pop(path, None)
        called = exchange.called()
        services.record(called)
        if answer is None:
            self._errors[self._here].append(called.error)
            raise Abstained(called.error)
        said = called.value if task.beside and called.value else {}
        self._beside[member.id] = {name: said[name] for name in ASKED if name in said}
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
        seen = self._services.ledger.seen(key)
        hits = seen.hits if seen else await self._services.look_up(query, embedding)
        path, stage = self._new_path(name), self._here
        looked_up = events.Retrieved(path=path, stage=stage, key=key, query=query, hits=hits, embedding=embedding)
        self._services.record(looked_up)
        return hits

    async def learn(self, name: str, lesson: Lesson) -> None:
        """Teach the knowledge base. Done once: driving the run again does not undo what was done to it since.

        A fork asks "what if", so it leaves the knowledge base as it is; what it would have taught is recorded.
        """
        path, services = self._new_path(name), self._services
        ledger = services.ledger
        if ("learned", path) not in ledger.known:
            if ledger.teaches:
                # What the lesson rests on is on disk before it: found again after a kill, not looked up anew.
                await ledger.teach(partial(services.learn, ledger.run, path, lesson))
            services.record(events.Learned(path=path, stage=self._here, lesson=lesson, held_back=not ledger.teaches))

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
        ballot = self._path(on)
        before = None if anew else self._choices.get((on, member.id))
        self._ballots.setdefault(ballot, {})[member.id] = choice
        vote = events.Voted(
            path=f"{ballot}/{member.id}",
            stage=self._here,
            ballot=ballot,
            member=member.id,
            choice=choice,
            reasons=tuple(reasons),
            before=before,
            **self._beside.pop(member.id, {}),
        )
        self._services.record(vote)
        self._votes.append(vote)
        if choice is not None:
            self._choices[on, member.id] = choice

    def tally(self, choices: Iterable[str], consensus: float, *, on: str = "") -> events.Tallied:
        """Count a ballot of the current stage.

        Args:
            choices: all that could be voted for, so that an option without a vote counts 0.
            consensus: the share of all seats that must be exceeded.
            on: which ballot, as in `vote`.

        Raises:
            QuorumLost: too few members voted.
            CourtroomError: a choice is not declared, or a vote is for none of these.
        """
        ballot, stage = self._path(on), self._stage
        assert stage is not None
        votes = list(self._ballots.get(ballot, {}).values())
        counts = {choice: votes.count(choice) for choice in choices}
        self._refuse(counts, self._declared, "no declared choice")
        self._refuse(filter(None, votes), counts, "voted for, but not counted here")
        seats, voted = len(votes), sum(counts.values())
        self.needs(voted, seats, f"members could vote in {stage.name}")
        share = max(counts.values()) / seats
        tallied = events.Tallied(
            path=ballot,
            stage=self._here,
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
        """Stop the run where there are too few to go on; it can be continued. `what`: what they are and have done, e.g.
        `jurors proposed a length`. Raises `QuorumLost`: there are none, or fewer than the setup's quorum asks for."""
        if self.enough(have, of):
            return
        # Who has failed in an earlier stage may not be asked in this one.
        errors = self._errors[self._here] or [error for stage in self._errors.values() for error in stage]
        if errors:
            (most, _), *_ = Counter(errors).most_common(1)
            raise QuorumLost(
                f"Only {have} of {of} {what}, fewer than the quorum asks for. Most often: “{most}” "
                "Mend that, then continue: those who failed are asked again."
            )
        raise QuorumLost(
            f"Only {have} of {of} {what}, fewer than the quorum asks for. "
            "Check the models' server and keys, then continue: those who failed are asked again."
        )

    def note(self, name: str, text: str) -> None:
        """Record one sentence that a reader of the run should know."""
        self._services.ledger.add(events.Noted(path=name, stage=self._here, text=text))

    # --- within ---------------------------------------------------------------------------------------------

    def _path(self, *parts: str) -> str:
        """A path in the current stage; empty parts are left out."""
        assert self._stage is not None, "a stage must begin first"
        return "/".join((self._here, *filter(None, parts)))

    def _new_path(self, *parts: str) -> str:
        """A path in the current stage that nothing else has."""
        path = self._path(*parts)
        if path in self._used:
            raise ValueError(f"{path} is used twice: give the second a step of its own")
        self._used.add(path)
        return path

    def _see(self, stage_input: StageInput) -> None:
        self.case, self.unsealed, self.setup = stage_input.case, stage_input.unsealed, stage_input.setup
        self._members, self._prompts = stage_input.members, stage_input.prompts

    @staticmethod
    def _refuse(names: Iterable[str], among: Collection[str], why: str) -> None:
        """Stop the run where its author's code has a name that is not among these; say in which line."""
        if wrong := [name for name in names if name not in among]:
            caller = sys._getframe(2)
            raise CourtroomError(
                f"{caller.f_code.co_filename}, line {caller.f_lineno}: “{wrong[0]}” is {why}. "
                f"Use one of {', '.join(among) or 'none'}, or add it."
            )


async def hear(court: Court[Any, Any], deliberate: Callable[[Court[Any, Any]], Awaitable[Verdict]]) -> Verdict:
    """Have a procedure deliberate in a court, once; a verdict that no page could show is refused. Raises
    `CourtroomError`: the verdict is for a choice that is not declared, or does not call it by its name."""
    verdict = await deliberate(court)
    choices = court._declared
    names = {text.casefold(): name for name, title in choices.items() for text in (title, name)}
    meant = names.get(verdict.outcome.casefold(), verdict.outcome)
    why = ""
    if unknown := [name for name in verdict.counts if name not in choices]:
        known = ", ".join(choices) or "nothing"
        why = f"`counts` has “{unknown[0]}”, which is no declared choice. Count only {known}, or add it to `choices`"
    elif meant != verdict.outcome:
        why = f"`outcome` is “{verdict.outcome}”. To decide for a declared choice, write its name, “{meant}”"
    if why:
        code = inspect.unwrap(deliberate).__code__
        raise CourtroomError(f"{code.co_filename}, line {code.co_firstlineno}: in the verdict, {why}.")
    if court._stage is not None:
        court._services.ledger.add(events.StageEnded(path=court._here, stage=court._here))
    return verdict
