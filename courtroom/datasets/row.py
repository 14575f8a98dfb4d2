"""A dataset's rows, and what a list shows of a dataset."""

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


class LeftOut(Strict):
    """Records that were left out for one reason."""

    reason: str
    records: int
    places: tuple[str, ...]
    """File and line of the first ones."""

    def __str__(self) -> str:
        more = ", ..." if self.records > len(self.places) else ""
        return f"{self.reason} ({self.records:,}: {', '.join(self.places)}{more})"


class ImportCounts(Strict):
    """The counts that an import ends with; they are kept with the dataset."""

    read: int
    """Records."""
    rows: int
    left_out: int
    """Records of which no row was made."""
    why: tuple[LeftOut, ...] = ()
    label: str = ""
    """The column that the labels are from, of a table of labelled texts."""
    blank: int
    """Rows whose outcome is not known."""
    blanks: tuple[str, ...] = ()
    """File and line of the first ones."""
    contradictory: int
    """Texts with several outcomes where one is asked for."""
    repeated: int
    """Rows that repeat an earlier one."""
    near: int
    """Pairs of rows that say nearly the same, among those compared."""
    compared: int
    removed: dict[str, int] = {}
    """Rows that a person has taken out since, by what they were."""

    def sentences(self) -> list[str]:
        """The counts in words; those that are nothing are left out."""
        lines = [f"{self.read:,} records were read, and {self.rows:,} rows are in."]
        if self.label:
            lines.append(f"The labels are those of the column “{self.label}”.")
        if self.left_out:
            lines += [f"{self.left_out:,} records were left out:", *map(str, self.why)]
        if self.blank:
            some = (
                f" ({', '.join(self.blanks)}{', ...' if self.blank > len(self.blanks) else ''})" if self.blanks else ""
            )
            lines.append(f"{self.blank:,} rows have no known outcome{some}: they can be heard, but not scored.")
        if self.contradictory:
            lines.append(f"{self.contradictory:,} texts have several outcomes; the dataset's check names them.")
        if self.repeated:
            lines.append(f"{self.repeated:,} rows repeat an earlier one; the dataset's check names them.")
        if self.near:
            among = "" if self.compared >= self.rows else f" among {self.compared:,} rows drawn by chance"
            lines.append(f"Pairs of rows that say nearly the same{among}: {self.near:,}.")
        lines += [f"{rows:,} rows were taken out, as {what}." for what, rows in self.removed.items()]
        return lines
