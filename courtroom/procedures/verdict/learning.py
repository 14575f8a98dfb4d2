"""What the memory recalls for a case (section 3.4.1, appendix D), and what it learns of a verified trajectory: archiving, then phases A, B and C (3.4.2)."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from courtroom import Court, Hit
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.knowledge.lessons import Adjust, Frozen, Lesson, Put, Remove, Snapshot
from courtroom.knowledge.memory import Directive, Due, Recall, Standard, merged_confidence, tags_of
from courtroom.law import Statute
from courtroom.procedures.verdict import tasks
from courtroom.procedures.verdict.setup import VerdictSetup

EMPTY = "The memory holds nothing: no member is shown a standard or a directive. Training runs of cases with a known judgment fill it."
Hearing = Court[CriminalCase, VerdictSetup]


@dataclass(frozen=True)
class Recollection:
    """S_std and S_dir, each best first."""

    standards: tuple[Hit, ...] = ()
    directives: tuple[Hit, ...] = ()

    def shown(self) -> dict[str, Any]:
        """As inputs of the tasks whose role is given the memory."""
        kept = ({name: hit.record[name] for name in tasks.Directed.model_fields} for hit in self.directives)
        return {
            "precedents": tuple(shown(Standard.model_validate(hit.record)) for hit in self.standards),
            "directives": tuple(map(tasks.Directed.model_validate, kept)),
            "precedent_similarity": tuple(hit.similarity for hit in self.standards),
            "directive_similarity": tuple(hit.similarity for hit in self.directives),
        }


async def recall(court: Hearing, statutes: tuple[Statute, ...]) -> Recollection:
    """S_std and S_dir from the memory that the run sees; nothing that was learned from the case itself is among them."""
    setup, case = court.setup, court.case
    if not setup.remembers:
        return Recollection()
    (frozen,) = await court.retrieve("memory", Frozen(name=setup.memory))
    taken = Snapshot.model_validate(frozen.record)
    if not (taken.standards or taken.directives):
        court.note("empty-memory", EMPTY)
    charges = tuple(name.in_language(case.language) for statute in statutes for name in statute.charges)
    wanted = {
        "text": case.facts,
        "tags": tuple(sorted(tags_of(tuple(statute.number for statute in statutes), charges))),
        **{name: getattr(setup, name) for name in ("tau", "seeds", "hops", "weights", "topo")},
        "exclude": (standard_of(case),),
        "exclude_facts": case.facts,
        "at": taken.at,
    }

    async def best(collection: str, k: int) -> tuple[Hit, ...]:
        query = {**wanted, "collection": collection, "k": k}
        return await court.retrieve(collection, Recall.model_validate(query)) if k else ()

    standards = await best("standards", setup.precedents)
    return Recollection(standards, await best("directives", setup.directives if setup.directs else 0))


def standard_of(case: CriminalCase) -> str:
    return f"standard-{case.id}"


def shown(standard: Standard) -> tasks.Recalled:
    """A standard as members and the meta-model are shown it."""
    return tasks.Recalled(facts=standard.facts, reasoning=standard.reasoning, verdict=standard.verdict)


U = TypeVar("U", Standard, Directive)


@dataclass(frozen=True)
class Trajectory:
    """How a judgment came about."""

    turns: tuple[tasks.Turn, ...]
    final: tasks.FinalJudgment
    directives: tuple[Hit, ...]
    """The micro-directives that were in view."""

    @property
    def verified(self) -> bool:
        """Whether the supervisor passed the draft that the final judgment follows."""
        last = self.turns[-1]
        return last.passed and last.draft.predicted_article in self.final.relevant_articles

    @property
    def rejected(self) -> set[int]:
        return {turn.draft.predicted_article for turn in self.turns if not turn.passed}

    @property
    def reasoning(self) -> str:
        """tau: the basis of the last draft, which the supervisor passed if any, then the thought of the final judgment."""
        return f"{self.turns[-1].draft.explanation}\n{self.final.thought}"


def known(gold: Gold | None) -> bool:
    """Whether it can be said that a judgment is right: the real articles and charges are known."""
    return gold is not None and bool(gold.relevant_articles) and bool(gold.charges)


async def learn(court: Hearing, trajectory: Trajectory) -> None:
    """Archive the trajectory, or buffer it; then each phase that is due."""
    case = court.unsealed
    assert case.gold is not None
    gold, verdict = case.gold.decided(), trajectory.final.judgment()
    if gold.term_of_imprisonment and not court.setup.learning.terms:
        verdict = verdict.model_copy(update={"term_of_imprisonment": gold.term_of_imprisonment})
    taken = {name: getattr(case, name) for name in ("title", "language", "facts")}
    taken |= {"id": standard_of(case), "case": case.id, "reasoning": trajectory.reasoning}
    standard = Standard(**taken, verdict=verdict, gold=gold)
    archived = standard.correct and trajectory.verified
    why = f"{'Right, but not verified' if standard.correct else 'Not the real judgment'}: kept in the buffer."
    why = "Verified and right: a standard." if archived else why
    put = Put(collection="standards" if archived else "buffer", record=standard.model_dump(mode="json"))
    await court.learn("archive", Lesson(phase="archive" if archived else "buffer", why=why, ops=(put,)))

    if court.setup.directs:
        await confidence(court, trajectory, standard, archived=archived)
        if archived:
            await induce(court, standard)
        await refine(court, standard)
        await merge(court)
        await prune(court)


async def confidence(court: Hearing, trajectory: Trajectory, standard: Standard, *, archived: bool) -> None:
    """Phase C, the lifespan: up with a successful verification, down with a rejection.

    Up goes a directive whose article stands in a judgment that was verified and right. Down goes one whose article was in
    a rejected draft or in a wrong judgment, and is not among the real ones: a directive that points to the real article
    loses nothing by a rejection that was a mistake.
    """
    knobs = court.setup.learning
    judged, real = set(standard.verdict.relevant_articles), set(standard.gold.relevant_articles)
    misleading = (trajectory.rejected | judged) - real
    ops = []
    for hit in trajectory.directives:
        anchor = Directive.model_validate(hit.record).anchor
        if archived and anchor in judged:
            ops.append(Adjust(id=hit.id, by=knobs.reward, most=knobs.most))
        elif anchor in misleading:
            ops.append(Adjust(id=hit.id, by=-knobs.decay, most=knobs.most))
    if ops:
        why = "The judgment was verified and right." if archived else "A draft or the judgment was wrong."
        await court.learn("confidence", Lesson(phase="confidence", why=why, ops=tuple(ops)))


async def induce(court: Hearing, standard: Standard) -> None:
    """Phase A: B new standards of one label become a coarse directive."""
    knobs = court.setup.learning
    if not (hits := await court.retrieve("due-induction", Due(phase="induction", of=standard.id, count=knobs.batch))):
        return
    batch = units(Standard, hits)
    anchor, sources = shared_anchor(batch), tuple(one.id for one in batch)
    label: dict[str, Any] = {"language": standard.language, "anchor": anchor, "charges": standard.gold.charges}
    task = tasks.Induce(**label, standards=tuple(map(shown, batch)))
    text, name = (await court.ask(court.member("meta"), task)).directive, named(anchor, sources)
    directive = Directive(**label, id=name, text=text, confidence=knobs.start, supporting=sources)
    used = [one.model_copy(update={"induced": directive.id}) for one in batch]
    ops = [Put(collection="directives", record=directive.model_dump(mode="json"))]
    ops += [Put(collection="standards", record=one.model_dump(mode="json")) for one in used]
    why = f"{len(batch)} new standards with the same labels."
    await court.learn("induction", Lesson(phase="induction", why=why, ops=tuple(ops)))


def shared_anchor(batch: Sequence[Standard]) -> int:
    """The article that the standards share; of several, the one that most of them name first, as the weightiest."""
    shared = set.intersection(*(set(one.gold.relevant_articles) for one in batch))
    first = Counter(
        next(number for number in (*one.verdict.relevant_articles, *one.gold.relevant_articles) if number in shared)
        for one in batch
    )
    return min(first, key=lambda number: (-first[number], number))


async def refine(court: Hearing, standard: Standard) -> None:
    """Phase B: a correct and an incorrect trajectory of one label make the directive more precise."""
    knobs = court.setup.learning
    hits = await court.retrieve("due-refinement", Due(phase="refinement", of=standard.id, threshold=knobs.divergence))
    if not hits:
        return
    directive = Directive.model_validate(hits[0].record)
    right, wrong = units(Standard, hits[1:])
    label = directive.model_dump(include={"language", "anchor", "charges"})
    task = tasks.RefineDirective(**label, directive=directive.text, positive=shown(right), negative=shown(wrong))
    text = (await court.ask(court.member("meta"), task)).directive
    supporting = tuple(dict.fromkeys((*directive.supporting, right.id)))
    contrasting = tuple(dict.fromkeys((*directive.contrasting, wrong.id)))
    refined = directive.model_copy(update={"text": text, "supporting": supporting, "contrasting": contrasting})
    put = Put(collection="directives", record=refined.model_dump(mode="json"))
    why = f"{right.title or right.case} was judged right, {wrong.title or wrong.case} wrong, with the same real labels."
    await court.learn("refinement", Lesson(phase="refinement", why=why, ops=(put,)))


async def merge(court: Hearing) -> None:
    """Phase C, consolidation: near-duplicates in one, their confidences summed and clipped (Eq. 8)."""
    knobs = court.setup.learning
    if not (hits := await court.retrieve("due-merge", Due(phase="merge", threshold=knobs.alike))):
        return
    cluster = units(Directive, hits)
    first, texts = cluster[0], tuple(one.text for one in cluster)
    task = tasks.Consolidate(language=first.language, anchor=first.anchor, charges=first.charges, directives=texts)
    made: dict[str, Any] = {
        "id": named(first.anchor, (one.id for one in cluster)),
        "text": (await court.ask(court.member("meta"), task)).directive,
        "confidence": merged_confidence((one.confidence for one in cluster), knobs.most),
        "supporting": tuple(dict.fromkeys(name for one in cluster for name in one.supporting)),
        "contrasting": tuple(dict.fromkeys(name for one in cluster for name in one.contrasting)),
    }
    merged = first.model_copy(update=made)
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
    return [kind.model_validate(hit.record) for hit in hits]


def named(anchor: int, sources: Iterable[str]) -> str:
    """An id that the same sources always give."""
    return f"directive-{anchor}-{hashlib.sha256('/'.join(sources).encode()).hexdigest()[:8]}"
