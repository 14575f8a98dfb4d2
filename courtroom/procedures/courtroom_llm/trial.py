"""One text's trial: which two labels are in question, and who argues for which."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.engine.setup import Member
from courtroom.evaluation.grounding import where
from courtroom.knowledge.search import Draw, Hit, Search
from courtroom.models.narrow import same
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup
from courtroom.procedures.courtroom_llm.tasks import ChosenLabel, Earlier, Explain, Passage, Similar

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

    @property
    def defended(self) -> str:
        return self.second if self.prosecuted == self.first else self.first


def passages(case: LabelledTask, text: str, second: str) -> tuple[Passage, ...]:
    """A text, or both of a pair, with what the task calls them, each name on one line."""
    texts = (text, second) if second else (text,)
    return tuple(Passage(name=" ".join(name.split()), text=one) for name, one in zip(case.names, texts, strict=False))


def cut(argument: str, words: int) -> str:
    """An argument of at most so many words; of Chinese, two characters count as a word."""
    if _length(argument) <= words:
        return argument
    return " ".join(argument.split()[:words]) + " …" if " " in argument.strip() else argument[: words * 2] + "…"


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


@dataclass(frozen=True)
class Precedents:
    """Similar cases, and how near each is to the text, as a cosine; 0 where it was drawn at random."""

    cases: tuple[Similar, ...] = ()
    similarities: tuple[float, ...] = ()


async def look_up(court: Session, item: Labelled, in_question: Sequence[str]) -> Precedents:
    """`shots` examples for each label that the setup names, in the order of the label set, so that it reveals nothing. The text
    itself is never among them, nor is another with the same words."""
    if not court.setup.shots:
        return Precedents()
    of = court.setup.labels_of_cases(court.case.labels, in_question)
    hits = [
        (f"{number}-{n}", hit)
        for number, label in enumerate(of, start=1)
        for n, hit in enumerate(await found(court, item, label, number), start=1)
    ]
    cases = await court.all(explained(court, item, step, hit) for step, hit in hits)
    return Precedents(tuple(one for one in cases if one), tuple(hit.similarity for _, hit in hits))


async def found(court: Session, item: Labelled, label: str | None, number: int) -> tuple[Hit, ...]:
    """Examples of one label, or of any: the nearest by cosine, or drawn at random."""
    case, shots, name = court.case, court.setup.shots, f"similar-{item.id}-{number}"
    under, exclude = case.under(label), case.itself(item)
    query: Search | Draw = Search(
        collection="examples", text=item.whole, k=shots, under=under, exclude=exclude, itself=False
    )
    if court.setup.cases_by == "random":
        lot = f"{court.seed}/{name}"
        query = Draw(collection="examples", text=item.whole, k=shots, under=under, exclude=exclude, seed=lot)
    return await court.retrieve(name, query)


async def explained(court: Session, item: Labelled, step: str, hit: Hit) -> Similar:
    """A similar case with the reason for its label: the one on record, or one that is asked for."""
    record: dict[str, Any] = hit.record
    shown = passages(court.case, record["text"], record["second"])
    reason = str(record["reason"])
    if not reason and court.setup.explain:
        task = Explain(passages=shown, labels=court.case.labels, label=record["label"])
        answer = await court.try_ask(court.member("clerk"), task, f"{item.id}-{step}")
        reason = answer.reason if answer else ""
    return Similar(passages=shown, label=record["label"], reason=reason)


@dataclass(frozen=True)
class Decision:
    """How one text was classified; `label` is None where it could not be, and `reason` then says why."""

    item: Labelled
    label: str | None
    reason: str
    votes: dict[str, int]
    trial: LabelTrial | None = None


def cast(
    court: Session, judge: Member, item: Labelled, opinion: ChosenLabel | None, labels: Sequence[str]
) -> Earlier | None:
    """A judge's vote, on record; None is an abstention."""
    label = str(same(opinion.label, tuple(labels))) if opinion else None
    court.vote(judge, label, (opinion.reason,) if opinion and opinion.reason else (), on=item.id)
    return Earlier(judge=judge.name, reason=opinion.reason, label=label) if opinion and label else None


def decision(
    court: Session, item: Labelled, opinions: Sequence[Earlier], labels: Sequence[str], trial: LabelTrial | None
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


def majority(opinions: Sequence[Earlier], tie: str) -> str:
    """The label with most votes; where judges abstained and two are equal, `tie` if it is among them."""
    counts = Counter(opinion.label for opinion in opinions)
    most = max(counts.values())
    return tie if counts[tie] == most else next(label for label in counts if counts[label] == most)


def verdict(court: Session, items: Sequence[Labelled], decided: Sequence[Decision | None]) -> Verdict:
    """One text's label with its grounds, or how many texts got which label. Raises `QuorumLost`: too few texts have a label."""
    made = {one.item.id: one for one in decided if one is not None}
    decisions = [made.get(item.id) or Decision(item, None, "It could not be heard.", {}) for item in items]
    court.needs(sum(one.label is not None for one in decisions), len(decisions), "texts could be decided")
    return of_one(court, decisions[0]) if len(decisions) == 1 else of_several(decisions)


def of_one(court: Session, made: Decision) -> Verdict:
    """The text's label, with the reason of the last judge who decided so."""
    ambiguous = made.trial is not None and made.trial.ambiguous
    return Verdict(
        outcome=str(made.label),
        counts=made.votes,
        abstained=len(court.panel("judge")) - sum(made.votes.values()),
        summary=made.reason,
        note="The preliminary hearings disagreed: the text is ambiguous." if ambiguous else "",
        details={"results": [result(made)]},
    )


def of_several(decisions: Sequence[Decision]) -> Verdict:
    """How many texts got which label. A text without one stays among the results: it counts as wrong."""
    labels = [one.label for one in decisions if one.label is not None]
    unclear = sum(bool(one.trial and one.trial.ambiguous) for one in decisions)
    return Verdict(
        outcome=f"{len(labels)} texts classified",
        counts=dict(Counter(labels).most_common()),
        abstained=len(decisions) - len(labels),
        summary=f"{len(labels)} of {len(decisions)} texts have a label; the tab Results shows them beside the known ones.",
        note=f"{unclear} of them are ambiguous: their preliminary hearings disagreed." if unclear else "",
        details={"results": [result(one) for one in decisions]},
    )


def result(made: Decision) -> dict[str, Any]:
    """One text as it stands in the verdict's details."""
    trial = made.trial
    return {
        "id": made.item.id,
        "label": made.label,
        "failed": "" if made.label is not None else made.reason,
        "first": trial.first if trial else None,
        "second": trial.second if trial else None,
        "prosecuted": trial.prosecuted if trial else None,
        "ambiguous": trial.ambiguous if trial else None,
        "votes": made.votes,
    }


async def by_nearest(court: Session, item: Labelled) -> Decision:
    """The label with the most likeness among the k nearest texts; the one seat on the bench casts the vote. A text counts by its
    cosine, and one that is unlike counts nothing. The text itself, and copies of it, are not among them."""
    case = court.case
    query = Search(
        collection="examples",
        text=item.whole,
        k=court.setup.neighbours,
        under=case.under(None),
        exclude=case.itself(item),
        itself=False,
    )
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
    court.tally(case.labels, consensus=0.5, on=item.id)
    return Decision(item, label, reason, {label: 1})
