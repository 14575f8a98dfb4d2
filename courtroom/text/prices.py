"""A price as people of many countries write it: what was read of it, and what of it was not."""

import re
import tomllib
import unicodedata
from itertools import chain
from pathlib import Path

_WRITTEN = tomllib.loads(Path(__file__).with_name("currencies.toml").read_text(encoding="utf-8"))
_SIGNS = {sign: code for code, signs in _WRITTEN.items() for sign in signs}
CURRENCIES = {sign: _SIGNS[sign] for sign in sorted(_SIGNS, key=len, reverse=True)}
"""How currencies are written beside their ISO codes, in lower case; the longest first."""

UNITS = {"千": 1_000, "万": 10_000, "亿": 100_000_000}
_SCALE = re.compile(r"\b(thousand|lakh|crore|milli?on|mio|mn|m|billion|bn|mrd|tsd|mil|k)\b")
_GROUPS = r"\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?(?!\d)"
_AMOUNT = re.compile(rf"{_GROUPS}|(?:(?<![\w.,])[.,])?\d(?:[\d.,]*\d)?")
_CHINESE = re.compile(r"(?:\d[\d.,]* ?)?[零〇一二两三四五六七八九十百千万亿]+[\d.,零〇一二两三四五六七八九十百千万亿]*")
_DASH = re.compile(r"[.,]\s?[-–—]+(?=\D|$)")
"""`12,-` is 12."""
_SPACES = str.maketrans(dict.fromkeys("\u2009\u202f\u00a0\u2007", " ") | {"٫": ".", "٬": ",", "’": "'"})
_CODE = re.compile(r"(?<![A-Za-z])[A-Z]{3}(?![A-Za-z])")


def price(text: str) -> tuple[float | None, str]:
    """Return the amount that a text names, None where it is not sure, and what a remark says unless all is read.

    Where a text has both `.` and `,`, the last one begins the decimals. Where it has one of them, two digits or one
    after it are decimals, and three are thousands.
    """
    plain = unicodedata.normalize("NFKC", text.translate(_SPACES)).translate(_SPACES).strip()
    plain = _DASH.sub("", plain)
    amounts = _CHINESE.findall(plain) or _AMOUNT.findall(plain)
    if not amounts:
        return None, "names no number"
    if len(amounts) > 1:
        return None, "names more than one number"
    (amount,) = amounts
    before, _, after = plain.partition(amount)
    if before.rstrip().endswith(("-", "−")) or (plain.startswith("(") and plain.endswith(")")):
        return None, "is less than nothing"
    value = _chinese(amount) if _CHINESE.fullmatch(amount) else _decimal(amount)
    if value is None:
        return None, "is no number that can be read"
    if after[:1] in ("k", "K") and not after[1:2].isalpha():
        value, after = value * 1_000, after[1:]
    rest = f"{before} {after}".casefold()
    for word in (*CURRENCIES, *map(str.casefold, _codes(plain))):
        rest = rest.replace(word, " ")
    left = rest.strip(" .,;:()[]/")
    if _SCALE.search(left):
        return None, f"names a number that is not known (“{left[:40]}”)"
    if left:
        return value, f"was read as {value:,.2f}, without “{left[:40]}”"
    doubtful = re.fullmatch(r"\d{1,3}\.\d{3}|\d+[.,]\d{4,}", amount) and not amount.startswith("0")
    return value, f"was read as {value:,.2f}" if doubtful else ""


def currency(text: str) -> str:
    """Return the ISO code of the currency that a text names; empty where it names none."""
    plain = unicodedata.normalize("NFKC", text)
    signs = (code for sign, code in CURRENCIES.items() if sign in plain.casefold())
    return next(chain(_codes(plain), signs), "")


def _codes(text: str) -> list[str]:
    words = _CODE.findall(text)
    if not words:
        return words
    from babel.numbers import list_currencies  # reads a table of them

    return [word for word in words if word in list_currencies()]


def _decimal(amount: str) -> float | None:
    """What a number is worth whose thousands and decimals are marked in one of the ways of the world."""
    digits = amount.replace(" ", "").replace("'", "")
    marks = [mark for mark in digits if mark in ".,"]
    *before, last = re.split(r"[.,]", digits)
    alone = len(marks) == 1 and (len(last) != 3 or not before[0].strip("0"))
    decimal = alone or (len(marks) > 1 and marks[-1] not in marks[:-1])
    groups = before if decimal else [*before, last]
    if len(set(marks[:-1] if decimal else marks)) > 1 or (len(groups) > 1 and len(groups[-1]) != 3):
        return None
    if any(len(group) not in (2, 3) for group in groups[1:]):
        return None
    return float("".join(groups) + (f".{last}" if decimal else "")) if marks else float(digits)


def _chinese(amount: str) -> float | None:
    if (digits := amount[:-1].strip()) and amount[-1] in UNITS and _AMOUNT.fullmatch(digits):
        value = _decimal(digits)
        return None if value is None else value * UNITS[amount[-1]]
    import cn2an

    try:
        return float(cn2an.cn2an(amount, "smart"))
    except ValueError:
        return None
