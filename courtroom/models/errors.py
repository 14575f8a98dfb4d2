"""What can go wrong when a model is asked.

CourtroomError
├── NotAllowed       a model that may not be asked in this way, whoever wants it; it stops a run
└── ModelError       no answer could be had
    ├── ModelRefused asking again can't help: a bad key, an unknown model, a request that the provider refuses
    ├── CannotSee    the model refuses pictures; asking without them can help
    └── NotInTime    a person in a seat did not answer in time
"""

from __future__ import annotations

from courtroom.errors import CourtroomError


class NotAllowed(CourtroomError):
    """A setup asks for something that would say where a key goes, or names a connection that is not there."""


class ModelError(CourtroomError):
    """No answer could be had from a model."""


class ModelRefused(ModelError):
    """The provider refuses, and would again."""


class CannotSee(ModelError):
    """The model refuses pictures."""


class NotInTime(ModelError):
    """A person in a seat did not answer in time."""
