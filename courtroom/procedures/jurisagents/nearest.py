"""The nearest precedents decide, and no model is asked: a baseline (Cover and Hart, 1967, doi:10.1109/TIT.1967.1053964)."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median_low

from courtroom.engine.events import Verdict
from courtroom.errors import CourtroomError
from courtroom.judging.referred import Referred
from courtroom.law.judgment import Judgment, Term
from courtroom.procedures.jurisagents.trial import Hearing, Trial, each, look_up_precedents, material, settled, trials
from courtroom.procedures.jurisagents.verdict import verdict


async def by_precedents(court: Hearing) -> Verdict:
    """What was decided in the precedents nearest to the facts, for every defendant alike.

    Raises:
        CourtroomError: the case is a question; no precedent answers one.
        QuorumLost: there is no precedent.
    """
    if court.case.asked != "judgment":
        raise CourtroomError("Precedents answer no question. Choose cases in which a judgment is asked for.")
    everyone = trials(court)
    await court.stage("Retrieval", "retrieval")
    found = await look_up_precedents(court, court.case.facts) if court.setup.precedents else ()
    court.needs(len(found), max(1, court.setup.precedents), "precedents could be found")
    await court.stage("Decision", "decision")
    judgment = prevailing(found)

    async def decided(trial: Trial) -> None:
        trial.first = settled(judgment, material(court, trial).given)

    judged = await each(court, everyone, decided)
    return verdict(judged, everyone, f"By the {len(found)} nearest precedents; no model was asked.")


def prevailing(found: Sequence[Referred]) -> Judgment:
    """The charges that most of the precedents have, by their likeness, with articles and term of those that have them.

    The articles are those of the nearest of these, the term is their median, the lower one of two. With one precedent, its judgment.
    """
    likeness: dict[frozenset[str], float] = {}
    for one in found:
        charges = frozenset(one.judgment.charges)
        likeness[charges] = likeness.get(charges, 0.0) + max(0.0, one.similarity)
    most = max(likeness, key=lambda charges: likeness[charges])  # of equal ones, those of the nearest precedent
    alike = [one.judgment for one in found if frozenset(one.judgment.charges) == most]
    articles = next((one.relevant_articles for one in alike if one.relevant_articles), ())
    terms = [term for one in alike if (term := one.term_of_imprisonment) is not None]
    capital = [term for term in terms if term.death_penalty or term.life_imprisonment]
    term = capital[0] if 2 * len(capital) > len(terms) else None
    months = [term.imprisonment for term in terms if term not in capital]
    return Judgment(
        charges=alike[0].charges,
        relevant_articles=articles,
        term_of_imprisonment=term or Term(imprisonment=median_low(months) if months else 0),
    )
