"""Preliminary hearing, pleadings, judgment (section 3). Every text has its own trial; all go through a stage at once."""

from courtroom.cases.labelled import Labelled
from courtroom.engine.events import Verdict
from courtroom.engine.setup import Member
from courtroom.models.narrow import same
from courtroom.procedures.courtroom_llm.tasks import ChooseLabel, Classify, Earlier, Hear, Plead, Pleading, Side
from courtroom.procedures.courtroom_llm.trial import (
    Decision,
    LabelTrial,
    Session,
    by_nearest,
    cast,
    cut,
    decision,
    look_up,
    passages,
    pointed_to,
    verdict,
)


async def deliberate(court: Session) -> Verdict:
    """From the texts to their labels. A text that fails on the way has no label; the others go on."""
    items = [court.case.item(name) for name in court.setup.texts]
    if not court.setup.tried:
        await court.stage("Judgment", "judgment")
        decide = by_nearest if court.setup.structure == "nearest" else classify
        return verdict(court, items, await court.all(decide(court, item) for item in items))

    await court.stage("Preliminary hearing", "hearing")
    trials = await court.all(hear(court, item) for item in items)
    heard = [trial for trial in trials if trial is not None]
    court.needs(len(heard), len(items), "texts could be heard")

    await court.stage("Arguments", "arguments")
    argued = [pleadings or () for pleadings in await court.all(plead(court, trial) for trial in heard)]
    court.needs(sum(map(bool, argued)), len(items), "texts could be argued")

    await court.stage("Judgment", "judgment")
    judged = (judge(court, *text) for text in zip(heard, argued, strict=True))
    return verdict(court, items, await court.all(judged))


async def hear(court: Session, item: Labelled) -> LabelTrial | None:
    """A_1 and A_2 by the first preliminary hearing; the others show whether the text is ambiguous (section 4.2.3)."""
    labels = court.case.labels
    task = Hear(passages=passages(court.case, item.text, item.second), labels=labels)
    hearings = await court.all(court.ask(member, task, item.id) for member in court.panel("hearing"))
    named = [(same(one.first, labels), same(one.second, labels)) for one in hearings if one is not None]
    if not named:
        return None
    (first, second), *_ = named
    ambiguous = len({first for first, _ in named}) > 1 if len(named) > 1 else None
    swapped = court.random("assignment", item.id).random() < 0.5
    return LabelTrial(item, first, second, ambiguous, second if swapped else first)


async def plead(court: Session, trial: LabelTrial) -> tuple[Pleading, ...]:
    """Both sides argue at once, each for the label that the lot gave it, within the limit; nothing where one has no argument."""
    setup, item = court.setup, trial.item

    async def argue(side: Side, label: str, other: str) -> Pleading:
        task = Plead(
            passages=passages(court.case, item.text, item.second),
            labels=court.case.labels,
            side=side,
            label=label,
            other=other,
            sentences=setup.argument_sentences,
            words=setup.argument_words,
        )
        said = await court.ask(court.member(side), task, item.id)
        evidence = tuple(pointed_to(said.evidence, item.whole, setup.argument_words))
        return Pleading(side=side, label=label, argument=cut(said.argument, setup.argument_words), evidence=evidence)

    sides = argue("prosecutor", trial.prosecuted, trial.defended), argue("attorney", trial.defended, trial.prosecuted)
    pleadings = [pleading for pleading in await court.all(sides) if pleading is not None]
    return tuple(pleadings) if len(pleadings) == len(sides) else ()


async def judge(court: Session, trial: LabelTrial, pleadings: tuple[Pleading, ...]) -> Decision:
    """The bench in parallel or in sequence, with similar cases (sections 3.3 and 3.4)."""
    item, labels, bench = trial.item, (trial.first, trial.second), court.panel("judge")
    if not pleadings:
        return Decision(item, None, "A side had no argument.", {}, trial)
    similar = await look_up(court, item, labels)

    async def decide(seat: Member, earlier: tuple[Earlier, ...]) -> Earlier | None:
        task = ChooseLabel(
            passages=passages(court.case, item.text, item.second),
            labels=court.case.labels,
            pleadings=pleadings,
            similar=similar.cases,
            similarities=similar.similarities,
            earlier=earlier,
            reasoned=court.setup.reasoned,
        )
        return cast(court, seat, item, await court.try_ask(seat, task, item.id), labels)

    opinions: list[Earlier] = []
    if court.setup.structure == "parallel":
        opinions += [one for one in await court.all(decide(seat, ()) for seat in bench) if one is not None]
    else:
        for seat in bench:
            opinions += [one for one in [await decide(seat, tuple(opinions))] if one is not None]
    return decision(court, item, opinions, labels, trial)


async def classify(court: Session, item: Labelled) -> Decision:
    """One model, or several with majority, without a trial: the baselines."""
    labels, bench = court.case.labels, court.panel("judge")
    similar = await look_up(court, item, labels)
    task = Classify(
        passages=passages(court.case, item.text, item.second),
        labels=labels,
        similar=similar.cases,
        similarities=similar.similarities,
        reasoned=court.setup.reasoned,
    )
    answers = await court.all(court.ask(seat, task, item.id) for seat in bench)
    votes = [cast(court, seat, item, answer, labels) for seat, answer in zip(bench, answers, strict=True)]
    return decision(court, item, [vote for vote in votes if vote is not None], labels, None)
