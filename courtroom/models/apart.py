"""Edited templates, rendered in a process of their own under hard limits.

Anybody who can open the app can edit a prompt, and a template is a program: it can loop for ever, fill the memory or
try to break out of Jinja's sandbox. Bounding it within this process would mean to close every filter and operator one
by one. So it runs in a process that imports Jinja alone, gets plain data on a pipe, has no key in its environment, and
that the system itself ends when it has used its time or memory. The sandbox holds there too, as a second wall.

Templates as shipped are trusted and render in this process: they cost a run of 800 calls too much otherwise.
"""

import dataclasses
import inspect
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import Iterable, Mapping
from contextlib import closing, suppress
from datetime import date, datetime, timedelta, timezone
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

import jinja2
import markupsafe
from pydantic import BaseModel

from courtroom.cases.kinds import case_templates
from courtroom.errors import CourtroomError
from courtroom.language import N_
from courtroom.models import rendering
from courtroom.models.rendering import RecordCopy, record
from courtroom.text.table import is_text

CPU_S = 1
"""Seconds of the processor that one rendering may take; the system counts whole seconds, so up to one more."""
WALL_S = 60.0
"""Seconds by the clock, for a worker that waits for something or a system that can't limit the processor's time."""
MEMORY_MB = 256
LONGEST = 2_000_000
"""Characters that a prompt may have."""
WRITTEN_IN = ("en", "zh", "")
"""The languages of this program's texts; a template that asks for another gets the last one's."""


class PromptError(CourtroomError):
    """A prompt template that can't be rendered."""


class Apart:
    """Renders templates in a worker process, which starts when it is first needed. May be used from any thread.

    The worker ends with this object, when it is asked nothing for a while, or when this process ends.
    """

    def __init__(self, sources: Mapping[str, str], edits: Mapping[str, str], common: Mapping[str, object]) -> None:
        self._sources, self._edits, self._common = dict(sources), dict(edits), dict(common)
        self._lock = threading.Lock()
        self._worker: subprocess.Popen[bytes] | None = None
        self._failed: dict[str, dict[str, Any]] = {}
        """By template, the replies to those that took the worker down: many members at once need not find out one by
        one."""

    def close(self) -> None:
        with self._lock:
            self._end()

    def rendered(
        self, what: Literal["whole", "blocks", "parse", "parse task"], name: str, /, **inputs: object
    ) -> list[str]:
        """Render a template. `what`: all of it from what the run shares, or its blocks `shared` and `own`, or nothing:
        it is only seen whether it is a template, and for a task's whether all of it is sent. Raises `PromptError`: with
        a sentence that names the prompt."""
        with self._lock:
            reply = self._failed.get(name) or self._reply((what, name, plain(inputs)))
            if self._worker is None:
                self._failed[name] = reply
        if "error" in reply:
            raise PromptError(self._sentence(name, str(reply["error"])))
        texts: list[str] = reply.get("texts", [])
        if any("\0" in text or not is_text(text) for text in texts):
            raise PromptError(self._sentence(name, "it holds a character that can't be sent to a model"))
        return texts

    def _sentence(self, name: str, why: str) -> str:
        """`name` is what was rendered; what was edited may be another template that it takes in."""
        edited = ", ".join(f"“{edit}”" for edit in self._edits)
        return sentence(f"“{name}”" if name in self._edits else f"“{name}” with the edited {edited}", why)

    def _reply(self, request: object) -> dict[str, Any]:
        for last in (False, True):
            fresh = self._worker is None or self._worker.poll() is not None
            if fresh:
                self._start()
            assert self._worker is not None
            assert self._worker.stdin is not None
            assert self._worker.stdout is not None
            overdue = threading.Timer(WALL_S, self._worker.kill)
            overdue.daemon = True
            overdue.start()
            try:
                sent = (self._sources, plain(self._common), request) if fresh else request
                pickle.dump(sent, self._worker.stdin)
                self._worker.stdin.flush()
                reply = json.loads(self._worker.stdout.readline(16 * LONGEST))
                if not isinstance(reply, dict):
                    raise EOFError
                return reply
            except (OSError, EOFError, ValueError):
                code = self._end()
                if code or last:
                    if code == -getattr(signal, "SIGXCPU", 0):
                        return {"error": N_("it takes too much time")}
                    return {"error": N_("it takes too much time or memory")}
                # else it had just ended because it was asked nothing for long
            finally:
                overdue.cancel()
        raise AssertionError("the last try returns or raises")

    def _start(self) -> None:
        self._end()
        found = {str(Path(module.__file__ or "").parents[1]) for module in (jinja2, markupsafe)}
        # Nothing of this process's environment: it may hold keys.
        given = {"PYTHONPATH": os.pathsep.join(found)} | {n: os.environ[n] for n in ("SYSTEMROOT",) if n in os.environ}
        limits = map(str, (CPU_S, MEMORY_MB, LONGEST))
        self._worker = subprocess.Popen(
            [sys.executable, "-B", "-P", "-s", rendering.__file__, *limits],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=given,
            cwd="/" if os.name == "posix" else None,
        )
        weakref.finalize(self, _kill, self._worker)

    def _end(self) -> int:
        worker, self._worker = self._worker, None
        return _kill(worker) if worker is not None else 0


def sentence(named: str, why: str) -> str:
    """What a user is shown of a prompt that can't be used."""
    return f"The prompt {named} can't be used: {why}. Mend it in the setup, or reset it to the shipped one."


@lru_cache(maxsize=64)
def why_no_template(name: str, text: str) -> str:
    """Return why a text can't be the template of this name; empty where it can. Cached: a page asks at each rerun."""
    apart = Apart({name: text}, {name: text}, {})
    with closing(apart):
        try:
            # Other templates than a task's begin with `_`, or show a kind of case.
            of_task = not name.startswith("_") and name not in case_templates()
            apart.rendered("parse task" if of_task else "parse", name)
        except PromptError as error:
            return str(error)
    return ""


def refuse(edits: Mapping[str, str], before: Mapping[str, str]) -> None:
    """See whether edits can be used; what is as before is not looked at again. Raises `PromptError`: with a sentence
    that names the prompt."""
    for name, text in edits.items():
        if text and before.get(name) != text and (why := why_no_template(name, text)):
            raise PromptError(why)


def plain(value: Any) -> Any:
    """A value as the worker can have it: plain data, and records in place of the program's objects.

    A record has an object's fields, its properties and class variables, and its methods of one language (`in_language`, `called`), which
    are all that shipped templates use. Other methods stay here: they could be slow, or give a template too much to
    play with.
    """
    if type(value) in (type(None), bool, int, float, str):
        return value
    for kind in (int, float, str):
        if isinstance(value, kind):  # such as an enumeration's
            return kind(value)
    if isinstance(value, BaseModel):
        return _record(value, type(value).model_fields)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return _record(value, (field.name for field in dataclasses.fields(value)))
    if isinstance(value, Mapping):
        return {plain(key): plain(item) for key, item in value.items()}
    for several in (tuple, list, set, frozenset):
        if isinstance(value, several):
            return several(map(plain, value))
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.replace(tzinfo=timezone(value.utcoffset() or timedelta()))
    return value if isinstance(value, (date, datetime, timedelta)) else str(value)


def _record(value: Any, fields: Iterable[str]) -> RecordCopy:
    properties, methods, prints = _shown(value.__class__)
    more: dict[str, Any] = {}
    for name in properties:
        with suppress(Exception):  # this object does not have it; a template that asks for it fails
            more[name] = plain(getattr(value, name))
    spoken = {name: {code: getattr(value, name)(code) for code in WRITTEN_IN} for name in methods}
    text = str(value) if prints else None
    return record(type(value).__name__, {name: plain(getattr(value, name)) for name in fields}, more, spoken, text)


@cache
def _shown(kind: type) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """The properties and class variables of a type, its methods of one language, and whether it prints in a way of
    its own."""
    bases = [base for base in reversed(kind.__mro__) if base not in BaseModel.__mro__]
    own = {name: member for base in bases for name, member in vars(base).items() if not name.startswith("_")}
    said = (property, cached_property, str, bool, int, float)
    properties = tuple(name for name, member in own.items() if isinstance(member, said))
    methods = tuple(
        name
        for name, member in own.items()
        if inspect.isfunction(member) and list(inspect.signature(member).parameters) == ["self", "language"]
    )
    prints = not issubclass(kind, BaseModel) or any("__str__" in vars(base) for base in bases)
    return properties, methods, prints


def _kill(worker: subprocess.Popen[bytes]) -> int:
    with suppress(OSError), worker:  # what was not sent is not missed
        worker.kill()
    return worker.wait()
