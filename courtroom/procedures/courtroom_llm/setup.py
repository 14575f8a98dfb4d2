"""The knobs of Courtroom-LLM, with the paper's defaults (sections 3 and 4.1)."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, field_validator

from courtroom import Case, CourtroomError, LabelledTask, Member, ModelSpec, VotingSetup
from courtroom.declarations.knobs import knobs

knob = knobs(__file__)

ALL = "all"


class CourtroomLLMSetup(VotingSetup):
    """Which texts are heard, by how many judges, in which order."""

    model: ModelSpec = Field(default_factory=lambda: ModelSpec(temperature=0.5), title="Model")
    texts: tuple[str, ...] = knob("texts", ())
    structure: Literal["sequential", "parallel", "multiple", "single", "nearest"] = knob("structure", "sequential")
    judges: int = knob("judges", 5, ge=1, le=21)
    decided_by: Literal["last", "majority"] = knob("decided_by", "last")
    shots: int = knob("shots", 1, ge=0, le=3)
    cases_of: Literal["both labels", "every label", "any label"] = knob("cases_of", "both labels")
    cases_by: Literal["similarity", "random"] = knob("cases_by", "similarity")
    reasons: Literal["judges", "everybody", "nobody"] = knob("reasons", "judges")
    hearing_reasons: bool = knob("hearing_reasons", True)
    earlier: Literal["all", "previous"] = knob("earlier", "all")
    passages: bool = knob("passages", True)
    neighbours: int = knob("neighbours", 5, ge=1, le=50)
    explain: bool = knob("explain", True)
    hearings: int = knob("hearings", 5, ge=1, le=9)
    argument_sentences: int = knob("argument_sentences", 1, ge=1, le=20)
    argument_words: int = knob("argument_words", 60, ge=10, le=1000)

    @field_validator("judges")
    @classmethod
    def _odd(cls, judges: int) -> int:
        if judges % 2 == 0:
            raise ValueError("the number of judges must be odd, so that a majority can be had")
        return judges

    @property
    def tried(self) -> bool:
        return self.structure in ("sequential", "parallel")

    @property
    def reasoned(self) -> bool:
        return self.reasons == "everybody" or (self.reasons == "judges" and self.tried)

    @property
    def bench(self) -> int:
        return 1 if self.structure in ("single", "nearest") else self.judges

    @property
    def explains(self) -> bool:
        """Whether a member may be asked why a similar case has its label."""
        return self.explain and self.shots > 0 and self.structure != "nearest"

    def labels_of_cases(self, labels: Sequence[str], in_question: Sequence[str]) -> tuple[str | None, ...]:
        """The labels of which `shots` similar cases each are looked up; None stands for any label."""
        if self.cases_of == "any label":
            return (None,)
        return tuple(label for label in labels if self.cases_of == "every label" or label in in_question)

    def complete(self, case: Case, seed: int) -> Self:
        """The setup with the texts written out. Raises `CourtroomError`: a text that the task does not have."""
        assert isinstance(case, LabelledTask)
        known = [item.id for item in case.items]
        wanted = tuple(known) if ALL in self.texts else self.texts or (known[0],)
        if missing := [name for name in wanted if name not in set(known)]:
            raise CourtroomError(
                f"The task has no text {', '.join(missing[:5])}. Choose among {known[0]} to {known[-1]}."
            )
        return self.model_copy(update={"texts": tuple(dict.fromkeys(wanted))})


def members(setup: CourtroomLLMSetup) -> tuple[Member, ...]:
    """Those that the structure needs. Each preliminary hearing is a sample of its own; one member gives all reasons."""
    judges = [setup.seat(f"judge-{seat}", "judge", f"Judge {seat}") for seat in range(1, setup.bench + 1)]
    clerk = [setup.seat("clerk", "clerk", "Clerk")] if setup.explains else []
    if not setup.tried:
        return *clerk, *judges
    hearing = [setup.seat(f"hearing-{n}", "hearing", f"Preliminary hearing {n}") for n in range(1, setup.hearings + 1)]
    sides = [setup.seat("prosecutor", "prosecutor", "Prosecutor"), setup.seat("attorney", "attorney", "Attorney")]
    return *hearing, *sides, *clerk, *judges
