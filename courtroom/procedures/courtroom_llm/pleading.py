"""What of a pleading reaches the judges: so many words of each side, so that none outtalks the other (section 3.5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from courtroom.evaluation.grounding import where


def cut(argument: str, words: int) -> str:
    """An argument of at most so many words; of Chinese, two characters count as a word."""
    if _length(argument) <= words:
        return argument
    return " ".join(argument.split()[:words]) + " …" if " " in argument.strip() else argument[: words * 2] + "…"


def pointed_to(evidence: Iterable[str], text: str, words: int) -> Iterator[str]:
    """The passages that stand in the text, as they stand there, in turn until they have so many words together.

    What a side quotes that the text does not say is not shown to the judges.
    """
    left = words
    for place in dict.fromkeys(place for quote in evidence if (place := where(quote, text))):
        passage = text[slice(*place)]
        left -= _length(passage)
        if left < 0:
            return
        yield passage


def _length(text: str) -> int:
    """Words, where there are spaces between them; else half the characters."""
    return len(text.split()) if " " in text.strip() else (len(text) + 1) // 2
