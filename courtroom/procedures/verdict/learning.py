"""What the memory learns from a verified trajectory: archiving, then phases A, B and C (section 3.4.2)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from courtroom.cases.criminal import CriminalCase
from courtroom.engine.court import Court
from courtroom.knowledge.jurisprudence import Directive, Standard
from courtroom.knowledge.lessons import Adjust, Lesson, Put, Remove
from courtroom.knowledge.memory import Due
from courtroom.knowledge.recall import merged_confidence
from courtroom.knowledge.search import Hit
from courtroom.law.judgment import Judgment
from courtroom.procedures.verdict.setup import VerdictSetup
from courtroom.procedures.verdict.tasks import (
    Consolidate,
    Directed,
    Draft,
    FinalJudgment,
    Induce,
    Recalled,
    Refine,
    Turn,
)

Hearing = Court[CriminalCase, VerdictSetup]
U = TypeVar("U", Standard, Directive)


@dataclass(frozen=True)
class Trajectory:
    """How a judgment came about."""

    points: tuple[str, ...]
    draft: Draft
    turns: tuple[Turn, ...]
    passed: bool
    final: FinalJudgment
    directives: tuple[Directed, ...]

    @property
    def reasoning(self) -> str:
        """tau: the chain of drafts and feedback that ends in the last draft's basis."""
        steps = [text for turn in self.turns for text in (turn.draft.explanation, turn.feedback) if text]
        return "\n".join((*steps, self.draft.explanation))


async def learn(court: Hearing, trajectory: Trajectory) -> None:
    """Archive the trajectory, or buffer it; then each phase that is due."""
    case = court.unsealed
    assert case.gold is not None
    judgment, gold = trajectory.final.judgment(), case.gold.judgment()
    right = correct(judgment, gold)
    archived = right and trajectory.passed
    standard = Standard(
        id=f"standard-{case.id}",
        case=case.id,
        title=case.title,
        language=case.language,
        facts="\n".join(trajectory.points),
        reasoning=trajectory.reasoning,
        verdict=judgment,
        gold=gold,
    )
    why = (
        "Verified and right: a standard."
        if archived
        else f"{'Right, but not verified' if right else 'Not the real judgment'}: kept in the buffer."
    )
    put = Put(collection="standards" if archived else "buffer", record=standard.model_dump(mode="json"))
    await court.learn("archive", Lesson(phase="archive" if archived else "buffer", why=why, ops=(put,)))

    if court.setup.directs:
        await confidence(court, trajectory, judgment, success=archived)
        if archived:
            await induce(court, standard)
        await refine(court, standard)
        await merge(court)
        await prune(court)


def correct(judgment: Judgment, gold: Judgment) -> bool:
    """y = l_gt (Eq. 7): the same articles and the same charges. A term in months is seldom met to the month."""
    same_charges = {name.casefold() for name in judgment.charges} == {name.casefold() for name in gold.charges}
    return same_charges and set(judgment.relevant_articles) == set(gold.relevant_articles)


async def confidence(court: Hearing, trajectory: Trajectory, judgment: Judgment, *, success: bool) -> None:
    """Phase C, the lifespan: up for directives whose article stands in a success, down for those that misled.

    A directive misled where its article was in a draft that was rejected, or in a judgment that was wrong or
    not verified.
    """
    knobs = court.setup.learning
    rejected = {turn.draft.predicted_article for turn in trajectory.turns}
    ops = []
    for directive in trajectory.directives:
        stands = directive.anchor in judgment.relevant_articles
        if success and stands:
            ops.append(Adjust(id=directive.id, by=knobs.reward))
        elif directive.anchor in rejected or (stands and not success):
            ops.append(Adjust(id=directive.id, by=-knobs.decay))
    if ops:
        why = "The judgment was verified and right." if success else "The draft or the judgment did not stand."
        await court.learn("confidence", Lesson(phase="confidence", why=why, ops=tuple(ops)))


async def induce(court: Hearing, standard: Standard) -> None:
    """Phase A: B new standards of one label become a coarse directive."""
    knobs = court.setup.learning
    hits = await court.retrieve("due-induction", Due(phase="induction", of=standard.id, count=knobs.batch))
    if not hits:
        return
    batch = units(Standard, hits)
    anchor, charges = standard.gold.relevant_articles[0], standard.gold.charges
    task = Induce(
        language=standard.language,
        anchor=anchor,
        charges=charges,
        standards=tuple(recalled(one) for one in batch),
    )
    answer = await court.ask(court.member("meta"), task)
    directive = Directive(
        id=named(anchor, (one.id for one in batch)),
        text=answer.directive,
        language=standard.language,
        supporting=tuple(one.id for one in batch),
        anchor=anchor,
        charges=charges,
    )
    used = [one.model_copy(update={"induced": directive.id}) for one in batch]
    ops = [Put(collection="directives", record=directive.model_dump(mode="json"))]
    ops += [Put(collection="standards", record=one.model_dump(mode="json")) for one in used]
    why = f"{len(batch)} new standards with the same labels."
    await court.learn("induction", Lesson(phase="induction", why=why, ops=tuple(ops)))


async def refine(court: Hearing, standard: Standard) -> None:
    """Phase B: a pair with the same labels and diverging reasoning sharpens the directive."""
    knobs = court.setup.learning
    hits = await court.retrieve("due-refinement", Due(phase="refinement", of=standard.id, threshold=knobs.divergence))
    if not hits:
        return
    directive = Directive.model_validate(hits[0].record)
    one, other = units(Standard, hits[1:])
    positive, negative = (one, other) if correct(one.verdict, one.gold) else (other, one)
    task = Refine(
        language=directive.language,
        anchor=directive.anchor,
        directive=directive.text,
        positive=recalled(positive),
        negative=recalled(negative),
    )
    answer = await court.ask(court.member("meta"), task)
    refined = directive.model_copy(
        update={
            "text": answer.directive,
            "supporting": tuple(dict.fromkeys((*directive.supporting, positive.id))),
            "contrasting": tuple(dict.fromkeys((*directive.contrasting, negative.id))),
        }
    )
    put = Put(collection="directives", record=refined.model_dump(mode="json"))
    why = f"{positive.title or positive.case} against {negative.title or negative.case}: the same labels, other reasoning."
    await court.learn("refinement", Lesson(phase="refinement", why=why, ops=(put,)))


async def merge(court: Hearing) -> None:
    """Phase C, consolidation: near-duplicates in one, their confidences summed and clipped (Eq. 8)."""
    knobs = court.setup.learning
    hits = await court.retrieve("due-merge", Due(phase="merge", threshold=knobs.alike))
    if not hits:
        return
    cluster = units(Directive, hits)
    first = cluster[0]
    task = Consolidate(language=first.language, anchor=first.anchor, directives=tuple(one.text for one in cluster))
    answer = await court.ask(court.member("meta"), task)
    merged = Directive(
        id=named(first.anchor, (one.id for one in cluster)),
        text=answer.directive,
        language=first.language,
        confidence=merged_confidence((one.confidence for one in cluster), knobs.most),
        supporting=tuple(dict.fromkeys(name for one in cluster for name in one.supporting)),
        contrasting=tuple(dict.fromkeys(name for one in cluster for name in one.contrasting)),
        anchor=first.anchor,
        charges=first.charges,
    )
    gone = tuple(Remove(collection="directives", id=one.id) for one in cluster)
    put = Put(collection="directives", record=merged.model_dump(mode="json"))
    await court.learn("merge", Lesson(phase="merge", why=f"{len(cluster)} directives said the same.", ops=(*gone, put)))


async def prune(court: Hearing) -> None:
    """Phase C, elimination: directives below the threshold go."""
    threshold = court.setup.learning.prune
    hits = await court.retrieve("due-pruning", Due(phase="pruning", threshold=threshold))
    if hits:
        gone = tuple(Remove(collection="directives", id=hit.id) for hit in hits)
        await court.learn("pruning", Lesson(phase="pruning", why=f"Confidence below {threshold}.", ops=gone))


def units(kind: type[U], hits: Iterable[Hit]) -> list[U]:
    """What was looked up, as units of the memory."""
    return [kind.model_validate(hit.record) for hit in hits]


def recalled(standard: Standard) -> Recalled:
    """A standard as the meta-model is shown it."""
    return Recalled(facts=standard.facts, reasoning=standard.reasoning, verdict=standard.verdict, score=1.0)


def named(anchor: int, sources: Iterable[str]) -> str:
    """An id that the same sources always give."""
    return f"directive-{anchor}-{hashlib.sha256('/'.join(sources).encode()).hexdigest()[:8]}"
