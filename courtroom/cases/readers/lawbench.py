"""LawBench's lines `instruction`, `question`, `answer` of the tasks 3-1, 3-3, 3-4, 3-5, 3-6 and 3-7.

The task is recognised from the answer's prefix. What a question gives beside the facts (3-1: the charges; 3-4: charges and articles;
3-5: the text of the articles too) is taken off them and kept as given. It is known to be right, so it is gold as well.
"""

import html
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from courtroom.cases.readers.cail import articles, charges, criminal, term
from courtroom.errors import CaseError

_GIVEN_CHARGE = re.compile(r"\s*罪名[:：](?P<charges>[^\n。]*)[。.]?\s*$")
_GIVEN_ARTICLE = re.compile(
    r"[。\s]*法条[:：](?P<articles>[^。\n]*)(?:。?\s*法条内容[:：](?P<text>.*))?[。.]?\s*$", re.DOTALL
)
_SIGN, _END = r"\s*[:：、.．]", r"[;；。\s]*(?<![A-Za-z])"
# The question before takes all it can: it may itself list parties as A、B、C.
_OPTIONS = re.compile(
    rf"(.*)(?<![A-Za-z])A{_SIGN}(.*?){_END}B{_SIGN}(.*?){_END}C{_SIGN}(.*?){_END}D{_SIGN}(.*)", re.DOTALL
)
_TERM = re.compile(
    r"(?P<life>无期(?:徒刑)?)|(?P<death>死刑(?:[，,]?缓期.*)?)"
    r"|(?:有期徒刑|拘役)?(?=\d)(?:(?P<years>\d+)年)?(?:(?P<months>\d+)(?:个?月)?)?"
)
_YUAN = re.compile(r"(?:人民币)?\s*(\d+(?:\.\d+)?)\s*(万|亿)?\s*元?")
_TIMES = {"": 1, "万": 10_000, "亿": 100_000_000}


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record is meant to be of this form."""
    return {"instruction", "question", "answer"} <= row.keys() and "kind" not in row


def convert(row: dict[str, Any]) -> dict[str, Any]:
    """A criminal case, or a legal question, as plain data. Raises `CaseError`: the record is of no task that is read here, or its
    answer can't be read with certainty."""
    question, answer = row["question"], row["answer"]
    if not isinstance(question, str) or not isinstance(answer, str):
        raise CaseError("`question` and `answer` must be texts.")
    for prefix, read in READERS.items():
        if answer.strip().startswith(prefix):
            return read(question.strip(), re.split(r"[:：]", answer, maxsplit=1)[-1].strip(" \r\n\t。"))
    raise CaseError("the answer's beginning is of no task that is read here (3-1, 3-3, 3-4, 3-5, 3-6, 3-7).")


def _articles(question: str, answer: str) -> dict[str, Any]:
    facts, given = _given(question)
    gold = _labels(given) | {"relevant_articles": _known(articles(answer), "article")}
    return criminal(facts, source="LawBench 3-1", given=given, **gold)


def _charges(question: str, answer: str) -> dict[str, Any]:
    facts, _ = _given(question)
    return criminal(facts, source="LawBench 3-3", charges=_known(charges(answer), "charge"))


def _term(question: str, answer: str) -> dict[str, Any]:
    facts, given = _given(question)
    source = f"LawBench {'3-5' if 'article_text' in given else '3-4'}"
    return criminal(facts, source=source, given=given, term_of_imprisonment=_months(answer), **_labels(given))


def _labels(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "article_text"}


def _choice(question: str, answer: str) -> dict[str, Any]:
    found, letters = _OPTIONS.fullmatch(question), re.findall(r"[A-D]", answer)
    if found is None or len(letters) != 1:
        raise CaseError("a case analysis needs options A to D and one letter as its answer.")
    facts, *options = found.groups()
    case = criminal(facts, source="LawBench 3-6", choice=letters[0])
    return case | {"asked": "case_analysis", "options": [option.strip(" ;；。\r\n") for option in options]}


def _amount(question: str, answer: str) -> dict[str, Any]:
    found = _YUAN.fullmatch(answer.replace(",", "").replace("，", ""))
    if found is None:
        raise CaseError(f"the answer “{answer[:40]}” is no amount in yuan.")
    facts = re.sub(r"^文书[:：]\s*", "", html.unescape(question))
    amount = float(Decimal(found[1]) * _TIMES[found[2] or ""])
    return criminal(facts, source="LawBench 3-7", amount=amount) | {"asked": "crime_amount"}


READERS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "法条": _articles,
    "罪名": _charges,
    "刑期": _term,
    "正确答案": _choice,
    "上文涉及到的犯罪金额": _amount,
}


def _given(question: str) -> tuple[str, dict[str, Any]]:
    """The facts, and what the question gives beside them."""
    facts = re.sub(r"^事实[:：]\s*", "", question)
    given: dict[str, Any] = {}
    if found := _GIVEN_ARTICLE.search(facts):
        given["relevant_articles"] = articles(found["articles"])
        if text := (found["text"] or "").strip():
            given["article_text"] = text
        facts = facts[: found.start()]
    if found := _GIVEN_CHARGE.search(facts):
        given["charges"] = charges(found["charges"])
        facts = facts[: found.start()]
    return facts, given


def _known(labels: list[Any] | None, what: str) -> list[Any]:
    if labels is None:
        raise CaseError(f"the answer names no {what}.")
    return labels


def _months(text: str) -> dict[str, Any] | None:
    found = _TERM.fullmatch(text)
    if found is None:
        raise CaseError(f"the answer “{text[:40]}” is no term.")
    months = 12 * int(found["years"] or 0) + int(found["months"] or 0)
    return term(
        {"death_penalty": bool(found["death"]), "life_imprisonment": bool(found["life"]), "imprisonment": months}
    )
