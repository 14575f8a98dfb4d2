"""Terms of penalty as Chinese judgments write them."""

from __future__ import annotations

import re
from typing import Any

from courtroom.errors import CaseError
from courtroom.law.judgment import LONGEST

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NUMERAL = r"[\d零〇一二两三四五六七八九十]+"
_MONTHS = re.compile(
    rf"(?:有期徒刑|拘役|管制)\s*(?:(?P<years>{_NUMERAL})年)?(?:零|又)?(?:(?P<half>半)|(?P<months>{_NUMERAL})个?月)?"
)
_NONE = re.compile(r"免[予于]?刑事处罚|罚金|无罪")


def term_in_words(text: str) -> dict[str, Any] | None:
    """The first term that a judgment names, in CAIL's form; None where it says that there is none on record.

    A suspended sentence counts by its length, not by its probation; a fine alone, and exemption from punishment, are 0
    months.

    Raises:
        CaseError: no term can be read in it.
    """
    line = text.strip()
    if line in ("", "无"):
        return None
    found = [match for match in _MONTHS.finditer(line) if match["years"] or match["months"] or match["half"]]
    death, life = line.find("死刑"), line.find("无期徒刑")
    begins = {kind: place for kind, place in (("death", death), ("life", life)) if place >= 0}
    if found:
        begins["months"] = found[0].start()
    if not begins:
        if _NONE.search(line):
            return {"death_penalty": False, "life_imprisonment": False, "imprisonment": 0}
        raise CaseError(f"“{line[:40]}” names no term. Write it as in 有期徒刑一年六个月.")
    first = min(begins, key=lambda kind: begins[kind])
    months = _months(found[0]) if first == "months" else 0
    if months > LONGEST:
        raise CaseError(f"“{line[:40]}” is {months} months, longer than the law allows ({LONGEST}).")
    return {"death_penalty": first == "death", "life_imprisonment": first == "life", "imprisonment": months}


def _months(match: re.Match[str]) -> int:
    return 12 * _value(match["years"]) + (6 if match["half"] else _value(match["months"]))


def _value(numeral: str | None) -> int:
    """`二十五` as 25, `12` as 12."""
    if not numeral:
        return 0
    if numeral.isdigit():
        return int(numeral)
    tens, found, ones = numeral.rpartition("十")
    if not found:
        return int("".join(str(_DIGITS[sign]) for sign in ones))
    return 10 * (_DIGITS[tens[-1]] if tens else 1) + (_DIGITS[ones[-1]] if ones else 0)
