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
from courtroom.evaluation.summaries import SUPPORTED, grounding
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
    scored: list[tuple[float, int]] = []
    for place, sentence in enumerate(found):
        terms = words(sentence)
        fits = SHORT <= len(terms) <= LONG and not sentence.rstrip().endswith(("?", "？", ":"))
        early = 1.0 / (1.0 + place / max(6, len(found) / 4))
        density = sum(often[word] for word in set(terms)) / max(1, len(set(terms)))
        measure = central[place] * (0.6 + 0.4 * early) if letter == "A" else density * early
        new = 1.0 - repeats(sentence, accepted)
        scored.append((measure * new * (1.0 if fits else 0.1) - (10.0 if sentence in accepted else 0.0), place))
    return [found[place] for _, place in sorted(scored, key=lambda one: (-one[0], one[1]))]


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
    top = max(rank, default=1.0)
    return tuple(value / top for value in rank)


@lru_cache(maxsize=16)
def _often(text: str) -> dict[str, float]:
    """How often each word is used, by the square root: the most frequent one must not decide alone."""
    counts = Counter(words(text))
    top = max(counts.values(), default=1)
    return {word: math.sqrt(count / top) for word, count in counts.items()}


STANDARDS = ("support", "weight", "news", "place", "brevity")
"""Each is called so in the sentences that the offline model says."""
WEIGHTS = (0.5, 1.2, 1.0, 0.6, 0.4)
EMPHASIS = 2.5
"""How much more a seat's own standard weighs."""
CUES = (
    ("support", "supported", "evidence", "faithful", "true", "proof", "fact", "facts"),
    ("important", "importance", "main", "central", "matter", "matters"),
    ("new", "adds", "add", "news", "repeat", "repeats"),
    ("order", "follow", "follows", "before", "first", "flow", "early"),
    ("brevity", "brief", "short", "concise", "plain", "clear", "words"),
)
"""Words of a stated point of view that speak for each standard."""
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
    told = {place: _scored(task.document, offered[place], values, own) for place, values in scores.items()}
    spans = grounding(offered[vote], task.document.text).spans
    return tasks.Ballot(
        evidence=tuple(task.document.text[start:end] for start, end in spans),
        on_first=told["first"],
        on_second=told["second"],
        vote=vote,
    )


def edit(task: tasks.Edit, draw: random.Random) -> tasks.Edited:
    """The accepted sentences in the document's order; nothing else is changed."""
    ordered = in_order(task.document, list(task.accepted))
    changes = () if ordered == task.accepted else (said(task.document.language, "reordered"),)
    return tasks.Edited(changes=changes, sentences=ordered)


def _scored(document: Document, sentence: str, values: list[float], own: int) -> str:
    """What a candidate has by the five standards, and where it is strongest."""
    language, best = document.language, STANDARDS[values.index(max(values))]
    named = {"own": said(language, STANDARDS[own]), "best": said(language, best)}
    return said(language, "candidate", sentence=_beginning(sentence), score=sum(values), **named)


def _beginning(sentence: str) -> str:
    """The first words of a sentence, as a quotation."""
    text = sentence.strip().replace("“", "'").replace("”", "'")
    if len(text) <= 60:
        return text.rstrip(".。")
    cut = text[:60]
    return (cut.rsplit(" ", 1)[0] if " " in cut else cut).rstrip(",，") + "…"


def own_standard(seat: int, viewpoint: str) -> int:
    """The place of the standard that a seat gives most weight to: by its stated point of view, else by its number."""
    text = Counter(word.strip(".,:;?!") for word in viewpoint.casefold().split())
    score, place = max((sum(text[cue] for cue in cues), -place) for place, cues in enumerate(CUES))
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
    emphasis = (EMPHASIS if number == own else 1.0 for number in range(len(values)))
    return [value * weight * more for value, weight, more in zip(values, WEIGHTS, emphasis, strict=True)]


KEY_FACTS = 8


def key_facts(task: assessment.FindKeyFacts, draw: random.Random) -> assessment.KeyFacts:
    """The sentences of the reference summary, else those of the document that weigh most."""
    found = sentences(task.reference)
    taken: list[str] = []
    while not found and len(taken) < min(KEY_FACTS, len(sentences(task.document.text))):
        taken.append(best_first(task.document, taken, "A")[0])
    return assessment.KeyFacts(key_facts=found[:KEY_FACTS] or tuple(taken))


def check_facts(task: assessment.CheckFacts, draw: random.Random) -> assessment.FactCheck:
    """An error where less than half of a sentence's words stand in two sentences of the document."""
    shares = [grounding(sentence, task.document.text).share for sentence in task.sentences]
    return assessment.FactCheck(
        checks=tuple(
            assessment.Checked(
                sentence=number,
                reason=_counted(task.document, "found-words", sentence=_beginning(sentence), share=share),
                category="no error" if share >= SUPPORTED else "out-of-context error",
            )
            for number, (sentence, share) in enumerate(zip(task.sentences, shares, strict=True), start=1)
        )
    )


def _counted(document: Document, name: str, **values: object) -> str:
    return said(document.language, name, counted=said(document.language, "counted"), **values)


def align(task: assessment.AlignKeyFacts, draw: random.Random) -> assessment.Alignment:
    """A sentence says a key fact where at least half of the fact's words are in it."""

    def lines(fact: str) -> tuple[int, ...]:
        said = (grounding(fact, sentence).share >= SUPPORTED for sentence in task.sentences)
        return tuple(number for number, found in enumerate(said, start=1) if found)

    facts = enumerate(task.key_facts, start=1)
    return assessment.Alignment(
        alignments=tuple(assessment.Aligned(key_fact=number, line_numbers=lines(fact)) for number, fact in facts)
    )


def assess(task: assessment.Assess, draw: random.Random) -> assessment.Assessment:
    """Counts of words: supported sentences, share of the document's weight, sentences that repeat nothing."""
    lines = sentences(task.summary)
    support = sum(grounding(one, task.document.text).share for one in lines) / max(1, len(lines))
    known = set(words(task.summary))
    counts = Counter(words(task.document.text))
    often = {word: count for word, count in counts.items() if count > 1} or counts
    covered = sum(count for word, count in often.items() if word in known) / max(1, sum(often.values()))
    repeated = sum(repeats(one, lines[:n]) for n, one in enumerate(lines)) / max(1, len(lines))
    return assessment.Assessment(
        reason=_counted(
            task.document, "assessed", count=len(lines), support=support, covered=covered, repeated=repeated
        ),
        faithfulness=round(100 * support, 1),
        completeness=round(100 * covered, 1),
        conciseness=round(100 * (1 - repeated), 1),
    )


MIDDLING = 2
"""The seat whose length a writer takes that is alone."""


def write_alone(task: baselines.WriteAlone, draw: random.Random) -> baselines.Written:
    """As many sentences as a middling juror would propose, in the document's order."""
    return baselines.Written(sentences=_summary(task, draw))


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


def answer_and_write(task: baselines.AnswerAndWrite, draw: random.Random) -> baselines.AnswersAndSummary:
    """To each question the sentence that shares most words with it; then a summary like that of one writer alone."""
    found = sentences(task.document.text)
    answers = tuple(max(found, key=lambda one: len(set(words(one)) & set(words(asked)))) for asked in task.questions)
    return baselines.AnswersAndSummary(answers=answers, sentences=_summary(task, draw))


def _summary(task: baselines.WriteAlone | baselines.AnswerAndWrite, draw: random.Random) -> tuple[str, ...]:
    """As many sentences as a middling juror would propose, in the document's order."""
    document = task.document
    wanted = propose_length(tasks.ProposeLength(document=document, viewpoint="", seat=MIDDLING), draw).sentences
    wanted = min(max(wanted, task.shortest or 1), task.longest or len(sentences(document.text)))
    taken: list[str] = []
    while len(taken) < wanted:
        taken.append(best_first(document, taken, task.letter)[0])
    return in_order(document, taken)


def _swap(document: Document, taken: tuple[str, ...]) -> tuple[str, str] | None:
    """The weakest sentence of a summary and the best one that is missing; None where that weighs no more."""
    value = dict(zip(sentences(document.text), weights(document.text), strict=True))
    weakest = min(taken, key=lambda sentence: value.get(sentence, 0.0))
    rest = [sentence for sentence in taken if sentence != weakest]
    missing = [sentence for sentence in best_first(document, taken, "A") if sentence not in taken]
    if not missing:
        return None
    gain = value.get(missing[0], 0.0) * (1 - repeats(missing[0], rest))
    return (weakest, missing[0]) if gain > value.get(weakest, 0.0) * (1 - repeats(weakest, rest)) else None


METHODS = {
    **methods(propose_length, next_sentence, cast_ballot, edit),
    **methods(write_alone, advise, refine, answer_and_write),
    **methods(key_facts, check_facts, align, assess),
}
