"""Who acts now. Each run of a page's script says it first; the shell, which is its owner's, never does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from courtroom.access.account import Access, Account
from courtroom.errors import CourtroomError

P = ParamSpec("P")
R = TypeVar("R")

_acting: ContextVar[Account | None] = ContextVar("acting", default=None)


class Forbidden(CourtroomError):
    """The access of the person who acts does not allow this."""


def acting() -> Account | None:
    """The person who acts; None where nobody signs in, which is one person who may do everything."""
    return _acting.get()


def act(person: Account | None) -> None:
    """From now on, within this context, this person acts."""
    _acting.set(person)


@contextmanager
def acts(person: Account | None) -> Iterator[None]:
    """Within the block this person acts."""
    before = _acting.set(person)
    try:
        yield
    finally:
        _acting.reset(before)


def may(access: Access) -> bool:
    """Whether the person who acts has at least this access."""
    person = acting()
    return person is None or person.access >= access


def demand(access: Access) -> None:
    """Refuse what needs more access.

    Raises:
        Forbidden: the person who acts has less access.
    """
    if not may(access):
        raise Forbidden("Your access does not allow this. Ask an owner of this server for more.")


def needs(access: Access) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method that only people with at least this access may call."""

    def guarded(method: Callable[P, R]) -> Callable[P, R]:
        @wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            demand(access)
            return method(*args, **kwargs)

        return call

    return guarded
