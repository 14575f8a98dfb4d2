"""The knobs of Courtroom-LLM, with the paper's defaults (sections 3 and 4.1)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator

from courtroom.cases.case import Case
from courtroom.cases.labelled import LabelledTask
from courtroom.engine.setup import Member, Setup
from courtroom.errors import CourtroomError
from courtroom.models.spec import ModelSpec

Structure = Literal["sequential", "parallel", "multiple", "single"]
ALL = "all"


class UnknownTexts(CourtroomError):
    """A setup names a text that the task does not have."""


class CourtroomLLMSetup(Setup):
    """Which texts are heard, by how many judges, in which order."""

    model: ModelSpec = Field(default_factory=lambda: ModelSpec(temperature=0.5), title="Model")
    texts: tuple[str, ...] = Field(
        default=(),
        title="Texts heard",
        description="Ids of texts, or `all`; none is the first one. Each text has a trial of its own.",
    )
    structure: Structure = Field(
        default="sequential",
        title="Structure",
        description="`sequential`: each judge sees the earlier judges' opinions; `parallel`: judges decide independently, the "
        "majority counts; `multiple` and `single` are the baselines without a trial: several models with majority, or one.",
    )
    judges: int = Field(default=5, title="Judges", ge=1, le=21, description="An odd number: 1, 3, 5 ...")
    decided_by: Literal["last", "majority"] = Field(
        default="last",
        title="Sequential judges decide by",
        description="`last`: the last judge, who has seen all others' opinions, as the outcomes in the paper's tables show; or "
        "the majority.",
    )
    shots: int = Field(
        default=1,
        title="Similar cases",
        ge=0,
        le=3,
        description="For each of the two labels, with the reason for its label.",
    )
    explain: bool = Field(
        default=True,
        title="Reasons for similar cases",
        description="Where a similar case has no reason on record, the preliminary hearing gives one: a call each.",
    )
    hearings: int = Field(
        default=5,
        title="Preliminary hearings",
        ge=1,
        le=9,
        description="The first one counts. A text is ambiguous when they do not all name the same first label; with 1 that "
        "isn't known.",
    )
    argument_words: int = Field(
        default=60, title="Longest argument (words)", ge=10, le=1000, description="What is longer is cut there."
    )

    @field_validator("judges")
    @classmethod
    def _odd(cls, judges: int) -> int:
        if judges % 2 == 0:
            raise ValueError("the number of judges must be odd, so that a majority can be had")
        return judges

    @property
    def tried(self) -> bool:
        """Whether there is a trial, with a preliminary hearing and two pleadings."""
        return self.structure in ("sequential", "parallel")

    @property
    def bench(self) -> int:
        """How many judges decide."""
        return 1 if self.structure == "single" else self.judges

    def complete(self, case: Case, seed: int) -> Self:
        """The setup with the texts written out.

        Raises:
            UnknownTexts: a text that the task does not have.
        """
        assert isinstance(case, LabelledTask)
        known = [item.id for item in case.items]
        wanted = tuple(known) if ALL in self.texts else self.texts or (known[0],)
        if missing := [name for name in wanted if name not in set(known)]:
            raise UnknownTexts(
                f"The task has no text {', '.join(missing[:5])}. Choose among {known[0]} to {known[-1]}."
            )
        return self.model_copy(update={"texts": tuple(dict.fromkeys(wanted))})


def members(setup: CourtroomLLMSetup) -> tuple[Member, ...]:
    """Those that the structure needs. Each preliminary hearing is a sample of its own."""

    def member(name: str, role: str, title: str) -> Member:
        return Member(id=name, role=role, name=title, spec=setup.spec(name, role))

    judges = [member(f"judge-{seat}", "judge", f"Judge {seat}") for seat in range(1, setup.bench + 1)]
    hearings = setup.hearings if setup.tried else int(setup.explain and setup.shots > 0)
    hearing = [member(f"hearing-{n}", "hearing", f"Preliminary hearing {n}") for n in range(1, hearings + 1)]
    if not setup.tried:
        return *hearing, *judges
    sides = [member("prosecutor", "prosecutor", "Prosecutor"), member("attorney", "attorney", "Attorney")]
    return *hearing, *sides, *judges
