"""What every procedure deliberates on: a case, and the media it holds. The ground: imports no other part."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.medium import KeptFile, Medium
from courtroom.strict import Strict

VOTES_TITLES = {
    "people": N_("The real jury"),
    "invented": N_("Invented votes"),
    "predicted": N_("Predicted votes"),
    "": N_("Votes on record"),
}
JUDGMENT_TITLES = {
    "people": N_("Real judgment"),
    "invented": N_("Invented judgment"),
    "predicted": N_("Predicted judgment"),
    "": N_("Judgment on record"),
}
"""By who decided; empty where nobody says."""


class Option(Strict):
    """Something that a case can be decided for."""

    name: str
    """In votes, answers and prompts."""
    title: str
    is_party: bool = False
    """Whether it is somebody who is found for, such as the buyer."""
    pieces: tuple[str, ...] = ()
    """What is put forward by those who want it."""


class Case(Strict):
    """What all kinds of case have in common. A procedure says which kinds it can hear, or that it hears any with options."""

    schema_version: Literal[1] = 1
    kind: str
    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    title: str = Field(min_length=1, max_length=200)
    language: str = Field(
        default="en", pattern=r"^[a-z]{2}(-[A-Za-z]+)?$", description="ISO 639-1; answers come in it."
    )
    source: str = Field(default="", max_length=400, description="Where the case is from.")
    fictional: bool = Field(default=False, description="Written for demonstration; nobody in it is real.")
    decided_by: Literal["people", "predicted", ""] = Field(
        default="",
        description="Who cast the votes, or gave the judgment, on record: people (name the source), or a prediction.",
        exclude_if=lambda decided_by: not decided_by,
    )

    @model_validator(mode="after")
    def _people_have_a_source(self) -> Self:
        if self.decided_by == "people" and not (self.source.strip() and not self.fictional):
            raise ValueError("what people decided has a source, and is not fictional: name it in `source`")
        return self

    @property
    def votes_title(self) -> str:
        """What the votes on record are called: real only where people cast them."""
        return VOTES_TITLES["invented" if self.fictional else self.decided_by]

    def media(self) -> Iterator[Medium]:
        """All media of the case, in reading order."""
        return iter(())

    def blind(self) -> Self:
        """The case without anything that a member must not know: the real outcome, gold labels."""
        return self

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

    kind_title: ClassVar[str] = "Case"
    """What a page calls this kind."""
    from_text: ClassVar[bool] = False
    """Whether one text, with or without pictures, makes such a case; then there is `written`."""

    def with_media(self, kept: Mapping[str, KeptFile]) -> Self:
        """Return the case with what the store knows of its media, by the paths under which it names them."""
        return self

    def brief(self) -> tuple[str, ...]:
        """What a list shows of it, in short."""
        return ()

    def sections(self) -> tuple[tuple[str, str], ...]:
        """Title and text of all there is to read, for a reader of the case."""
        return ()

    def with_addition(self, text: str, side: str) -> Self:
        """The case with something put in while it is heard. `side`: whose it is, where the kind of case has sides. Raises
        `CaseError`: nothing can be put into this kind of case."""
        raise CaseError(
            f"Nothing can be put into a {self.kind_title.lower()} while it is heard. Give all a note instead."
        )

    def choosable(self, field: str) -> Mapping[str, str]:
        """What a field of a setup may be chosen from in this case, name to title; empty where it is free."""
        return {}

    @classmethod
    def written(cls, name: str, title: str, language: str, text: str, media: tuple[Medium, ...]) -> Self:
        """A case from a text that somebody wrote or pasted. Raises `CaseError`: the text can't be read as such a case."""
        raise NotImplementedError(f"a text does not make a {cls.kind_title}")

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

    def real_outcome(self) -> str:
        """What is on record of its outcome, and whose, in words; empty where nothing is."""
        return ""

    def on_record(self) -> Any:
        """Return what is on record of its outcome, as plain data; None where nothing is."""
        return self.real_outcome() or None

    def real_counts(self) -> dict[str, int]:
        """The votes on record, by choice; empty where there are none. `votes_title` says whose they are."""
        return {}

    def content_hash(self) -> str:
        """SHA-256 of the case's canonical JSON: two cases with one hash are the same case."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()
