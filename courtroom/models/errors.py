"""What can go wrong when a model is asked. One that may not be asked raises `spec.NotAllowed`, which stops a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from courtroom.errors import CourtroomError

if TYPE_CHECKING:
    from courtroom.models.request import Reply


class ModelError(CourtroomError):
    """No answer could be had from a model; the sentence says why, and what to do."""

    paid: Reply | None = None
    """What the calls that were made for it used up, as far as the provider said: a reply without a text."""


class CannotSee(ModelError):
    """The server refuses so many pictures; fewer can help. `most`: how many may be shown of this question."""

    def __init__(self, sentence: str, most: int = 0) -> None:
        super().__init__(sentence)
        self.most = most
