"""Who acts, and what they may do, where people sign in. Without sign-in there is one person, who may do everything."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar, copy_context
from enum import IntEnum
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from courtroom.errors import CourtroomError
from courtroom.strict import Strict

Visibility = Literal["private", "shared", "public"]
"""Who sees something besides whose it is and the owners: nobody; all who may look; who has its address."""


class Access(IntEnum):
    """What a person may do; each may do all that the one before it may."""

    NONE = 0
    """Sees what is public, and what a link opens."""
    LOOK = 1
    """Sees what is shared too. Starts and changes nothing."""
    RUN = 2
    """Adds cases, starts runs and experiments, and changes those that are the person's own."""
    OWN = 3
    """Sees and changes everything, and gives others their access."""


class Resource(Strict):
    """Something that belongs to a person."""

    kind: str
    """`run`, `case`, `experiment` or `dataset`."""
    id: str


class Account(Strict):
    """Somebody at the app."""

    id: str
    """Never changes and is nobody else's; empty for who did not sign in."""
    name: str = ""
    email: str = ""
    access: Access = Access.NONE
    makes: Visibility = "private"
    """Who sees what this person makes, until the person says otherwise."""
    opened: frozenset[Resource] = frozenset()
    """What a link has opened for reading in this session."""

    @property
    def signature(self) -> str:
        """The name under which this account marks, asks and intervenes; nobody else's, also where two have one name."""
        return f"{self.name[:60]} ({self.id[:6]})"


NOBODY = Account(id="")
"""Who did not sign in, where one must."""


P = ParamSpec("P")
R = TypeVar("R")

_said: ContextVar[tuple[Account | None] | None] = ContextVar("acting", default=None)
"""Who was said to act in this context, or None where nobody said it."""


def nobody() -> Account | None:
    """Who acts where nobody said who does: somebody who did not sign in."""
    return NOBODY


_finder: list[Callable[[], Account | None]] = [nobody]


class Forbidden(CourtroomError):
    """The access of the person who acts does not allow this."""


def found_by(finder: Callable[[], Account | None]) -> None:
    """Have a function say who acts where nobody said it: for a page, whoever has signed in there.

    A page runs in parts: its script, fragments and callbacks, each maybe in another thread. So each question is
    answered by the session in whose thread it is asked: there is nothing that a part could forget to say. Alone on
    one's own machine the function gives None: whoever acts there acts for the server.
    """
    _finder[:] = [finder]


def allow_all_where_nobody_signs_in() -> None:
    """Have whoever acts act for the server; nothing changes in a process where people sign in."""
    if _finder == [nobody]:
        found_by(lambda: None)


def acting_account() -> Account | None:
    """Return who acts; None is the server itself, where that was said: it may do everything, and by default nothing."""
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


def for_server() -> Context:
    """Return a context in which the server itself acts: what was begun goes on, whatever becomes of who began it."""
    context = copy_context()
    context.run(_said.set, (None,))
    return context


def may(access: Access) -> bool:
    """Whether the person who acts has at least this access."""
    person = acting_account()
    return person is None or person.access >= access


def signed(name: str) -> str:
    """Return the name under which somebody acts: the account's, and only where nobody signs in the one typed."""
    person = acting_account()
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
