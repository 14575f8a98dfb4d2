"""A dataset's rows, as lists show them and as they lie in the store: a text without what all texts share."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, SerializeAsAny

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.dispute import Dispute
from courtroom.cases.kinds import parse_case
from courtroom.cases.labelled import Document, Labelled, LabelledTask
from courtroom.errors import CourtroomError
from courtroom.strict import Strict
from courtroom.text.languages import language_of

BANDS = (0.2, 0.6)
"""Where bands of the vote margin begin: of 17 jurors, a near tie is at most 10:7, and a clear majority at most 13:4."""


class Row(Strict):
    """One case of a dataset. What is known of the outcome is in the case's own gold fields."""

    id: str = Field(min_length=1, max_length=80, description="Unique within the dataset; the case has the same.")
    case: Annotated[
        SerializeAsAny[Case], BeforeValidator(lambda value: parse_case(value) if isinstance(value, dict) else value)
    ]
    category: str = Field(default="", max_length=200, description="By what results are broken down.")
    split: str = Field(default="", max_length=80)
    group: str = Field(
        default="",
        max_length=80,
        description="The record it is from, where one record gives several rows, such as one for each defendant.",
    )
    number: int = Field(default=0, ge=0, description="Position of its record in its file, from 0.")
    place: str = Field(default="", description="File and line that it is from.")

    def incoming(self, kind: str, frame: "SharedFields | None") -> "IncomingRow":
        """The row on its way into a dataset of a kind, whose labelled texts share a frame. Raises `CourtroomError`:
        it is none of it."""
        case = self.case
        if case.kind != kind:
            why = f"{self.id} is of the kind “{case.kind}”, the rows before it are of “{kind}”. Keep one kind."
            raise CourtroomError(why)
        values = {name: getattr(self, name) for name in Row.model_fields}
        if not isinstance(case, LabelledTask):
            return IncomingRow(**values)
        if len(case.items) != 1 or SharedFields.of(case) != frame:
            why = f"{self.id} must hold one text and have the same labels and question as the row before it."
            raise CourtroomError(why)
        return IncomingRow(**values | {"case": case.items[0]})


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

    place: str = Field(description="File and line.")
    message: str = Field(description="Names the field, and says what to do.")

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class PendingDataset(Strict):
    """An import that has not come to its end."""

    name: str
    source: str
    taken: int
    order: str = Field(description="What was ordered, as JSON: enough to go on.")


class LeftOut(Strict):
    """Records that were left out for one reason."""

    reason: str
    records: int
    places: tuple[str, ...] = Field(description="File and line of the first ones.")

    def __str__(self) -> str:
        more = ", ..." if self.records > len(self.places) else ""
        return f"{self.reason} ({self.records:,}: {', '.join(self.places)}{more})"


class ImportCounts(Strict):
    """The counts that an import ends with; they are kept with the dataset."""

    read: int = Field(description="Records.")
    rows: int
    left_out: int = Field(description="Records of which no row was made.")
    why: tuple[LeftOut, ...] = ()
    label: str = Field(default="", description="The column that the labels are from, of a table of labelled texts.")
    blank: int = Field(description="Rows whose outcome is not known.")
    blanks: tuple[str, ...] = Field(default=(), description="File and line of the first ones.")
    contradictory: int = Field(description="Texts with several outcomes where one is asked for.")
    repeated: int = Field(description="Rows that repeat an earlier one.")
    near: int = Field(description="Pairs of rows that say nearly the same, among those compared.")
    compared: int
    removed: dict[str, int] = {}
    """Rows that a person has taken out since, by what they were."""

    def sentences(self) -> Iterator[str]:
        """Say the counts in words; those that are nothing are left out."""
        yield f"{self.read:,} records were read, and {self.rows:,} rows are in."
        if self.label:
            yield f"The labels are those of the column “{self.label}”."
        if self.left_out:
            yield f"{self.left_out:,} records were left out:"
            yield from map(str, self.why)
        if self.blank:
            more = ", ..." if self.blank > len(self.blanks) else ""
            some = f" ({', '.join(self.blanks)}{more})" if self.blanks else ""
            yield f"{self.blank:,} rows have no known outcome{some}: they can be heard, but not scored."
        if self.contradictory:
            yield f"{self.contradictory:,} texts have several outcomes; the dataset's check names them."
        if self.repeated:
            yield f"{self.repeated:,} rows repeat an earlier one; the dataset's check names them."
        if self.near:
            among = "" if self.compared >= self.rows else f" among {self.compared:,} rows drawn by chance"
            yield f"Pairs of rows that say nearly the same{among}: {self.near:,}."
        yield from (f"{rows:,} rows were taken out, as {what}." for what, rows in self.removed.items())


class SharedFields(Strict):
    """What all texts of a labelled dataset share."""

    labels: tuple[str, ...] = ()
    question: str = ""
    names: tuple[str, str] = ("text", "second text")
    language: str = "en"
    source: str = Field(default="", max_length=400)
    fictional: bool = False

    @classmethod
    def of(cls, task: LabelledTask) -> "SharedFields":
        return cls(**{name: getattr(task, name) for name in cls.model_fields})

    def task(self, item: Labelled, pool: str) -> LabelledTask:
        """The task with this one text; its examples are found in the pool."""
        title = " ".join(item.text.split())
        title = title[:80] + ("…" if len(title) > 80 else "")
        return LabelledTask(id=item.id, title=title, pool=pool, items=(item,), **self.model_dump())


@dataclass(frozen=True)
class IncomingRow:
    """One row on its way into the store: what a record becomes, or one of several."""

    case: Case | Labelled
    id: str = ""
    """As its form gives it, any text or number; empty where it has none of its own."""
    category: str = ""
    split: str | None = None
    """None: that of its file."""
    group: str = ""
    asked: str = ""
    """What is asked, where several rows have one text: a task, a defendant."""
    number: int = 0
    place: str = ""
    once: bool = False
    """Whether a row with this id and the same text that is there already takes its place."""
    remarks: tuple[str, ...] = ()
    frame: SharedFields | None = None
    """Of a text of a labelled task: what it shares with the others; the labels where they are known beforehand."""


def parsed(body: str) -> Case | Labelled:
    """What a row holds, without what all rows share. Raises `CaseError, ValueError`: it is damaged."""
    data = json.loads(body)
    return parse_case(data) if isinstance(data, dict) and "kind" in data else Labelled.model_validate(data)


def text_of(case: Case | Labelled) -> str:
    """All words that a member would read."""
    if isinstance(case, Labelled):
        return case.whole
    if isinstance(case, LabelledTask):
        return "\n".join(item.whole for item in case.items)
    if isinstance(case, CriminalCase):
        return "\n".join((case.facts, *case.options))
    if isinstance(case, Document):
        return case.text
    if isinstance(case, Dispute):
        pieces = [piece.text for piece in case.evidence]
        chat = [message.text for message in case.chat]
        return "\n".join((case.transaction.product, case.transaction.description, *chat, *pieces))
    return "\n".join(text for _, text in case.sections())


def fingerprint(text: str) -> bytes:
    """The same for texts that differ only in white space, punctuation, case and width of letters."""
    letters = re.sub(r"[\W_]+", "", unicodedata.normalize("NFKC", text).casefold())
    return hashlib.sha256(letters.encode(errors="surrogatepass")).digest()[:16]


def outcome_of(case: Case | Labelled) -> str:
    """What is known to be right, in few words; empty where nothing is known."""
    if isinstance(case, Labelled):
        return case.label or ""
    if isinstance(case, LabelledTask):
        return case.items[0].label or "" if len(case.items) == 1 else ""
    if isinstance(case, CriminalCase) and case.gold is not None:
        gold = case.gold
        known: Any = gold.choice or gold.charges or gold.relevant_articles or gold.term_of_imprisonment
        if known is None and gold.amount is not None:
            known = f"{gold.amount:.2f}"
        return "; ".join(map(str, known)) if isinstance(known, tuple) else str(known or "")
    if isinstance(case, Dispute) and case.jury is not None:
        return case.jury.winner
    return "with a summary" if isinstance(case, Document) and case.reference else ""


def category_of(case: Case | Labelled) -> str:
    """By what rows of this kind are broken down, where the source does not say."""
    if isinstance(case, Dispute):
        return case.category
    if isinstance(case, Document):
        return case.domain
    if isinstance(case, CriminalCase):
        return case.gold.charges[0] if case.gold and case.gold.charges else ""
    return outcome_of(case)


def margin_of(case: Case | Labelled) -> float | None:
    """By how much of all votes the winner on record is ahead, 0 to 1; None where that is not known."""
    if not isinstance(case, Dispute) or case.jury is None or not (case.jury.buyer + case.jury.seller):
        return None
    return abs(case.jury.buyer - case.jury.seller) / (case.jury.buyer + case.jury.seller)


def numbers_of(case: Case | Labelled) -> dict[str, float]:
    """What statistics count in a case of its kind."""
    if isinstance(case, CriminalCase):
        gold, found = case.gold or Gold(), {"defendants": float(len(case.defendants))}
        lists = {"articles": gold.relevant_articles, "charges": gold.charges}
        found |= {name: len(labels) for name, labels in lists.items() if labels is not None}
        if term := gold.term_of_imprisonment:
            is_for_life = term.death_penalty or term.life_imprisonment
            found |= {"life or death": 1} if is_for_life else {"months": term.imprisonment}
        return found
    if isinstance(case, Dispute):
        kinds = [medium.kind for medium in case.media()]
        votes = {"votes": case.jury.buyer + case.jury.seller, "votes for buyer": case.jury.buyer} if case.jury else {}
        found = {"evidence": len(case.evidence), "chat lines": len(case.chat)}
        return {**found, "pictures": kinds.count("image"), "videos": kinds.count("video"), **votes}
    if isinstance(case, Document):
        return {"summary characters": len(case.reference)} if case.reference else {}
    return {"second text characters": len(case.second)} if isinstance(case, Labelled) and case.second else {}


def columns_of(line: IncomingRow, text: str, print_: bytes) -> tuple[Any, ...]:
    """What the table of rows holds of a row besides its dataset and its position, in the order of its columns."""
    case = line.case
    category, outcome = (line.category or category_of(case))[:200], outcome_of(case)[:400]
    language = language_of(text) if isinstance(case, Labelled) else case.language
    known = (line.id, category, line.group, line.asked, line.number, line.place, outcome, len(text), language)
    body = case.model_copy(update={"id": line.id}).model_dump_json()
    return *known, margin_of(case), print_, json.dumps(numbers_of(case)), body
