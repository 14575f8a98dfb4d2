"""Who acts now. Each run of a page's script says it first; the shell, which is its owner's, never does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from courtroom.access.account import Account, Access
from courtroom.errors import CourtroomError

P = ParamSpec("P")
R = TypeVar("R")

_acting: ContextVar[Account | None] = ContextVar("acting", default=None)


class Forbidden(CourtroomError):
    """The role of the person who acts does not allow this."""


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


def may(role: Access) -> bool:
    """Whether the person who acts has at least this role."""
    person = acting()
    return person is None or person.role >= role


def demand(role: Access) -> None:
    """Refuse what needs a higher role.

    Raises:
        Forbidden: the person who acts has a lower role.
    """
    if not may(role):
        raise Forbidden("Your role does not allow this. Ask an owner of this server for a higher one.")


def needs(role: Access) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method that only people of at least this role may call."""

    def guarded(method: Callable[P, R]) -> Callable[P, R]:
        @wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            demand(role)
            return method(*args, **kwargs)

        return call

    return guarded
