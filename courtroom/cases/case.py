"""What every procedure deliberates on: a case, and the media that it holds."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal, Self, TypeVar

from pydantic import Field, model_validator

from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.medium import KeptFile, Medium, with_kept
from courtroom.strict import Strict, option

TITLES = {
    "people": (N_("The real jury"), N_("Real judgment")),
    "invented": (N_("Votes invented with the case"), N_("Invented judgment")),
    "predicted": (N_("Predicted votes"), N_("Predicted judgment")),
    "": (N_("Votes on record"), N_("Judgment on record")),
}
"""What votes are called, and a judgment, by who decided; empty where nobody says."""


MAX_LISTED_IDS = 6
CaseT = TypeVar("CaseT", bound="Case")


class Option(Strict):
    """Something that a case can be decided for."""

    name: str = Field(description="In votes, answers and prompts.")
    title: str
    is_party: bool = Field(default=False, description="Whether it is somebody who is found for, such as the buyer.")
    pieces: tuple[str, ...] = Field(default=(), description="What is put forward by those who want it.")


class Brought(Strict):
    """A piece of what somebody brings for a case: a text, with or without pictures and videos."""

    place: str = Field(default="", description="What it is given to, one of the case's `places`.")
    source: str = Field(default="", description="Where it is from; empty: somebody wrote it for the case.")
    text: str = ""
    round: int = 1
    media: tuple[Medium, ...] = ()

    @property
    def words(self) -> str:
        """Its text, headed by where it is from."""
        return "\n".join(filter(None, (f"[{self.source}]" if self.source else "", self.text.strip())))


def joined(given: Mapping[str, Any], name: str, pieces: Sequence[Brought]) -> str:
    """Return the text of a form's field, and the pieces that were given to the place of its name."""
    return "\n\n".join(filter(None, (given.get(name, ""), *(piece.words for piece in pieces if piece.place == name))))


def unique(what: str, ids: Iterable[str]) -> None:
    """Raise `ValueError` where an id stands more than once."""
    if doubled := sorted(one for one, times in Counter(ids).items() if times > 1):
        names = ", ".join(doubled[:MAX_LISTED_IDS])
        raise ValueError(f"{what} must be unique; used more than once: {names}")


class Case(Strict):
    """What all kinds of case have in common. A procedure says which kinds it can hear."""

    schema_version: Literal[1] = 1
    kind: str
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    title: str = Field(min_length=1, max_length=200, title=N_("Title"))
    language: str = Field(
        default="en", pattern=r"^[a-z]{2}(-[A-Za-z]+)?$", description="ISO 639-1; answers come in it."
    )
    source: str = Field(default="", max_length=400, description="Where the case is from.")
    fictional: bool = Field(
        default=False, description="Written for demonstration; nobody in it is real, and pictures are illustrations."
    )
    decided_by: Literal["people", "predicted", ""] = option(
        "",
        "Who cast the votes, or gave the judgment, on record: people (name the source), or a prediction.",
        title=N_("Who cast them"),
    )

    @model_validator(mode="after")
    def _people_have_a_source(self) -> Self:
        if self.decided_by == "people" and (self.fictional or not self.source.strip()):
            raise ValueError("what people decided has a source, and is not fictional: name it in `source`")
        return self

    @property
    def votes_title(self) -> str:
        """What the votes on record are called: real only where people cast them."""
        return TITLES["invented" if self.fictional else self.decided_by][0]

    def media(self) -> Iterator[Medium]:
        """All media of the case, in reading order."""
        return iter(())

    @property
    def picture(self) -> Medium | None:
        """Its first picture, for a card."""
        return next((medium for medium in self.media() if medium.kind == "image"), None)

    @property
    def is_illustrated(self) -> bool:
        """Whether its pictures show what was made up for demonstration, and are no photos of anything."""
        return self.fictional and any(True for _ in self.media())

    outcome_fields: ClassVar[Mapping[str, Any]] = {}
    """The fields with the real outcome or gold labels, and what stands there where nobody knows it."""

    def blind(self) -> Self:
        """The case without anything that a member must not know: the real outcome, gold labels."""
        return self.model_copy(update=self.outcome_fields)

    has_options: ClassVar[bool] = False
    """Whether such a case is decided for one of `choices`, or of what members propose where there are none."""

    @property
    def over(self) -> str:
        """What it is about, as a prompt says it."""
        return "a case"

    @property
    def to_decide(self) -> str:
        """What is to be decided, as a prompt says it."""
        return f"{self.over}."

    @property
    def burden(self) -> str:
        """Who has to prove what, as a prompt says it; empty where nobody has to."""
        return ""

    @property
    def choices(self) -> tuple[Option, ...]:
        """What it can be decided for. Of two, the first has to be proven where there is a `burden`."""
        return ()

    @property
    def for_nobody(self) -> tuple[str, ...]:
        """The texts of its material that speak for no option."""
        return ()

    template: ClassVar[Path | None] = None
    """Of a kind in another package: the file that shows such a case in prompts."""
    kind_title: ClassVar[str] = "Case"
    """What a page calls this kind."""
    asks: ClassVar[tuple[str, ...]] = ()
    """The fields that a form asks for beside title and language, inner ones after a dot; none: no form makes it."""
    in_rounds: ClassVar[bool] = False
    """Whether pieces are submitted in rounds."""

    titles_of_places: ClassVar[Mapping[str, str]] = {}
    """What a piece can be given to, name to title, where that does not depend on what a form holds."""

    @classmethod
    def places(cls, given: Mapping[str, Any]) -> Mapping[str, str]:
        """What a piece can be given to, name to title. `given`: what a form holds so far, by the fields' names."""
        return cls.titles_of_places

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        """Make the case of what a form holds.

        Args:
            given: values by the fields' names, inner ones nested; a list is a text of lines; empty ones are absent.
            pieces: each with its place, in order.
        """
        return cls.model_validate(given)

    def with_media(self, kept: Mapping[str, KeptFile]) -> Self:
        """Return the case with what the store knows of its media, by the paths under which it names them."""
        return with_kept(self, kept)

    def brief(self) -> tuple[str, ...]:
        """What a list shows of it, in short."""
        return ()

    def sections(self) -> tuple[tuple[str, str], ...]:
        """Title and text of all there is to read, for a reader of the case."""
        return ()

    def with_addition(self, text: str, side: str) -> Self:
        """The case with something put in while it is heard, by a side; raises `CaseError` where none can be."""
        why = f"Nothing can be put into a {self.kind_title.lower()} while it is heard. Give all a note instead."
        raise CaseError(why)

    def choosable(self, field: str) -> Mapping[str, str]:
        """What a field of a setup may be chosen from in this case, name to title; empty where it is free."""
        return {}

    parts_title: ClassVar[str] = "evidence"
    """What its parts are called that can be left out."""

    def parts(self) -> tuple[tuple[str, str], ...]:
        """What can be left out of the case, one by one: name, and what it is in short."""
        return ()

    def without(self, *parts: str) -> Self:
        """The case with these parts left out. Raises `CaseError`: it has no such part, or can't do without."""
        if parts:
            raise CaseError(f"{self.id} has no part that could be left out.")
        return self

    def in_other_order(self) -> Self:
        """Return the case with its sides, or its options, in the other order; the same where it has no order."""
        return self

    def real_outcome(self) -> str:
        """What is on record of its outcome, and whose, in words; empty where nothing is."""
        return ""

    def on_record(self) -> Any:
        """Return what is on record of its outcome, as plain data; None where nothing is."""
        return self.real_outcome() or None

    @property
    def right(self) -> tuple[str, int] | None:
        """What it is to be decided for by what is on record, and among how many choices; None where that is not known."""
        return None

    def real_counts(self) -> dict[str, int]:
        """The votes on record, by choice; empty where there are none. `votes_title` says whose they are."""
        return {}

    def content_hash(self) -> str:
        """SHA-256 of the case's canonical JSON: two cases with one hash are the same case."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()
