"""One text's trial: which two labels are in question, and who argues for which."""

from __future__ import annotations

from dataclasses import dataclass

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.engine.court import Court
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup
from courtroom.procedures.courtroom_llm.tasks import Passage

Session = Court[LabelledTask, CourtroomLLMSetup]


@dataclass(frozen=True)
class LabelTrial:
    """One text with the two labels in question."""

    item: Labelled
    first: str
    second: str
    ambiguous: bool | None
    """Whether the preliminary hearings disagree; None where there was one."""
    prosecuted: str
    """The label for which the prosecutor argues; the attorney has the other."""

    @property
    def defended(self) -> str:
        """The label for which the attorney argues."""
        return self.second if self.prosecuted == self.first else self.first


def passages(case: LabelledTask, text: str, second: str) -> tuple[Passage, ...]:
    """A text, or both of a pair, with what the task calls them, each name on one line."""
    texts = (text, second) if second else (text,)
    return tuple(Passage(name=" ".join(name.split()), text=one) for name, one in zip(case.names, texts, strict=False))
