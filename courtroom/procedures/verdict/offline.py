"""The offline model's answers to VERDICT's tasks: cue words, ranks, votes of what the memory recalls."""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from courtroom.judging.criminal import CaseInformation, Referred, acts_in, judged, sentenced
from courtroom.judging.explained import quotes, said
from courtroom.knowledge.embedding import PROCEDURE
from courtroom.law import Statute
from courtroom.models.offline import methods
from courtroom.procedures.verdict import tasks
from courtroom.text.words import sentences, words

NEAR = 0.2
"""Cosine below which a recalled unit says nothing about the case."""
MARGIN = 0.15
"""By how much the memory must prefer another article for the supervisor to reject a draft."""


def extract(task: tasks.ExtractPoints, draw: random.Random) -> tasks.EventPoints:
    """The sentences that state what was done."""
    return tasks.EventPoints(points=acts_in(task.case.facts)[:12])


def rerank(task: tasks.Rerank, draw: random.Random) -> tasks.Shortlist:
    """The coarse order, in which articles rise by the words of theirs that the points hold."""
    terms = set(words("\n".join(task.points)))
    scores: dict[int, float] = {}
    for rank, statute in enumerate(task.candidates, start=1):
        score = 1 / (3 + rank) + 0.02 * len(_own(statute) & terms)
        scores[statute.number] = max(scores.get(statute.number, 0.0), score)
    return tasks.Shortlist(articles=tuple(sorted(scores, key=lambda number: (-scores[number], number))[: task.about]))


def draft(task: tasks.DraftOpinion, draw: random.Random) -> tasks.DraftJudgment:
    """The first article of the shortlist that was not rejected; one that the feedback names comes first."""
    rejected = {turn.draft.predicted_article for turn in task.turns}
    named = [int(n) for turn in task.turns for n in re.findall(r"(?:[Aa]rticle |第)(\d+)", turn.feedback)]
    order = [*reversed(named), *(statute.number for statute in task.statutes)]
    number = next((n for n in order if n not in rejected), order[0])
    statute = next((s for s in task.statutes if s.number == number), task.statutes[0])
    title = statute.title.in_language(task.case.language) if statute.number == number else str(number)
    named_words = _quoted(task.case.language, words("\n".join(task.points)), _own(statute))
    why = said(task.case.language, "fits", number=number, title=title, words=named_words)
    return tasks.DraftJudgment(predicted_article=number, explanation=why)


def verify(task: tasks.Verify, draw: random.Random) -> tasks.Verification:
    """Rejects where directives and precedents together clearly prefer another article."""
    language, near = task.case.language, list(zip(task.precedents, task.precedent_similarity, strict=True))
    likeness = [(number, cosine, cosine) for one, cosine in near for number in one.verdict.relevant_articles]
    for directive, cosine in zip(task.directives, task.directive_similarity, strict=True):
        likeness.append((directive.anchor, cosine, cosine * directive.confidence))
    listed, support = {statute.number for statute in task.statutes}, defaultdict[int, float](float)
    for number, cosine, weight in likeness:
        if number in listed and cosine >= NEAR:
            support[number] += weight
    best = max(support, key=lambda number: (support[number], -number), default=task.draft.predicted_article)
    margin = support.get(best, 0.0) - support.get(task.draft.predicted_article, 0.0)
    if margin <= MARGIN:
        return tasks.Verification(need_rejudge=False)
    why = said(language, "precedents")
    if named := next((directive for directive in task.directives if directive.anchor == best), None):
        why = said(language, "directive", confidence=named.confidence, text=named.text)
    suggestions = said(language, "reject", number=best, margin=margin, why=why)
    return tasks.Verification(need_rejudge=True, suggestions=suggestions)


def preside(task: tasks.Preside | tasks.JudgeAlone, draw: random.Random) -> tasks.FinalJudgment:
    """The last draft's article, its charge that precedents and facts name most, and a term. Who judges alone goes by the nearest
    neighbours among statutes and standards."""
    language, facts = task.case.language, " ".join(acts_in(task.case.facts))
    near = tuple(
        Referred(id=str(number), facts=one.facts, judgment=one.verdict, similarity=task.precedent_similarity[number])
        for number, one in enumerate(task.precedents)
    )
    found = CaseInformation(statutes=task.statutes, precedents=near)
    if isinstance(task, tasks.JudgeAlone):
        judgment = judged(facts, language, found)
        thought = said(language, "alone", number=judgment.relevant_articles[0])
    else:
        number = task.turns[-1].draft.predicted_article
        statute = found.statute(number)
        under = (one.judgment for one in near if number in one.judgment.relevant_articles)
        decided, terms = Counter(charge for judgment in under for charge in judgment.charges), set(words(facts))
        names = [name.in_language(language) for name in statute.charges] if statute else []
        names.sort(key=lambda name: (-decided[name], -len(set(words(name)) & terms)))
        judgment = sentenced(facts, [number], [next(iter((*names, *decided)), str(number))], found)
        passed = said(language, "passed" if task.turns[-1].passed else "open")
        thought = said(language, "final", number=number, passed=passed)
    articles, charges, term = judgment.relevant_articles, judgment.charges, judgment.term_of_imprisonment
    return tasks.FinalJudgment(
        thought=thought, relevant_articles=articles, accusation=charges, term_of_imprisonment=term
    )


def induce(task: tasks.Induce, draw: random.Random) -> tasks.DirectiveText:
    """The words that most of the cases share, as conditions."""
    texts = [one.facts for one in task.standards]
    counts = Counter(word for text in texts for word in set(words(text)) if _telling(word))
    most = [word for word in counts if counts[word] > len(texts) / 2]
    shared = sorted(most, key=lambda word: (-counts[word], -len(word), word))[:8]
    shared = shared or [word for word, _ in counts.most_common(4)]
    named, charges = said(task.language, "comma").join(shared), "; ".join(task.charges)
    return tasks.DirectiveText(directive=said(task.language, "rule", words=named, number=task.anchor, charges=charges))


def refine(task: tasks.RefineDirective, draw: random.Random) -> tasks.SharpenedDirective:
    """The directive, with the words that only the wrong trajectory rests on as what does not suffice."""
    mine, theirs = Counter(words(task.positive.reasoning)), Counter(words(task.negative.reasoning))
    only = [word for word, _ in theirs.most_common() if word not in mine and _telling(word)][:4]
    kept, named = sentences(task.directive)[:6], said(task.language, "comma").join(only)
    limit = (said(task.language, "except", words=named),) if only else ()
    feature = said(task.language, "parted" if only else "same", words=named)
    return tasks.SharpenedDirective(branching_feature=feature, directive=" ".join(dict.fromkeys((*kept, *limit))))


def consolidate(task: tasks.Consolidate, draw: random.Random) -> tasks.DirectiveText:
    """Every sentence of theirs once."""
    kept = dict.fromkeys(sentence for text in task.directives for sentence in sentences(text))
    return tasks.DirectiveText(directive=" ".join(kept))


def _telling(word: str) -> bool:
    return len(word) > 1 and not word[0].isdigit() and "某" not in word and word not in PROCEDURE


def _own(statute: Statute) -> set[str]:
    return set(words(" ".join((statute.cues.zh, statute.cues.en, statute.title.zh, statute.title.en))))


def reflect(task: tasks.ReflectOnDraft, draw: random.Random) -> tasks.Advice:
    """The words of the facts that belong to the real articles and not to the drafted one."""
    own = {statute.number: _own(statute) for statute in task.statutes}
    real = set[str]().union(*(own.get(number, set()) for number in task.real_articles))
    telling = _quoted(task.case.language, words(task.case.facts), real - own.get(task.draft.predicted_article, set()))
    return tasks.Advice(advice=said(task.case.language, "advice", words=telling))


def _quoted(language: str, text: Sequence[str], among: set[str]) -> str:
    """The first eight words of a text that are among others, in quotation marks."""
    return quotes(language, [word for word in dict.fromkeys(text) if word in among][:8]) or said(language, "no-word")


METHODS = methods(extract, rerank, draft, verify, preside, induce, refine, consolidate)
ALIGNING = methods(reflect, draft)
"""What expert alignment asks."""
