"""Preliminary hearing, pleadings, judgment (section 3). Every text has its own trial; all go through a stage at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.engine.court import Court
from courtroom.engine.errors import QuorumLost
from courtroom.engine.events import Verdict
from courtroom.engine.setup import Member
from courtroom.knowledge.search import Hit, Search
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup
from courtroom.procedures.courtroom_llm.tasks import (
    Argue,
    Classify,
    Earlier,
    Explain,
    Hear,
    Judge,
    OfText,
    Opinion,
    Pleading,
    Side,
    Similar,
    same,
)

Session = Court[LabelledTask, CourtroomLLMSetup]


@dataclass(frozen=True)
class Trial:
    """One text with the two labels in question."""

    item: Labelled
    first: str
    second: str
    ambiguous: bool | None
    """Whether the preliminary hearings disagree; None where there was one."""
    prosecuted: str
    """The label for which the prosecutor argues; the attorney has the other."""

    @property
    def defended(self) -> str:
        """The label for which the attorney argues."""
        return self.second if self.prosecuted == self.first else self.first


@dataclass(frozen=True)
class Decision:
    """How one text was classified."""

    item: Labelled
    label: str
    reason: str
    votes: dict[str, int]
    trial: Trial | None = None


async def deliberate(court: Session) -> Verdict:
    """From the texts to their labels."""
    items = [court.case.item(name) for name in court.setup.texts]
    if not court.setup.tried:
        await court.stage("Judgment", "judgment")
        return verdict(court, items, await court.all(classify(court, item) for item in items))

    await court.stage("Preliminary hearing", "hearing")
    trials = await court.all(hear(court, item) for item in items)
    heard = [trial for trial in trials if trial is not None]
    needed(court, items, heard)

    await court.stage("Arguments", "arguments")
    argued = await court.all(plead(court, trial) for trial in heard)

    await court.stage("Judgment", "judgment")
    pairs = [(trial, pleadings) for trial, pleadings in zip(heard, argued, strict=True) if pleadings]
    needed(court, items, pairs)
    return verdict(court, items, await court.all(judge(court, *pair) for pair in pairs))


async def hear(court: Session, item: Labelled) -> Trial | None:
    """A_1 and A_2 by the first preliminary hearing; the others tell whether the text is ambiguous (section 4.2.3)."""
    case = court.case
    task = Hear(about=about(court, item))
    hearings = await court.all(court.ask(member, task, item.id) for member in court.panel("hearing"))
    firsts = [same(hearing.first, case.labels) for hearing in hearings if hearing is not None]
    counted = next((hearing for hearing in hearings if hearing is not None), None)
    if counted is None:
        return None
    first, second = same(counted.first, case.labels), same(counted.second, case.labels)
    assert first is not None, "the task has checked it"
    assert second is not None, "the task has checked it"
    ambiguous = len(set(firsts)) > 1 if len(firsts) > 1 else None
    swapped = court.random("assignment", item.id).random() < 0.5
    return Trial(item, first, second, ambiguous, second if swapped else first)


async def plead(court: Session, trial: Trial) -> tuple[Pleading, ...]:
    """Both sides argue at once, each for the label that the lot gave it, within the limit (section 3.2)."""
    limit = court.setup.argument_words
    sides: tuple[tuple[Side, str, str], ...] = (
        ("prosecutor", trial.prosecuted, trial.defended),
        ("attorney", trial.defended, trial.prosecuted),
    )

    async def argue(side: Side, label: str, other: str) -> Pleading:
        task = Argue(about=about(court, trial.item), side=side, label=label, other=other, limit=limit)
        said = await court.ask(court.member(side), task, trial.item.id)
        return Pleading(side=side, label=label, argument=cut(said.argument, limit), evidence=said.evidence)

    pleadings = await court.all(argue(*side) for side in sides)
    return tuple(pleading for pleading in pleadings if pleading is not None) if all(pleadings) else ()


async def judge(court: Session, trial: Trial, pleadings: tuple[Pleading, ...]) -> Decision | None:
    """The bench in parallel or in sequence, with similar cases (sections 3.3 and 3.4)."""
    setup, bench = court.setup, court.panel("judge")
    labels = (trial.first, trial.second)
    similar = await look_up(court, trial.item, labels)

    async def decide(judge: Member, earlier: tuple[Earlier, ...]) -> Earlier | None:
        task = Judge(about=about(court, trial.item), pleadings=pleadings, similar=similar, earlier=earlier)
        (opinion,) = await court.all([court.ask(judge, task, trial.item.id)])
        return cast(court, judge, trial.item, opinion, labels)

    if setup.structure == "parallel":
        opinions = [one for one in await court.all(decide(judge, ()) for judge in bench) if one is not None]
    else:
        opinions = []
        for seat in bench:
            if (opinion := await decide(seat, tuple(opinions))) is not None:
                opinions.append(opinion)
    if not opinions:
        return None
    last = setup.structure == "sequential" and setup.decided_by == "last"
    label = opinions[-1].label if last else majority(opinions, trial.first)
    return decided(court, trial.item, label, opinions, labels, trial)


async def classify(court: Session, item: Labelled) -> Decision | None:
    """One model, or several with majority, without a trial: the baselines."""
    labels = court.case.labels
    similar = await look_up(court, item, ())
    task = Classify(about=about(court, item), similar=similar)
    answers = await court.all(court.ask(judge, task, item.id) for judge in court.panel("judge"))
    opinions = [
        one
        for judge, answer in zip(court.panel("judge"), answers, strict=True)
        if (one := cast(court, judge, item, answer, labels)) is not None
    ]
    if not opinions:
        return None
    return decided(court, item, majority(opinions, opinions[0].label), opinions, labels, None)


def cast(
    court: Session, judge: Member, item: Labelled, opinion: Opinion | None, labels: Sequence[str]
) -> Earlier | None:
    """A judge's vote, on record; None is an abstention."""
    label = same(opinion.label, labels) if opinion else None
    court.vote(judge, label, (opinion.reason,) if opinion else (), on=item.id)
    return Earlier(judge=judge.name, label=label, reason=opinion.reason) if opinion and label else None


def decided(
    court: Session,
    item: Labelled,
    label: str,
    opinions: Sequence[Earlier],
    labels: Sequence[str],
    trial: Trial | None,
) -> Decision:
    """The bench's decision, with the reason of the last judge who shares it."""
    counts = court.tally(labels, consensus=0.5, on=item.id).counts
    reason = next((one.reason for one in reversed(opinions) if one.label == label), "")
    return Decision(item, label, reason, {name: count for name, count in counts.items() if count}, trial)


def majority(opinions: Sequence[Earlier], tie: str) -> str:
    """The label with most votes; where judges abstained and two are equal, `tie` if it is among them."""
    counts = Counter(opinion.label for opinion in opinions)
    most = max(counts.values())
    return tie if counts[tie] == most else next(label for label in counts if counts[label] == most)


async def look_up(court: Session, item: Labelled, labels: Sequence[str]) -> tuple[Similar, ...]:
    """The nearest examples by cosine (section 3.4): of each of the two labels; without a trial, of all labels."""
    case, shots = court.case, court.setup.shots
    if not shots:
        return ()
    found: list[Similar] = []
    for number, under in enumerate([case.under(label) for label in labels] or [case.under()], start=1):
        query = Search(collection="examples", text=item.whole, k=shots, under=under, exclude=case.itself(item))
        hits = await court.retrieve(f"similar-{item.id}-{number}", query)
        told = await court.all(explained(court, item, f"{number}-{n}", hit) for n, hit in enumerate(hits, start=1))
        found += [one for one in told if one is not None]
    return tuple(found)


async def explained(court: Session, item: Labelled, step: str, hit: Hit) -> Similar:
    """A similar case with the reason for its label: the one on record, or one that is asked for."""
    record: dict[str, Any] = hit.record
    reason = str(record["reason"])
    if not reason and court.setup.explain:
        example = Labelled(id="example", text=record["text"], second=record["second"])
        task = Explain(about=about(court, example), label=record["label"])
        (answer,) = await court.all([court.ask(court.panel("hearing")[0], task, f"{item.id}-{step}")])
        reason = answer.reason if answer else ""
    return Similar(
        text=record["text"], second=record["second"], label=record["label"], reason=reason, similarity=hit.similarity
    )


def about(court: Session, item: Labelled) -> OfText:
    """A text with the label set."""
    case = court.case
    return OfText(item=item, names=case.names, labels=case.labels, question=case.question)


def cut(argument: str, limit: int) -> str:
    """An argument of at most so many words (Chinese: characters), so that neither side outtalks the other (section 3.5)."""
    if " " not in argument.strip():
        return argument if len(argument) <= limit * 2 else argument[: limit * 2] + "…"
    told = argument.split()
    return argument if len(told) <= limit else " ".join(told[:limit]) + " …"


def needed(court: Session, items: Sequence[Labelled], left: Sequence[object]) -> None:
    """Stop where too few of the texts could be worked on."""
    if not left or len(left) < court.setup.quorum * len(items):
        raise QuorumLost(
            f"Only {len(left)} of {len(items)} texts could be heard, fewer than the quorum asks for. "
            "Check the models' server and keys, then continue: those who failed are asked again."
        )


def verdict(court: Session, items: Sequence[Labelled], decisions: Sequence[Decision | None]) -> Verdict:
    """One text's label with its grounds, or how many texts got which label."""
    made = [decision for decision in decisions if decision is not None]
    needed(court, items, made)
    results = [
        {
            "id": one.item.id,
            "label": one.label,
            "first": one.trial.first if one.trial else None,
            "second": one.trial.second if one.trial else None,
            "prosecuted": one.trial.prosecuted if one.trial else None,
            "ambiguous": one.trial.ambiguous if one.trial else None,
            "votes": one.votes,
        }
        for one in made
    ]
    if len(items) == 1:
        (one,) = made
        note = "The preliminary hearings disagreed: the text is ambiguous." if one.trial and one.trial.ambiguous else ""
        abstained = len(court.panel("judge")) - sum(one.votes.values())
        return Verdict(
            outcome=one.label,
            counts=one.votes,
            abstained=abstained,
            summary=one.reason,
            note=note,
            details={"results": results},
        )
    unclear = sum(bool(one.trial and one.trial.ambiguous) for one in made)
    return Verdict(
        outcome=f"{len(made)} texts classified",
        counts=dict(Counter(one.label for one in made).most_common()),
        abstained=len(items) - len(made),
        summary=f"{len(made)} of {len(items)} texts have a label; the tab Results sets them beside the known ones.",
        note=f"{unclear} of them are ambiguous: their preliminary hearings disagreed." if unclear else "",
        details={"results": results},
    )
