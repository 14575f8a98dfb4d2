"""What the memory has to say on a case: standards and directives (section 3.4.1, appendix D)."""

from dataclasses import dataclass
from typing import Any

from courtroom.cases.criminal import CriminalCase
from courtroom.engine.court import Court
from courtroom.knowledge.memory import Directive, Recall, Standard, tags_of
from courtroom.knowledge.search import Hit
from courtroom.knowledge.snapshots import Frozen, Snapshot
from courtroom.law.statute import Statute
from courtroom.procedures.verdict.setup import VerdictSetup
from courtroom.procedures.verdict.tasks import Directed, Recalled

Hearing = Court[CriminalCase, VerdictSetup]


@dataclass(frozen=True)
class Recollection:
    """S_std and S_dir, each best first."""

    standards: tuple[Hit, ...] = ()
    directives: tuple[Hit, ...] = ()

    def shown(self) -> dict[str, Any]:
        """As inputs of the tasks whose role is given the memory."""
        return {
            "precedents": tuple(shown(Standard.model_validate(hit.record)) for hit in self.standards),
            "directives": tuple(_directed(Directive.model_validate(hit.record)) for hit in self.directives),
            "precedent_similarity": tuple(hit.similarity for hit in self.standards),
            "directive_similarity": tuple(hit.similarity for hit in self.directives),
        }


async def recall(court: Hearing, statutes: tuple[Statute, ...]) -> Recollection:
    """S_std and S_dir from the memory that the run sees; nothing that was learned from the case itself is among them."""
    setup = court.setup
    if not setup.remembers:
        return Recollection()
    (frozen,) = await court.retrieve("memory", Frozen(name=setup.memory))
    at = Snapshot.model_validate(frozen.record).at

    async def best(collection: str, k: int) -> tuple[Hit, ...]:
        return await court.retrieve(collection, _query(court, statutes, collection, k, at)) if k else ()

    standards = await best("standards", setup.precedents)
    directives = await best("directives", setup.directives) if setup.directs else ()
    return Recollection(standards, directives)


def _query(court: Hearing, statutes: tuple[Statute, ...], collection: str, k: int, at: int) -> Recall:
    setup, case = court.setup, court.case
    charges = tuple(name.in_language(case.language) for statute in statutes for name in statute.charges)
    return Recall.model_validate(
        {
            "collection": collection,
            "text": case.facts,
            "tags": tuple(sorted(tags_of(tuple(statute.number for statute in statutes), charges))),
            "k": k,
            "tau": setup.tau,
            "seeds": setup.seeds,
            "hops": setup.hops,
            "weights": setup.weights,
            "topo": setup.topo,
            "exclude": (standard_of(case),),
            "exclude_facts": case.facts,
            "at": at,
        }
    )


def standard_of(case: CriminalCase) -> str:
    return f"standard-{case.id}"


def shown(standard: Standard) -> Recalled:
    """A standard as members and the meta-model are shown it."""
    return Recalled(facts=standard.facts, reasoning=standard.reasoning, verdict=standard.verdict)


def _directed(directive: Directive) -> Directed:
    return Directed(
        text=directive.text, confidence=directive.confidence, anchor=directive.anchor, charges=directive.charges
    )
