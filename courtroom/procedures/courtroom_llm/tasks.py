"""What hearing, prosecutor, attorney, judges and clerk are asked (section 3; prompts' inputs: appendix A).

Each answer says what was seen and thought before what is decided. The paper's models give the label alone, as the
baselines do here; the judges' reasons are what the sequential ones pass on (appendix A.3).
"""

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from courtroom.declarations.parts import Peers, in_part
from courtroom.models.narrow import asked_at_most, known, narrowed, same
from courtroom.models.task import Answer, Label, Longest, Paragraph, Passages, Sentence, Task, filled
from courtroom.strict import Strict

Side = Literal["prosecutor", "attorney"]
CHARACTERS_A_WORD = 8
"""With the space after it, rather more than less."""


class FirstLabel(Answer):
    """A_1: the most likely label. Of a set of two, the alternative is the other one, and nobody is asked for it."""

    features: Annotated[tuple[Label, ...], Longest(6, 6, 6)] = Field(
        default=(), description="Which are the key features and themes of the text?"
    )
    reason: Sentence = Field(default="", description="Which labels come into question, and why?")
    first: Label = filled("Which label is most likely?")


class Hearing(FirstLabel):
    """A_1 and A_2: the most likely label and the alternative (section 3.1)."""

    second: Label = filled("Which other label is most likely?")


class PleadingAnswer(Answer):
    """One side's pleading for its label (section 3.2)."""

    evidence: Annotated[Passages, Longest(3, 3, 3)] = Field(
        default=(), description="Which passages speak for the label, copied word for word?"
    )
    argument: Paragraph = filled("What speaks for the label and against the other one?")


class ChosenLabel(Answer):
    """A judge's decision (section 3.3)."""

    reason: Sentence = filled("Why is the label right?")
    label: Label = filled("Which label is right?")


class Explanation(Answer):
    """Why a similar case has its label (table 7)."""

    reason: Sentence = filled("Why does the label fit, in one or two sentences?")


class Passage(Strict):
    """A text with what it is called, e.g. `premise`."""

    name: str
    text: str


class Pleading(Strict):
    """What one side argued, and the passages of the text to which it points."""

    side: Side
    label: str
    argument: str
    evidence: tuple[str, ...] = ()
    cut: bool = Field(default=False, exclude_if=lambda cut: not cut)
    """Whether the argument was longer than allowed, and the rest is left out."""


class Similar(Strict):
    """A similar case."""

    passages: tuple[Passage, ...]
    label: str
    reason: str = ""


class Earlier(Strict):
    """What a judge before has decided."""

    judge: str
    reason: str
    label: str

    @property
    def name(self) -> str:
        return f"Judge {self.judge}"


class Hear(Task[Hearing]):
    """Which two labels come into question?"""

    name, title = "hear", "Preliminary hearing"
    passages: tuple[Passage, ...]
    labels: tuple[str, ...]
    reasoned: bool = True
    twice: str = Field(default="", exclude_if=lambda label: not label)
    """The label that was named as both, when the question was asked before."""

    @property
    def form(self) -> type[BaseModel]:
        answer: type[BaseModel] = FirstLabel if len(self.labels) == 2 else Hearing
        if not self.reasoned:
            answer = known(known(answer, "features", ()), "reason", "")
        if len(self.labels) == 2:
            return narrowed(answer, {"first": self.labels})
        first = (self.twice,) if self.twice else self.labels
        return narrowed(answer, {"first": first, "second": tuple(one for one in self.labels if one != self.twice)})

    def declared(self, answer: BaseModel) -> Hearing:
        """The two labels; of a set of two, the second is the one that was not named."""
        if isinstance(answer, FirstLabel) and not isinstance(answer, Hearing):
            other = next(label for label in self.labels if label != same(answer.first, self.labels))
            return Hearing(**answer.model_dump(), second=other)
        return super().declared(answer)

    def problem(self, answer: Hearing) -> str | None:
        first, second = same(answer.first, self.labels), same(answer.second, self.labels)
        if first not in self.labels or second not in self.labels:
            return f"`first` and `second` must be labels of the set, as they are written: {listed(self.labels)}"
        return "`second` must be another label than `first`" if first == second else None

    def again(self, refused: Hearing) -> Self:
        first, second = same(refused.first, self.labels), same(refused.second, self.labels)
        return self.model_copy(update={"twice": first}) if first == second and first in self.labels else self


class Plead(Task[PleadingAnswer]):
    """What speaks for one label and against the other?"""

    name, title = "argue", "Pleading"
    offline_only = ("labels",)  # the whole set stands in `_case`; a side argues about two of them
    passages: tuple[Passage, ...]
    labels: tuple[str, ...]
    side: Side
    label: str
    other: str
    sentences: int
    words: int
    passages_first: bool = True

    @property
    def form(self) -> type[BaseModel]:
        answer = PleadingAnswer if self.passages_first else known(PleadingAnswer, "evidence", ())
        return asked_at_most(answer, "argument", CHARACTERS_A_WORD * self.words)


class Decide(Task[ChosenLabel]):
    """Which label is right? With a reason, or the label alone."""

    passages: tuple[Passage, ...]
    labels: tuple[str, ...]
    reasoned: bool = True

    @property
    def in_question(self) -> tuple[str, ...]:
        return self.labels

    @property
    def form(self) -> type[BaseModel]:
        answer = ChosenLabel if self.reasoned else known(ChosenLabel, "reason", "")
        return narrowed(answer, {"label": self.in_question})


class ChooseLabel(Decide):
    """Which of the two labels is right?"""

    name, title = "judge", "Judgment"
    offline_only = ("labels", "similarities")  # the whole set stands in `_case`; a cosine says nothing to a model
    gives_way = ("similar", "earlier")
    pleadings: tuple[Pleading, ...]
    similar: tuple[Similar, ...] = ()
    similarities: tuple[float, ...] = ()
    earlier: tuple[Earlier, ...] = ()

    @property
    def in_question(self) -> tuple[str, ...]:
        return tuple(pleading.label for pleading in self.pleadings)


class Classify(Decide):
    """Which label is right? Asked without a trial (the baselines)."""

    name, title = "classify", "Classification"
    offline_only = ("labels", "similarities")  # as above
    gives_way = ("similar",)
    similar: tuple[Similar, ...] = ()
    similarities: tuple[float, ...] = ()

    def problem(self, answer: ChosenLabel) -> str | None:
        if same(answer.label, self.labels) in self.labels:
            return None
        return f"`label` must be one of the set, as it is written: {listed(self.labels)}"


class Explain(Task[Explanation]):
    """Why does a similar case have its label?"""

    name, title = "explain", "Reason for a similar case"
    offline_only = ("labels",)  # the whole set stands in `_case`
    passages: tuple[Passage, ...]
    labels: tuple[str, ...]
    label: str


def listed(labels: Sequence[str]) -> str:
    """Labels in a sentence; of many, the first."""
    more = f" and {len(labels) - 30} more" if len(labels) > 30 else ""
    return ", ".join(f"“{label}”" for label in labels[:30]) + more


def shown(task: ChooseLabel, votes: bool, reasons: bool) -> ChooseLabel:
    """The same question with labels and reasons of the judges before, with one of both, or with neither. The pleadings stay:
    prosecutor and attorney do not vote. A reason may still name the label that it is for."""
    earlier = in_part(task.earlier, votes, reasons, no_vote={"label": ""}, no_reason={"reason": ""})
    return task.model_copy(update={"earlier": earlier})


PEERS = (Peers(ChooseLabel, shown, lambda task, answer: str(same(answer.label, task.in_question)), "earlier"),)
