"""LawBench's scores of raw answers, case by case (Fei et al. 2023, LawBench; its published scorers of tasks 3-1 to
3-7).

Each function takes the answer as a model wrote it and what is right, and gives its score; the task's score is the mean
over its cases. `None` for a predicted value means that the answer names none: an abstention.
"""

import math
import re
import warnings
from collections.abc import Callable, Collection
from functools import cache, lru_cache
from pathlib import Path

from courtroom.cases.criminal import LETTERS, CriminalCase
from courtroom.law import Term

TASKS = ("3-1", "3-3", "3-4", "3-5", "3-6", "3-7")
FARTHEST = math.log(216)
"""The distance of a case without a prediction, and what distances are divided by."""
MAX_REMEMBERED_ANSWERS = 20_000
_PARAGRAPH, _ARTICLE = re.compile("第(.*?)款"), re.compile("第(.*?)条")
_AMOUNT = re.compile(r"\d+\.?\d*")


def task_of(case: CriminalCase, category: str = "") -> str | None:
    """Return the task of a case: its category where that names one, else what is asked and known of it."""
    if category in TASKS:
        return category
    if not case.source.startswith("LawBench") or case.gold is None:
        return None
    if case.asked != "judgment":
        return "3-6" if case.asked == "case_analysis" else "3-7"
    if case.gold.term_of_imprisonment is not None:
        return "3-4"
    return "3-1" if case.gold.relevant_articles else "3-3"


def score(task: str, answer: str, case: CriminalCase) -> float | None:
    """A raw answer's score: F1, normalised log distance (which may fall below 0), or 1 and 0; None where the task
    leaves the case out. Raises `ValueError`: what is right is not known of this case, or the task is unknown."""
    gold = case.gold
    if task == "3-1" and gold and gold.relevant_articles:
        return f1(articles_named(answer), set(gold.relevant_articles))
    if task == "3-3" and gold and gold.charges:
        return f1(charges_named(answer), set(gold.charges))
    if task in ("3-4", "3-5") and gold and gold.term_of_imprisonment is not None:
        return term_score(months_named(answer), gold.term_of_imprisonment)
    if task == "3-6" and gold and gold.choice is not None:
        return float(options_named(answer) == {gold.choice})
    if task == "3-7" and gold and gold.amount is not None:
        return float(gold.amount in amounts_named(answer))
    raise ValueError(f"{case.id} has nothing that task {task} could be scored by")


def abstains(task: str, answer: str, case: CriminalCase) -> bool:
    """Whether an answer names nothing that the task asks for. A case that is left out counts as answered."""
    if task in ("3-4", "3-5"):
        left_out = case.gold is not None and _for_life_or_death(case.gold.term_of_imprisonment)
        return months_named(answer) is None and not left_out
    named: dict[str, Callable[[str], Collection[object]]] = {
        "3-1": articles_named,
        "3-3": charges_named,
        "3-6": options_named,
        "3-7": amounts_named,
    }
    return not named[task](answer)


def f1(predicted: Collection[object], gold: Collection[object]) -> float:
    """F1 of two sets, 0 to 1; 0 where they share nothing."""
    shared = len(set(predicted) & set(gold))
    return 2 * shared / (len(set(predicted)) + len(set(gold))) if shared else 0.0


def term_score(months: int | None, gold: Term) -> float | None:
    """Return 1 - |ln(gold + 1) - ln(predicted + 1)| / ln 216; 0 without a prediction, None for life or death."""
    if _for_life_or_death(gold):
        return None
    distance = FARTHEST if months is None else abs(math.log(gold.imprisonment + 1) - math.log(months + 1))
    return (FARTHEST - distance) / FARTHEST


@lru_cache(maxsize=MAX_REMEMBERED_ANSWERS)
def articles_named(answer: str) -> frozenset[int]:
    """The first number of each part between enumeration commas, paragraphs (款) left out."""
    found = set()
    for part in answer.split("、"):
        plain = _ARTICLE.sub(r"\1", _PARAGRAPH.sub("", part.replace("万元", "元")))
        if digits := re.search(r"\d+", _in_digits(plain)):
            found.add(int(digits[0]))
    return frozenset(found)


@lru_cache(maxsize=MAX_REMEMBERED_ANSWERS)
def charges_named(answer: str) -> frozenset[str]:
    """Which of the charges of CAIL's smaller set occur in the answer, also as part of a longer name."""
    return frozenset(charge for charge in charges() if charge in answer)


@lru_cache(maxsize=MAX_REMEMBERED_ANSWERS)
def months_named(answer: str) -> int | None:
    """The first number before 个月, else before 月, else the first before 年 in years; None where there is none."""
    plain = _in_digits(answer)
    for pattern, months in ((r"(\d+)个月", 1), (r"(\d+)月", 1), (r"(\d+)年", 12)):
        if found := re.search(pattern, plain):
            return int(found[1]) * months
    return None


def options_named(answer: str) -> set[str]:
    """The letters A to D that occur in the answer, wherever they stand."""
    return {letter for letter in LETTERS if letter in answer}


def amounts_named(answer: str) -> set[float]:
    return {float(number) for number in _AMOUNT.findall(answer)}


@cache
def charges() -> tuple[str, ...]:
    """The names of charges that LawBench looks for in an answer to task 3-3."""
    return tuple(Path(__file__).with_name("lawbench_charges.txt").read_text(encoding="utf-8").split())


def _in_digits(text: str) -> str:
    """Chinese numerals as digits, as LawBench's scorers have them written."""
    import cn2an  # only where raw answers are scored

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it warns of every numeral that it leaves as it is
        return str(cn2an.transform(text, "cn2an"))


def _for_life_or_death(term: Term | None) -> bool:
    return term is not None and (term.death_penalty or term.life_imprisonment)
