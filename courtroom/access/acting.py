"""Who acts now: the person in whose browser a page is drawn, or the server itself; where nobody said who, it is nobody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from functools import wraps
from typing import ParamSpec, TypeVar

from courtroom.access.account import NOBODY, Access, Account
from courtroom.errors import CourtroomError

P = ParamSpec("P")
R = TypeVar("R")

_said: ContextVar[tuple[Account | None] | None] = ContextVar("acting", default=None)
"""Who was said to act in this context, or None where nobody said it."""
_finder: list[Callable[[], Account | None]] = [lambda: NOBODY]


class Forbidden(CourtroomError):
    """The access of the person who acts does not allow this."""


def found_by(finder: Callable[[], Account | None]) -> None:
    """Have a function say who acts where nobody said it: for a page, whoever has signed in there.

    A page runs in parts: its script, fragments and callbacks, each maybe in another thread. So each question is answered by
    the session in whose thread it is asked, and there is nothing that a part could forget to say. Alone on one's own machine
    the function gives None: whoever acts there acts for the server.
    """
    _finder[:] = [finder]


def acting() -> Account | None:
    """The person who acts; None is the server itself, where that was said: everything is allowed. By default nothing is."""
    said = _said.get()
    return said[0] if said else _finder[0]()


@contextmanager
def acts(person: Account | None) -> Iterator[None]:
    """Within the block this person acts; None is the server itself."""
    before = _said.set((person,))
    try:
        yield
    finally:
        _said.reset(before)


def by(person: Account | None, work: Callable[P, R]) -> Callable[P, R]:
    """What does the work for this person, in whichever thread it is called; None is the server itself."""

    @wraps(work)
    def done(*args: P.args, **kwargs: P.kwargs) -> R:
        with acts(person):
            return work(*args, **kwargs)

    return done


def for_server(context: Context) -> Context:
    """A context in which the server itself acts: what was allowed at its beginning goes on, whatever becomes of who began it."""
    context.run(_said.set, (None,))
    return context


def may(access: Access) -> bool:
    """Whether the person who acts has at least this access."""
    person = acting()
    return person is None or person.access >= access


def signed(name: str) -> str:
    """The name under which somebody marks, asks or intervenes: the account's, and only where nobody signs in the one typed."""
    person = acting()
    return name if person is None else person.signature


def demand(access: Access) -> None:
    """Refuse what needs more access. Raises `Forbidden`: the person who acts has less access."""
    if not may(access):
        raise Forbidden("Your access does not allow this. Ask an owner of this server for more.")


def needs(access: Access) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A method that only people with at least this access may call. It says so as `call.needs`."""

    def guarded(method: Callable[P, R]) -> Callable[P, R]:
        @wraps(method)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            demand(access)
            return method(*args, **kwargs)

        call.needs = access  # type: ignore[attr-defined]
        return call

    return guarded
