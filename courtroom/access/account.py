"""The account of a person who signed in or came by a link, and the access that it gives."""

from enum import IntEnum
from typing import Literal

from courtroom.strict import Strict

Visibility = Literal["private", "shared", "public"]
"""Who sees something besides whose it is and the owners of the server: nobody; all who may look; everybody who has its address."""


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
