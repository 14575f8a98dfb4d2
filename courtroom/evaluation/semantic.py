"""BERTScore of a summary by its own library, which comes with the extra `metrics`; its encoders are never downloaded from here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from courtroom.strict import Strict
from courtroom.text.words import is_chinese

Language = Literal["en", "zh"]
ENCODERS: dict[Language, tuple[str, int]] = {"en": ("roberta-large", 17), "zh": ("bert-base-chinese", 8)}
"""The encoder and its layer by language, as the library chooses them (Zhang et al. 2020, appendix B)."""
WEIGHTS = ("model.safetensors", "pytorch_model.bin")


class Semantic(Strict):
    """Precision, recall and F1 of a summary's tokens against the reference's, by the cosines of their vectors; not rescaled."""

    precision: float
    recall: float
    f1: float


def language_of(reference: str) -> Language:
    """By which encoder a reference is read."""
    return "zh" if is_chinese(reference) else "en"


def why_not(references: Sequence[str]) -> str:
    """Why BERTScore can't be had for these references, in a sentence that says what to do; empty where it can."""
    if find_spec("bert_score") is None:
        return "BERTScore is left out: install its library with pip install 'courtroom[metrics]'."
    for language in sorted({language_of(reference) for reference in references}):
        encoder, _ = ENCODERS[language]
        if folder_of(encoder) is None:
            return f"BERTScore is left out: its model {encoder} is not on this machine. Fetch it with `hf download {encoder}`."
    return ""


def bert_score(summary: str, reference: str) -> Semantic:
    """BERTScore (Zhang et al. 2020, Eq. 1 to 3), without weights by rarity; 0 for an empty text.

    Raises:
        LookupError: `why_not` has a reason.
    """
    if reason := why_not([reference]):
        raise LookupError(reason)
    if not summary.strip() or not reference.strip():
        return Semantic(precision=0.0, recall=0.0, f1=0.0)
    found = _scorer(language_of(reference)).score([summary], [reference])
    precision, recall, f1 = (float(one[0]) for one in found)
    return Semantic(precision=precision, recall=recall, f1=f1)


def folder_of(encoder: str) -> Path | None:
    """Where an encoder lies in the cache of huggingface_hub; None where it is not there whole."""
    from huggingface_hub import try_to_load_from_cache

    config = try_to_load_from_cache(encoder, "config.json")
    weights = [try_to_load_from_cache(encoder, name) for name in WEIGHTS]
    return Path(config).parent if isinstance(config, str) and any(isinstance(one, str) for one in weights) else None


@lru_cache(maxsize=2)
def _scorer(language: Language) -> Any:
    """Loaded once, from its folder, so that nothing is asked of a server."""
    from bert_score import BERTScorer

    encoder, layer = ENCODERS[language]
    return BERTScorer(model_type=str(folder_of(encoder)), num_layers=layer)
