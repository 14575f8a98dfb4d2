"""Preliminary hearing, pleadings, judgment (section 3). Every text has its own trial; all go through a stage at once."""

from __future__ import annotations

from courtroom.cases.labelled import Labelled
from courtroom.engine.events import Verdict
from courtroom.engine.setup import Member
from courtroom.procedures.courtroom_llm.bench import Decision, cast, decided, majority
from courtroom.procedures.courtroom_llm.similar import look_up
from courtroom.procedures.courtroom_llm.tasks import (
    Argue,
    Classify,
    Earlier,
    Hear,
    Judge,
    Pleading,
    Side,
    same,
)
from courtroom.procedures.courtroom_llm.trial import Session, Trial, about
from courtroom.procedures.courtroom_llm.verdict import verdict


async def deliberate(court: Session) -> Verdict:
    """From the texts to their labels."""
    items = [court.case.item(name) for name in court.setup.texts]
    if not court.setup.tried:
        await court.stage("Judgment", "judgment")
        return verdict(court, items, await court.all(classify(court, item) for item in items))

    await court.stage("Preliminary hearing", "hearing")
    trials = await court.all(hear(court, item) for item in items)
    heard = [trial for trial in trials if trial is not None]
    court.needs(len(heard), len(items), "texts could be heard")

    await court.stage("Arguments", "arguments")
    argued = await court.all(plead(court, trial) for trial in heard)

    await court.stage("Judgment", "judgment")
    pairs = [(trial, pleadings) for trial, pleadings in zip(heard, argued, strict=True) if pleadings]
    court.needs(len(pairs), len(items), "texts could be argued")
    return verdict(court, items, await court.all(judge(court, *pair) for pair in pairs))


async def hear(court: Session, item: Labelled) -> Trial | None:
    """A_1 and A_2 by the first preliminary hearing; the others tell whether the text is ambiguous (section 4.2.3)."""
    task, labels = Hear(about=about(court, item)), court.case.labels
    hearings = await court.all(court.ask(member, task, item.id) for member in court.panel("hearing"))
    named = [(same(one.first, labels), same(one.second, labels)) for one in hearings if one is not None]
    if not named:
        return None
    first, second = named[0]
    assert first is not None, "the task has checked it"
    assert second is not None, "the task has checked it"
    ambiguous = len({first for first, _ in named}) > 1 if len(named) > 1 else None
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
        opinion = await court.try_ask(judge, task, trial.item.id)
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
    labels, bench = court.case.labels, court.panel("judge")
    task = Classify(about=about(court, item), similar=await look_up(court, item, ()))
    answers = await court.all(court.ask(judge, task, item.id) for judge in bench)
    votes = [cast(court, judge, item, answer, labels) for judge, answer in zip(bench, answers, strict=True)]
    opinions = [vote for vote in votes if vote is not None]
    return decided(court, item, majority(opinions, opinions[0].label), opinions, labels, None) if opinions else None


def cut(argument: str, limit: int) -> str:
    """An argument of at most so many words (Chinese: characters), so that neither side outtalks the other (section 3.5)."""
    if " " not in argument.strip():
        return argument if len(argument) <= limit * 2 else argument[: limit * 2] + "…"
    told = argument.split()
    return argument if len(told) <= limit else " ".join(told[:limit]) + " …"
