"""What was looked up for a criminal case, as members are given it: statutes, charges, referred precedents."""

from collections.abc import Iterable

from courtroom.cases.criminal import CriminalCase
from courtroom.knowledge.search import Hit
from courtroom.law.judgment import Decided, Judgment, same_matter
from courtroom.law.statute import Charge, Statute
from courtroom.strict import Strict

Labels = dict[str, list[int] | list[str]]
"""Articles and charges under the names that a judgment has for them."""


class Referred(Strict):
    """A referred precedent: its facts and what is known to have been decided."""

    id: str
    facts: str
    judgment: Decided
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


def candidates(judgment: Judgment, statutes: Iterable[Statute], language: str, drafted: Iterable[int] = ()) -> Labels:
    """What was judged, then what else came into question, best first: drafted articles, then those that were found.

    The charges are those of the judgment, then those of these articles.
    """
    found = list(statutes)
    articles = list(dict.fromkeys((*judgment.relevant_articles, *drafted, *(one.number for one in found))))
    of = sorted(found, key=lambda statute: articles.index(statute.number))
    named = (charge.in_language(language) for statute in of for charge in statute.charges)
    return {"relevant_articles": articles, "charges": list(dict.fromkeys((*judgment.charges, *named)))}


def precedents_of(hits: Iterable[Hit], case: CriminalCase, k: int) -> tuple[Referred, ...]:
    """The k best precedents of which a judgment is known; the case itself, should it be among them, is left out."""
    found = []
    for hit in hits:
        precedent = CriminalCase.model_validate(hit.record)
        decided = precedent.gold.decided() if precedent.gold else Decided()
        if decided != Decided() and precedent.id != case.id and not same_matter(precedent.facts, case.facts):
            found.append(Referred(id=precedent.id, facts=precedent.facts, judgment=decided, similarity=hit.similarity))
    return tuple(found[:k])
