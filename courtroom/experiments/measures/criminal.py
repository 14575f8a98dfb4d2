"""Measures of judgments, choices and amounts (VERDICT, section 4.1.3; JurisAgents, section 4.1)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.evaluation.lawbench import term_score
from courtroom.evaluation.terms import term_class
from courtroom.experiments.measures.measure import Measure, Scored, mean, over_labels
from courtroom.law.judgment import Judgment, Term

VERDICT, JURISAGENTS = "VERDICT, section 4.1.3", "JurisAgents, section 4.1"
Side = Callable[[Gold | Judgment], frozenset[Hashable]]


def predicted(row: Scored) -> Judgment | None:
    """The judgment that an arm came to; None where it came to none."""
    found = row.outcome.details.get("judgment")
    try:
        return Judgment.model_validate(found) if isinstance(found, dict) else None
    except ValueError:  # a prediction made elsewhere need not be one
        return None


def _gold(row: Scored) -> Gold:
    assert isinstance(row.case, CriminalCase)
    return row.case.gold or Gold()


def _articles(one: Gold | Judgment) -> frozenset[Hashable]:
    return frozenset(one.relevant_articles or ())


def _charges(one: Gold | Judgment) -> frozenset[Hashable]:
    return frozenset((one.judgment() if isinstance(one, Gold) else one).charges)


def _class(one: Gold | Judgment) -> frozenset[Hashable]:
    term = one.term_of_imprisonment
    return frozenset() if term is None else frozenset({term_class(term)})


def _both(side: Side) -> Callable[[Scored], Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]]:
    """Predicted and real labels; a case whose record does not say is left out."""

    def labels(row: Scored) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
        real, mine = side(_gold(row)), predicted(row)
        return ((side(mine) if mine else frozenset(), real),) if real else ()

    return labels


def _exact(side: Side) -> Callable[[Scored], float | None]:
    def right(row: Scored) -> float | None:
        pairs = _both(side)(row)
        return float(pairs[0][0] == pairs[0][1]) if pairs else None

    return right


def _first_two(side: Side, field: str) -> Callable[[Scored], float | None]:
    """Hit@2: the judgment's own order counts, the weightiest first."""

    def hit(row: Scored) -> float | None:
        real = side(_gold(row))
        if not real:
            return None
        judgment = row.outcome.details.get("judgment")
        ranked: Any = judgment.get(field, []) if isinstance(judgment, dict) else []
        if predicted(row) is None:
            return 0.0
        first = side(Judgment.model_validate({field: list(ranked)[:2]}))
        return float(bool(first & real))

    return hit


def _log_distance(row: Scored) -> float | None:
    term = _gold(row).term_of_imprisonment
    if term is None:
        return None
    mine = predicted(row)
    return term_score(_months(mine.term_of_imprisonment) if mine else None, term)


def _months(term: Term) -> int | None:
    return None if term.death_penalty or term.life_imprisonment else term.imprisonment


def _choice(row: Scored) -> float | None:
    real = _gold(row).choice
    return None if real is None else float(row.outcome.details.get("choice") == real)


def _amount(row: Scored) -> float | None:
    real, mine = _gold(row).amount, row.outcome.details.get("amount")
    if real is None:
        return None
    return float(isinstance(mine, int | float) and abs(mine - real) <= 0.005)


def _set(name: str, title: str, side: Side, field: str) -> tuple[Measure, ...]:
    both = _both(side)
    hit = (mean(f"{name}_hit2", f"{title}: Hit@2", VERDICT, _first_two(side, field)),) if field else ()
    return (
        mean(f"{name}_accuracy", f"{title}: accuracy", VERDICT, _exact(side), usual=True),
        over_labels(f"{name}_precision", f"{title}: macro precision", VERDICT, both, "macro precision"),
        over_labels(f"{name}_recall", f"{title}: macro recall", VERDICT, both, "macro recall"),
        over_labels(f"{name}_f1", f"{title}: macro F1", VERDICT, both, "macro F1", usual=True),
        *hit,
    )


CRIMINAL: tuple[Measure, ...] = (
    *_set("charge", "Charges", _charges, "charges"),
    *_set("article", "Articles", _articles, "relevant_articles"),
    *_set("term", "Term", _class, ""),
    mean("log_distance", "Term: normalised log distance", JURISAGENTS, _log_distance, usual=True),
    mean("choice", "Right option", JURISAGENTS, _choice),
    mean("amount", "Right amount", JURISAGENTS, _amount),
)
