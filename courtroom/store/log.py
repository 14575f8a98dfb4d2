"""The log file: a record's message stands in one line, so that no text from outside can look like a record."""

from __future__ import annotations

import copy
import logging
import re
import threading
from collections import Counter
from pathlib import Path

CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Line breaks of every kind, and what steers a terminal."""
INDENT = "    "

_lock = threading.Lock()
_open: Counter[str] = Counter()
"""How many hold each file open, by its path."""


class OneLine(logging.Formatter):
    """Line breaks of a message are written as `\\n`; a traceback's lines are indented."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """One record as text."""
        own = copy.copy(record)
        own.exc_text = None  # another handler's form of the traceback is not indented
        return super().format(own)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802 - the library's name
        """The record's line."""
        return _escaped(super().formatMessage(record))

    def formatException(self, ei: object) -> str:  # noqa: N802 - the library's name
        """A traceback, whose last lines may hold text from outside."""
        return _indented(super().formatException(ei))  # type: ignore[arg-type]

    def formatStack(self, stack_info: str) -> str:  # noqa: N802 - the library's name
        """Where a record was written from."""
        return _indented(super().formatStack(stack_info))


class LogFile:
    """Sends what Courtroom logs to a file until it is closed. Several may share one file, which is then written once.

    Args:
        path: the file; it is made with the first record.
    """

    def __init__(self, path: Path) -> None:
        self._target = str(path.resolve())
        self._closed = False
        log = logging.getLogger("courtroom")
        with _lock:
            _open[self._target] += 1
            if _open[self._target] == 1:
                handler = logging.FileHandler(self._target, encoding="utf-8", delay=True)
                handler.setFormatter(OneLine())
                log.addHandler(handler)
            log.setLevel(logging.INFO)
            log.propagate = False

    def close(self) -> None:
        """Let go of the file; the last one to do so closes it."""
        log = logging.getLogger("courtroom")
        with _lock:
            if self._closed:
                return
            self._closed = True
            _open[self._target] -= 1
            if _open[self._target]:
                return
            for handler in list(log.handlers):
                if getattr(handler, "baseFilename", None) == self._target:
                    log.removeHandler(handler)
                    handler.close()


def _indented(text: str) -> str:
    return "\n".join(INDENT + _escaped(line) for line in text.splitlines())


def _escaped(text: str) -> str:
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
