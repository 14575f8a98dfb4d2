"""Audits: why did a member change sides? That one call is asked again under four conditions, a few times each."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from courtroom.access.account import Access
from courtroom.access.acting import acting, acts, needs
from courtroom.engine.answers import AnswerStore
from courtroom.engine.asked import Asked
from courtroom.engine.beside import AskedBeside
from courtroom.engine.events import Called, Voted
from courtroom.engine.exchange import Exchange
from courtroom.engine.ports import Sees
from courtroom.engine.procedure import Peers, Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate, Load, MemoryLedger
from courtroom.engine.replay import Recorded, in_memory, replay
from courtroom.engine.runner import Runner
from courtroom.engine.setup import Budget
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.models.prices import estimate_prompt
from courtroom.models.spec import OFFLINE, PERSON
from courtroom.questions import naming
from courtroom.questions.asides import CONDITIONS, AsideStore, Condition, Sample
from courtroom.questions.limits import Cost, budget, cost, failures
from courtroom.store.writer import Writer
from courtroom.strict import Strict

SEEDS = 3
"""How often each question of an audit is asked by default."""
MOST_SEEDS = 20
SHOWN: Mapping[Condition, tuple[bool, bool]] = {
    "votes": (True, False),
    "reasons": (False, True),
    "neither": (False, False),
}
"""Whether votes and reasons of peers are shown; under `same` the task stays as it was."""
Wanted = tuple[Condition, int]
"""A sample by its condition and its number, from 1."""


@dataclass(frozen=True)
class Audited:
    """A vote that can be audited, and the call from whose answer it followed."""

    vote: Voted
    call: Called
    peers: Peers

    def choice(self, asked: Asked[Any], called: Called) -> str | None:
        """What the answer to a question of the audit votes for; None where there is no answer."""
        if called.value is None:
            return None
        return self.peers.choice(asked.task, asked.task.answer.model_validate(called.value))


class Audit(Strict):
    """What the audit of one vote has found so far."""

    call: str
    member: str
    stage: str
    before: str | None
    """The member's vote before; None where it voted once."""
    after: str
    name: naming.Name
    counts: dict[Condition, naming.ConditionCounts]
    cost: Cost


@dataclass(frozen=True)
class AuditPlan:
    """What is to be asked to audit some votes of a run."""

    record: Record
    questions: Mapping[str, tuple[Audited, Wanted, Asked[Any]]]
    """By the path under which each is asked."""
    estimate: Estimate
    left_out: tuple[str, ...] = ()
    """A sentence for each vote that can't be audited after all."""


def auditable(procedure: Procedure, record: Record) -> tuple[Audited, ...]:
    """The votes of a run that can be audited: changes of sides; where nobody votes twice, all votes.

    A vote that a person put in is left out. Empty where the procedure does not declare `peers`.
    """
    found = (
        (vote, call, peers)
        for vote in record.of(Voted)
        if vote.choice is not None and (vote.changed or not record.votes_move)
        for peers in procedure.peers
        if (call := record.call(_path_of(vote, peers))) is not None
    )
    return tuple(Audited(*one) for one in found if one[1].value is not None and one[1].keys)


def why_none(procedure: Procedure, record: Record, member: str | None = None) -> str:
    """Why no vote can be audited, in a sentence."""
    if not procedure.peers:
        return (
            f"{procedure.title} does not declare what in its questions comes from peers: no vote of it can be audited."
        )
    if member is not None and record.member(member) is None:
        return f"Nobody in this run has the id {member}. Members: {', '.join(one.id for one in record.members)}."
    return (
        f"{member or 'Nobody'} {'did not change' if member else 'changed'} sides by an answer of a model in this run."
    )


def results(procedure: Procedure, record: Record, samples: Sequence[Sample]) -> tuple[Audit, ...]:
    """What the audits of a run have found, in the order of the votes; votes that were not audited are left out."""
    return tuple(_results(procedure, record, samples))


def shares(audits: Sequence[Audit]) -> dict[naming.Name, float]:
    """Which share of audited votes has which name, the largest first. Audits may be of several runs."""
    names = Counter(audit.name for audit in audits)
    return {name: number / len(audits) for name, number in names.most_common()}


class Audits:
    """Plans, estimates and makes audits.

    Args:
        runner: gives the engine, which starts when it is first needed.
    """

    def __init__(
        self,
        procedures: Mapping[str, Procedure],
        store: RunStore,
        answers: AnswerStore,
        asides: AsideStore,
        sight: Sees,
        writer: Writer,
        runner: Callable[[], Runner],
    ) -> None:
        self._procedures, self._store, self._answers, self._asides = procedures, store, answers, asides
        self._sight, self._writer, self._runner = sight, writer, runner
        self.under_way: dict[str, Future[AskedBeside]] = {}
        """The audit of each run that goes on, or that was the last, in this process."""

    def of(self, record: Record) -> tuple[Audit, ...]:
        """What was found about a run so far."""
        return results(self._procedures[record.run.procedure], record, self._asides.samples(record.run.id))

    def plan(self, record: Record, calls: Collection[str], seeds: int = SEEDS) -> AuditPlan:
        """What audits will ask, and about what that takes; nothing is asked. Works a lot: not for the engine's loop.

        Samples that an earlier audit has are not asked again.

        Args:
            calls: paths of the calls that are audited.
            seeds: how often each of the four questions is asked, 1 to 20.

        Raises:
            CourtroomError: the number of seeds does not fit.
        """
        if not 1 <= seeds <= MOST_SEEDS:
            raise CourtroomError(
                f"An audit asks each question 1 to {MOST_SEEDS} times, not {seeds}. Choose another number."
            )
        with acts(acting()):  # also in the threads that it starts
            return asyncio.run(self._plan(record, frozenset(calls), seeds))

    @needs(Access.RUN)
    def start(self, plan: AuditPlan, keys: Mapping[str, str] | None = None) -> Future[AskedBeside]:
        """Ask what was planned. Each answer is on disk as soon as it is there; it stops at the run's budget.

        Args:
            keys: what the person typed who asks.

        Raises:
            CourtroomError: an audit of this run goes on already.
        """
        run = plan.record.run.id
        self._asides.changing(run, "audit")
        before = self.under_way.get(run)
        if before is not None and not before.done():
            raise CourtroomError("An audit of this run goes on. Wait until it is done.")
        failed = failures(one for _, one in self._asides.of(run))
        questions = [asked for _, _, asked in plan.questions.values()]
        self.under_way[run] = self._runner().ask_beside(
            plan.record, questions, failed, partial(self._keep, plan), keys or {}
        )
        return self.under_way[run]

    async def _keep(self, plan: AuditPlan, asked: Asked[Any], called: Called) -> None:
        audited, (condition, number), _ = plan.questions[asked.path]
        sample = Sample(
            audited=audited.call.path,
            key=audited.call.keys[-1],
            condition=condition,
            number=number,
            choice=audited.choice(asked, called),
            called=called,
        )
        await self._writer.do(partial(self._asides.add, plan.record.run.id, sample))

    async def _plan(self, record: Record, calls: frozenset[str], seeds: int) -> AuditPlan:
        run, procedure = record.run, self._procedures[record.run.procedure]
        chosen = [one for one in auditable(procedure, record) if one.call.path in calls]
        have = {
            (one.audited, one.key, one.condition, one.number)
            for one in self._asides.samples(run.id)
            if one.called.value is not None
        }
        root = self._store.families.root(run.id)
        seen = partial(self._store.retrieval, run.id)
        put = await replay(procedure, record, self._sight, root, self._answers.of(run).reply, seen)
        limit = budget(procedure, record)
        questions: dict[str, tuple[Audited, Wanted, Asked[Any]]] = {}
        left_out = []
        for one in chosen:
            path = one.call.path
            if why := _why_not(one, put.get(path)):
                left_out.append(f"{path}: {why}")
                continue
            for condition in CONDITIONS:
                for number in range(1, seeds + 1):
                    if (path, one.call.keys[-1], condition, number) not in have:
                        asked = _asked(put[path], one.peers, condition, number, limit)
                        questions[asked.path] = one, (condition, number), asked
        return AuditPlan(record, questions, await self._estimate(questions, root, run.id), tuple(left_out))

    async def _estimate(
        self, questions: Mapping[str, tuple[Audited, Wanted, Asked[Any]]], root: str, run: str
    ) -> Estimate:
        """Prompts as they will be sent; each answer taken to be as long as the audited one."""
        services = in_memory(MemoryLedger(run=run, root=root), Recorded(self._answers.reply), self._sight)
        calls, prompt, completion = Counter[str](), Counter[str](), Counter[str]()
        found = 0
        for audited, _, asked in questions.values():
            request = await Exchange(services, asked).request()
            model = request.spec.id
            calls[model] += 1
            if self._answers.reply(request.key) is not None:
                found += 1
            elif model != OFFLINE:
                prompt[model] += estimate_prompt(request.messages)
                completion[model] += audited.call.completion_tokens
        loads = tuple(Load(model, number, prompt[model], completion[model]) for model, number in calls.items())
        return Estimate(loads, len(questions), found)


def _path_of(vote: Voted, peers: Peers) -> str:
    """The call from which a vote followed: by this task, with what was voted on as its step."""
    on = vote.ballot[len(vote.stage) + 1 :]
    return f"{vote.stage}/{vote.member}/{peers.task.name}" + (f"-{on}" if on else "")


def _why_not(audited: Audited, asked: Asked[Any] | None) -> str:
    """Why a vote can't be audited, in a sentence; empty where it can."""
    if asked is None:
        return "The question can't be put again as it was: the program's prompts or the model's address have changed since."
    if asked.member.spec.id == PERSON:
        return "A person sits there."
    if audited.peers.shown(asked.task, False, False) == asked.task:
        return "The member was shown nothing of its peers."
    return ""


def _asked(asked: Asked[Any], peers: Peers, condition: Condition, number: int, limit: Budget) -> Asked[Any]:
    """One question of an audit. Its seed is another than the run's, so that it draws a sample of its own."""
    task = peers.shown(asked.task, *SHOWN[condition]) if condition in SHOWN else asked.task
    return replace(
        asked,
        task=task,
        setup=asked.setup.model_copy(update={"budget": limit}),
        prompts=asked.prompts.fresh,
        seed=asked.seed + number,
        path=f"{asked.path}/audit/{condition}/{number}",
    )


def _results(procedure: Procedure, record: Record, samples: Sequence[Sample]) -> Iterator[Audit]:
    for one in auditable(procedure, record):
        mine = [sample for sample in samples if (sample.audited, sample.key) == (one.call.path, one.call.keys[-1])]
        if not mine or one.vote.choice is None:
            continue
        counts = naming.count(mine, one.vote.choice)
        yield Audit(
            call=one.call.path,
            member=one.vote.member,
            stage=one.vote.stage,
            before=one.vote.before,
            after=one.vote.choice,
            name=naming.name(counts, changed=one.vote.changed),
            counts=counts,
            cost=cost(sample.called for sample in mine),
        )
