"""What the memory has to say on a case: standards and directives (section 3.4, Eq. 7)."""

from __future__ import annotations

from courtroom.knowledge.jurisprudence import tags_of
from courtroom.knowledge.memory import Recall
from courtroom.law.judgment import Judgment
from courtroom.law.statute import Statute
from courtroom.procedures.verdict.learning import Hearing
from courtroom.procedures.verdict.tasks import Directed, Recalled

Memory = tuple[tuple[Recalled, ...], tuple[Directed, ...]]


async def recall(court: Hearing, points: tuple[str, ...], statutes: tuple[Statute, ...]) -> Memory:
    """S_std and S_dir: what the memory has to say (Eq. 7). The case's own standard is kept out of sight."""
    setup, case = court.setup, court.case
    if not setup.remembers:
        return (), ()
    charges = tuple(name.in_language(case.language) for statute in statutes for name in statute.charges)
    tags = tuple(sorted(tags_of(tuple(statute.number for statute in statutes), charges)))
    text = "\n".join((case.facts, *points))

    def query(collection: str, k: int) -> Recall:
        return Recall.model_validate(
            {
                "collection": collection,
                "text": text,
                "tags": tags,
                "k": k,
                "tau": setup.tau,
                "seeds": setup.seeds,
                "hops": setup.hops,
                "exclude": (f"standard-{case.id}",),
            }
        )

    standards = await court.retrieve("standards", query("standards", setup.precedents)) if setup.precedents else ()
    directives = (
        await court.retrieve("directives", query("directives", setup.directives))
        if setup.directs and setup.directives
        else ()
    )
    return (
        tuple(
            Recalled(
                facts=hit.record["facts"],
                reasoning=hit.record["reasoning"],
                verdict=Judgment.model_validate(hit.record["verdict"]),
                score=hit.parts.score if hit.parts else 0.0,
                similarity=hit.similarity,
            )
            for hit in standards
        ),
        tuple(
            Directed(
                id=hit.id,
                text=hit.record["text"],
                confidence=hit.record["confidence"],
                anchor=hit.record["anchor"],
                charges=tuple(hit.record["charges"]),
                score=hit.parts.score if hit.parts else 0.0,
                similarity=hit.similarity,
            )
            for hit in directives
        ),
    )
