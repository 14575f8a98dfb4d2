"""The knobs of Courtroom-LLM, with the paper's defaults (sections 3 and 4.1)."""

from collections.abc import Sequence
from typing import Literal, Self

from pydantic import Field, field_validator

from courtroom.cases.case import Case
from courtroom.cases.labelled import LabelledTask
from courtroom.declarations.knobs import Group, knob
from courtroom.declarations.setup import Member, VotingSetup
from courtroom.errors import CourtroomError
from courtroom.models.spec import ModelSpec

Structure = Literal["sequential", "parallel", "multiple", "single", "nearest"]
CasesOf = Literal["both labels", "every label", "any label"]
ALL = "all"


class UnknownTexts(CourtroomError):
    """A setup names a text that the task does not have."""


class CourtroomLLMSetup(VotingSetup):
    """Which texts are heard, by how many judges, in which order."""

    model: ModelSpec = Field(default_factory=lambda: ModelSpec(temperature=0.5), title="Model")
    texts: tuple[str, ...] = knob(
        (),
        "Texts heard",
        "Ids of texts, or `all`; none is the first one. Each text has a trial of its own.",
        Group.LOOK,
        first=True,
    )
    structure: Structure = knob(
        "sequential",
        "Structure",
        "`sequential`: each judge sees the earlier judges' opinions; `parallel`: judges decide independently, the "
        "majority counts; `multiple` and `single` are the baselines without a trial: several models with majority, or one; "
        "`nearest` asks no model: the nearest labelled texts decide.",
        Group.WHO,
        first=True,
    )
    judges: int = knob(5, "Judges", "An odd number: 1, 3, 5 ...", Group.WHO, first=True, ge=1, le=21)
    decided_by: Literal["last", "majority"] = knob(
        "last",
        "Sequential judges decide by",
        "`last`: the last judge, who has seen all others' opinions, as the outcomes in the paper's tables show; or "
        "the majority.",
        first=True,
    )
    shots: int = knob(
        1,
        "Similar cases",
        "How many for each label that the next knob names; with `any label`, how many in all.",
        Group.LOOK,
        first=True,
        ge=0,
        le=3,
    )
    cases_of: CasesOf = knob(
        "both labels",
        "Similar cases of",
        "`both labels`: of each of the two labels in question, as in the paper's table 11; without a trial every "
        "label is in question. `every label`: of each label of the set, as in table 9. `any label`: the nearest ones overall, as in "
        "section 3.4.",
        Group.LOOK,
    )
    cases_by: Literal["similarity", "random"] = knob(
        "similarity",
        "Similar cases chosen by",
        "`similarity`: the nearest ones; `random`: drawn by the seed, as the paper's table 6 compares.",
        Group.LOOK,
    )
    reasons: Literal["judges", "everybody", "nobody"] = knob(
        "judges",
        "Reasons before labels",
        "`judges`: the judges of a trial give a reason before the label, the models of a baseline the label alone, as "
        "the paper's; `everybody`: the baselines reason too; `nobody`: the judges give the label alone, as the paper's figure 10 "
        "shows it.",
    )
    hearing_reasons: bool = knob(
        True,
        "Reasons in the preliminary hearing",
        "It notes features of the text and why labels come into question, then names two. Off: the labels alone, as in the "
        "paper's figure 8.",
    )
    earlier: Literal["all", "previous"] = knob(
        "all",
        "Sequential judges are told of",
        "`all` judges before them, or the `previous` one alone, as the paper's section 3.3 says.",
    )
    passages: bool = knob(
        True,
        "Pleadings point to passages",
        "Each side copies passages of the text, which the judges are shown. Off: an argument alone, as in the paper's figure 9.",
    )
    neighbours: int = knob(
        5,
        "Nearest texts that decide",
        "In the structure `nearest`: how many labelled texts count, each by its likeness.",
        Group.LOOK,
        ge=1,
        le=50,
    )
    explain: bool = knob(
        True,
        "Reasons for similar cases",
        "Where a similar case has no reason on record, a member is asked for one: a call each.",
        Group.COST,
        first=True,
    )
    hearings: int = knob(
        5,
        "Preliminary hearings",
        "The first one counts. A text is ambiguous when they do not all name the same first label; with 1 that "
        "isn't known.",
        Group.COST,
        first=True,
        ge=1,
        le=9,
    )
    argument_sentences: int = knob(
        1, "Longest argument (sentences)", "Each side is asked for at most so many.", ge=1, le=20
    )
    argument_words: int = knob(
        60,
        "Longest argument (words)",
        "What is longer is cut there; Chinese counts two characters as a word. The passages that a side quotes may "
        "have as many words again.",
        ge=10,
        le=1000,
    )

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
        """The setup with the texts written out. Raises `UnknownTexts`: a text that the task does not have."""
        assert isinstance(case, LabelledTask)
        known = [item.id for item in case.items]
        wanted = tuple(known) if ALL in self.texts else self.texts or (known[0],)
        if missing := [name for name in wanted if name not in set(known)]:
            raise UnknownTexts(
                f"The task has no text {', '.join(missing[:5])}. Choose among {known[0]} to {known[-1]}."
            )
        return self.model_copy(update={"texts": tuple(dict.fromkeys(wanted))})


def members(setup: CourtroomLLMSetup) -> tuple[Member, ...]:
    """Those that the structure needs. Each preliminary hearing is a sample of its own; one member gives all reasons."""

    def member(name: str, role: str, title: str) -> Member:
        return Member(id=name, role=role, name=title, spec=setup.spec(name, role))

    judges = [member(f"judge-{seat}", "judge", f"Judge {seat}") for seat in range(1, setup.bench + 1)]
    clerk = [member("clerk", "clerk", "Clerk")] if setup.explains else []
    if not setup.tried:
        return *clerk, *judges
    hearing = [member(f"hearing-{n}", "hearing", f"Preliminary hearing {n}") for n in range(1, setup.hearings + 1)]
    sides = [member("prosecutor", "prosecutor", "Prosecutor"), member("attorney", "attorney", "Attorney")]
    return *hearing, *sides, *clerk, *judges
