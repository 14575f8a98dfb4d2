"""Whether the chief editor's text says what the jury accepted, all of it and nothing else (section 3.2).

By words and numbers, not by meaning: what a sentence says in quite other words counts as said anew.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from courtroom.cases.document import Document
from courtroom.text.words import words

NEW = 0.5
"""A sentence of whose content words more than this share is in no accepted sentence says something else."""
LEFT = 1 / 3
"""An accepted sentence of whose content words less than this share is in the text was left out."""

_NOUNS_ARE_CAPITAL = ("de",)
"""Languages in which a capital letter does not show a name."""

_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_NAME = re.compile(r"(?<![.!?:\"“”'’]\s)(?<!^)\b[A-Z][a-z]+(?:[A-Z][a-z]+)?\b")


def why_not_kept(accepted: Sequence[str], edited: Sequence[str], document: Document) -> str | None:
    """What an edited text adds or leaves out, in words for who wrote it; None where it does neither.

    Args:
        accepted: the sentences that the jury accepted.
        edited: the text, sentence by sentence.
        document: a name from it may stand for a pronoun; nothing else of it may be added.
    """
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
    """What a sentence says beyond the accepted ones: numbers, names that the document has not either, else most of its words."""
    known = " ".join(accepted)
    names = () if document.language in _NOUNS_ARE_CAPITAL else _names(sentence, f"{known} {document.text}")
    if found := tuple(dict.fromkeys((*_numbers(sentence, known), *names))):
        return found
    own = tuple(dict.fromkeys(words(sentence)))
    new = tuple(word for word in own if word not in set(words(known)))
    return new if len(new) > NEW * len(own) else ()


def _numbers(sentence: str, known: str) -> Iterator[str]:
    there = {number.replace(",", "") for number in _NUMBER.findall(known)}
    return (number for number in _NUMBER.findall(sentence) if number.replace(",", "") not in there)


def _names(sentence: str, known: str) -> Iterator[str]:
    there = known.casefold()
    return (name for name in _NAME.findall(sentence) if name.casefold() not in there)
