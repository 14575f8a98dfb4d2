"""Documents to be summarised; and tasks of texts, or pairs of texts, each to be given one label of a set."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from courtroom.cases.case import Brought, Case, joined, unique
from courtroom.cases.readers.tables import MAX_TEXT, task_from_text
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.strict import Strict, option

LONGEST = 200_000
"""Characters; about 40,000 English words, more than most models can read at once."""
MOST_LABELS = 500
MOST_TEXTS = 20_000


class Document(Case):
    """One text. The reference summary is for measuring and never shown to a member."""

    kind: Literal["document"] = "document"
    domain: str = Field(default="", max_length=40, description="E.g. news, medical, report, meeting, interview, story.")
    text: str
    reference: str = Field(default="", max_length=20_000, description="A summary that somebody wrote.")

    kind_title = "Document"
    asks = ("text",)
    titles_of_places = {"text": N_("Text")}
    outcome_fields = {"reference": ""}

    @field_validator("text")
    @classmethod
    def _readable(cls, text: str) -> str:
        if not any(character.isalnum() for character in text):
            raise ValueError("it holds no words. Give a document with text")
        if len(text) > LONGEST:
            why = f"it has {len(text):,} characters; a document may have {LONGEST:,}. Cut it into parts and hear each"
            raise ValueError(why)
        return text

    def on_record(self) -> Any:
        return {"reference": self.reference} if self.reference else None

    def brief(self) -> tuple[str, ...]:
        known = ("with a reference summary",) if self.reference else ()
        return *filter(None, (self.domain,)), f"{len(self.text):,} characters", *known

    def sections(self) -> tuple[tuple[str, str], ...]:
        return tuple(pair for pair in (("Text", self.text), ("Reference summary", self.reference)) if pair[1])

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        return cls.model_validate({**given, "text": joined(given, "text", pieces)})


class Labelled(Strict):
    """One text of a task, or a pair; its label where it is known."""

    id: str = Field(pattern=r"^[\w.:-]+$", max_length=120)
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    second: str = Field(default="", max_length=MAX_TEXT, description="The other text of a pair.")
    label: str | None = Field(default=None, max_length=200)
    reason: str = Field(default="", max_length=2_000, description="Why it has this label.")
    group: str = option(
        "", "Texts of one group, such as two that differ by a word, are never each other's examples.", max_length=120
    )

    @property
    def whole(self) -> str:
        return f"{self.text}\n{self.second}" if self.second else self.text


class Example(Labelled):
    """A labelled text that may be found as a similar case."""

    id: str = Field(description="Pool, number of the label, `item` or `example`, and the text's own id.")


class LabelledTask(Case):
    """A label set, the texts to be classified and, where there are some, further labelled texts as examples."""

    kind: Literal["labelled"] = "labelled"
    labels: tuple[str, ...] = Field(min_length=2, max_length=MOST_LABELS)
    question: str = Field(default="", max_length=2_000, description="What is to be decided about a text.")
    names: tuple[str, str] = Field(default=("text", "second text"), description="What the texts of a pair are called.")
    items: tuple[Labelled, ...] = Field(
        min_length=1,
        max_length=MOST_TEXTS,
        title=N_("Table of the texts: CSV or JSON lines, with a column “text” and a column “label”"),
    )
    examples: tuple[Labelled, ...] = Field(
        default=(),
        max_length=MOST_TEXTS,
        description="Labelled texts that are never heard themselves. Without any, the other texts are examples.",
    )
    pool: str = Field(default="", max_length=40, description="Names the pool of its examples; filled in by itself.")

    kind_title = "Labelled task"
    asks = ("items",)
    titles_of_places = {"items": N_("Table")}

    @model_validator(mode="after")
    def _whole(self) -> Self:
        folded = Counter(label.casefold().strip() for label in self.labels)
        if alike := [label for label in self.labels if folded[label.casefold().strip()] > 1]:
            why = f"labels must differ by more than case: {', '.join(f'“{label}”' for label in alike[:6])}. Merge them"
            raise ValueError(why)
        unique("ids of texts", (item.id for item in self.items))
        unique("ids of examples", (item.id for item in self.examples))
        known = set(self.labels)
        for item in (*self.items, *self.examples):
            if item.label is not None and item.label not in known:
                raise ValueError(f"“{item.label}”, the label of {item.id}, is not in the label set. Add or correct it")
        return self

    def item(self, name: str) -> Labelled:
        return next(item for item in self.items if item.id == name)

    @property
    def pool_name(self) -> str:
        """Names the pool of its examples: made of its content, so that an edited task has another."""
        content = self.model_dump_json(include={"labels", "items", "examples"})
        return self.pool or hashlib.sha256(content.encode()).hexdigest()[:16]

    def known(self) -> Iterator[Example]:
        """Its examples as records; without any, its labelled texts, where no pool holds them already."""
        if not self.examples and (self.pool or len(self.items) == 1):
            return
        which, under = "example" if self.examples else "item", {label: self.under(label) for label in self.labels}
        for item in self.examples or self.items:
            if item.label is not None:
                yield Example(**{**item.model_dump(), "id": f"{under[item.label]}{which}/{item.id}"})

    def under(self, label: str | None = None) -> str:
        """What the ids of its examples begin with, of one label's where it is given."""
        return f"{self.pool_name}/" if label is None else f"{self.pool_name}/{self.labels.index(label)}/"

    def itself(self, item: Labelled) -> tuple[str, ...]:
        """Return the ids of a text and those of its group among the examples: none is its precedent."""
        alike = (one.id for one in self.items if item.group and one.group == item.group and one.id != item.id)
        found = [(name, "item") for name in (item.id, *alike)]
        found += [(one.id, "example") for one in self.examples if item.group and one.group == item.group]
        return tuple(f"{self.under(label)}{which}/{name}" for label in self.labels for name, which in found)

    def choosable(self, field: str) -> Mapping[str, str]:
        if field != "texts":
            return {}
        each = {item.id: f"{item.id}: {item.text[:60]}" for item in self.items}
        return {"all": f"all {len(self.items)} texts"} | each

    def on_record(self) -> Any:
        return {item.id: item.label for item in self.items if item.label is not None}

    @property
    def right(self) -> tuple[str, int] | None:
        label = self.items[0].label if len(self.items) == 1 else None
        return (label, len(self.labels)) if label is not None else None

    def real_outcome(self) -> str:
        """The known label, where there is one text."""
        return (self.items[0].label or "") if len(self.items) == 1 else ""

    def blind(self) -> Self:
        """Without labels, reasons and examples; where its examples are found stays known."""
        items = tuple(item.model_copy(update={"label": None, "reason": ""}) for item in self.items)
        return self.model_copy(update={"items": items, "examples": (), "pool": self.pool_name})

    def brief(self) -> tuple[str, ...]:
        told = f"{len(self.items)} {'pairs' if any(item.second for item in self.items) else 'texts'}"
        examples = (f"{len(self.examples)} examples",) if self.examples else ()
        return told, f"{len(self.labels)} labels", *examples

    def sections(self) -> tuple[tuple[str, str], ...]:
        texts = "\n".join(
            f"{item.id} [{item.label or 'not labelled'}] {item.text}" + (f" ⟷ {item.second}" if item.second else "")
            for item in self.items[:200]
        )
        more = f"\nand {len(self.items) - 200} more" if len(self.items) > 200 else ""
        lines = (("Question", self.question), ("Labels", ", ".join(self.labels)), ("Texts", texts + more))
        return tuple(pair for pair in lines if pair[1])

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        """A task from a pasted table."""
        table = given.pop("items", "") or "\n".join(piece.text for piece in pieces)
        read = task_from_text(table)
        if read.left_out:
            raise CaseError(f"{read.left_out[0]} Correct it, and save again.")
        return cls.model_validate({**read.fields, **given})
