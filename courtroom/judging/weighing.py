"""Which article and charge fit best, and which term: nearest neighbours over what was looked up, and penalty bands."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from courtroom.judging.commonest import commonest
from courtroom.judging.facts import sums_in
from courtroom.judging.referred import CaseInformation
from courtroom.judgment import Judgment, Term
from courtroom.knowledge.fusion import fuse
from courtroom.statute import Band, Statute

NEIGHBOUR = 1.0
"""Weight of precedents beside the ranks of statutes and charges."""

_GRAVE = re.compile(
    r"死亡|致死|重伤|持枪|轮奸|特别巨大|特别严重|致残|killed|death of|died|serious injury|especially (large|huge|serious)|gunpoint"
)
_HEAVY = re.compile(
    r"巨大|严重|多次|持刀|入户|流窜|逃逸|累犯|主犯|团伙|首要|huge|serious|repeatedly|with a knife|broke into|fled|ringleader|previous conviction"
)
_LIGHT = re.compile(
    r"自首|坦白|如实供述|认罪|谅解|赔偿|未遂|从犯|退赃|退赔|轻微|初犯|surrendered|confess|compensat|forgave|attempt|accessory|returned|minor"
)


def article_scores(found: CaseInformation) -> Mapping[int, float]:
    """Articles by number, best first: ranks of statutes, of charges by their articles, and precedents' likeness."""
    by_statute = list(dict.fromkeys(str(statute.number) for statute in found.statutes))
    by_charge = list(dict.fromkeys(charge.articles[0].split("-")[0] for charge in found.charges))
    scores = {int(number): score for number, score in fuse(by_statute, by_charge).items()}
    scale = max(scores.values(), default=1.0)
    total = sum(max(0.0, near.similarity) for near in found.precedents) or 1.0
    for near in found.precedents:
        for number in near.judgment.relevant_articles:
            vote = NEIGHBOUR * scale * max(0.0, near.similarity) / total
            scores[number] = scores.get(number, 0.0) + vote
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def charge_scores(found: CaseInformation, language: str) -> Mapping[str, float]:
    """Charges by name in the case's language, best first: their own rank, their article's score, precedents."""
    articles = article_scores(found)
    scores: dict[str, float] = {}
    for rank, charge in enumerate(found.charges, start=1):
        article = articles.get(int(charge.articles[0].split("-")[0]), 0.0)
        scores[charge.called(language)] = article + 0.5 / (60 + rank)
    for statute in found.statutes:
        for place, name in enumerate(statute.charges):
            called = name.in_language(language)
            scores.setdefault(called, articles.get(statute.number, 0.0) - 0.001 * (place + 1))
    total = sum(max(0.0, near.similarity) for near in found.precedents) or 1.0
    scale = max(articles.values(), default=1.0)
    for near in found.precedents:
        for called in near.judgment.charges:
            scores[called] = scores.get(called, 0.0) + 0.5 * scale * max(0.0, near.similarity) / total
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def term_for(facts: str, statute: Statute | None, found: CaseInformation) -> Term:
    """A term within the band that the facts' gravity points to, drawn towards precedents under the same article."""
    band = _band(facts, statute)
    terms = [
        near.judgment.term_of_imprisonment.imprisonment
        for near in found.precedents
        if statute is not None and statute.number in near.judgment.relevant_articles
    ]
    terms = [months for months in terms if months]
    usual = math.exp(sum(map(math.log, terms)) / len(terms)) if terms else None
    if band is None:
        return Term(imprisonment=round(usual or 12))
    if band.life and band.most == 0:
        return Term(life_imprisonment=True)
    within = band.least + 0.35 * (band.most - band.least)
    months = within if usual is None or not band.least <= usual <= band.most else (within + usual) / 2
    light = len(set(_LIGHT.findall(facts)))
    months *= 1 - min(0.4, 0.1 * light)
    return Term(imprisonment=max(1, round(months)) if band.most else 0)


def mitigating(text: str) -> list[str]:
    """Words in a text that speak for a lighter penalty, in order."""
    return list(dict.fromkeys(match.group() for match in _LIGHT.finditer(text)))


def reduced(term: Term, facts: str, statute: Statute | None) -> Term:
    """A term lowered by a tenth for mitigating circumstances, not below its band."""
    if not term.imprisonment or not mitigating(facts):
        return term
    band = _band(facts, statute)
    return Term(imprisonment=max(band.least if band else 0, round(term.imprisonment * 0.9), 1))


def judged(facts: str, language: str, found: CaseInformation) -> Judgment:
    """The best charge with its article, and a term; where nothing was looked up, by a few words of the commonest crimes."""
    charges, articles = charge_scores(found, language), article_scores(found)
    if not charges or not articles:
        number, charge = commonest(facts, language)
        return Judgment(
            relevant_articles=(number,), charges=(charge,), term_of_imprisonment=term_for(facts, None, found)
        )
    charge = next(iter(charges))
    under = [int(c.articles[0].split("-")[0]) for c in found.charges if c.called(language) == charge]
    under += [s.number for s in found.statutes if charge in (name.in_language(language) for name in s.charges)]
    under += [n.judgment.relevant_articles[0] for n in found.precedents if charge in n.judgment.charges]
    number = under[0] if under else next(iter(articles))
    statute = next((s for s in found.statutes if s.number == number), None)
    return Judgment(
        relevant_articles=(number,), charges=(charge,), term_of_imprisonment=term_for(facts, statute, found)
    )


def _band(facts: str, statute: Statute | None) -> Band | None:
    if statute is None or not statute.bands:
        return None
    gravity = 2 * bool(_GRAVE.search(facts)) + (len(set(_HEAVY.findall(facts))) >= 2)
    gravity += max(sums_in(facts), default=0.0) >= 500_000
    return statute.bands[min(gravity, len(statute.bands) - 1) if gravity > 1 else 0]
