"""Measures of judgments, choices and amounts (VERDICT, section 4.1.3; JurisAgents, section 4.1), and of summaries
(JURIS, sections 4.1 and 4.3), against the reference or by an assessor's scores."""

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.labelled import Document
from courtroom.datasets.forms.criminal import candidate_id
from courtroom.evaluation import lawbench
from courtroom.evaluation.summaries import QUALITY, bert_score, by_time, overlap, why_not
from courtroom.experiments.measures.measure import CaseResult, Each, Measure, mean, of, over_labels
from courtroom.experiments.outcome import Outcome
from courtroom.law import LAST_GENERAL, Judgment, Term, articles_compared, charges_compared, term_class


def hit_at(k: int, ranked: Sequence[str], relevance: Mapping[str, float]) -> float:
    """1 where a relevant record is among the first k, else 0."""
    return float(any(relevance.get(record, 0.0) >= 1.0 for record in ranked[:k]))


def ndcg_at(k: int, ranked: Sequence[str], relevance: Mapping[str, float]) -> float:
    """Discounted gain of the first k by the best that could be had (Järvelin and Kekäläinen 2002), gain = relevance; 0
    to 1. Records without a judgment count as not relevant; 0 where nothing is."""
    best = _gain(sorted(relevance.values(), reverse=True)[:k])
    return _gain([relevance.get(record, 0.0) for record in ranked[:k]]) / best if best else 0.0


def _gain(relevances: Sequence[float]) -> float:
    return sum(value / math.log2(place + 2) for place, value in enumerate(relevances))


VERDICT, JURISAGENTS = "VERDICT, section 4.1.3", "JurisAgents, section 4.1"
Side = Callable[[Gold | Judgment], frozenset[Hashable]]


def predicted(row: CaseResult) -> Judgment | None:
    """The judgment that an arm came to; None where it came to none."""
    judgment = row.outcome.details.get("judgment")
    try:
        return Judgment.model_validate(judgment) if isinstance(judgment, dict) else None
    except ValueError:  # a prediction made elsewhere need not be one
        return None


def _gold(row: CaseResult) -> Gold:
    assert isinstance(row.case, CriminalCase)
    return row.case.gold or Gold()


def _articles(one: Gold | Judgment) -> frozenset[Hashable]:
    return articles_compared(one.relevant_articles or ())


def _charges(one: Gold | Judgment) -> frozenset[Hashable]:
    return charges_compared((one.judgment() if isinstance(one, Gold) else one).charges)


def _class(one: Gold | Judgment) -> frozenset[Hashable]:
    term = one.term_of_imprisonment
    return frozenset() if term is None else frozenset({term_class(term)})


def _both(row: CaseResult, side: Side, field: str) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    """Predicted and real labels; a case whose record does not say is left out, and one whose record gave them beside
    the facts, so that nobody predicted them."""
    assert isinstance(row.case, CriminalCase)
    if getattr(row.case.given, field, ()) and row.outcome.details.get("given") is not False:
        return ()
    real, mine = side(_gold(row)), predicted(row)
    return ((side(mine) if mine else frozenset(), real),) if real else ()


def _exact(row: CaseResult, side: Side, field: str) -> float | None:
    pairs = _both(row, side, field)
    return float(pairs[0][0] == pairs[0][1]) if pairs else None


def _first_two(row: CaseResult, side: Side, field: str) -> float | None:
    """Hit@2: what was judged, the weightiest first, then what else came into question, where the procedure says so."""
    if not (pairs := _both(row, side, field)):
        return None
    labels = row.outcome.details.get("candidates") or row.outcome.details.get("judgment")
    ranked: Any = labels.get(field, []) if isinstance(labels, dict) else []
    if predicted(row) is None:
        return 0.0
    defining = [label for label in ranked if not isinstance(label, int) or label > LAST_GENERAL]
    first = side(Judgment.model_validate({field: (defining or list(ranked))[:2]}))
    return float(bool(first & pairs[0][1]))


def _by_gold(field: str, value: Callable[[CaseResult, Any], float | None]) -> Each:
    """Return a case's own value by what the reference has in a field; cases without it are left out."""
    return lambda row: None if (real := getattr(_gold(row), field)) is None else value(row, real)


def _log_distance(row: CaseResult, real: Term) -> float | None:
    return lawbench.term_score(_months(mine.term_of_imprisonment) if (mine := predicted(row)) else None, real)


def _months(term: Term) -> int | None:
    return None if term.death_penalty or term.life_imprisonment else term.imprisonment


def _amount(row: CaseResult, real: float) -> float:
    mine = row.outcome.details.get("amount")
    return float(isinstance(mine, int | float) and abs(mine - real) <= 0.005)


RIGHT_OPTION = _by_gold("choice", lambda row, real: float(row.outcome.details.get("choice") == real))


def _set(name: str, title: str, side: Side, field: str) -> tuple[Measure, ...]:
    both = partial(_both, side=side, field=field)
    first_two = partial(_first_two, side=side, field=field)
    hit = (mean(f"{name}_hit2", f"{title}: Hit@2", VERDICT, first_two),) if field else ()
    return (
        mean(f"{name}_accuracy", f"{title}: accuracy", VERDICT, partial(_exact, side=side, field=field), usual=True),
        over_labels(f"{name}_precision", f"{title}: macro precision", VERDICT, both, "macro precision"),
        over_labels(f"{name}_recall", f"{title}: macro recall", VERDICT, both, "macro recall"),
        over_labels(f"{name}_f1", f"{title}: macro F1", VERDICT, both, "macro F1", usual=True),
        *hit,
    )


LOG_DISTANCE = _by_gold("term_of_imprisonment", _log_distance)


def is_plain_text(row: CaseResult) -> bool:
    """Whether the answer is a text in which no judgment, choice or amount is named as such."""
    return row.outcome.raw is not None and not row.outcome.details and row.outcome.looked_up is None


def _only_texts(rows: Sequence[CaseResult]) -> str:
    if not rows or not all(map(is_plain_text, rows)):
        return ""
    return (
        "The answers are plain texts, which only LawBench's scorers read. For the other measures give each answer as a "
        "JSON object with a judgment (`charges`, `relevant_articles`, `term_of_imprisonment`), a `choice` or an "
        "`amount`."
    )


CRIMINAL = tuple(
    replace(measure, missing=_only_texts)
    for measure in (
        *_set("charge", "Charges", _charges, "charges"),
        *_set("article", "Articles", _articles, "relevant_articles"),
        *_set("term", "Term", _class, ""),
        mean("log_distance", "Term: normalised log distance", JURISAGENTS, LOG_DISTANCE, usual=True, bounds=None),
        mean("choice", "Right option", JURISAGENTS, RIGHT_OPTION),
        mean("amount", "Right amount", JURISAGENTS, _by_gold("amount", _amount)),
    )
)

LAWBENCH_SCORERS = "LawBench (Fei et al. 2023), its published scorers"


def _written(row: CaseResult, task: str) -> str:
    """The answer as LawBench's scorers read it: raw, or a procedure's in their form."""
    if row.outcome.raw is not None:
        return row.outcome.raw
    judgment, details = predicted(row), row.outcome.details
    if task == "3-6":
        return str(details.get("choice", ""))
    if task == "3-7":
        return f"{details['amount']}元" if "amount" in details else ""
    if judgment is None:
        return ""
    if task == "3-1":
        return "、".join(f"刑法第{number}条" for number in judgment.relevant_articles)
    if task == "3-3":
        return ";".join(judgment.charges)
    months = _months(judgment.term_of_imprisonment)
    return "" if months is None else f"{months}个月"


def _by_scorer(scorer: Callable[[str, str, CriminalCase], float | None], only: str = "") -> Each:
    """Return a case's own value by one of LawBench's scorers; of its other tasks, where one is named, none."""

    def each(row: CaseResult) -> float | None:
        assert isinstance(row.case, CriminalCase)
        task = lawbench.task_of(row.case, row.category)
        found = scorer(task, _written(row, task), row.case) if task and only in ("", task) else None
        return None if found is None else float(found)

    return each


def _entirely(task: str, answer: str, case: CriminalCase) -> float | None:
    return None if (score := lawbench.score(task, answer, case)) is None else float(score == 1.0)


TABLE_5 = "JurisAgents, figure 3 and table 5, by LawBench's published scorers"
LAWBENCH: tuple[Measure, ...] = (
    mean("lawbench_articles", "Law articles (3-1): mean F1", TABLE_5, _by_scorer(lawbench.score, "3-1")),
    mean("lawbench_charges", "Charges (3-3): mean F1", TABLE_5, _by_scorer(lawbench.score, "3-3")),
    mean(
        "lawbench_term", "Term (3-4): normalised log distance", TABLE_5, _by_scorer(lawbench.score, "3-4"), bounds=None
    ),
    mean("lawbench_choice", "Case analysis (3-6): accuracy", TABLE_5, _by_scorer(lawbench.score, "3-6")),
    mean("lawbench_amount", "Crime amount (3-7): accuracy", TABLE_5, _by_scorer(lawbench.score, "3-7")),
    mean("lawbench", "LawBench score", LAWBENCH_SCORERS, _by_scorer(lawbench.score), bounds=None),
    mean("entirely_right", "Entirely right", "Score of 1 by LawBench's published scorers", _by_scorer(_entirely)),
    mean("abstention", "Abstention rate", LAWBENCH_SCORERS, _by_scorer(lawbench.abstains), better="lower"),
)

HIT = "Share of cases with a relevant one among the first k"
NDCG = "Järvelin and Kekäläinen 2002, as LeCaRD (Ma et al. 2021) reports it"
HITS, GAINS = (1, 5, 10), (5, 10, 30)
"""How far down a ranking is read."""


def judged(row: CaseResult) -> tuple[Sequence[str], Mapping[str, float]] | None:
    """The ranking, by ids of the dataset's rows, and each row's grade; None where either is not known. Rankings made
    elsewhere may name a candidate as its own dataset does. A grade below 0 counts as not relevant, as trec_eval has it.
    A case that is named again counts where it stands first."""
    if row.outcome.looked_up is None or not row.relevance:
        return None
    known = row.relevance.keys()
    ranked = [name if name in known else other if (other := candidate_id(name)) in known else name
              for name in row.outcome.looked_up]  # fmt: skip
    return list(dict.fromkeys(ranked)), {name: max(0.0, float(grade)) for name, grade in row.relevance.items()}


def _at(measure: Callable[[int, Sequence[str], Mapping[str, float]], float], k: int) -> Each:
    return lambda row: measure(k, *found) if (found := judged(row)) else None


RETRIEVAL: tuple[Measure, ...] = (
    *(mean(f"hit_{k}", f"Retrieval: hit@{k}", HIT, _at(hit_at, k)) for k in HITS),
    *(mean(f"ndcg_{k}", f"Retrieval: nDCG@{k}", NDCG, _at(ndcg_at, k)) for k in GAINS),
)


WAYS = {"": "fine_grained", "holistic_": "assessment"}
"""What the names of measures begin with, and the details of the verdict with their scores."""
PAPER, COMBINED = "JURIS, section 4.1, table 1", "JURIS, section 4.3, figure 4"
BERTSCORE = "Zhang et al. 2020, Eq. 1 to 3"
_overlap = lru_cache(maxsize=20_000)(overlap)
_semantic = lru_cache(maxsize=20_000)(bert_score)


def _against(field: str, compare: Callable[[str, str], Mapping[str, float]] = _overlap) -> Each:
    """Return what a summary shares with the reference, where there is one."""

    def value(case: Document, made: Outcome) -> float | None:
        summary = made.details.get("summary")
        if not case.reference:
            return None
        return compare(summary, case.reference)[field] if isinstance(summary, str) else 0.0

    return of(Document, value)


def _why_not(rows: Sequence[CaseResult]) -> str:
    return why_not([row.case.reference for row in rows if isinstance(row.case, Document)])


def _scores(row: CaseResult, way: str) -> dict[str, float]:
    """The dimensions that the assessor scored this way."""
    given = row.outcome.details.get(WAYS[way])
    scores = given if isinstance(given, dict) else {}
    return {name: value for name in QUALITY if isinstance(value := scores.get(name), float | int)}


def _combined(row: CaseResult, way: str) -> float | None:
    scores = _scores(row, way)
    return float(sum(scores.values())) if len(scores) == len(QUALITY) else None


def _effectiveness(row: CaseResult) -> float | None:
    """Combined quality by the time of all calls but the assessor's, one after the other."""
    quality = _combined(row, "")
    return None if quality is None else by_time(quality, row.outcome.latency_s - row.outcome.assessed_s)


def _by_assessor(way: str) -> tuple[Measure, ...]:
    def dimension(name: str) -> Measure:
        title = (way + name).replace("_", " ").capitalize()
        return mean(way + name, title, PAPER, lambda row: _scores(row, way).get(name), percent=False, bounds=(0, 100))

    title = f"{way}judged quality".replace("_", " ").capitalize()
    combined = partial(_combined, way=way)
    whole = mean(f"{way}quality", title, COMBINED, combined, percent=False, bounds=(0, 300))
    return *map(dimension, QUALITY), whole


DOCUMENTS: tuple[Measure, ...] = (
    mean("rouge1", "ROUGE-1", PAPER, _against("rouge1"), usual=True),
    mean("rouge2", "ROUGE-2", PAPER, _against("rouge2"), usual=True),
    mean("rougeL", "ROUGE-L", PAPER, _against("rougeL"), usual=True),
    mean("bleu", "BLEU", PAPER, _against("bleu"), usual=True),
    mean("bertscore", "BERTScore F1", BERTSCORE, _against("f1", _semantic), missing=_why_not),
    mean("bertscore_precision", "BERTScore precision", BERTSCORE, _against("precision", _semantic), missing=_why_not),
    mean("bertscore_recall", "BERTScore recall", BERTSCORE, _against("recall", _semantic), missing=_why_not),
    *_by_assessor(""),
    mean("cost_effectiveness", "Quality a second", COMBINED, _effectiveness, percent=False, bounds=None),
    *_by_assessor("holistic_"),
)
