"""What criminal benches share: judgments as models give them, what was looked up, and how the offline model reads facts and weighs charge and term."""

import math
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache, partial
from itertools import islice
from statistics import fmean
from typing import Annotated, Any, TypeVar

from annotated_types import MinLen
from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, WithJsonSchema, create_model, model_validator
from pydantic.fields import FieldInfo
from pydantic.json_schema import SkipJsonSchema

from courtroom import law
from courtroom.cases.criminal import CriminalCase
from courtroom.knowledge.search import Hit
from courtroom.law import Charge, Decided, Further, Judgment, Statute, Term
from courtroom.media.medium import Medium
from courtroom.models.task import Answer, Label, Longest, filled
from courtroom.settings import DATA
from courtroom.strict import Strict
from courtroom.text.words import sentences


class OfFacts(BaseModel):
    """For tasks whose role reads the facts: key frames come along."""

    case: CriminalCase

    def media(self) -> tuple[Medium, ...]:
        return self.case.frames


def _term(death: bool, life: bool, months: dict[str, Any]) -> dict[str, Any]:
    parts = {"death_penalty": {"enum": [death]}, "life_imprisonment": {"enum": [life]}, "imprisonment": months}
    return {"type": "object", "properties": parts}


_MONTHS = {"type": "integer", "minimum": 0, "maximum": law.LONGEST}
_NONE = {"enum": [0]}
OneTerm = Annotated[
    Term,
    WithJsonSchema({"anyOf": [_term(False, False, _MONTHS), _term(False, True, _NONE), _term(True, False, _NONE)]}),
]
"""A term whose schema says that only one of the three can be set."""
MOST_ASKED = 6
"""Articles or charges. A judgment of one defendant seldom has more; one that has is read all the same."""
MOST_READ = 50
"""More are a slip of a model that runs in circles."""
_BETWEEN_ARTICLES = re.compile(r"[;；、]|[,，](?=\s*(?:and|第|[Aa]rt|\d))|\band\b|和|及")


def _several(value: Any, between: re.Pattern[str]) -> list[Any]:
    """Return articles or charges one by one, also where several stand in one text."""
    items = value if isinstance(value, list | tuple) else [value]
    pieces = (between.split(item) if isinstance(item, str) else [item] for item in items)
    return [piece for of_item in pieces for piece in of_item if not isinstance(piece, str) or piece.strip()]


Articles = Annotated[
    tuple[law.ArticleNumber, ...],
    filled(
        "Which articles of the Criminal Law, by number (133 for 133-1 too), the weightiest first? Those that define the crime "
        "come before those on the penalty.",
        max_length=MOST_READ,
    ),
    BeforeValidator(partial(_several, between=_BETWEEN_ARTICLES)),
    Longest(MOST_ASKED),
]
Charges = Annotated[
    tuple[Label, ...],
    filled("Which charges, by name without the word for crime, the weightiest first?", max_length=MOST_READ),
    BeforeValidator(partial(_several, between=re.compile("[;；]"))),
    Longest(MOST_ASKED),
]
TERM = (
    "Which penalty? `imprisonment` in months (3.5 years are 42); 0 with a life sentence or a death sentence, of which a "
    "suspended one counts as death."
)
FURTHER: Any = Field(default=None, exclude_if=lambda further: further is None)


class JudgmentAnswer(Answer):
    """Articles, charges and term (JurisAgents, table 8)."""

    relevant_articles: Articles
    charge: Charges = Field(validation_alias=AliasChoices("charge", "charges", "accusation"))
    term_of_imprisonment: OneTerm = Field(description=TERM)
    further: SkipJsonSchema[Further | None] = FURTHER

    def judgment(self) -> Judgment:
        """As a judgment, names and numbers made uniform."""
        return Judgment(
            relevant_articles=self.relevant_articles,
            charges=self.charge,
            term_of_imprisonment=self.term_of_imprisonment,
            further=self.further,
        )


@lru_cache(maxsize=16)
def fuller(answer: type[BaseModel], charges: str) -> type[Any]:
    """Return an answer of the same name that says of a judgment what lies beside the term, and may acquit. `charges`:
    the name of the field with the charges."""

    def complete(given: Any) -> Any:
        if not given.further.acquitted and not (given.relevant_articles and getattr(given, charges)):
            raise ValueError(
                f"name `relevant_articles` and `{charges}`, or say in `further` that the defendant is acquitted"
            )
        return given

    fields: dict[str, Any] = {"further": (Further, Field(default_factory=Further, description="What else is decided?"))}
    for name in ("relevant_articles", charges):
        field = FieldInfo.merge_field_infos(answer.model_fields[name], default=())
        field.metadata = [limit for limit in field.metadata if not isinstance(limit, MinLen)]
        fields[name] = (field.annotation, field)
    whole: Any = {"complete": model_validator(mode="after")(complete)}
    return create_model(answer.__name__, __base__=answer, __doc__=answer.__doc__, __validators__=whole, **fields)


def judgment_of(value: Mapping[str, Any]) -> Judgment:
    """Return the judgment that a recorded answer gives, in whatever form it was asked for."""
    return fuller(JudgmentAnswer, "charge").model_validate(value).judgment()  # type: ignore[no-any-return]


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

    def statute(self, *numbers: int) -> Statute | None:
        """Return the first of these articles that was looked up."""
        return next((one for number in numbers for one in self.statutes if one.number == number), None)


def informed(hits: Mapping[str, Iterable[Hit]], precedents: tuple[Referred, ...]) -> CaseInformation:
    """What was found, by its collection, with fused scores: 0 where they were not recorded."""
    fields: dict[str, Any] = {"precedents": precedents}
    for kind, found in ((kind, [*found]) for kind, found in hits.items()):
        fields[kind] = tuple(hit.record for hit in found)
        fields[f"{kind[:-1]}_scores"] = tuple((hit.scores.fused or 0.0) if hit.scores else 0.0 for hit in found)
    return CaseInformation.model_validate(fields)


def candidates(
    judgment: Judgment, statutes: Iterable[Statute], language: str, drafted: Iterable[int] = ()
) -> dict[str, list[Any]]:
    """What was judged, then what else came into question, best first: drafted articles, then those that were found.

    The charges are those of the judgment, then those of these articles.
    """
    found = list(statutes)
    articles = list(dict.fromkeys((*judgment.relevant_articles, *drafted, *(one.number for one in found))))
    of = sorted(found, key=lambda statute: articles.index(statute.number))
    named = (charge.in_language(language) for statute in of for charge in statute.charges)
    charges: dict[str, str] = {}
    for name in (*judgment.charges, *named):
        charges.setdefault(law.charge_in_book(name), name)
    return {"relevant_articles": articles, "charges": list(charges.values())}


def precedents_of(hits: Iterable[Hit], case: CriminalCase, k: int) -> tuple[Referred, ...]:
    """The k best precedents of which a judgment is known; the case itself, should it be among them, is left out. Of a precedent and
    its translation stands the one in the case's language."""
    found: dict[str, Referred] = {}
    for hit in hits:
        precedent = CriminalCase.model_validate(hit.record)
        decided = precedent.gold.decided() if precedent.gold else Decided()
        name = precedent.translates or precedent.id
        if decided == Decided() or case.id in (precedent.id, name) or law.same_matter(precedent.facts, case.facts):
            continue
        if name not in found or precedent.language == case.language:
            found[name] = Referred(id=precedent.id, facts=precedent.facts, judgment=decided, similarity=hit.similarity)
    return tuple(islice(found.values(), k))


_WORDS = tomllib.loads((DATA / "crime_words.toml").read_text(encoding="utf-8"))
FACT_WORDS = {name: re.compile(pattern) for name, pattern in _WORDS["facts"].items()}
_MONEY = re.compile(
    r"(?:人民币|RMB|CNY|¥|￥)?\s*(\d[\d,，]*(?:\.\d+)?)\s*(余)?(万|千|百)?(?:余|多)?\s*(元|yuan|CNY|RMB)"
)
_SCALES = {"万": 10_000, "千": 1_000, "百": 100}


def acts_in(facts: str) -> tuple[str, ...]:
    """The sentences that state what was done; lists of evidence and words of procedure are left out."""
    lines = tuple(sentence for sentence in sentences(facts) if not FACT_WORDS["procedure"].search(sentence))
    return lines or sentences(facts)


def sums_in(text: str) -> tuple[float, ...]:
    """Sums of money in yuan, in the order in which they come; `2.6万元` is 26,000."""
    return tuple(
        float(number.replace(",", "").replace("，", "")) * _SCALES.get(scale, 1)
        for number, _, scale, _ in _MONEY.findall(text)
    )


_GRAVE, _HEAVY, _LIGHT = (re.compile(pattern) for pattern in _WORDS["gravity"].values())
K = TypeVar("K", int, str)
NEAR = 0.3
"""Cosine below which a precedent is of another matter."""


def article_scores(found: CaseInformation) -> Mapping[int, float]:
    """Articles by number, best first: fused scores of statutes and of charges by their articles, and precedents' likeness."""
    best, of_charges = defaultdict[int, float](float), defaultdict[int, float](float)
    for statute, score in _scored(found.statutes, found.statute_scores):
        best[statute.number] = max(best[statute.number], score)
    for charge, score in _scored(found.charges, found.charge_scores):
        of_charges[_first_article(charge)] = max(of_charges[_first_article(charge)], score)
    for number, score in of_charges.items():
        best[number] += score
    return _with_precedents(best, best, ((near, near.judgment.relevant_articles) for near in found.precedents))


def charge_scores(found: CaseInformation, language: str) -> Mapping[str, float]:
    """Charges by name in the case's language, best first: their own score, their article's, and precedents' likeness."""
    articles = article_scores(found)
    scored = _scored(found.charges, found.charge_scores)
    scores = {one.called(language): articles.get(_first_article(one), 0.0) + score for one, score in scored}
    for statute in found.statutes:
        for place, name in enumerate(statute.charges):
            scores.setdefault(name.in_language(language), articles.get(statute.number, 0.0) - 0.001 * (place + 1))
    return _with_precedents(scores, articles, ((near, near.judgment.charges) for near in found.precedents))


def _with_precedents(
    scores: dict[K, float], articles: Mapping[int, float], decided: Iterable[tuple[Referred, Iterable[K]]]
) -> dict[K, float]:
    """Add the near precedents' likeness on the scale of the articles' scores, best first."""
    scale, shares = max(articles.values(), default=1.0), defaultdict[K, float](float)
    for near, labels in decided:
        for label in labels if near.similarity >= NEAR else ():
            shares[label] += near.similarity
    for label, share in shares.items():
        scores[label] = scores.get(label, 0.0) + scale * share
    return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))


def _scored(items: Sequence[Any], scores: Sequence[float]) -> list[tuple[Any, float]]:
    """Items with their fused scores; by rank where none are known."""
    known = len(scores) == len(items) and any(scores)
    return list(zip(items, scores if known else [1 / (60 + rank) for rank in range(1, len(items) + 1)], strict=True))


def _first_article(charge: Charge) -> int:
    return int(charge.articles[0].split("-")[0])


def sentenced(facts: str, articles: Sequence[int], charges: Sequence[str], found: CaseInformation) -> Judgment:
    """A judgment whose term is within the band that the facts' gravity points to, drawn towards precedents under the same article."""
    statute = found.statute(*articles)
    number, band = statute and statute.number, _band(facts, statute)
    decided = [near.judgment for near in found.precedents if number in near.judgment.relevant_articles]
    terms = [one.term_of_imprisonment.imprisonment for one in decided if one.term_of_imprisonment]
    usual = math.exp(fmean(map(math.log, filter(None, terms)))) if any(terms) else None
    if band is None:
        term = Term(imprisonment=round(usual or 12))
    elif band.life and band.most == 0:
        term = Term(life_imprisonment=True)
    else:
        months = band.least + 0.35 * (band.most - band.least)
        if usual is not None and band.least <= usual <= band.most:
            months = (months + usual) / 2
        months *= 1 - min(0.4, 0.1 * len(mitigating(facts)))
        term = Term(imprisonment=max(1, round(months)) if band.most else 0)
    return Judgment(relevant_articles=tuple(articles), charges=tuple(charges), term_of_imprisonment=term)


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
    """The best charge with its article, and a term; where nothing was looked up, the crime whose words are commonest, or theft."""
    charges, articles = charge_scores(found, language), article_scores(found)
    if not charges or not articles:
        matches = [len(re.findall(crime["words"], facts)) for crime in _WORDS["crime"]]
        crime = _WORDS["crime"][matches.index(max(matches)) if any(matches) else -1]
        number, charge = crime["article"], law.Both(**crime["charge"]).in_language(language)
    else:
        charge = next(iter(charges))
        decided = (near.judgment for near in found.precedents if charge in near.judgment.charges)
        under = [_first_article(c) for c in found.charges if c.called(language) == charge]
        under += [s.number for s in found.statutes if charge in (name.in_language(language) for name in s.charges)]
        under += [number for judgment in decided for number in judgment.relevant_articles[:1]]
        number = under[0] if under else next(iter(articles))
    return sentenced(facts, [number], [charge], found)


def _band(facts: str, statute: Statute | None) -> law.Band | None:
    if statute is None or not statute.bands:
        return None
    gravity = 2 * bool(_GRAVE.search(facts)) + (len(set(_HEAVY.findall(facts))) >= 2)
    gravity += max(sums_in(facts), default=0.0) >= 500_000
    return statute.bands[min(gravity, len(statute.bands) - 1) if gravity > 1 else 0]
