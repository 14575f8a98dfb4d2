"""What was looked up for a criminal case, as members are given it: statutes, charges, referred precedents."""

from __future__ import annotations

from collections.abc import Iterable

from courtroom.cases.criminal import CriminalCase
from courtroom.knowledge.search import Hit
from courtroom.law.charge import Charge
from courtroom.law.judgment import Judgment
from courtroom.law.statute import Statute
from courtroom.strict import Strict


class Referred(Strict):
    """A referred precedent: its facts and what was decided."""

    id: str
    facts: str
    judgment: Judgment
    similarity: float = 0.0


class CaseInformation(Strict):
    """The assistant's case information document (JurisAgents, stage II); each list best first."""

    statutes: tuple[Statute, ...] = ()
    charges: tuple[Charge, ...] = ()
    precedents: tuple[Referred, ...] = ()
    statute_scores: tuple[float, ...] = ()
    charge_scores: tuple[float, ...] = ()
    """Fused scores in the same order; members that are language models see the order alone."""


def statutes_of(hits: Iterable[Hit]) -> tuple[Statute, ...]:
    """The statutes that were found."""
    return tuple(Statute.model_validate(hit.record) for hit in hits)


def charges_of(hits: Iterable[Hit]) -> tuple[Charge, ...]:
    """The charges that were found."""
    return tuple(Charge.model_validate(hit.record) for hit in hits)


def scores_of(hits: Iterable[Hit]) -> tuple[float, ...]:
    """Fused scores of what was found, 0 where they were not recorded."""
    return tuple((hit.scores.fused or 0.0) if hit.scores else 0.0 for hit in hits)


def precedents_of(hits: Iterable[Hit], case: CriminalCase, k: int) -> tuple[Referred, ...]:
    """The k best precedents whose judgment is known; the case itself, should it be among them, is left out."""
    found = []
    for hit in hits:
        precedent = CriminalCase.model_validate(hit.record)
        if precedent.gold is not None and precedent.facts != case.facts and precedent.id != case.id:
            found.append(
                Referred(
                    id=precedent.id,
                    facts=precedent.facts,
                    judgment=precedent.gold.judgment(),
                    similarity=hit.similarity,
                )
            )
    return tuple(found[:k])
