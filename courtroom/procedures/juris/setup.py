"""The knobs of JURIS, with the paper's defaults (section 4.1; ablations: section 4.3)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from courtroom.engine.setup import Member, Setup

Variant = Literal["juris", "no-editor", "generator-a", "generator-b"]


class JurisSetup(Setup):
    """Who writes, who votes, how long it gets."""

    variant: Variant = Field(
        default="juris",
        title="Variant",
        description="`juris` is the whole system; `no-editor` joins the accepted sentences as they are; `generator-a` and "
        "`generator-b` are the baselines in which one generator writes the summary alone.",
    )
    jury_size: int = Field(default=5, title="Jury size", ge=1, le=31, description="Seats at each ballot.")
    jury: Literal["fixed", "dynamic"] = Field(
        default="fixed",
        title="Composition",
        description="`dynamic` draws the jurors anew from the pool for each sentence.",
    )
    pool: int = Field(
        default=9, title="Pool", ge=1, le=60, description="Jurors to draw from, where the jury is dynamic."
    )
    shortest: int = Field(default=3, title="Fewest sentences", ge=1, le=60)
    longest: int = Field(default=10, title="Most sentences", ge=1, le=60)
    assess: bool = Field(
        default=True,
        title="Assessment",
        description="A judge model scores the final text for faithfulness, completeness and conciseness: one more call.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.shortest > self.longest:
            raise ValueError("the fewest sentences are more than the most. Swap them")
        if self.jury == "dynamic" and self.pool < self.jury_size:
            raise ValueError("the pool is smaller than the jury. Enlarge the pool, or seat fewer jurors")
        return self

    @property
    def alone(self) -> str:
        """The id of the generator that writes alone; empty with a jury."""
        return self.variant if self.variant.startswith("generator") else ""

    @property
    def seats(self) -> int:
        """How many jurors there are."""
        return self.pool if self.jury == "dynamic" else self.jury_size


def members(setup: JurisSetup) -> tuple[Member, ...]:
    """Two generators, the jury, the chief editor, the assessor; only those that the variant needs."""

    def member(name: str, role: str, title: str) -> Member:
        return Member(id=name, role=role, name=title, spec=setup.spec(name, role))

    generators = [member(f"generator-{letter}", "generator", f"Generator {letter.upper()}") for letter in "ab"]
    assessor = [member("assessor", "assessor", "Assessor")] if setup.assess else []
    if setup.alone:
        return *(one for one in generators if one.id == setup.alone), *assessor
    jury = [member(f"juror-{seat:02}", "juror", f"Juror {seat}") for seat in range(1, setup.seats + 1)]
    editor = [member("editor", "editor", "Chief Editor")] if setup.variant == "juris" else []
    return *generators, *jury, *editor, *assessor
