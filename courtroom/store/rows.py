"""Rows that can't be read: each is shown as such, and hides no other."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import TypeVar

from pydantic import ValidationError

from courtroom.errors import Unreadable

log = logging.getLogger(__name__)

R = TypeVar("R")
T = TypeVar("T")


def read(what: str, name: object, parse: Callable[[], T]) -> T:
    """What a row holds.

    Args:
        what: what the row is, such as `run`.
        name: its id.

    Raises:
        Unreadable: it does not fit, or is no text.
    """
    try:
        return parse()
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise Unreadable(what, str(name), _why(error)) from error


def read_all(rows: Iterable[R], parse: Callable[[R], T]) -> tuple[list[T], list[Unreadable]]:
    """What rows hold, and those that can't be read; `parse` raises `Unreadable`."""
    good: list[T] = []
    bad: list[Unreadable] = []
    for row in rows:
        try:
            good.append(parse(row))
        except Unreadable as error:
            _log(str(error))
            bad.append(error)
    return good, bad


@lru_cache(maxsize=1000)
def _log(sentence: str) -> None:
    """Once a process: a list is read again and again."""
    log.warning(sentence)


def _why(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        return f"{f'{place}: ' if place else ''}{first['msg']}".rstrip(".")
    return f"{type(error).__name__}: {error}"[:200].rstrip(".")
