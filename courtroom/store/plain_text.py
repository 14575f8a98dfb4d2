"""Text that PostgreSQL takes: it holds neither the character 0 nor bytes that are no text."""

from __future__ import annotations

import re

SIGN = "\ufffe"
"""Stands before the number of a character that can't be kept as it is; it is no character itself."""
_NOT_PLAIN = re.compile("[\0\ud800-\udfff\ufffe]")
_WRITTEN = re.compile(f"{SIGN}([0-9a-f]{{4}})")


def to_plain(text: str) -> str:
    """Without what PostgreSQL can't hold; nothing is lost."""
    return text if _NOT_PLAIN.search(text) is None else _NOT_PLAIN.sub(lambda found: f"{SIGN}{ord(found[0]):04x}", text)


def from_plain(text: str) -> str:
    """As it was."""
    return text if SIGN not in text else _WRITTEN.sub(lambda found: chr(int(found[1], 16)), text)


def begun(text: str) -> str:
    """A text at the beginning of a sentence."""
    return text[:1].upper() + text[1:]
