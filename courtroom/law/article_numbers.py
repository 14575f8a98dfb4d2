"""Article numbers as people and models write them: `264`, `Article 264`, `第264条`, `第二百六十四条之一`."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

LAST = 452
"""The Criminal Law of the PRC has articles 1 to 452."""

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {"十": 10, "百": 100}
_WRITTEN = re.compile(r"第?\s*([零〇一二两三四五六七八九十百]+)\s*条")
_FIGURES = re.compile(r"\d+")


def article_number(text: str | int) -> int:
    """The number of the one article that is named; a suffix (“bis”, 之一, -1) is left out.

    Raises:
        ValueError: none, or more than one, is named, or the law has no such article.
    """
    if isinstance(text, int):
        return _existing(text)
    written = [_value(match) for match in _WRITTEN.findall(text)]
    figures = [
        int(match)
        for match in _FIGURES.findall(re.sub(r"(?<=\d)\s*[-_.之]\s*\d+|(第\s*\d+\s*[款项])|\(.*?\)", "", text))
    ]
    named = list(dict.fromkeys([*written, *figures]))
    if len(named) != 1:
        raise ValueError(f"“{text[:60]}” does not name one article; write its number alone, e.g. 264")
    return _existing(named[0])


def _read(value: Any) -> Any:
    return article_number(value) if isinstance(value, str | int) else value


ArticleNumber = Annotated[int, Field(ge=1, le=LAST), BeforeValidator(_read)]
"""An article as a field of an answer: any way of writing is read, and the schema names the bounds."""


def _existing(number: int) -> int:
    if not 1 <= number <= LAST:
        raise ValueError(f"the Criminal Law has no article {number}; its articles are 1 to {LAST}")
    return number


def _value(numeral: str) -> int:
    total, digit = 0, 0
    for sign in numeral:
        if sign in _UNITS:
            total += (digit or 1) * _UNITS[sign]
            digit = 0
        else:
            digit = _DIGITS[sign]
    return total + digit
