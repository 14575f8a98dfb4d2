"""LawBench's lines `instruction`, `question`, `answer` of the tasks 3-1, 3-3, 3-4, 3-5, 3-6 and 3-7.

The task is told from the answer's prefix. What a question gives away, charge or article, is known to be right: it is taken
off the facts and kept as gold. The article's text in task 3-5 is left out; statutes are looked up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from courtroom.errors import CaseError
from courtroom.readers.cail import articles, charges, criminal, term

_GIVEN_CHARGE = re.compile(r"\s*罪名[:：](?P<charges>[^\n]*?)[。.]?\s*$")
_GIVEN_ARTICLE = re.compile(r"[。\s]*法条[:：](?P<articles>[^。\n]*)(?:。?\s*法条内容[:：].*)?[。.]?\s*$", re.DOTALL)
_SIGN = r"\s*[:：、.．]"
_OPTIONS = re.compile(
    rf"(?<![A-Za-z])A{_SIGN}(.*?)[;；。\s]*(?<![A-Za-z])B{_SIGN}(.*?)[;；。\s]*(?<![A-Za-z])C{_SIGN}(.*?)[;；。\s]*(?<![A-Za-z])D{_SIGN}(.*)$",
    re.DOTALL,
)
_NUMBER = re.compile(r"\d+(?:\.\d+)?")


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record is meant to be of this form."""
    return {"instruction", "question", "answer"} <= row.keys() and "kind" not in row


def convert(row: dict[str, Any]) -> dict[str, Any]:
    """A criminal case, or a legal question, as plain data.

    Raises:
        CaseError: the record is of no task that is read here, or its answer can't be read.
    """
    question, answer = row["question"], row["answer"]
    if not isinstance(question, str) or not isinstance(answer, str):
        raise CaseError("`question` and `answer` must be texts.")
    for prefix, read in READERS.items():
        if answer.strip().startswith(prefix):
            return read(question.strip(), re.split(r"[:：]", answer.strip(), maxsplit=1)[-1].strip())
    raise CaseError("the answer's beginning is of no task that is read here (3-1, 3-3, 3-4, 3-5, 3-6, 3-7).")


def _articles(question: str, answer: str) -> dict[str, Any]:
    facts, known = _given(question)
    return criminal(facts, source="LawBench 3-1", articles=_numbers(answer), charges=known.get("charges"))


def _charges(question: str, answer: str) -> dict[str, Any]:
    facts, _ = _given(question)
    return criminal(facts, source="LawBench 3-3", charges=charges(answer.rstrip("。")))


def _term(question: str, answer: str) -> dict[str, Any]:
    facts, known = _given(question)
    return criminal(facts, source="LawBench 3-4, 3-5", term=_months(answer), **known)


def _choice(question: str, answer: str) -> dict[str, Any]:
    found, letters = _OPTIONS.search(question), re.findall(r"[A-D]", answer)
    if found is None or len(letters) != 1:
        raise CaseError("a case analysis needs options A to D and one letter as its answer.")
    case = criminal(question[: found.start()], source="LawBench 3-6", choice=letters[0])
    return case | {"asked": "case_analysis", "options": [option.strip(" ;；。\n") for option in found.groups()]}


def _amount(question: str, answer: str) -> dict[str, Any]:
    found = _NUMBER.search(answer.replace(",", ""))
    if found is None:
        raise CaseError("the answer names no amount.")
    facts = re.sub(r"^文书[:：]\s*", "", question)
    return criminal(facts, source="LawBench 3-7", amount=float(found.group())) | {"asked": "crime_amount"}


READERS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "法条": _articles,
    "罪名": _charges,
    "刑期": _term,
    "正确答案": _choice,
    "上文涉及到的犯罪金额": _amount,
}


def _given(question: str) -> tuple[str, dict[str, Any]]:
    """The facts, and what the question gives away."""
    facts = re.sub(r"^事实[:：]\s*", "", question)
    known: dict[str, Any] = {}
    if found := _GIVEN_ARTICLE.search(facts):
        known["articles"] = _numbers(found["articles"])
        facts = facts[: found.start()]
    if found := _GIVEN_CHARGE.search(facts):
        known["charges"] = charges(found["charges"])
        facts = facts[: found.start()]
    return facts, known


def _numbers(text: str) -> list[int]:
    """`刑法第280、264条` is 280 and 264; 之一 behind a number is left out."""
    found = re.findall(r"\d+", text)
    if not found:
        raise CaseError("the answer names no article.")
    return articles([int(number) for number in found]) or []


def _months(text: str) -> dict[str, Any]:
    if "无期" in text:
        return {"death_penalty": False, "life_imprisonment": True, "imprisonment": 0}
    if "死刑" in text:
        return {"death_penalty": True, "life_imprisonment": False, "imprisonment": 0}
    found = re.search(r"\d+", text)
    if found is None:
        raise CaseError("the answer names no term.")
    return term({"imprisonment": int(found.group())}) or {}
