"""Whether the chief editor's text says what the jury accepted, all of it and nothing else (section 3.2). By words and numbers, not
by meaning: what a sentence says in quite other words counts as said anew."""

import re
from collections.abc import Iterator, Sequence

from courtroom.cases.labelled import Document
from courtroom.text.words import words

NEW = 0.5
"""A sentence of whose content words more than this share is in no accepted sentence says something else."""
IN_A_ROW = 3
"""So many content words in a row that are in no accepted sentence say something else too."""
LEFT = 1 / 3
"""An accepted sentence of whose content words less than this share is in the text was left out."""

_NOUNS_ARE_CAPITAL = ("de",)
"""Languages in which a capital letter does not show a name."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAMED = (
    "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
    "twenty thirty forty fifty sixty seventy eighty ninety"
)
_WORDS = dict(zip(_NAMED.split(), map(str, (*range(2, 21), *range(30, 100, 10))), strict=True))
_IN_WORDS = re.compile(
    rf"\b(?:{'|'.join(_WORDS)}|hundred|thousand|million|billion|dozen|half|twice"
    r"|(?:an?|one) (?P<unit>second|minute|hour|day|week|fortnight|month|year|decade|century))\b"
    r"|[一二两三四五六七八九十百千万亿半]+(?=天|日|周|星期|个?月|年|个?小时|分钟|秒|元|公里|米)",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:January|February|March|April|May|June|July|August|September"
    r"|October|November|December)\b"
)
_NAME = re.compile(r"(?<![.!?:\"“”'’]\s)(?<!^)\b[A-Z][a-z]+(?:[A-Z][a-z]+)?\b")


def why_not_kept(accepted: Sequence[str], edited: Sequence[str], document: Document) -> str | None:
    """What an edited text adds to the sentences that the jury accepted, or leaves out of them, in words for who wrote it; None where it does
    neither. A name from the document may stand for a pronoun; nothing else of it may be added."""
    for number, sentence in enumerate(edited, start=1):
        if extra := ", ".join(added(sentence, accepted, document)):
            return (
                f"sentence {number} says what no accepted sentence says ({extra}); leave it out and keep to their words"
            )
    text = set(words(" ".join(edited)))
    for number, sentence in enumerate(accepted, start=1):
        own = set(words(sentence))
        if own and len(own & text) < LEFT * len(own):
            return f"accepted sentence {number} is left out; say what it says"
    return None


def added(sentence: str, accepted: Sequence[str], document: Document) -> tuple[str, ...]:
    """What a sentence says beyond the accepted ones, in its own words; empty where it says nothing else.

    Numbers, days and months; names that the document has not either; words in a row; or most of its words. A name that the
    document has may stand for a pronoun.
    """
    known = " ".join(accepted)
    capital = document.language not in _NOUNS_ARE_CAPITAL
    told, amounts = f"{known} {document.text}".casefold(), {value for value, _ in _amounts(known)}
    numbers = (said for value, said in _amounts(sentence) if value not in amounts)
    times = (time for time in _TIME.findall(sentence) if time not in known)
    names = (name for name in _NAME.findall(sentence) if capital and name.casefold() not in told)
    if found := tuple(dict.fromkeys((*numbers, *times, *names))):
        return found
    there = set(words(known))
    named = {name.casefold() for name in _NAME.findall(document.text)} if capital else set()
    own = words(sentence)
    new = [word for word in own if word not in there and word not in named]
    row: list[str] = []
    for word in own:
        row = [*row, word] if word in new else []
        if len(row) == IN_A_ROW:
            return tuple(row)
    return tuple(dict.fromkeys(new)) if len(set(new)) > NEW * len(set(own)) else ()


def _amounts(text: str) -> Iterator[tuple[str, str]]:
    """Numbers, in figures or words, and single units of time: as they are compared, and as they are said."""
    yield from ((number.replace(",", ""), number) for number in _NUMBER.findall(text))
    for match in _IN_WORDS.finditer(text):
        word = match.group().casefold()
        yield _WORDS.get(word, f"1 {match['unit'].casefold()}" if match["unit"] else word), match.group()
