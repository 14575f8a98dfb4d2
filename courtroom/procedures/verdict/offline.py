"""The offline model's answers to VERDICT's tasks: cue words, ranks, votes of what the memory recalls."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from courtroom.judging.criminal import CaseInformation, Referred, acts_in, judged, term_for
from courtroom.judging.explained import quotes, said
from courtroom.knowledge.embedding import PROCEDURE
from courtroom.law import Judgment, Statute
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
    return tasks.DraftJudgment(
        predicted_article=number, explanation=_fits(task.case.language, number, statute, task.points)
    )


def verify(task: tasks.Verify, draw: random.Random) -> tasks.Verification:
    """Rejects where directives and precedents together clearly prefer another article."""
    language, support = task.case.language, _support(task)
    best = max(support, key=lambda number: (support[number], -number), default=task.draft.predicted_article)
    margin = support.get(best, 0.0) - support.get(task.draft.predicted_article, 0.0)
    if margin <= MARGIN:
        return tasks.Verification(need_rejudge=False)
    directive = next((d for d in task.directives if d.anchor == best), None)
    why = said(language, "precedents")
    if directive:
        why = said(language, "directive", confidence=directive.confidence, text=directive.text)
    suggestions = said(language, "reject", number=best, margin=margin, why=why)
    return tasks.Verification(need_rejudge=True, suggestions=suggestions)


def preside(task: tasks.Preside, draw: random.Random) -> tasks.FinalJudgment:
    """The last draft's article, its nearest charge, and a term."""
    language, facts, found = task.case.language, " ".join(acts_in(task.case.facts)), _found(task, task.statutes)
    last = task.turns[-1]
    judgment = _under(last.draft.predicted_article, facts, language, found)
    passed = said(language, "passed" if last.passed else "open")
    return _final(judgment, said(language, "final", number=judgment.relevant_articles[0], passed=passed))


def alone(task: tasks.JudgeAlone, draw: random.Random) -> tasks.FinalJudgment:
    """Nearest neighbours among statutes and standards decide."""
    language, facts = task.case.language, " ".join(acts_in(task.case.facts))
    judgment = judged(facts, language, _found(task, task.statutes))
    return _final(judgment, said(language, "alone", number=judgment.relevant_articles[0]))


def induce(task: tasks.Induce, draw: random.Random) -> tasks.DirectiveText:
    """The words that most of the cases share, as conditions."""
    shared = said(task.language, "comma").join(_shared([one.facts for one in task.standards]))
    charges = "; ".join(task.charges)
    rule = said(task.language, "rule", words=shared, number=task.anchor, charges=charges)
    return tasks.DirectiveText(directive=rule)


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
    return tasks.DirectiveText(
        directive=" ".join(dict.fromkeys(s for text in task.directives for s in sentences(text)))
    )


def _found(task: tasks.OfMemory, statutes: tuple[Statute, ...]) -> CaseInformation:
    pairs = zip(task.precedents, task.precedent_similarity, strict=True)
    near = (
        Referred(id=str(number), facts=one.facts, judgment=one.verdict, similarity=similarity)
        for number, (one, similarity) in enumerate(pairs)
    )
    return CaseInformation(statutes=statutes, precedents=tuple(near))


def _final(judgment: Judgment, thought: str) -> tasks.FinalJudgment:
    return tasks.FinalJudgment(
        thought=thought,
        relevant_articles=judgment.relevant_articles,
        accusation=judgment.charges,
        term_of_imprisonment=judgment.term_of_imprisonment,
    )


def _telling(word: str) -> bool:
    return len(word) > 1 and not word[0].isdigit() and "某" not in word and word not in PROCEDURE


def _shared(texts: Sequence[str]) -> list[str]:
    counts = Counter(word for text in texts for word in set(words(text)) if _telling(word))
    most = [word for word, count in counts.most_common() if count > len(texts) / 2]
    return sorted(most, key=lambda word: (-counts[word], -len(word), word))[:8] or [w for w, _ in counts.most_common(4)]


def _own(statute: Statute) -> set[str]:
    return set(words(" ".join((statute.cues.zh, statute.cues.en, statute.title.zh, statute.title.en))))


def _fits(language: str, number: int, statute: Statute, points: Iterable[str]) -> str:
    title = statute.title.in_language(language) if statute.number == number else str(number)
    named = _quoted(language, words("\n".join(points)), _own(statute))
    return said(language, "fits", number=number, title=title, words=named)


def _support(task: tasks.Verify) -> Mapping[int, float]:
    """Likeness of what the memory recalls, by article; only near units count, and only for articles on the shortlist."""
    listed = {statute.number for statute in task.statutes}
    support: dict[int, float] = {}
    for one, near in zip(task.precedents, task.precedent_similarity, strict=True):
        for number in one.verdict.relevant_articles:
            if number in listed and near >= NEAR:
                support[number] = support.get(number, 0.0) + near
    for directive, near in zip(task.directives, task.directive_similarity, strict=True):
        if directive.anchor in listed and near >= NEAR:
            support[directive.anchor] = support.get(directive.anchor, 0.0) + near * directive.confidence
    return support


def _under(number: int, facts: str, language: str, found: CaseInformation) -> Judgment:
    statute = next((s for s in found.statutes if s.number == number), None)
    under = (near.judgment for near in found.precedents if number in near.judgment.relevant_articles)
    decided = Counter(charge for judgment in under for charge in judgment.charges)
    terms = set(words(facts))
    names = [name.in_language(language) for name in statute.charges] if statute else []
    names.sort(key=lambda name: (-decided[name], -len(set(words(name)) & terms)))
    charge = names[0] if names else next(iter(decided), str(number))
    return Judgment(
        relevant_articles=(number,), charges=(charge,), term_of_imprisonment=term_for(facts, statute, found)
    )


def reflect(task: tasks.ReflectOnDraft, draw: random.Random) -> tasks.Advice:
    """The words of the facts that belong to the real articles and not to the drafted one."""
    real = {word for s in task.statutes if s.number in task.real_articles for word in _own(s)}
    drafted = {word for s in task.statutes if s.number == task.draft.predicted_article for word in _own(s)}
    telling = _quoted(task.case.language, words(task.case.facts), real - drafted)
    return tasks.Advice(advice=said(task.case.language, "advice", words=telling))


def _quoted(language: str, text: Sequence[str], among: set[str]) -> str:
    """The first eight words of a text that are among others, in quotation marks."""
    return quotes(language, [word for word in dict.fromkeys(text) if word in among][:8]) or said(language, "no-word")


METHODS = methods(extract, rerank, draft, verify, preside, alone, induce, refine, consolidate)
ALIGNING = methods(reflect, draft)
"""What expert alignment asks."""
