"""Preliminary hearing, pleadings, judgment (section 3); every text has its own trial. What Courtroom-LLM declares of itself."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from courtroom import Choice, Counting, Court, Draw, Hit, Member, Procedure, Search, Verdict
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.evaluation.summaries import where
from courtroom.judging.options import SHAPES
from courtroom.models.narrow import same
from courtroom.procedures.courtroom_llm import offline, tasks
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup, members
from courtroom.procedures.courtroom_llm.views import ambiguity, bench, pleadings, results, similar, speaks_for, text_of
from courtroom.procedures.declared import declared

MOST_TOLD = 12
"""Texts, and labels, that a verdict on several texts names."""

Session = Court[LabelledTask, CourtroomLLMSetup]


@dataclass(frozen=True)
class LabelTrial:
    """One text with the two labels in question."""

    item: Labelled
    first: str
    second: str
    ambiguous: bool | None
    """Whether the preliminary hearings disagree; None where there was one."""
    prosecuted: str
    """The label for which the prosecutor argues; the attorney has the other."""


def passages(case: LabelledTask, text: str, second: str) -> tuple[tasks.Passage, ...]:
    """A text, or both of a pair, with what the task calls them, each name on one line."""
    texts, names = (text, second) if second else (text,), (" ".join(name.split()) for name in case.names)
    return tuple(tasks.Passage(name=name, text=one) for name, one in zip(names, texts, strict=False))


def about(court: Session, item: Labelled) -> dict[str, Any]:
    """What each question about a text takes in."""
    return {"passages": passages(court.case, item.text, item.second), "labels": court.case.labels}


def cut(argument: str, words: int) -> str:
    """Return an argument of at most so many words, cut after a whole sentence where there is one; of Chinese, two characters count as
    a word."""
    if _length(argument) <= words:
        return argument
    spaced = " " in argument.strip()
    most = " ".join(argument.split()[:words]) if spaced else argument[: words * 2]
    whole = [place.end() for place in re.finditer(r"[.?!](?=\s)|[。？！]", most)]
    return most[: whole[-1]] if whole else most + (" …" if spaced else "…")


def pointed_to(evidence: Iterable[str], text: str, words: int) -> Iterator[str]:
    """The passages that stand in the text, as they stand there, as long as they have no more than so many words together. What a
    side quotes that the text does not say is not shown to the judges."""
    left = words
    for place in dict.fromkeys(place for quote in evidence if (place := where(quote, text))):
        passage = text[slice(*place)]
        if (words_of := _length(passage)) <= left:
            left -= words_of
            yield passage


def _length(text: str) -> int:
    """Words, where there are spaces between them; else half the characters."""
    return len(text.split()) if " " in text.strip() else (len(text) + 1) // 2


async def look_up(court: Session, item: Labelled, in_question: Sequence[str]) -> dict[str, Any]:
    """What a judge is asked of: the text, `shots` similar cases for each label that the setup names, in the order of the
    label set, so that it reveals nothing, and how near each is, as a cosine (0 where it was drawn at random). The text
    itself is never among them, nor is another with the same words."""
    of = court.setup.labels_of_cases(court.case.labels, in_question) if court.setup.shots else ()
    hits = [
        (f"{number}-{n}", hit)
        for number, label in enumerate(of, start=1)
        for n, hit in enumerate(await found(court, item, label, number), start=1)
    ]
    cases = await court.all(explained(court, item, step, hit) for step, hit in hits)
    similar, likeness = tuple(one for one in cases if one), tuple(hit.similarity for _, hit in hits)
    return {**about(court, item), "reasoned": court.setup.reasoned, "similar": similar, "similarities": likeness}


async def found(court: Session, item: Labelled, label: str | None, number: int) -> tuple[Hit, ...]:
    """Examples of one label, or of any: the nearest by cosine, or drawn at random."""
    name, wanted = f"similar-{item.id}-{number}", examples(court, item, label, court.setup.shots)
    if court.setup.cases_by == "random":
        return await court.retrieve(name, Draw(**wanted, seed=f"{court.seed}/{name}"))
    return await court.retrieve(name, Search(**wanted, itself=False))


def examples(court: Session, item: Labelled, label: str | None, k: int) -> dict[str, Any]:
    """What is looked for: so many examples of a label, or of any, other than the text itself."""
    within = {"under": court.case.under(label), "exclude": court.case.itself(item)}
    return {"collection": "examples", "text": item.whole, "k": k, **within}


async def explained(court: Session, item: Labelled, step: str, hit: Hit) -> tasks.Similar:
    """A similar case with the reason for its label: the one on record, or one that is asked for."""
    record, reason = hit.record, str(hit.record["reason"])
    shown = passages(court.case, record["text"], record["second"])
    if not reason and court.setup.explain:
        task = tasks.Explain(passages=shown, labels=court.case.labels, label=record["label"])
        answer = await court.try_ask(court.member("clerk"), task, f"{item.id}-{step}")
        reason = answer.reason if answer else ""
    return tasks.Similar(passages=shown, label=record["label"], reason=reason)


@dataclass(frozen=True)
class Decision:
    """How one text was classified; `label` is None where it could not be, and `reason` then says why."""

    item: Labelled
    label: str | None
    reason: str
    votes: dict[str, int]
    trial: LabelTrial | None = None


def cast(
    court: Session, judge: Member, item: Labelled, opinion: tasks.ChosenLabel | None, labels: Sequence[str]
) -> tasks.Earlier | None:
    """A judge's vote, on record; None is an abstention."""
    label = str(same(opinion.label, tuple(labels))) if opinion else None
    court.vote(judge, label, (opinion.reason,) if opinion and opinion.reason else (), on=item.id)
    return tasks.Earlier(judge=judge.name, reason=opinion.reason, label=label) if opinion and label else None


def decision(
    court: Session, item: Labelled, opinions: Sequence[tasks.Earlier], labels: Sequence[str], trial: LabelTrial | None
) -> Decision:
    """By majority, or by the last judge where that is set; with the reason of the last judge who shares it. A text for which too
    few judges voted has no label. That is this text's failure: the others' trials go on."""
    bench = court.panel("judge")
    if not court.enough(len(opinions), len(bench)):
        return Decision(item, None, f"Only {len(opinions)} of {len(bench)} judges could decide.", {}, trial)
    counts = court.tally(labels, consensus=0.5, on=item.id).counts
    last = court.setup.structure == "sequential" and court.setup.decided_by == "last"
    label = opinions[-1].label if last else majority(opinions, trial.first if trial else opinions[0].label)
    reason = next(one.reason for one in reversed(opinions) if one.label == label)
    return Decision(item, label, reason, {name: count for name, count in counts.items() if count}, trial)


def majority(opinions: Sequence[tasks.Earlier], tie: str) -> str:
    """The label with most votes; where judges abstained and two are equal, `tie` if it is among them."""
    counts = Counter(opinion.label for opinion in opinions)
    most = max(counts.values())
    return tie if counts[tie] == most else next(label for label in counts if counts[label] == most)


def verdict(court: Session, items: Sequence[Labelled], decided: Sequence[Decision | None]) -> Verdict:
    """One text's label with its grounds, or how many texts got which label. Raises `QuorumLost`: too few texts have a label."""
    made = {one.item.id: one for one in decided if one is not None}
    decisions = [made.get(item.id) or Decision(item, None, "It could not be heard.", {}) for item in items]
    court.needs(sum(one.label is not None for one in decisions), len(decisions), "texts could be decided")
    details = {"results": [result(one) for one in decisions]}
    labels = [one.label for one in decisions if one.label is not None]
    unclear = sum(bool(one.trial and one.trial.ambiguous) for one in decisions)
    if len(decisions) == 1:
        # The reason is that of the last judge who decided so.
        outcome, counts, summary = labels[0], decisions[0].votes, decisions[0].reason
        abstained = len(court.panel("judge")) - sum(counts.values())
        note = "The preliminary hearings disagreed: the text is ambiguous." if unclear else ""
    else:  # a text without a label stays among the results: it counts as wrong
        counts, abstained = dict(Counter(labels).most_common()), len(decisions) - len(labels)
        most, told = [*counts.items()][:MOST_TOLD], [f"{one.item.id}: {one.label or 'none'}" for one in decisions]
        outcome = f"{len(labels)} texts classified: {', '.join(f'{count} {label}' for label, count in most)}"
        summary = "\n".join((f"{len(labels)} of {len(decisions)} texts have a label.", *told[:MOST_TOLD]))
        note = f"Ambiguous, as their preliminary hearings disagreed: {unclear} of {len(decisions)}." if unclear else ""
    return Verdict(outcome=outcome, counts=counts, abstained=abstained, summary=summary, note=note, details=details)


def result(made: Decision) -> dict[str, Any]:
    """One text as it stands in the verdict's details."""
    return {
        "id": made.item.id,
        "label": made.label,
        "failed": "" if made.label is not None else made.reason,
        **{name: getattr(made.trial, name, None) for name in ("first", "second", "prosecuted", "ambiguous")},
        "votes": made.votes,
    }


async def by_nearest(court: Session, item: Labelled) -> Decision:
    """The label with the most likeness among the k nearest texts; the one seat on the bench casts the vote. A text counts by its
    cosine, and one that is unlike counts nothing. The text itself, and copies of it, are not among them."""
    query = Search(**examples(court, item, None, court.setup.neighbours), itself=False)
    hits = await court.retrieve(f"nearest-{item.id}", query)
    likeness: dict[str, float] = {}
    for hit in hits:
        label = str(hit.record["label"])
        likeness[label] = likeness.get(label, 0.0) + max(0.0, hit.similarity)
    (seat,) = court.panel("judge")
    if not likeness:
        court.vote(seat, None, ("There is no labelled text to compare with.",), on=item.id)
        return Decision(item, None, "There is no labelled text to compare with. Give the task examples.", {})
    label = max(likeness, key=lambda one: likeness[one])  # of equal ones, that of the nearest text
    own = [hit.similarity for hit in hits if hit.record["label"] == label]
    reason = f"{len(own)} of the {len(hits)} nearest texts have this label; the nearest of them has a likeness of {own[0]:.2f}."
    court.vote(seat, label, (reason,), on=item.id)
    court.tally(court.case.labels, consensus=0.5, on=item.id)
    return Decision(item, label, reason, {label: 1})


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
    task = tasks.Hear(**about(court, item), reasoned=court.setup.hearing_reasons)
    hearings = await court.all(court.ask(member, task, item.id) for member in court.panel("hearing"))
    named = [(same(one.first, labels), same(one.second, labels)) for one in hearings if one is not None]
    if not named:
        return None
    (first, second), *_ = named
    ambiguous = len({first for first, _ in named}) > 1 if len(named) > 1 else None
    swapped = court.random("assignment", item.id).random() < 0.5
    return LabelTrial(item, first, second, ambiguous, second if swapped else first)


async def plead(court: Session, trial: LabelTrial) -> tuple[tasks.Pleading, ...]:
    """Both sides argue at once, each for the label that the lot gave it, within the limit; nothing where one has no argument."""
    setup, item = court.setup, trial.item
    limits = {"sentences": setup.argument_sentences, "words": setup.argument_words, "passages_first": setup.passages}
    known: dict[str, Any] = {**about(court, item), **limits}

    async def argue(side: tasks.Side, label: str, other: str) -> tasks.Pleading:
        task = tasks.Plead(**known, side=side, label=label, other=other)
        said = await court.ask(court.member(side), task, item.id)
        evidence = tuple(pointed_to(said.evidence, item.whole, setup.argument_words))
        argument = cut(said.argument, setup.argument_words)
        shorter = argument != said.argument
        return tasks.Pleading(side=side, label=label, argument=argument, evidence=evidence, cut=shorter)

    prosecuted, defended = trial.prosecuted, trial.second if trial.prosecuted == trial.first else trial.first
    sides = argue("prosecutor", prosecuted, defended), argue("attorney", defended, prosecuted)
    pleadings = [pleading for pleading in await court.all(sides) if pleading is not None]
    return tuple(pleadings) if len(pleadings) == len(sides) else ()


async def judge(court: Session, trial: LabelTrial, pleadings: tuple[tasks.Pleading, ...]) -> Decision:
    """The bench in parallel or in sequence, with similar cases (sections 3.3 and 3.4)."""
    item, labels, bench = trial.item, (trial.first, trial.second), court.panel("judge")
    if not pleadings:
        return Decision(item, None, "A side had no argument.", {}, trial)
    question = await look_up(court, item, labels)

    async def decide(seat: Member, earlier: tuple[tasks.Earlier, ...]) -> tasks.Earlier | None:
        task = tasks.ChooseLabel(**question, pleadings=pleadings, earlier=earlier)
        return cast(court, seat, item, await court.try_ask(seat, task, item.id), labels)

    opinions: list[tasks.Earlier] = []
    if court.setup.structure == "parallel":
        opinions += [one for one in await court.all(decide(seat, ()) for seat in bench) if one is not None]
    else:
        for seat in bench:
            told = tuple(opinions if court.setup.earlier == "all" else opinions[-1:])
            opinions += [one for one in [await decide(seat, told)] if one is not None]
    return decision(court, item, opinions, labels, trial)


async def classify(court: Session, item: Labelled) -> Decision:
    """One model, or several with majority, without a trial: the baselines."""
    labels, bench = court.case.labels, court.panel("judge")
    task = tasks.Classify(**await look_up(court, item, labels))
    answers = await court.all(court.ask(seat, task, item.id) for seat in bench)
    votes = [cast(court, seat, item, answer, labels) for seat, answer in zip(bench, answers, strict=True)]
    return decision(court, item, [vote for vote in votes if vote is not None], labels, None)


def at_most(case: LabelledTask, setup: CourtroomLLMSetup) -> int:
    """Upper bound on the calls: hearings, two pleadings, reasons for similar cases, judges; for each text."""
    if setup.structure == "nearest":
        return 0
    in_question = case.labels[:2] if setup.tried else case.labels
    similar = setup.shots * len(setup.labels_of_cases(case.labels, in_question)) if setup.explain else 0
    return (similar + setup.bench + (setup.hearings + 2 if setup.tried else 0)) * max(1, len(setup.texts))


def labels_of(case: LabelledTask) -> tuple[Choice, ...]:
    """The labels, each with a colour, a shape and a mark; of many, some share them and differ by name."""
    return tuple(Choice(label, label, tone, *SHAPES[tone % len(SHAPES)]) for tone, label in enumerate(case.labels))


COURTROOM_LLM = Procedure(
    **declared(__file__, offline.METHODS, draws=(pleadings, bench, similar, ambiguity, results)),
    setup=CourtroomLLMSetup,
    choices_in=labels_of,
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    peers=tasks.PEERS,
    counting=lambda setup: Counting(
        rule="last" if setup.structure == "sequential" and setup.decided_by == "last" else "most"
    ),
    speaks_for=speaks_for,
    about_what=text_of,
)
