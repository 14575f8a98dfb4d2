"""Audits: why did a member change sides? That one call is asked again under four conditions, a few times each."""

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from difflib import unified_diff
from fractions import Fraction
from functools import partial
from typing import Any, Literal

from courtroom.access import Access, acting_account, acts, needs
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called, Voted
from courtroom.engine.exchange import AskedBeside, Exchange
from courtroom.engine.ledger import Ledger
from courtroom.engine.procedure import Peers, Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate, Load, Recorded, replay
from courtroom.engine.runner import Runner
from courtroom.engine.services import Asked, Services
from courtroom.engine.setup import Budget
from courtroom.engine.store import RunStore
from courtroom.errors import CourtroomError
from courtroom.media.medium import Medium
from courtroom.models.capabilities import Capabilities
from courtroom.models.card import estimate_prompt_tokens
from courtroom.models.request import Message
from courtroom.models.spec import OFFLINE, PERSON
from courtroom.questions.asides import CONDITIONS, AsideStore, Condition, Cost, Sample, budget, cost, failures
from courtroom.store.writer import Writer
from courtroom.strict import Strict

Name = Literal["instability", "conformity", "persuasion", "both", "own view", "not clear"]
UNSTABLE = Fraction(1, 3)
"""The share of other verdicts on the same inputs above which a member counts as unstable."""
REPRODUCED = Fraction(1, 2)
"""The share of answers above which a condition reproduces a verdict."""

MEANINGS: Mapping[Name, str] = {
    "instability": "The change does not hold: the same question gives different verdicts, or the same verdict comes "
    "without anything from peers.",
    "conformity": "The peers' votes alone bring the change about.",
    "persuasion": "The peers' reasons alone bring the change about, and their votes alone don't.",
    "both": "Only votes and reasons together bring the change about.",
    "own view": "The member votes like this without anything from peers.",
    "not clear": "Under one of the conditions there is no answer.",
}


class ConditionCounts(Strict):
    """The answers under one condition."""

    again: int = 0
    """As many give the verdict that is audited."""
    other: int = 0
    missing: int = 0
    """As many had no answer."""

    @property
    def share(self) -> Fraction:
        """The share of the verdict among the answers, 0 to 1, exactly; there must be one."""
        return Fraction(self.again, self.again + self.other)


def count(samples: Iterable[Sample], choice: str) -> dict[Condition, ConditionCounts]:
    """The answers to one audited call by condition; where one was asked twice, its last answer counts. `choice` is the audited verdict."""
    last = {(one.condition, one.number): one.choice for one in samples}
    found: dict[Condition, Counter[str]] = {}
    for (condition, _), given in last.items():
        what = "missing" if given is None else "again" if given == choice else "other"
        found.setdefault(condition, Counter())[what] += 1
    return {condition: ConditionCounts(**counter) for condition, counter in found.items()}


def name(counts: Mapping[Condition, ConditionCounts], *, changed: bool) -> Name:
    """The name of a change; the first of these rules that holds gives it.

    1. *not clear*: there is no answer under one of the four conditions.
    2. *instability*: of the answers to the same inputs more than a third give another verdict; or, without votes and
       reasons of peers, more than half give this one. Peers are then not what changed it.
    3. *conformity*: with the peers' votes and no reasons, more than half give this verdict.
    4. *persuasion*: with the peers' reasons and no votes, more than half give this verdict.
    5. *both*: neither votes nor reasons alone reproduce it; the same inputs do.

    A member that voted once has not changed: where it gives this verdict without its peers too, that is its *own view*.
    `changed`: whether it had another vote before.
    """
    if any(one not in counts or not (counts[one].again + counts[one].other) for one in CONDITIONS):
        return "not clear"
    if 1 - counts["same"].share > UNSTABLE:
        return "instability"
    if counts["neither"].share > REPRODUCED:
        return "instability" if changed else "own view"
    if counts["votes"].share > REPRODUCED:
        return "conformity"
    return "persuasion" if counts["reasons"].share > REPRODUCED else "both"


def call_before(record: Record, call: Called) -> Called | None:
    """The member's last call before this one with the same task in an earlier stage; None where there is none."""
    order = {stage.path: stage.index for stage in record.stages}
    same = [one for one in record.calls_of(call.member) if one.task == call.task and one.keys]
    earlier = [one for one in same if order.get(one.stage, 0) < order.get(call.stage, 0)]
    return max(earlier, key=lambda one: order[one.stage], default=None)


def new_in(answers: AnswerStore, before: Called, after: Called) -> tuple[str, ...]:
    """Lines of what was shown that are new (`+`) or gone (`-`), with a line around them and the place in `@@`."""
    old, new = (_lines(answers.request(call.keys[0])) if call.keys else [] for call in (before, after))
    diff = unified_diff(old, new, before.path, after.path, n=1, lineterm="")
    return tuple(diff)[2:]  # without the two lines that name the texts


def _lines(messages: tuple[Message, ...]) -> list[str]:
    parts = [part for message in messages for part in message.parts]
    texts = [f"[{part.kind} {part.id}]" if isinstance(part, Medium) else part for part in parts]
    return [line for text in texts for line in text.splitlines()]


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
    name: Name
    counts: dict[Condition, ConditionCounts]
    cost: Cost


@dataclass(frozen=True)
class AuditPlan:
    """What is to be asked to audit some votes of a run."""

    record: Record
    questions: Mapping[str, tuple[Audited, Wanted, Asked[Any]]]
    estimate: Estimate
    left_out: tuple[str, ...] = ()
    """A sentence for each vote that can't be audited after all."""


def auditable(procedure: Procedure, record: Record) -> tuple[Audited, ...]:
    """The votes of a run that can be audited: changes of sides; where nobody votes twice, all votes. A vote that a person put in
    is left out. Empty where the procedure does not declare `peers`."""
    found = (
        (vote, call, peers)
        for vote in record.of(Voted)
        if vote.choice is not None and (vote.changed or not record.votes_move)
        for peers in procedure.peers
        if (call := record.call(_path_of(vote, peers))) is not None
    )
    return tuple(Audited(*one) for one in found if one[1].value is not None and one[1].keys)


def why_none(procedure: Procedure, record: Record, member: str | None = None) -> str:
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
    found = []
    for one in auditable(procedure, record):
        mine = [sample for sample in samples if (sample.audited, sample.key) == (one.call.path, one.call.keys[-1])]
        if not mine or one.vote.choice is None:
            continue
        counts = count(mine, one.vote.choice)
        found.append(
            Audit(
                call=one.call.path,
                member=one.vote.member,
                stage=one.vote.stage,
                before=one.vote.before,
                after=one.vote.choice,
                name=name(counts, changed=one.vote.changed),
                counts=counts,
                cost=cost(sample.called for sample in mine),
            )
        )
    return tuple(found)


def shares(audits: Sequence[Audit]) -> dict[Name, float]:
    """Which share of audited votes has which name, the largest first. Audits may be of several runs."""
    names = Counter(audit.name for audit in audits)
    return {name: number / len(audits) for name, number in names.most_common()}


class Audits:
    """Plans, estimates and makes audits. `runner`: gives the engine, which starts when it is first needed."""

    def __init__(
        self,
        procedures: Mapping[str, Procedure],
        store: RunStore,
        answers: AnswerStore,
        asides: AsideStore,
        sight: Capabilities,
        writer: Writer,
        runner: Callable[[], Runner],
    ) -> None:
        self._procedures, self._store, self._answers, self._asides = procedures, store, answers, asides
        self._sight, self._writer, self._runner = sight, writer, runner
        self.under_way: dict[str, Future[AskedBeside]] = {}
        """The audit of each run that goes on, or that was the last, in this process."""

    def of(self, record: Record) -> tuple[Audit, ...]:
        return results(self._procedures[record.run.procedure], record, self._asides.samples(record.run.id))

    def plan(self, record: Record, calls: Collection[str], seeds: int = SEEDS) -> AuditPlan:
        """What audits of the calls at these paths will ask, and about what that takes; nothing is asked. Works a lot: not for the
        engine's loop. Samples that an earlier audit has are not asked again. Each of the four questions is asked `seeds` times, 1
        to 20."""
        if not 1 <= seeds <= MOST_SEEDS:
            raise CourtroomError(
                f"An audit asks each question 1 to {MOST_SEEDS} times, not {seeds}. Choose another number."
            )
        with acts(acting_account()):  # also in the threads that it starts
            return asyncio.run(self._plan(record, frozenset(calls), seeds))

    @needs(Access.RUN)
    def start(self, plan: AuditPlan, keys: Mapping[str, str] | None = None) -> Future[AskedBeside]:
        """Ask what was planned. Each answer is on disk as soon as it is there; it stops at the run's budget. One audit of a run goes on at a time."""
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
        call, choice = audited.call, audited.choice(asked, called)
        sample = Sample(
            audited=call.path, key=call.keys[-1], condition=condition, number=number, choice=choice, called=called
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
        services = Services(Ledger(run, root), Recorded(self._answers.reply), self._sight)
        calls, prompt, completion = Counter[str](), Counter[str](), Counter[str]()
        found = 0
        for audited, _, asked in questions.values():
            request = await Exchange(services, asked).request()
            model = request.spec.id
            calls[model] += 1
            if self._answers.reply(request.key) is not None:
                found += 1
            elif model != OFFLINE:
                prompt[model] += estimate_prompt_tokens(request.messages)
                completion[model] += audited.call.completion_tokens
        loads = tuple(Load(model, number, prompt[model], completion[model]) for model, number in calls.items())
        return Estimate(loads, len(questions), found)


def _path_of(vote: Voted, peers: Peers) -> str:
    """The call from which a vote followed: by this task, with what was voted on as its step."""
    on = vote.ballot[len(vote.stage) + 1 :]
    return f"{vote.stage}/{vote.member}/{peers.task.name}" + (f"-{on}" if on else "")


def _why_not(audited: Audited, asked: Asked[Any] | None) -> str:
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
