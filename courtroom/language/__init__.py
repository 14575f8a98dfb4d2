"""The interface in English and Chinese, from one catalogue.

The engine speaks English, and so does all that is recorded: keys, prompts and events never depend on who looks at them.
What draws (pages, figures, the room, the report) says its own sentences by `_`, with named places for values, and passes what
the engine made through `translated`. The English sentence is its own id in the catalogue.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from courtroom.language.catalogue import catalogue

ENGLISH = "en"
LANGUAGES = {ENGLISH: "English", "zh": "中文"}
"""Languages of the interface, each with its own name."""

_fixed: ContextVar[str | None] = ContextVar("language", default=None)
_chooser: list[Callable[[], str]] = []


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
    text = (one if number == 1 else several) if wanted == ENGLISH else catalogue(wanted).counted(one, several)
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
