"""The catalogue of one language, read once from its .po file."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path

from babel.messages.pofile import read_po

LOCALE = Path(__file__).parent / "locale"
LONGEST = 2000
"""Characters of a text that may be a sentence of the engine; a longer one is somebody's."""
ENOUGH = 4
"""Letters that a sentence with places must have outside them to be recognised."""
PLACE = re.compile(r"\{(\w+)\}")
ENDS = re.compile(r"(?<=[.?!])\s+(?=\S)")


def path_of(language: str) -> Path:
    """The file of a language."""
    return LOCALE / language / "LC_MESSAGES" / "courtroom.po"


@cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language."""
    return Catalogue(path_of(language))


class Catalogue:
    """All texts of one language.

    A sentence that the engine made has its values in it already (`36 to 120 months`). It is recognised by the
    catalogue's own entry (`{least} to {most} months`), as long as that entry comes from the engine and not from a page.
    """

    def __init__(self, path: Path) -> None:
        self._texts: dict[str, str] = {}
        self._sentences: list[tuple[int, re.Pattern[str], str]] = []
        with path.open("rb") as file:
            for message in read_po(file, locale="zh", domain="courtroom"):
                if not message.id or not message.string or message.fuzzy:
                    continue
                ids = [message.id] if isinstance(message.id, str) else list(message.id)
                text = message.string if isinstance(message.string, str) else message.string[0]
                for one in ids:
                    self._texts[one] = text
                    if "{" in one and any(str(name).startswith("courtroom/") for name, _ in message.locations):
                        self._add(one, text)
        self._sentences.sort(key=lambda sentence: -sentence[0])
        self.recognised = lru_cache(maxsize=8192)(self._recognised)

    def text(self, message: str) -> str:
        """The translation of a message, or the message itself."""
        return self._texts.get(message, message)

    def counted(self, one: str, several: str) -> str:
        """The translation of a message that depends on a number; Chinese has one form for all numbers."""
        return self._texts.get(several, several)

    def _add(self, message: str, text: str) -> None:
        parts = PLACE.split(message)
        fixed = sum(map(str.isalpha, "".join(parts[::2])))
        if fixed < ENOUGH or any(place not in parts[1::2] for place in PLACE.findall(text)):
            return
        seen: set[str] = set()
        pattern = ""
        for number, part in enumerate(parts):
            if number % 2 == 0:
                pattern += re.escape(part)
            else:
                pattern += f"(?P={part})" if part in seen else f"(?P<{part}>.+?)"
                seen.add(part)
        self._sentences.append((fixed, re.compile(pattern), text))

    def _recognised(self, text: str) -> str:
        if len(text) > LONGEST:
            return text
        if (whole := self._whole(text)) is not None:
            return whole
        parts = ENDS.split(text)
        if len(parts) > 1:
            return "".join(self._recognised(part) for part in _joined(parts, self))
        return text

    def _whole(self, text: str) -> str | None:
        if text in self._texts:
            return self._texts[text]
        for _, pattern, translated in self._sentences:
            if found := pattern.fullmatch(text):
                return translated.format(**{name: self.recognised(value) for name, value in found.groupdict().items()})
        return None


def _joined(parts: list[str], catalogue: Catalogue) -> list[str]:
    """Sentences, with the space between two of them where the first stays as it is."""
    return [
        part if catalogue._whole(part) is not None or n == len(parts) - 1 else f"{part} "
        for n, part in enumerate(parts)
    ]
