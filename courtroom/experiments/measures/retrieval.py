"""Measures of case retrieval: what a run looked up, or a ranking made elsewhere, against judgments of relevance (qrels).

A case whose dataset has no judgments for it is left out, and so is a run that looked no cases up.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from courtroom.datasets.forms.retrieval import candidate_id
from courtroom.evaluation.retrieval import hit_at, ndcg_at
from courtroom.experiments.measures.measure import Measure, Scored, mean

HIT, NDCG = (
    "Share of cases with a relevant one among the first k",
    "Järvelin and Kekäläinen 2002, as LeCaRD (Ma et al. 2021) reports it",
)
HITS, GAINS = (1, 5, 10), (5, 10, 30)
"""How far down a ranking is read."""


def judged(row: Scored) -> tuple[Sequence[str], Mapping[str, float]] | None:
    """The ranking, by ids of the dataset's rows, and each row's grade; None where either is not known.

    Rankings made elsewhere may name a candidate as its own dataset does. A grade below 0 counts as not relevant, as trec_eval
    has it. A case that is named again counts where it stands first.
    """
    if row.outcome.looked_up is None or not row.relevance:
        return None
    known = row.relevance.keys()
    ranked = [name if name in known else other if (other := candidate_id(name)) in known else name
              for name in row.outcome.looked_up]  # fmt: skip
    return list(dict.fromkeys(ranked)), {name: max(0.0, float(grade)) for name, grade in row.relevance.items()}


def _at(
    measure: Callable[[int, Sequence[str], Mapping[str, float]], float], k: int
) -> Callable[[Scored], float | None]:
    def value(row: Scored) -> float | None:
        found = judged(row)
        return measure(k, *found) if found else None

    return value


RETRIEVAL: tuple[Measure, ...] = (
    *(mean(f"hit_{k}", f"Retrieval: hit@{k}", HIT, _at(hit_at, k)) for k in HITS),
    *(mean(f"ndcg_{k}", f"Retrieval: nDCG@{k}", NDCG, _at(ndcg_at, k)) for k in GAINS),
)
