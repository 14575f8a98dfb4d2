"""The offline model's answers to VERDICT's tasks: cue words, ranks, votes of what the memory recalls."""

import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from courtroom.judging.criminal import CaseInformation, Referred, acts_in, judged, term_for
from courtroom.knowledge.embedding import PROCEDURE
from courtroom.law import Judgment, Statute
from courtroom.models.offline import methods
from courtroom.procedures.verdict import tasks
from courtroom.text.words import sentences, words

NEAR = 0.2
"""Cosine below which a recalled unit says nothing about the case."""
MARGIN = 0.15
"""By how much the memory must prefer another article for the supervisor to reject a draft."""

# Drafts and final thoughts are what the memory compares: they may be put in other small words only (text/words.py leaves them out).
SAY = {
    "en": {
        "fits": "For me article {number} ({title}) fits, because the facts say {words}.",
        "nothing": "no word of its own, but nothing else is nearer",
        "reject": "I can't pass this draft, for article {number} is nearer: {why}",
        "directive": "a directive with confidence {confidence:.2f} says: {text}",
        "precedents": "cases like this one were decided under it.",
        "final": "For me it is article {number}, as in the panel's draft, which {passed}. My term is within the range that the facts' gravity points to.",
        "passed": "was verified",
        "open": "was not verified",
        "alone": "I find article {number} nearest to the facts, and for the term I keep to the range that their gravity points to.",
        "rule": "Where the facts show {words}, article {number} applies ({charges}).",
        "except": "Not by {words} alone.",
        "parted": "The wrong reasoning rests on {words}.",
        "same": "Both name the same words.",
        "advice": "I would give these words of the facts more weight than those that the draft rests on: {words}.",
    },
    "zh": {
        "fits": "我说第{number}条（{title}）相符，因为事实中有{words}。",
        "nothing": "无专属词语，但别无更近者",
        "reject": "这份草案我不能通过，第{number}条更为接近：{why}",
        "directive": "置信度{confidence:.2f}的微指令：{text}",
        "precedents": "类似案件均依该条判决。",
        "final": "我说：合议庭依第{number}条的草案{passed}。所以刑期按情节轻重在法定幅度内确定。",
        "passed": "已经核验",
        "open": "未获核验",
        "alone": "我认为第{number}条与事实最为接近，刑期按情节轻重在法定幅度内确定。",
        "rule": "事实中有{words}的，适用第{number}条（{charges}）。",
        "except": "仅有{words}不足以适用。",
        "parted": "错误的推理以{words}为据。",
        "same": "两者用词相同。",
        "advice": "我会更看重事实中的这些内容，而不是草案所依据的：{words}。",
    },
}


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
    say, support = SAY[_language(task.case.language)], _support(task)
    best = max(support, key=lambda number: (support[number], -number), default=task.draft.predicted_article)
    if support.get(best, 0.0) - support.get(task.draft.predicted_article, 0.0) <= MARGIN:
        return tasks.Verification(need_rejudge=False)
    directive = next((d for d in task.directives if d.anchor == best), None)
    why = say["precedents"]
    if directive:
        why = say["directive"].format(confidence=directive.confidence, text=directive.text)
    return tasks.Verification(need_rejudge=True, suggestions=say["reject"].format(number=best, why=why))


def preside(task: tasks.Preside, draw: random.Random) -> tasks.FinalJudgment:
    """The last draft's article, its nearest charge, and a term."""
    language, facts, found = task.case.language, " ".join(acts_in(task.case.facts)), _found(task, task.statutes)
    last = task.turns[-1]
    judgment = _under(last.draft.predicted_article, facts, language, found)
    say = SAY[_language(language)]
    passed = say["passed" if last.passed else "open"]
    return _final(judgment, say["final"].format(number=judgment.relevant_articles[0], passed=passed))


def alone(task: tasks.JudgeAlone, draw: random.Random) -> tasks.FinalJudgment:
    """Nearest neighbours among statutes and standards decide."""
    language, facts = task.case.language, " ".join(acts_in(task.case.facts))
    judgment = judged(facts, language, _found(task, task.statutes))
    return _final(judgment, SAY[_language(language)]["alone"].format(number=judgment.relevant_articles[0]))


def induce(task: tasks.Induce, draw: random.Random) -> tasks.DirectiveText:
    """The words that most of the cases share, as conditions."""
    shared = _shared([one.facts for one in task.standards])
    rule = _rule(task.language, "rule", shared, number=task.anchor, charges="; ".join(task.charges))
    return tasks.DirectiveText(directive=rule)


def refine(task: tasks.RefineDirective, draw: random.Random) -> tasks.SharpenedDirective:
    """The directive, with the words that only the wrong trajectory rests on as what does not suffice."""
    mine, theirs = Counter(words(task.positive.reasoning)), Counter(words(task.negative.reasoning))
    only = [word for word, _ in theirs.most_common() if word not in mine and _telling(word)][:4]
    kept = sentences(task.directive)[:6]
    limit = (_rule(task.language, "except", only),) if only else ()
    feature = _rule(task.language, "parted", only) if only else SAY[_language(task.language)]["same"]
    text = " ".join(dict.fromkeys((*kept, *limit)))
    return tasks.SharpenedDirective(branching_feature=feature, directive=text)


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


def _language(code: str) -> str:
    return "zh" if code.startswith("zh") else "en"


def _rule(language: str, name: str, terms: Sequence[str], **more: object) -> str:
    joined = ("、" if _language(language) == "zh" else ", ").join(terms)
    return SAY[_language(language)][name].format(words=joined, **more)


def _telling(word: str) -> bool:
    return len(word) > 1 and not word[0].isdigit() and "某" not in word and word not in PROCEDURE


def _shared(texts: Sequence[str]) -> list[str]:
    counts = Counter(word for text in texts for word in set(words(text)) if _telling(word))
    most = [word for word, count in counts.most_common() if count > len(texts) / 2]
    return sorted(most, key=lambda word: (-counts[word], -len(word), word))[:8] or [w for w, _ in counts.most_common(4)]


def _own(statute: Statute) -> set[str]:
    return set(words(" ".join((statute.cues.zh, statute.cues.en, statute.title.zh, statute.title.en))))


def _fits(language: str, number: int, statute: Statute, points: Iterable[str]) -> str:
    say = SAY[_language(language)]
    joined = _quoted(language, words("\n".join(points)), _own(statute))
    title = statute.title.in_language(language) if statute.number == number else str(number)
    return say["fits"].format(number=number, title=title, words=joined)


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
    return tasks.Advice(advice=SAY[_language(task.case.language)]["advice"].format(words=telling))


def _quoted(language: str, text: Sequence[str], among: set[str]) -> str:
    """The first eight words of a text that are among others, in quotation marks."""
    found = [word for word in dict.fromkeys(text) if word in among][:8]
    mark = "、" if _language(language) == "zh" else ", "
    return mark.join(f"“{word}”" for word in found) or SAY[_language(language)]["nothing"]


METHODS = methods(extract, rerank, draft, verify, preside, alone, induce, refine, consolidate)
ALIGNING = methods(reflect, draft)
"""What expert alignment asks."""
