"""Audits: why did a member change sides? That one call is asked again under four conditions, a few times each."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import unified_diff
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any, Literal

from pydantic import Field

from courtroom.declarations.parts import Peers
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called, Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.services import Asked
from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import holm
from courtroom.media.medium import Medium
from courtroom.models.request import Message
from courtroom.models.spec import PERSON
from courtroom.models.task import Task
from courtroom.questions.asides import CONDITIONS, Condition, Cost, Sample, cost
from courtroom.questions.beside import Plan, Plans, Question, replay
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

    again: int = Field(default=0, description="As many give the verdict that is audited.")
    other: int = 0
    missing: int = Field(default=0, description="As many had no answer.")

    @property
    def asked(self) -> int:
        return self.again + self.other + self.missing

    @property
    def share(self) -> Fraction:
        """The share of the verdict among the answers, 0 to 1, exactly; there must be one."""
        return Fraction(self.again, self.again + self.other)


Way = tuple[Condition, str]
"""A condition, and the name of the peer who is left out; empty where none is."""


def count(samples: Iterable[Sample], choice: str) -> dict[Way, ConditionCounts]:
    """Count the answers to one audited call by how it was asked; of two to one question the last counts."""
    last = {(one.condition, one.without, one.number): one.choice for one in samples}
    found = defaultdict[Way, Counter[str]](Counter)
    for (condition, without, _), given in last.items():
        found[condition, without]["missing" if given is None else "again" if given == choice else "other"] += 1
    return {way: ConditionCounts(**counter) for way, counter in found.items()}


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


MAX_CHANCE = 0.05
"""Above this probability by chance alone no voice is said to have carried a change."""
VOICE_SEEDS = 6
"""Fewer answers than these can't tell a voice from chance."""
SEEDS = 3
"""How often each question of an audit is asked by default."""
MOST_SEEDS = 20


@dataclass(frozen=True)
class Audited:
    """A vote that can be audited, and the call from whose answer it followed."""

    vote: Voted
    call: Called
    peers: Peers

    def ways(self, task: Task[Any], *, voices: bool) -> dict[Way, Task[Any]]:
        """Return the call's question as each condition shows it: with votes and reasons of peers, or without."""
        shown = partial(self.peers.shown, task)
        ways: dict[Way, Task[Any]] = {
            ("same", ""): task,
            ("votes", ""): shown(True, False),
            ("reasons", ""): shown(False, True),
            ("neither", ""): shown(False, False),
        }
        if voices:
            ways |= {("without", peer): less for peer, less in self.peers.without(task).items()}
        return ways

    def sample(self, task: Task[Any], way: Way, number: int, called: Called) -> Sample:
        """Return what is kept of an answer to the question as it was asked in one way."""
        answered = called.value is not None
        choice = self.peers.choice(task, task.answer.model_validate(called.value)) if answered else None
        audited = {"audited": self.call.path, "key": self.call.keys[-1], "condition": way[0], "without": way[1]}
        return Sample(**audited, number=number, choice=choice, called=called)


class Audit(Strict):
    """What the audit of one vote has found so far."""

    call: str
    member: str
    stage: str
    before: str | None = Field(description="The member's vote before; None where it voted once.")
    after: str
    name: Name
    counts: dict[Condition, ConditionCounts]
    voices: dict[str, ConditionCounts] = {}
    """The answers with one peer left out, by that peer's name; empty where that was not asked."""
    cost: Cost

    @property
    def carried_by(self) -> tuple[str, ...]:
        """Names of the peers without whom the change does not come about, while it holds on the same inputs.

        The verdict has to be rarer without the peer than on the same inputs, by Fisher's exact test with Holm's correction for
        as many peers, p below 0.05. Where two say the same, leaving out one changes nothing, and neither is among them.
        """
        from scipy.stats import fisher_exact  # slow to import: only where an audit has asked for voices

        same = self.counts.get("same")
        if same is None or not self.voices:
            return ()
        tables = [[[same.again, same.other], [one.again, one.other]] for one in self.voices.values()]
        chances = [float(fisher_exact(table, alternative="greater").pvalue) for table in tables]
        return tuple(peer for peer, chance in zip(self.voices, holm(chances), strict=True) if chance <= MAX_CHANCE)


def auditable(procedure: Procedure, record: Record) -> tuple[Audited, ...]:
    """Return the votes that can be audited: changes of sides; all where nobody votes twice. A person's is left out."""
    return tuple(
        Audited(vote, call, peers)
        for vote in record.of(Voted)
        if vote.choice is not None and (vote.changed or not record.votes_move)
        for peers in procedure.peers
        if (call := record.call(_path_of(vote, peers))) and call.value is not None and call.keys
    )


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
        vote, call = one.vote, one.call
        mine = [sample for sample in samples if (sample.audited, sample.key) == (call.path, call.keys[-1])]
        if not mine or vote.choice is None:
            continue
        given = count(mine, vote.choice)
        counts = {condition: answers for (condition, without), answers in given.items() if not without}
        audit = Audit(
            call=call.path,
            after=vote.choice,
            name=name(counts, changed=vote.changed),
            counts=counts,
            voices={without: answers for (_, without), answers in given.items() if without},
            cost=cost(sample.called for sample in mine),
            **vote.model_dump(include={"member", "stage", "before"}),
        )
        found.append(audit)
    return tuple(found)


def shares(audits: Sequence[Audit]) -> dict[Name, float]:
    """Which share of audited votes has which name, the largest first. Audits may be of several runs."""
    names = Counter(audit.name for audit in audits)
    return {name: number / len(audits) for name, number in names.most_common()}


class Audits(Plans):
    """Plans, estimates and makes audits."""

    what = "audit"

    def of(self, record: Record) -> tuple[Audit, ...]:
        return results(self._house.procedures[record.run.procedure], record, self._asides.samples(record.run.id))

    def plan(
        self, record: Record, calls: Collection[str] | None = None, seeds: int = SEEDS, *, voices: bool = False
    ) -> Plan:
        """Plan audits of the calls at these paths, each of the four questions `seeds` times; nothing is asked.

        It works a lot, so it is not for the engine's loop. What an earlier audit has is not asked again.

        Args:
            calls: by default all that can be audited.
            voices: also ask without each peer whose words the member was shown, and each question six times at least.
        """
        if not 1 <= seeds <= MOST_SEEDS:
            why = f"An audit asks each question 1 to {MOST_SEEDS} times, not {seeds}. Choose another number."
            raise CourtroomError(why)
        numbers = range(1, (max(seeds, VOICE_SEEDS) if voices else seeds) + 1)
        have = {
            (one.audited, one.key, (one.condition, one.without), one.number)
            for one in self._asides.samples(record.run.id)
            if one.called.value is not None
        }
        put, questions, left_out = replay(self._house, record), list[Question](), list[str]()
        for one in auditable(self._house.procedures[record.run.procedure], record):
            path, asked = one.call.path, put.get(one.call.path)
            if calls is not None and path not in calls:
                continue
            why = _why_not(one, asked)
            if asked is None or why:
                left_out.append(f"{path}: {why}")
                continue
            for (way, task), number in product(one.ways(asked.task, voices=voices).items(), numbers):
                if (path, one.call.keys[-1], way, number) not in have:
                    beside = "/".join(filter(None, (path, "audit", *way, str(number))))
                    seed = asked.seed + number  # another one than the run's, so that it draws a sample of its own
                    question = replace(asked, task=task, prompts=asked.prompts.fresh, seed=seed, path=beside)
                    kept = partial(one.sample, task, way, number)
                    questions.append(Question(question, kept, one.call.completion_tokens))
        return self._planned(record, questions, left_out)


def _path_of(vote: Voted, peers: Peers) -> str:
    """The call from which a vote followed: by this task, with what was voted on as its step."""
    on = vote.ballot[len(vote.stage) + 1 :]
    return f"{vote.stage}/{vote.member}/{peers.task.name}" + (f"-{on}" if on else "")


def _why_not(audited: Audited, asked: Asked[Any] | None) -> str:
    if asked is None:
        return (
            "The question can't be put again as it was: "
            "the program's prompts or the model's address have changed since."
        )
    if asked.member.spec.id == PERSON:
        return "A person sits there."
    if audited.peers.shown(asked.task, False, False) == asked.task:
        return "The member was shown nothing of its peers."
    return ""
