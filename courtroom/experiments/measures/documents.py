"""Measures of summaries (JURIS, section 4.3), against the reference or by the judge's scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from courtroom.cases.document import Document
from courtroom.evaluation import semantic
from courtroom.evaluation.summaries import Overlap, Quality, cost_effectiveness, overlap
from courtroom.experiments.measures.measure import Measure, Scored, mean

PAPER, BERTSCORE = "JURIS, section 4.3", "Zhang et al. 2020, Eq. 1 to 3"


@lru_cache(maxsize=20_000)
def _overlap(summary: str, reference: str) -> Overlap:
    return overlap(summary, reference)


def _against(field: str) -> Callable[[Scored], float | None]:
    def value(row: Scored) -> float | None:
        assert isinstance(row.case, Document)
        summary = row.outcome.details.get("summary")
        if not row.case.reference:
            return None
        return float(getattr(_overlap(summary, row.case.reference), field)) if isinstance(summary, str) else 0.0

    return value


@lru_cache(maxsize=20_000)
def _semantic(summary: str, reference: str) -> semantic.Semantic:
    return semantic.bert_score(summary, reference)


def _alike(field: str) -> Callable[[Scored], float | None]:
    def value(row: Scored) -> float | None:
        assert isinstance(row.case, Document)
        summary = row.outcome.details.get("summary")
        if not row.case.reference:
            return None
        return float(getattr(_semantic(summary, row.case.reference), field)) if isinstance(summary, str) else 0.0

    return value


def _why_not(rows: Sequence[Scored]) -> str:
    return semantic.why_not([row.case.reference for row in rows if isinstance(row.case, Document)])


def quality(row: Scored) -> Quality | None:
    """The judge's scores, where it gave any."""
    given = row.outcome.details.get("assessment")
    return Quality.model_validate(given) if isinstance(given, dict) else None


def _quality(row: Scored) -> float | None:
    found = quality(row)
    return found.combined if found else None


def _dimension(name: str) -> Callable[[Scored], float | None]:
    def score(row: Scored) -> float | None:
        found = quality(row)
        return float(getattr(found, name)) if found else None

    return score


def _effectiveness(row: Scored) -> float | None:
    found = quality(row)
    return cost_effectiveness(found, row.outcome.wall_s) if found else None


DOCUMENTS: tuple[Measure, ...] = (
    mean("rouge1", "ROUGE-1", PAPER, _against("rouge_1"), usual=True),
    mean("rouge2", "ROUGE-2", PAPER, _against("rouge_2"), usual=True),
    mean("rougeL", "ROUGE-L", PAPER, _against("rouge_l"), usual=True),
    mean("bleu", "BLEU", PAPER, _against("bleu"), usual=True),
    mean("bertscore", "BERTScore F1", BERTSCORE, _alike("f1"), missing=_why_not),
    mean("bertscore_precision", "BERTScore precision", BERTSCORE, _alike("precision"), missing=_why_not),
    mean("bertscore_recall", "BERTScore recall", BERTSCORE, _alike("recall"), missing=_why_not),
    *(mean(name, name.capitalize(), PAPER, _dimension(name), percent=False) for name in Quality.model_fields),
    mean("quality", "Judged quality", PAPER, _quality, percent=False),
    mean("cost_effectiveness", "Quality a second", PAPER, _effectiveness, percent=False),
)
