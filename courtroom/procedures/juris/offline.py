"""The panel offline: sentences taken from the document, weighed by counts of words. Only its reasons are sentences of its own.

Generator A takes what stands most in the middle (TextRank), generator B what is said early in words that recur often.
A juror weighs five standards. Each seat gives one of them more weight, by its stated point of view or else by its number.
"""

import math
import random
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from courtroom.cases.labelled import Document
from courtroom.evaluation.summaries import grounding
from courtroom.judging.explained import said
from courtroom.models.offline import methods
from courtroom.procedures.juris import assessment, baselines, tasks
from courtroom.text.words import centrality, sentences, words

SHORT, LONG = 6, 45
"""Words of a sentence that can stand in a summary; others only where there is nothing else."""


def best_first(document: Document, accepted: Sequence[str], letter: tasks.Letter) -> list[str]:
    """The document's sentences that are not accepted, best first; at least one. `letter`: A goes by what stands most in the
    middle, B by what is said early in words that recur often."""
    found = sentences(document.text)
    central, often = weights(document.text), _often(document.text)
    scored: dict[int, float] = {}
    for place, sentence in enumerate(found):
        terms = words(sentence)
        fits = SHORT <= len(terms) <= LONG and not sentence.rstrip().endswith(("?", "？", ":"))
        early = 1.0 / (1.0 + place / max(6, len(found) / 4))
        density = sum(often[word] for word in set(terms)) / max(1, len(set(terms)))
        measure = central[place] * (0.6 + 0.4 * early) if letter == "A" else density * early
        new = 1.0 - repeats(sentence, accepted)
        scored[place] = measure * new * (1.0 if fits else 0.1) - (10.0 if sentence in accepted else 0.0)
    return [found[place] for place in sorted(scored, key=lambda place: -scored[place])]


def repeats(sentence: str, before: Sequence[str]) -> float:
    """The share of a sentence's words that stand in one of those before it, at the most."""
    own = set(words(sentence))
    return max((len(own & set(words(other))) / max(1, len(own)) for other in before), default=0.0)


def in_order(document: Document, taken: Sequence[str]) -> tuple[str, ...]:
    """Sentences as the document has them one after the other."""
    places = {sentence: place for place, sentence in reversed(list(enumerate(sentences(document.text))))}
    return tuple(sorted(taken, key=lambda sentence: places.get(sentence, len(places))))


@lru_cache(maxsize=16)
def weights(text: str) -> tuple[float, ...]:
    """Centrality of each sentence, the highest 1."""
    rank = centrality(sentences(text))
    most = max(rank)
    return tuple(value / most for value in rank)


@lru_cache(maxsize=16)
def _often(text: str) -> dict[str, float]:
    """How often each word is used, by the square root: the most frequent one must not decide alone."""
    return {word: math.sqrt(count) for word, count in Counter(words(text)).items()}


STANDARDS = {
    "support": (0.5, "support supported evidence faithful true proof fact facts"),
    "weight": (1.2, "important importance main central matter matters"),
    "news": (1.0, "new adds add news repeat repeats"),
    "place": (0.6, "order follow follows before first flow early"),
    "brevity": (0.4, "brevity brief short concise plain clear words"),
}
"""How much each weighs, and words of a stated point of view that speak for it. Each is called so in what the offline model says."""
EMPHASIS = 2.5
"""How much more a seat's own standard weighs."""
PER_STEP = 11.0
"""Sentences of a document for each of its summary, at a document of some forty sentences."""


def propose_length(task: tasks.ProposeLength, draw: random.Random) -> tasks.Length:
    """A sentence for each few of the document, fewer where words recur; seats differ by one either way."""
    found = sentences(task.document.text)
    terms = words(task.document.text)
    density = len(set(terms)) / max(1, len(terms))
    ideal = 2 + len(found) / PER_STEP * (0.5 + density)
    lean = (-1, 0, 0, 1, 0)[own_standard(task.seat, task.viewpoint)]
    wanted = max(1, round(ideal) + lean)
    reason = said(task.document.language, "length", count=len(found), density=density, wanted=wanted)
    return tasks.Length(reason=reason, sentences=wanted)


def next_sentence(task: tasks.NextSentence, draw: random.Random) -> tasks.Candidate:
    """The best sentence that is not accepted yet, by this generator's own measure."""
    best, *_ = best_first(task.document, task.accepted, task.letter)
    return tasks.Candidate(evidence=(best,), sentence=best)


def cast_ballot(task: tasks.CastBallot, draw: random.Random) -> tasks.Ballot:
    """Both candidates by five standards; the higher sum gets the vote."""
    own = own_standard(task.seat, task.viewpoint)
    offered: dict[tasks.Place, str] = {"first": task.first, "second": task.second}
    scores = {place: _weighted(task.document, task.accepted, one, own) for place, one in offered.items()}
    vote: tasks.Place = "second" if sum(scores["second"]) > sum(scores["first"]) else "first"
    told, names, language = {}, [*STANDARDS], task.document.language
    for place, values in scores.items():
        named = {"own": said(language, names[own]), "best": said(language, names[values.index(max(values))])}
        sentence = _beginning(offered[place])
        told[place] = said(language, "candidate", sentence=sentence, score=sum(values), **named)
    spans = grounding(offered[vote], task.document.text).spans
    evidence = tuple(task.document.text[start:end] for start, end in spans)
    return tasks.Ballot(evidence=evidence, on_first=told["first"], on_second=told["second"], vote=vote)


def edit(task: tasks.Edit, draw: random.Random) -> tasks.Edited:
    """The accepted sentences in the document's order; nothing else is changed."""
    ordered = in_order(task.document, task.accepted)
    changes = () if ordered == task.accepted else (said(task.document.language, "reordered"),)
    return tasks.Edited(changes=changes, sentences=ordered)


def _beginning(sentence: str) -> str:
    """The first words of a sentence, as a quotation."""
    text = sentence.strip().replace("“", "'").replace("”", "'").rstrip(".。")
    if len(text) <= 60:
        return text
    return (text[:60].rpartition(" ")[0] or text[:60]).rstrip(",，") + "…"


def own_standard(seat: int, viewpoint: str) -> int:
    """The place of the standard that a seat gives most weight to: by its stated point of view, else by its number."""
    text = Counter(word.strip(".,:;?!") for word in viewpoint.casefold().split())
    score, place = max((sum(map(text.__getitem__, cues.split())), -n) for n, (_, cues) in enumerate(STANDARDS.values()))
    return -place if score else seat % len(STANDARDS)


def _weighted(document: Document, accepted: tuple[str, ...], sentence: str, own: int) -> list[float]:
    """What a sentence is worth by each of `STANDARDS`, which are numbers from 0 to 1, by its weight."""
    found = sentences(document.text)
    place = found.index(sentence) if sentence in found else len(found) // 2
    values = (
        grounding(sentence, document.text).share,
        weights(document.text)[place] if sentence in found else 0.5,
        1.0 - repeats(sentence, accepted),
        1.0 - place / max(1, len(found)),
        math.exp(-(max(0, len(words(sentence)) - 14) ** 2) / 600),
    )
    shares = (weight * (EMPHASIS if n == own else 1.0) for n, (weight, _) in enumerate(STANDARDS.values()))
    return [value * share for value, share in zip(values, shares, strict=True)]


KEY_FACTS = 8


def key_facts(task: assessment.FindKeyFacts, draw: random.Random) -> assessment.KeyFacts:
    """The sentences of the reference summary, else those of the document that weigh most."""
    found = sentences(task.reference) or _best(task.document, KEY_FACTS, "A")
    return assessment.KeyFacts(key_facts=tuple(found[:KEY_FACTS]))


def check_facts(task: assessment.CheckFacts, draw: random.Random) -> assessment.FactCheck:
    """An error where less than half of a sentence's words stand in two sentences of the document."""
    checks = []
    for number, sentence in enumerate(task.sentences, start=1):
        found = grounding(sentence, task.document.text)
        reason = said(task.document.language, "found-words", sentence=_beginning(sentence), share=found.share)
        category = "no error" if found.supported else "out-of-context error"
        checks.append({"sentence": number, "reason": reason, "category": category})
    return assessment.FactCheck.model_validate({"checks": checks})


def align(task: assessment.AlignKeyFacts, draw: random.Random) -> assessment.Alignment:
    """A sentence says a key fact where at least half of the fact's words are in it."""
    alignments = []
    for number, fact in enumerate(task.key_facts, start=1):
        found = (grounding(fact, sentence).supported for sentence in task.sentences)
        lines = tuple(line for line, is_supported in enumerate(found, start=1) if is_supported)
        alignments.append(assessment.Aligned(key_fact=number, line_numbers=lines))
    return assessment.Alignment(alignments=tuple(alignments))


def assess(task: assessment.Assess, draw: random.Random) -> assessment.Assessment:
    """Counts of words: supported sentences, share of the document's weight, sentences that repeat nothing."""
    lines = sentences(task.summary)
    support = sum(grounding(one, task.document.text).share for one in lines) / max(1, len(lines))
    known = set(words(task.summary))
    counts = Counter(words(task.document.text))
    often = {word: count for word, count in counts.items() if count > 1} or counts
    covered = sum(count for word, count in often.items() if word in known) / max(1, sum(often.values()))
    repeated = sum(repeats(one, lines[:n]) for n, one in enumerate(lines)) / max(1, len(lines))
    counted = {"count": len(lines), "support": support, "covered": covered, "repeated": repeated}
    return assessment.Assessment(
        reason=said(task.document.language, "assessed", **counted),
        faithfulness=round(100 * support, 1),
        completeness=round(100 * covered, 1),
        conciseness=round(100 * (1 - repeated), 1),
    )


MIDDLING = 2
"""The seat whose length a writer takes that is alone."""


def write(
    task: baselines.WriteAlone | baselines.AnswerAndWrite, draw: random.Random
) -> baselines.Written | baselines.AnswersAndSummary:
    """As many sentences as a middling juror would propose, in the document's order; to each question, the one that shares most words."""
    document, found = task.document, sentences(task.document.text)
    wanted = propose_length(tasks.ProposeLength(document=document, viewpoint="", seat=MIDDLING), draw).sentences
    wanted = min(max(wanted, task.shortest or 1), task.longest or len(found))
    summary = in_order(document, _best(document, wanted, task.letter))
    if isinstance(task, baselines.WriteAlone):
        return baselines.Written(sentences=summary)
    answers = tuple(max(found, key=lambda one: len(set(words(one)) & set(words(asked)))) for asked in task.questions)
    return baselines.AnswersAndSummary(answers=answers, sentences=summary)


def advise(task: baselines.Advise, draw: random.Random) -> baselines.Advised:
    """To put the best sentence that is missing in the place of the weakest, where it weighs more."""
    if (swap := _swap(task.document, task.sentences)) is None:
        return baselines.Advised(rationale=said(task.document.language, "no-swap"), stop=True)
    gone, new = swap
    rationale = said(task.document.language, "swap", new=_beginning(new), gone=_beginning(gone))
    return baselines.Advised(rationale=rationale, advice=(f"Remove: {gone}", f"Add: {new}"), stop=False)


def refine(task: baselines.RefineSummary, draw: random.Random) -> tasks.Edited:
    """The exchange that was advised."""
    swap = _swap(task.document, task.sentences)
    if swap is None or f"Add: {swap[1]}" not in task.advice:
        return tasks.Edited(sentences=task.sentences)
    kept = [*(sentence for sentence in task.sentences if sentence != swap[0]), swap[1]]
    changes = (said(task.document.language, "swapped"),)
    return tasks.Edited(changes=changes, sentences=in_order(task.document, kept))


def _best(document: Document, count: int, letter: tasks.Letter) -> tuple[str, ...]:
    """So many sentences of a document, each the best after those before it."""
    taken: list[str] = []
    while len(taken) < min(count, len(sentences(document.text))):
        taken.append(best_first(document, taken, letter)[0])
    return tuple(taken)


def _swap(document: Document, taken: tuple[str, ...]) -> tuple[str, str] | None:
    """The weakest sentence of a summary and the best one that is missing; None where that weighs no more."""
    value = dict(zip(sentences(document.text), weights(document.text), strict=True))

    def gain(sentence: str, rest: Sequence[str]) -> float:
        return value.get(sentence, 0.0) * (1 - repeats(sentence, rest))

    weakest = min(taken, key=lambda sentence: value.get(sentence, 0.0))
    rest = [sentence for sentence in taken if sentence != weakest]
    missing = next((sentence for sentence in best_first(document, taken, "A") if sentence not in taken), "")
    return (weakest, missing) if gain(missing, rest) > gain(weakest, rest) else None


METHODS = methods(
    *(propose_length, next_sentence, cast_ballot, edit, write, advise, refine), *(key_facts, check_facts, align, assess)
)
