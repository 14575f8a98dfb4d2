"""Measures of a summary: ROUGE and BLEU against a reference, and what a judge's scores come to."""

from __future__ import annotations

import re

from courtroom.strict import Strict
from courtroom.text.words import is_chinese, sentences

_PIECE = re.compile(r"[\u3400-\u9fff]|[a-z0-9]+", re.IGNORECASE)


class Overlap(Strict):
    """F1 of ROUGE-1, ROUGE-2 and ROUGE-L, and BLEU; all from 0 to 1."""

    rouge_1: float
    rouge_2: float
    rouge_l: float
    bleu: float


class Quality(Strict):
    """A judge model's scores, 0 to 100 each."""

    faithfulness: float
    completeness: float
    conciseness: float

    @property
    def combined(self) -> float:
        """Their sum, the paper's combined quality score (JURIS, section 4.3)."""
        return self.faithfulness + self.completeness + self.conciseness


class _Pieces:
    """English words and single Chinese characters, for `rouge_score`."""

    def tokenize(self, text: str) -> list[str]:
        return _PIECE.findall(text.lower())


def overlap(summary: str, reference: str) -> Overlap:
    """ROUGE by `rouge_score` (English stemmed, Chinese by character) and sentence BLEU by `sacrebleu`."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu

    chinese = is_chinese(reference)
    kinds = ["rouge1", "rouge2", "rougeL"]
    scorer = RougeScorer(kinds, tokenizer=_Pieces()) if chinese else RougeScorer(kinds, use_stemmer=True)
    rouge = scorer.score(reference, summary)
    bleu = sentence_bleu(summary, [reference], tokenize="zh" if chinese else "13a").score / 100
    one, two, longest = (float(rouge[kind].fmeasure) for kind in kinds)
    return Overlap(rouge_1=one, rouge_2=two, rouge_l=longest, bleu=bleu)


def cost_effectiveness(quality: Quality, seconds: float) -> float | None:
    """Combined quality by inference time (JURIS, section 4.3); None where no time was taken."""
    return quality.combined / seconds if seconds > 0 else None


def lead(text: str, count: int) -> str:
    """The first sentences of a text: the baseline that is hard to beat on news."""
    return " ".join(sentences(text)[:count])
