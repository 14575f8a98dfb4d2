"""Measures of a summary: ROUGE and BLEU against a reference, and what a judge's scores come to; and how well a sentence
is supported by a text, and by which of its sentences."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from courtroom.text.languages import is_unspaced
from courtroom.text.words import sentences, words

MAX_SUPPORTING_SENTENCES = 2
MIN_SUPPORTED_SHARE = 0.5


@dataclass(frozen=True)
class Grounding:
    share: float
    """Of the sentence's content words (numbers included), those found in the supporting sentences; 0 to 1."""
    spans: tuple[tuple[int, int], ...]
    """Where the supporting sentences stand in the text, the one that supports most first."""

    @property
    def supported(self) -> bool:
        return self.share >= MIN_SUPPORTED_SHARE


def grounding(sentence: str, text: str) -> Grounding:
    """Find how far at most two sentences of a text cover a sentence's content words, taken greedily.

    By words, not by meaning: a sentence in other words counts as less grounded than it is. A sentence without content
    words is fully grounded, as it claims nothing.
    """
    wanted = set(words(sentence))
    if not wanted:
        return Grounding(1.0, ())
    known = _sentences(text)
    left, spans = set(wanted), []
    for _ in range(MAX_SUPPORTING_SENTENCES):
        best = max(known, key=lambda one: len(left & one[2]), default=None)
        if best is None or not left & best[2]:
            break
        left -= best[2]
        spans.append(best[:2])
    return Grounding((len(wanted) - len(left)) / len(wanted), tuple(spans))


def where(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quotation stands in a text, white space and case apart; None where it doesn't."""
    line = quote.strip(" \n\t\"“”'‘’")
    if not line:
        return None
    found = re.search(r"\s+".join(map(re.escape, line.split())), text, re.IGNORECASE)
    return found.span() if found else None


@lru_cache(maxsize=32)
def _sentences(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    """Each sentence's place and words."""
    found, at = [], 0
    for sentence in sentences(text):
        start = text.index(sentence, at)
        at = start + len(sentence)
        found.append((start, at, frozenset(words(sentence))))
    return tuple(found)


_PIECE = re.compile(r"[\u3400-\u9fff]|[a-z0-9]+", re.IGNORECASE)
"""English words and single Chinese characters."""


QUALITY = ("faithfulness", "completeness", "conciseness")
"""A judge model's scores, 0 to 100 each. Their sum is the paper's combined quality score (JURIS, section 4.3)."""


def by_time(quality: float, seconds: float) -> float | None:
    """Divide a quality by the inference time (JURIS, section 4.3); None where no time was taken."""
    return quality / seconds if seconds > 0 else None


def overlap(summary: str, reference: str) -> dict[str, float]:
    """F1 of `rouge1`, `rouge2` and `rougeL` by `rouge_score` (English stemmed, Chinese by character), and sentence
    `bleu` by `sacrebleu`; all from 0 to 1."""
    from rouge_score.rouge_scorer import RougeScorer
    from sacrebleu import sentence_bleu

    chinese = is_unspaced(reference)
    kinds = ["rouge1", "rouge2", "rougeL"]
    pieces = SimpleNamespace(tokenize=lambda text: _PIECE.findall(text.lower()))
    scorer = RougeScorer(kinds, tokenizer=pieces) if chinese else RougeScorer(kinds, use_stemmer=True)
    rouge = scorer.score(reference, summary)
    bleu = sentence_bleu(summary, [reference], tokenize="zh" if chinese else "13a").score / 100
    return {**{kind: float(rouge[kind].fmeasure) for kind in kinds}, "bleu": bleu}


def lead(text: str, count: int) -> str:
    """The first sentences of a text: the baseline that is hard to beat on news."""
    return " ".join(sentences(text)[:count])


def faithfulness(categories: Sequence[str]) -> float | None:
    """Return the share of sentences without an error, by the category of error of each, or `no error`."""
    return _percent(sum(category == "no error" for category in categories), len(categories))


def completeness(lines: Sequence[Sequence[int]]) -> float | None:
    """The share of the key facts that can be inferred from the summary. `lines`: for each key fact, the numbers of the
    sentences from which it can be inferred."""
    return _percent(sum(bool(found) for found in lines), len(lines))


def conciseness(lines: Sequence[Sequence[int]], sentences: int) -> float | None:
    """The share of a summary's sentences from which a key fact can be inferred. `lines`: as in `completeness`, counted
    from 1. `sentences`: how many sentences the summary has."""
    return _percent(len({line for found in lines for line in found}), sentences)


def _percent(some: int, of: int) -> float | None:
    return round(100 * some / of, 2) if of else None


ENCODERS = {False: ("roberta-large", 17), True: ("bert-base-chinese", 8)}
"""The encoder and its layer by whether a reference is written without spaces, as the library chooses them by language
(Zhang et al. 2020, appendix B)."""


def why_not(references: Sequence[str]) -> str:
    """Why BERTScore can't be had for these references, in a sentence that says what to do; empty where it can."""
    if find_spec("bert_score") is None:
        return "BERTScore is left out: install its library with pip install 'courtroom[metrics]'."
    for unspaced in sorted(set(map(is_unspaced, references))):
        encoder, _ = ENCODERS[unspaced]
        if folder_of(encoder) is None:
            return (
                f"BERTScore is left out: its model {encoder} is not on this machine. "
                f"Fetch it with `hf download {encoder}`."
            )
    return ""


def bert_score(summary: str, reference: str) -> dict[str, float]:
    """Return `precision`, `recall` and `f1` of a summary's tokens against the reference's (BERTScore, Zhang et al.
    2020, Eq. 1 to 3), by cosines that are not rescaled, not weighted by rarity. Raises `LookupError`: see `why_not`."""
    if reason := why_not([reference]):
        raise LookupError(reason)
    names = ("precision", "recall", "f1")
    if not summary.strip() or not reference.strip():
        return dict.fromkeys(names, 0.0)
    found = _scorer(is_unspaced(reference)).score([summary], [reference])
    return {name: float(one[0]) for name, one in zip(names, found, strict=True)}


def folder_of(encoder: str) -> Path | None:
    """Where an encoder lies in the cache of huggingface_hub; None where it is not there whole."""
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(encoder, "config.json")
    weights = [try_to_load_from_cache(encoder, name) for name in ("model.safetensors", "pytorch_model.bin")]
    return Path(config).parent if isinstance(config, str) and any(isinstance(one, str) for one in weights) else None


@lru_cache(maxsize=2)
def _scorer(unspaced: bool) -> Any:
    """Loaded once, from its folder, so that nothing is asked of a server."""
    from bert_score import BERTScorer

    encoder, layer = ENCODERS[unspaced]
    return BERTScorer(model_type=str(folder_of(encoder)), num_layers=layer)
