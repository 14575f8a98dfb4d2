"""What can go wrong when a model is asked.

CourtroomError
├── NotAllowed       a model that may not be asked in this way, whoever wants it; it stops a run (courtroom.models.spec)
└── ModelError       no answer could be had
    ├── Unreachable  no connection: refused, no such name, no trust between the two
    ├── TimedOut     no answer in time
    ├── RateLimited  the provider takes no more calls for now
    ├── ServerFailed the server says that it failed
    ├── BrokenOff    the reply ended before its end
    ├── Garbled      what came is no reply of a model
    ├── Runaway      the reply went on far beyond the longest answer, and was cut
    ├── ModelRefused asking again can't help: a bad key, an unknown model, a request that the provider refuses
    │   └── Filtered the provider's filter took offence at what was asked
    ├── CannotSee    the model refuses pictures; asking without them can help
    └── NotInTime    a person in a seat did not answer in time
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from courtroom.errors import CourtroomError

if TYPE_CHECKING:
    from courtroom.models.request import Reply


class ModelError(CourtroomError):
    """No answer could be had from a model."""

    paid: Reply | None = None
    """What the calls that were made for it used up, as far as the provider said: a reply without a text."""


class Unreachable(ModelError):
    """No connection."""


class TimedOut(ModelError):
    """No answer in time."""


class RateLimited(ModelError):
    """The provider takes no more calls for now."""


class ServerFailed(ModelError):
    """The server says that it failed."""


class BrokenOff(ModelError):
    """The reply ended before its end."""


class Garbled(ModelError):
    """What came is no reply of a model."""


class Runaway(ModelError):
    """The reply went on far beyond the longest answer, and was cut."""


class ModelRefused(ModelError):
    """The provider refuses, and would again."""


class Filtered(ModelRefused):
    """The provider's filter took offence at what was asked."""


class CannotSee(ModelError):
    """The model refuses pictures."""


class NotInTime(ModelError):
    """A person in a seat did not answer in time."""
