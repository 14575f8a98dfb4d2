"""Measures of summaries (JURIS, sections 4.1 and 4.3), against the reference or by an assessor's scores."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from courtroom.cases.labelled import Document
from courtroom.evaluation.summaries import Overlap, Quality, Semantic, bert_score, cost_effectiveness, overlap, why_not
from courtroom.experiments.measures.measure import Measure, Scored, mean

WAYS = {"": "fine_grained", "holistic_": "assessment"}
"""What the names of measures begin with, and the details of the verdict with their scores."""
PAPER, COMBINED, BERTSCORE = (
    "JURIS, section 4.1, table 1",
    "JURIS, section 4.3, figure 4",
    "Zhang et al. 2020, Eq. 1 to 3",
)


@lru_cache(maxsize=20_000)
def _overlap(summary: str, reference: str) -> Overlap:
    return overlap(summary, reference)


@lru_cache(maxsize=20_000)
def _semantic(summary: str, reference: str) -> Semantic:
    return bert_score(summary, reference)


def _against(
    field: str, compare: Callable[[str, str], Overlap | Semantic] = _overlap
) -> Callable[[Scored], float | None]:
    def value(row: Scored) -> float | None:
        assert isinstance(row.case, Document)
        summary = row.outcome.details.get("summary")
        if not row.case.reference:
            return None
        return float(getattr(compare(summary, row.case.reference), field)) if isinstance(summary, str) else 0.0

    return value


def _why_not(rows: Sequence[Scored]) -> str:
    return why_not([row.case.reference for row in rows if isinstance(row.case, Document)])


def _scores(row: Scored, way: str) -> dict[str, float]:
    """The dimensions that the assessor scored this way."""
    given = row.outcome.details.get(WAYS[way])
    scores = given if isinstance(given, dict) else {}
    return {name: value for name in Quality.model_fields if isinstance(value := scores.get(name), float | int)}


def _quality(row: Scored, way: str) -> Quality | None:
    scores = _scores(row, way)
    return Quality(**scores) if len(scores) == len(Quality.model_fields) else None


def _effectiveness(row: Scored) -> float | None:
    """Combined quality by the time of all calls but the assessor's, one after the other."""
    quality = _quality(row, "")
    return cost_effectiveness(quality, row.outcome.latency_s - row.outcome.assessed_s) if quality else None


def _by_assessor(way: str) -> tuple[Measure, ...]:
    def dimension(name: str) -> Measure:
        title = (way + name).replace("_", " ").capitalize()
        return mean(
            *(way + name, title, PAPER, lambda row: _scores(row, way).get(name)), percent=False, bounds=(0.0, 100.0)
        )

    def combined(row: Scored) -> float | None:
        return quality.combined if (quality := _quality(row, way)) else None

    title = f"{way}judged quality".replace("_", " ").capitalize()
    whole = mean(f"{way}quality", title, COMBINED, combined, percent=False, bounds=(0.0, 300.0))
    return *map(dimension, Quality.model_fields), whole


DOCUMENTS: tuple[Measure, ...] = (
    mean("rouge1", "ROUGE-1", PAPER, _against("rouge_1"), usual=True),
    mean("rouge2", "ROUGE-2", PAPER, _against("rouge_2"), usual=True),
    mean("rougeL", "ROUGE-L", PAPER, _against("rouge_l"), usual=True),
    mean("bleu", "BLEU", PAPER, _against("bleu"), usual=True),
    mean("bertscore", "BERTScore F1", BERTSCORE, _against("f1", _semantic), missing=_why_not),
    mean("bertscore_precision", "BERTScore precision", BERTSCORE, _against("precision", _semantic), missing=_why_not),
    mean("bertscore_recall", "BERTScore recall", BERTSCORE, _against("recall", _semantic), missing=_why_not),
    *_by_assessor(""),
    mean("cost_effectiveness", "Quality a second", COMBINED, _effectiveness, percent=False, bounds=None),
    *_by_assessor("holistic_"),
)
