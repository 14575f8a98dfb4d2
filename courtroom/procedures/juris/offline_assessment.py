"""The assessor offline: counts of words and no reader's judgment."""

from __future__ import annotations

import random
from collections import Counter

from courtroom.evaluation.grounding import SUPPORTED, grounding
from courtroom.models.offline import Methods
from courtroom.procedures.juris.assessment_tasks import (
    Aligned,
    AlignKeyFacts,
    Alignment,
    Assess,
    Assessment,
    Checked,
    CheckFacts,
    FactCheck,
    FindKeyFacts,
    KeyFacts,
)
from courtroom.procedures.juris.ranking import best_first, repeats
from courtroom.text.words import sentences, words

KEY_FACTS = 8
COUNTED = "Counted by words; no reader has judged."


def key_facts(task: FindKeyFacts, draw: random.Random) -> KeyFacts:
    """The sentences of the reference summary, else those of the document that weigh most."""
    found = sentences(task.reference)
    taken: list[str] = []
    while not found and len(taken) < min(KEY_FACTS, len(sentences(task.document.text))):
        taken.append(best_first(task.document, taken, "A")[0])
    return KeyFacts(key_facts=found[:KEY_FACTS] or tuple(taken))


def check_facts(task: CheckFacts, draw: random.Random) -> FactCheck:
    """An error where less than half of a sentence's words stand in two sentences of the document."""
    shares = [grounding(sentence, task.document.text).share for sentence in task.sentences]
    return FactCheck(
        checks=tuple(
            Checked(
                sentence=number,
                reason=f"{share:.0%} of its words are in the document. {COUNTED}",
                category="no error" if share >= SUPPORTED else "out-of-context error",
            )
            for number, share in enumerate(shares, start=1)
        )
    )


def align(task: AlignKeyFacts, draw: random.Random) -> Alignment:
    """A sentence says a key fact where at least half of the fact's words are in it."""

    def lines(fact: str) -> tuple[int, ...]:
        said = (grounding(fact, sentence).share >= SUPPORTED for sentence in task.sentences)
        return tuple(number for number, found in enumerate(said, start=1) if found)

    facts = enumerate(task.key_facts, start=1)
    return Alignment(alignments=tuple(Aligned(key_fact=number, line_numbers=lines(fact)) for number, fact in facts))


def assess(task: Assess, draw: random.Random) -> Assessment:
    """Counts of words: supported sentences, share of the document's weight, sentences that repeat nothing."""
    lines = sentences(task.summary)
    support = sum(grounding(one, task.document.text).share for one in lines) / max(1, len(lines))
    known = set(words(task.summary))
    counts = Counter(words(task.document.text))
    often = {word: count for word, count in counts.items() if count > 1} or counts
    covered = sum(count for word, count in often.items() if word in known) / max(1, sum(often.values()))
    repeated = sum(repeats(one, lines[:n]) for n, one in enumerate(lines)) / max(1, len(lines))
    return Assessment(
        reason=f"Words found in the document, recurring words that are told, words told before. {COUNTED}",
        faithfulness=round(100 * support, 1),
        completeness=round(100 * covered, 1),
        conciseness=round(100 * (1 - repeated), 1),
    )


METHODS: Methods = {FindKeyFacts: key_facts, CheckFacts: check_facts, AlignKeyFacts: align, Assess: assess}
