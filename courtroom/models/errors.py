"""What can go wrong when a model is asked. Beside these a model that may not be asked raises `spec.NotAllowed`, which stops a run."""

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
    """No connection: refused, no such name, no trust between the two."""


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
    """Asking again can't help: a bad key, an unknown model, a request that the provider refuses."""


class Filtered(ModelRefused):
    """The provider's filter took offence at what was asked."""


class CannotSee(ModelError):
    """The server refuses so many pictures; asking with fewer can help.

    Args:
        most: how many may be shown of this question.
    """

    def __init__(self, sentence: str, most: int = 0) -> None:
        super().__init__(sentence)
        self.most = most


class NotInTime(ModelError):
    """A person in a seat did not answer in time."""
