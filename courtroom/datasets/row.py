"""A dataset's rows, and what a list shows of a dataset."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny

from courtroom.cases.case import Case
from courtroom.cases.kinds import parse_case
from courtroom.strict import Strict


def _parsed(value: Any) -> Any:
    return parse_case(value) if isinstance(value, dict) else value


class Row(Strict):
    """One case of a dataset. What is known of the outcome is in the case's own gold fields."""

    id: str = Field(min_length=1, max_length=80, description="Unique within the dataset; the case has the same.")
    case: Annotated[SerializeAsAny[Case], BeforeValidator(_parsed)]
    category: str = Field(default="", max_length=200, description="By what results are broken down.")
    split: str = Field(default="", max_length=80)
    group: str = Field(
        default="",
        max_length=80,
        description="The record it is from, where one record gives several rows, such as one for each defendant.",
    )
    number: int = Field(default=0, ge=0, description="Position of its record in its file, from 0.")
    place: str = Field(default="", description="File and line that it is from.")


class DatasetInfo(Strict):
    """One version of a dataset as listed."""

    name: str
    version: str = Field(description="Digest of its content: the same rows in the same splits have the same version.")
    kind: str = Field(description="Kind of its cases.")
    count: int
    splits: dict[str, int] = Field(description="Rows of each split; rows without a split are not counted here.")
    source: str
    made: str = Field(description="Date and time, ISO 8601, UTC.")


class Problem(Strict):
    """Why a record was not taken in."""

    place: str
    """File and line."""
    message: str
    """Names the field, and says what to do."""

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class PendingDataset(Strict):
    """An import that has not come to its end."""

    name: str
    source: str
    taken: int
    refused: int
    order: str
    """What was ordered, as JSON: enough to go on."""
