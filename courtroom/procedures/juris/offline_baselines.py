"""The baselines offline: the document's own sentences, one writer. Each answers by counts of words, as the panel does."""

from __future__ import annotations

import random

from courtroom.cases.document import Document
from courtroom.models.offline import Methods
from courtroom.procedures.juris.baseline_tasks import (
    Advise,
    Advised,
    AnswerAndWrite,
    Answered,
    RefineSummary,
    WriteAlone,
    Written,
)
from courtroom.procedures.juris.offline import propose_length
from courtroom.procedures.juris.ranking import best_first, in_order, repeats, weights
from courtroom.procedures.juris.tasks import Edited, Letter, ProposeLength
from courtroom.text.words import sentences, words

MIDDLING = 2
"""The seat whose length a writer takes that is alone."""


def write_alone(task: WriteAlone, draw: random.Random) -> Written:
    """As many sentences as a middling juror would propose, in the document's order."""
    return Written(sentences=_summary(task.document, task.shortest, task.longest, task.letter, draw))


def advise(task: Advise, draw: random.Random) -> Advised:
    """To put the best sentence that is missing in the place of the weakest, where it weighs more."""
    if (swap := _swap(task.document, task.sentences)) is None:
        return Advised(rationale="No missing sentence weighs more than one that is there.", stop=True)
    gone, new = swap
    advice = (f"Remove: {gone}", f"Add: {new}")
    return Advised(rationale="A missing sentence weighs more than one that is there.", advice=advice, stop=False)


def refine(task: RefineSummary, draw: random.Random) -> Edited:
    """The exchange that was advised."""
    swap = _swap(task.document, task.sentences)
    if swap is None or f"Add: {swap[1]}" not in task.advice:
        return Edited(sentences=task.sentences)
    kept = [sentence for sentence in task.sentences if sentence != swap[0]]
    return Edited(changes=("One sentence exchanged.",), sentences=in_order(task.document, [*kept, swap[1]]))


def answer_and_write(task: AnswerAndWrite, draw: random.Random) -> Answered:
    """To each question the sentence that shares most words with it; then a summary like that of one writer alone."""
    found = sentences(task.document.text)
    answers = tuple(max(found, key=lambda one: len(set(words(one)) & set(words(asked)))) for asked in task.questions)
    return Answered(answers=answers, sentences=_summary(task.document, task.shortest, task.longest, task.letter, draw))


def _summary(
    document: Document, shortest: int | None, longest: int | None, letter: Letter, draw: random.Random
) -> tuple[str, ...]:
    wanted = propose_length(ProposeLength(document=document, viewpoint="", seat=MIDDLING), draw).sentences
    wanted = min(max(wanted, shortest or 1), longest or len(sentences(document.text)))
    taken: list[str] = []
    while len(taken) < wanted:
        taken.append(best_first(document, taken, letter)[0])
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


METHODS: Methods = {WriteAlone: write_alone, Advise: advise, RefineSummary: refine, AnswerAndWrite: answer_and_write}
