"""LawBench's own scores, of raw answers as models gave them and of judgments as procedures come to them."""

from __future__ import annotations

from courtroom.cases.criminal import CriminalCase
from courtroom.evaluation import lawbench
from courtroom.experiments.measures.criminal import predicted
from courtroom.experiments.measures.measure import Measure, Scored, mean

SOURCE = "LawBench (Fei et al. 2023), its published scorers"


def _written(row: Scored, task: str) -> str:
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
    term = judgment.term_of_imprisonment
    return "" if term.death_penalty or term.life_imprisonment else f"{term.imprisonment}个月"


def _score(row: Scored) -> float | None:
    assert isinstance(row.case, CriminalCase)
    task = lawbench.task_of(row.case, row.category)
    return lawbench.score(task, _written(row, task), row.case) if task else None


def _entirely(row: Scored) -> float | None:
    found = _score(row)
    return None if found is None else float(found == 1.0)


def _abstains(row: Scored) -> float | None:
    assert isinstance(row.case, CriminalCase)
    task = lawbench.task_of(row.case, row.category)
    return float(lawbench.abstains(task, _written(row, task), row.case)) if task else None


LAWBENCH: tuple[Measure, ...] = (
    mean("lawbench", "LawBench score", SOURCE, _score),
    mean("entirely_right", "Entirely right", "Score of 1 by LawBench's published scorers", _entirely),
    mean("abstention", "Abstention rate", SOURCE, _abstains, better="lower"),
)
