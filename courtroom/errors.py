"""Errors whose message is the one plain sentence that a user sees.

Models and the engine have more: `models.request`, `engine.errors`.
"""

import logging
from pathlib import Path
from traceback import extract_tb


class CourtroomError(Exception):
    """Base of all errors that a user may see; the message says what to do."""


class CaseError(CourtroomError):
    """A case or a file of cases that can't be used."""


class NotInstalled(CaseError):
    """A kind of case, or a procedure, of a package that is not installed here."""


class MediaError(CourtroomError):
    """A picture or video that can't be used."""


class StoreError(CourtroomError):
    """The folder or the file in which everything is kept can't be used."""


class Unreadable(StoreError):
    """One row of the store can't be read; the others can.

    Args:
        what: what it is, such as `run`.
        name: its id.
        why: what is wrong with it, as the end of a sentence.
    """

    def __init__(self, what: str, name: str, why: str) -> None:
        self.what, self.name, self.why = what, shown(name), shown(why)
        super().__init__(
            f"The {what} {self.name} can't be read: {self.why}. "
            "`python -m courtroom doctor --mend` sets it aside; a backup may still have it."
        )


def log_file() -> str:
    """The file in which the log is, for a sentence that sends a reader there."""
    files = [name for one in logging.getLogger("courtroom").handlers if (name := getattr(one, "baseFilename", None))]
    return str(files[-1]) if files else "the log"


def shown(text: object) -> str:
    """Text of a damaged row with what is no text in it made visible, so that it can be printed."""
    return str(text).encode("utf-8", "replace").decode()


def place_and_error(error: Exception, folder: Path) -> str:
    """The last line of code in an author's folder that an error came through, and what was raised."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {text}"
    frames = extract_tb(error.__traceback__)
    frame = next((frame for frame in reversed(frames) if folder in Path(frame.filename).parents), frames[-1])
    return f"{frame.filename}, line {frame.lineno}: {text}"
