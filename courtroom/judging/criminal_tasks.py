"""What tasks on a criminal case share."""

from __future__ import annotations

from pydantic import BaseModel

from courtroom.cases.criminal import CriminalCase
from courtroom.media.medium import Medium


class OfFacts(BaseModel):
    """For tasks whose role reads the facts: key frames come along."""

    case: CriminalCase

    def media(self) -> tuple[Medium, ...]:
        """The key frames."""
        return self.case.frames
