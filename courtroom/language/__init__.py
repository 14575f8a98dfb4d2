"""The interface in English and Chinese, from one catalogue, which is read once from a language's .po file.

The engine speaks English, and so does all that is recorded: keys, prompts and events never depend on who looks at
them. What draws (pages, figures, the room, the report) says its own sentences by `_`, with named places for values,
and passes what the engine made through `translated`. The English sentence is its own id in the catalogue.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

LOCALE = Path(__file__).parent / "locale"
LONGEST = 2000
"""Characters of a text that may be a sentence of the engine; a longer one is somebody's."""
FEW, ENOUGH = 4, 14
"""Letters outside its places that a message must have to be recognised at all, and to be recognised by them alone."""
SHORT = 60
"""Characters of a value in a message of few letters."""
PLACE = re.compile(r"\{(\w+)\}")
LETTER = re.compile(r"[A-Za-z]")
SENTENCES = re.compile(r"(?<=[.?!])(\s+)(?=\S)")
BETWEEN = (re.compile(r"(\n+)"), re.compile(r"( · )"), SENTENCES)
"""What stands between several texts of the engine: lines, parts of a line, sentences."""
NOTED = re.compile(r"(\S.*?) *\(([\w -]+)\)")
"""A text with a word about it in brackets."""
NAMED = re.compile(r"([A-Z][^:]{1,60}): (\S.{0,60})")
"""A setting and its value, both of the engine's words, such as `Follow-graph: small world`."""
COUNTED = re.compile(r"(\d+) ([a-z-]+)")
"""How many of a thing that has a title, such as `18 jurors`."""
TAIL = re.compile(r"(\S(?:.{0,90}\S)?) ((?:must|is|may|holds|has|lacks) .*)")
"""What is wrong with a field, after its name."""
ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""Languages of the interface, each with its own name."""
_fixed: ContextVar[str | None] = ContextVar("language", default=None)
_chooser: list[Callable[[], str]] = []


def path_of(language: str) -> Path:
    return LOCALE / language / "LC_MESSAGES" / "courtroom.po"


@cache
def catalogue(language: str) -> "Catalogue":
    return Catalogue(path_of(language))


@dataclass(frozen=True)
class Sentence:
    """A message with places, as it is recognised."""

    longest: str
    pattern: re.Pattern[str]
    text: str
    letters: int


class Catalogue:
    """All texts of one language.

    A sentence that the engine made has its values in it already (`36 to 120 months`). It is recognised by the
    catalogue's own entry (`{least} to {most} months`), as long as that entry comes from the engine and not from a page.
    """

    def __init__(self, path: Path) -> None:
        from babel.messages.pofile import read_po  # English needs none

        self._texts: dict[str, str] = {}
        self._sentences: list[Sentence] = []
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
        self._sentences.sort(key=lambda sentence: -sentence.letters)
        self.recognised = lru_cache(maxsize=8192)(self._recognised)

    def text(self, message: str) -> str:
        """The translation of a message, or the message itself."""
        return self._texts.get(message, message)

    def _add(self, message: str, text: str) -> None:
        parts = PLACE.split(message)
        fixed = parts[::2]
        letters = sum(map(str.isalpha, "".join(fixed)))
        if letters < FEW or any(place not in parts[1::2] for place in PLACE.findall(text)):
            return
        seen: set[str] = set()
        pattern = re.escape(parts[0])
        for place, part in zip(parts[1::2], parts[2::2], strict=True):
            pattern += f"(?P={place})" if place in seen else f"(?P<{place}>.{'*' if letters >= ENOUGH else '+'}?)"
            pattern += re.escape(part)
            seen.add(place)
        self._sentences.append(Sentence(max(fixed, key=len), re.compile(pattern), text, letters))

    def _recognised(self, text: str) -> str:
        if len(text) > LONGEST:
            return text
        if (whole := self._whole(text)) is not None:
            return whole
        for between in BETWEEN:
            parts = between.split(text)
            if len(parts) > 1:
                told = [part if number % 2 else self.recognised(part) for number, part in enumerate(parts)]
                if between is SENTENCES:  # Chinese has no space after a sentence, which is one that is translated
                    told = [part for n, part in enumerate(told) if not (n % 2 and told[n - 1] != parts[n - 1])]
                return "".join(told)
        named = NAMED.fullmatch(text)
        if named and named[1] in self._texts and (named[2] in self._texts or self._fits(named[2])):
            return f"{self.recognised(named[1])}：{self.recognised(named[2])}"
        if (counted := COUNTED.fullmatch(text)) and (things := self._texts.get(counted[2].capitalize())):
            return f"{things}：{counted[1]}"
        if (noted := NOTED.fullmatch(text)) and noted[2] in self._texts:
            return f"{self.recognised(noted[1])}（{self._texts[noted[2]]}）"
        if (tail := TAIL.fullmatch(text)) and (said := self._whole(tail[2])) is not None:
            return f"{tail[1]} {said}"
        return text

    def _whole(self, text: str) -> str | None:
        """The translation of a text that is one message; of a short one, its values must be numbers, or known."""
        if text in self._texts:
            return self._texts[text]
        for sentence in self._sentences:
            if sentence.longest in text and (found := sentence.pattern.fullmatch(text)):
                values = found.groupdict()
                if sentence.letters >= ENOUGH or all(self._fits(value) for value in values.values()):
                    return sentence.text.format(**{name: self.recognised(value) for name, value in values.items()})
        return None

    def _fits(self, value: str) -> bool:
        return not LETTER.search(value) or len(value) <= SHORT and self.recognised(value) != value


def follow(chooser: Callable[[], str]) -> None:
    """Have a function say which language is wanted where none is fixed: for a page, that of its reader."""
    _chooser[:] = [chooser]


def language() -> str:
    """The language that is wanted here; English where nobody says."""
    return _fixed.get() or (_chooser[0]() if _chooser else ENGLISH)


@contextmanager
def speaking(wanted: str) -> Iterator[None]:
    """Everything within is said in this language."""
    token = _fixed.set(wanted)
    try:
        yield
    finally:
        _fixed.reset(token)


def nearest(wanted: str | None) -> str:
    """The language of the interface for what a browser asks for, such as `zh-CN`."""
    found = (wanted or "").replace("_", "-").partition("-")[0].lower()
    return found if found in LANGUAGES else ENGLISH


def _(message: str, **values: object) -> str:
    """A sentence of the interface, with its values in their places."""
    wanted = language()
    text = message if wanted == ENGLISH else catalogue(wanted).text(message)
    return text.format(**values) if values else text


def ngettext(one: str, several: str, number: int, **values: object) -> str:
    """A sentence that depends on a number; `{number}` in it is the number, as it is or as it is given."""
    wanted = language()
    # Chinese has one form for all numbers.
    text = (one if number == 1 else several) if wanted == ENGLISH else catalogue(wanted).text(several)
    return text.format(**{"number": number, **values})


def listed(texts: Iterable[str]) -> str:
    """Several of the engine's words in a row."""
    return _(", ").join(translated(text) for text in texts)


def N_(message: str) -> str:
    """Marks a text that is declared when a module is imported; `translated` translates it when it is drawn."""
    return message


def translated(text: str) -> str:
    """What the engine made or recorded in English (a title, a sentence with values in it) as the reader reads it.

    What is not in the catalogue stays as it is: names, and what somebody wrote.
    """
    wanted = language()
    return text if wanted == ENGLISH else catalogue(wanted).recognised(text)
