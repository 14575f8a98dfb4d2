"""One text's trial: which two labels are in question, and who argues for which."""

from __future__ import annotations

from dataclasses import dataclass

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.engine.court import Court
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup
from courtroom.procedures.courtroom_llm.tasks import OfText

Session = Court[LabelledTask, CourtroomLLMSetup]


@dataclass(frozen=True)
class Trial:
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


def about(court: Session, item: Labelled) -> OfText:
    """A text with the label set."""
    case = court.case
    return OfText(item=item, names=case.names, labels=case.labels, question=case.question)
