"""Which article and charge fit best, and which term: nearest neighbours over what was looked up, and penalty bands."""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from courtroom.judging.facts import commonest, sums_in
from courtroom.judging.referred import CaseInformation, Referred
from courtroom.law.judgment import Judgment, Term
from courtroom.law.statute import Band, Charge, Statute

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
NEIGHBOUR = 1.0
"""Weight of precedents beside statutes and charges."""
NEAR = 0.3
"""Cosine below which a precedent is of another matter."""

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
    """Articles by number, best first: fused scores of statutes and of charges by their articles, and precedents' likeness."""
    scores: dict[int, float] = {}
    for of_kind in (
        _best((statute.number, score) for statute, score in _scored(found.statutes, found.statute_scores)),
        _best((_first_article(charge), score) for charge, score in _scored(found.charges, found.charge_scores)),
    ):
        for number, score in of_kind.items():
            scores[number] = scores.get(number, 0.0) + score
    scale = max(scores.values(), default=1.0)
    for number, share in _decided(found, lambda near: near.judgment.relevant_articles).items():
        scores[number] = scores.get(number, 0.0) + NEIGHBOUR * scale * share
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def charge_scores(found: CaseInformation, language: str) -> Mapping[str, float]:
    """Charges by name in the case's language, best first: their own score, their article's, and precedents' likeness."""
    articles = article_scores(found)
    scores: dict[str, float] = {}
    for charge, score in _scored(found.charges, found.charge_scores):
        scores[charge.called(language)] = articles.get(_first_article(charge), 0.0) + score
    for statute in found.statutes:
        for place, name in enumerate(statute.charges):
            scores.setdefault(name.in_language(language), articles.get(statute.number, 0.0) - 0.001 * (place + 1))
    scale = max(articles.values(), default=1.0)
    for called, share in _decided(found, lambda near: near.judgment.charges).items():
        scores[called] = scores.get(called, 0.0) + NEIGHBOUR * scale * share
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def _scored(items: Sequence[T], scores: Sequence[float]) -> list[tuple[T, float]]:
    """Items with their fused scores; by rank where none are known."""
    known = len(scores) == len(items) and any(scores)
    return list(zip(items, scores if known else [1 / (60 + rank) for rank in range(1, len(items) + 1)], strict=True))


def _best(pairs: Iterable[tuple[int, float]]) -> dict[int, float]:
    best: dict[int, float] = {}
    for number, score in pairs:
        best[number] = max(best.get(number, 0.0), score)
    return best


def _first_article(charge: Charge) -> int:
    return int(charge.articles[0].split("-")[0])


def _decided(found: CaseInformation, labels: Callable[[Referred], Iterable[K]]) -> dict[K, float]:
    """The likeness of the near precedents behind each label."""
    shares: dict[K, float] = {}
    for near in found.precedents:
        for label in labels(near) if near.similarity >= NEAR else ():
            shares[label] = shares.get(label, 0.0) + near.similarity
    return shares


def term_for(facts: str, statute: Statute | None, found: CaseInformation) -> Term:
    """A term within the band that the facts' gravity points to, drawn towards precedents under the same article."""
    band = _band(facts, statute)
    terms = [
        near.judgment.term_of_imprisonment.imprisonment
        for near in found.precedents
        if near.judgment.term_of_imprisonment and statute and statute.number in near.judgment.relevant_articles
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
    under = [_first_article(c) for c in found.charges if c.called(language) == charge]
    under += [s.number for s in found.statutes if charge in (name.in_language(language) for name in s.charges)]
    under += [
        number for n in found.precedents if charge in n.judgment.charges for number in n.judgment.relevant_articles[:1]
    ]
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
