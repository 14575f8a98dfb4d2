"""What hearing, prosecutor, attorney and judges are asked (section 3; prompts' inputs: appendix A)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, create_model

from courtroom.cases.labelled import Labelled
from courtroom.models.task import Answer, Task
from courtroom.strict import Strict

Side = Literal["prosecutor", "attorney"]
MOST_LISTED = 100
"""Labels that a schema lists."""


class Hearing(Answer):
    """A_1 and A_2: the most likely label and the alternative (section 3.1)."""

    features: tuple[str, ...] = Field(default=(), max_length=12, description="Key features and themes of the text.")
    first: str = Field(min_length=1, description="The most likely label.")
    second: str = Field(min_length=1, description="The most likely other label.")
    reason: str = ""


class Argument(Answer):
    """One side's pleading for its label (section 3.2)."""

    argument: str = Field(min_length=1)
    evidence: tuple[str, ...] = Field(
        default=(), max_length=8, description="Passages of the text that speak for the label, copied word for word."
    )


class Opinion(Answer):
    """A judge's decision (section 3.3)."""

    label: str = Field(min_length=1)
    reason: str = Field(min_length=1)


class Explanation(Answer):
    """Why a similar case has its label (table 7)."""

    reason: str = Field(min_length=1)


class Pleading(Strict):
    """What one side argued, cut to the limit."""

    side: Side
    label: str
    argument: str
    evidence: tuple[str, ...] = ()


class Similar(Strict):
    """A similar case, as the judges get it."""

    text: str
    second: str = ""
    label: str
    reason: str = ""
    similarity: float


class Earlier(Strict):
    """What a judge before has decided."""

    judge: str
    label: str
    reason: str


class OfText(Strict):
    """The text with the label set."""

    item: Labelled
    names: tuple[str, str]
    labels: tuple[str, ...]
    question: str


class Hear(Task[Hearing]):
    """Which two labels come into question?"""

    name = "hear"
    title = "Preliminary hearing"
    about: OfText

    @property
    def form(self) -> type[BaseModel]:
        """Both labels are of the set."""
        return among(Hearing, ("first", "second"), self.about.labels)

    def problem(self, answer: Hearing) -> str | None:
        """Two different labels of the set."""
        labels = self.about.labels
        first, second = same(answer.first, labels), same(answer.second, labels)
        if first is None or second is None:
            return f"`first` and `second` must be labels of the set, as they are written: {listed(labels)}"
        return "`second` must be another label than `first`" if first == second else None


class Argue(Task[Argument]):
    """What speaks for one label and against the other?"""

    name = "argue"
    title = "Pleading"
    about: OfText
    side: Side
    label: str
    other: str
    limit: int


class Judge(Task[Opinion]):
    """Which of the two labels is right?"""

    name = "judge"
    title = "Judgment"
    about: OfText
    pleadings: tuple[Pleading, ...]
    similar: tuple[Similar, ...] = ()
    earlier: tuple[Earlier, ...] = ()

    @property
    def form(self) -> type[BaseModel]:
        """One of the two labels."""
        return among(Opinion, ("label",), tuple(pleading.label for pleading in self.pleadings))

    def problem(self, answer: Opinion) -> str | None:
        """One of the two labels that were argued for."""
        labels = tuple(pleading.label for pleading in self.pleadings)
        return None if same(answer.label, labels) else f"`label` must be one of these two: {listed(labels)}"


class Classify(Task[Opinion]):
    """Which label is right? Asked without a trial (the baselines)."""

    name = "classify"
    title = "Classification"
    about: OfText
    similar: tuple[Similar, ...] = ()

    @property
    def form(self) -> type[BaseModel]:
        """One label of the set."""
        return among(Opinion, ("label",), self.about.labels)

    def problem(self, answer: Opinion) -> str | None:
        """A label of the set."""
        labels = self.about.labels
        return None if same(answer.label, labels) else f"`label` must be one of the set: {listed(labels)}"


class Explain(Task[Explanation]):
    """Why does this similar case have its label?"""

    name = "explain"
    title = "Reason for a similar case"
    about: OfText
    label: str


@lru_cache(maxsize=256)
def among(answer: type[Answer], fields: tuple[str, ...], labels: tuple[str, ...]) -> type[BaseModel]:
    """An answer whose labels are these and no others; of a long set the schema does not list them all.

    A label in other writing is taken for what it certainly means before it is checked.
    """
    if len(labels) > MOST_LISTED:
        return answer
    meant = BeforeValidator(lambda told: same(told, labels) or told if isinstance(told, str) else told)
    narrowed: dict[str, Any] = {
        name: (Annotated[Literal[labels], meant], Field(description=answer.model_fields[name].description))
        for name in fields
    }
    return create_model(answer.__name__, __base__=answer, **narrowed)


def same(told: str, labels: Sequence[str]) -> str | None:
    """The label that is meant: case, quotation marks, hyphens, underscores and full stops don't matter."""
    found = {folded(label): label for label in labels}
    return told if told in labels else found.get(folded(told))


def folded(label: str) -> str:
    """A label without what writers vary."""
    return " ".join(label.casefold().strip(" \t\n\"'`“”‘’.。").replace("_", " ").replace("-", " ").split())


def listed(labels: Sequence[str]) -> str:
    """Labels in a sentence; of many, the first."""
    more = f" and {len(labels) - 30} more" if len(labels) > 30 else ""
    return ", ".join(f"“{label}”" for label in labels[:30]) + more
