"""The log, as text or as JSON: a message stands in one line, so that no text from outside looks like a record."""

import json
import logging
import re
import sys
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path

CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
"""Line breaks of every kind, and what steers a terminal."""
INDENT = "    "

Clean = Callable[[str], str]
"""Takes keys out of a text."""

_about: ContextVar[Mapping[str, str]] = ContextVar("_about", default={})  # noqa: B039  never changed in place
_lock = threading.Lock()
_files: defaultdict[str, tuple[list[logging.Handler], set["LogFile"]]] = defaultdict(lambda: ([], set()))
"""By its path what writes each file, and who holds it open."""


@contextmanager
def about(**names: str) -> Iterator[None]:
    """What is logged in the block, and in tasks that begin in it, is about this run, this path."""
    before = _about.set({**_about.get(), **names})
    try:
        yield
    finally:
        _about.reset(before)


class OneLine(logging.Formatter):
    """Line breaks of a message are written as `\\n`; a traceback's lines are indented."""

    def __init__(self, clean: Clean = str) -> None:
        super().__init__("%(asctime)s %(levelname)s %(name)s: %(message)s")
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        message, *traceback = super().format(record).splitlines()
        # The last lines of a traceback may hold text from outside.
        return self._clean("\n".join([message, *(INDENT + _escaped(line) for line in traceback)]))

    def formatMessage(self, record: logging.LogRecord) -> str:
        return _escaped(super().formatMessage(record))


class AsJson(logging.Formatter):
    """One object a line: `time` (ISO 8601, UTC), `level`, `logger`, `message`; maybe `run`, `path` and `error`."""

    def __init__(self, clean: Clean = str) -> None:
        super().__init__()
        self._clean = clean

    def format(self, record: logging.LogRecord) -> str:
        told = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **_about.get(),
        }
        if record.exc_info:
            told["error"] = self.formatException(record.exc_info)
        # Cleaned before it is escaped: a key is looked for as it is.
        text = json.dumps({name: self._clean(value) for name, value in told.items()}, ensure_ascii=False)
        return CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


class LogFile:
    """Sends what Courtroom logs to a file until it is closed. Several may share one file, which is then written once.

    As JSON it is written to standard error too, for who collects logs. `clean` takes keys out of what is written.
    """

    def __init__(self, path: Path, as_json: bool = False, clean: Clean = str) -> None:
        self._target = str(path.resolve())
        log = logging.getLogger("courtroom")
        with _lock:
            handlers, holders = _files[self._target]
            if not holders:
                file = _File(self._target, encoding="utf-8", delay=True)
                handlers += [file, *([logging.StreamHandler(sys.stderr)] if as_json else [])]
                for handler in handlers:
                    handler.setFormatter(AsJson(clean) if as_json else OneLine(clean))
                    # Where a line can't be written, as on a full disk, `logging` would print it with the keys in it.
                    handler.handleError = lambda record: None  # type: ignore[method-assign]
                    log.addHandler(handler)
            holders.add(self)
            log.setLevel(logging.INFO)
            log.propagate = False

    def close(self) -> None:
        """Let go of the file; the last one to do so closes it."""
        log = logging.getLogger("courtroom")
        with _lock:
            handlers, holders = _files[self._target]
            holders.discard(self)
            while handlers and not holders:
                log.removeHandler(handlers[-1])
                with suppress(OSError):  # what a full disk does not take is lost
                    handlers.pop().close()


class _File(logging.FileHandler):
    """Makes its folder with the first record: a store in a database has made none."""

    def _open(self) -> TextIOWrapper:
        Path(self.baseFilename).parent.mkdir(parents=True, exist_ok=True)
        return super()._open()


def _escaped(text: str) -> str:
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
