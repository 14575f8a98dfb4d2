"""What the six roles are asked, and what their answers look like (tables 6 to 13)."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from courtroom.cases.criminal import CriminalCase
from courtroom.judging.answers import JudgmentAnswer
from courtroom.judging.referred import CaseInformation
from courtroom.law.judgment import Judgment
from courtroom.media.medium import Medium
from courtroom.models.task import Answer, Task

Yuan = Annotated[float, Field(ge=0, le=1e12)]


class Act(Answer):
    """One criminal act (table 6)."""

    act: str = Field(min_length=1, description="What was done.")
    consequence: str = Field(default="", description="What came of it.")
    intent: Literal["intent", "negligence"]


class DefendantInformation(Answer):
    """The junior judge's key facts: who, which acts with which consequence and state of mind."""

    defendant: str = Field(description="Name of the primary defendant; “unnamed” where none is told.")
    acts: tuple[Act, ...] = Field(min_length=1, max_length=20)


class CaseSummary(Answer):
    """The senior judge's summary, one paragraph."""

    summary: str = Field(min_length=1)


class Response(Answer):
    """The defendant accepts the judgment, or objects with a reason."""

    accepts: bool
    objection: str = Field(default="", description="To the charges or to the penalty, and why; empty when accepting.")


class Petition(Answer):
    """The appeal petition with its five parts (table 10)."""

    appellant: str = Field(min_length=1)
    request: str = Field(min_length=1)
    facts_and_reasons: str = Field(min_length=1)
    legal_basis: str = Field(min_length=1)
    conclusion: str = Field(min_length=1)


class Choice(Answer):
    """The right option of a case analysis."""

    choice: Literal["A", "B", "C", "D"]
    reason: str = ""


class Amount(Answer):
    """The total amount of the crime."""

    amount: Yuan = Field(description="Yuan.")
    parts: tuple[Yuan, ...] = Field(default=(), description="The sums that it is made of.")


class OfFacts(BaseModel):
    """For tasks whose role reads the facts: key frames come along."""

    case: CriminalCase

    def media(self) -> tuple[Medium, ...]:
        """The key frames."""
        return self.case.frames


class ExtractInformation(OfFacts, Task[DefendantInformation]):
    """Junior judge: defendant, acts, consequences, intent (tables 6 and 11)."""

    name = "extract"
    title = "Defendant information"
    appeal: Petition | None = None
    """The appeal petition, in the second instance."""


class SummariseCase(OfFacts, Task[CaseSummary]):
    """Senior judge: one paragraph for all that follows (tables 7 and 12)."""

    name = "summarise"
    title = "Case summary"
    appeal: Petition | None = None
    information: DefendantInformation


class Decide(Task[JudgmentAnswer]):
    """Chief judge: articles, charges, term (tables 8 and 13). The facts themselves are not shown."""

    name = "decide"
    title = "Judgment"
    language: str
    information: DefendantInformation
    summary: str
    found: CaseInformation
    appeal: Petition | None = None


class DecideAlone(OfFacts, Task[JudgmentAnswer]):
    """Chief judge without the other roles (ablation “w/o MA”)."""

    name = "decide-alone"
    title = "Judgment in one step"
    found: CaseInformation


class Respond(OfFacts, Task[Response]):
    """Defendant: accept, or object with a reason (table 9)."""

    name = "respond"
    title = "Response to the judgment"
    judgment: Judgment


class DraftPetition(OfFacts, Task[Petition]):
    """Counsel: the appeal petition (table 10)."""

    name = "petition"
    title = "Appeal petition"
    judgment: Judgment
    objection: str
    summary: str


class ChooseOption(OfFacts, Task[Choice]):
    """Chief judge: a case analysis (section 4.4, task extension)."""

    name = "choose"
    title = "Case analysis"
    summary: str
    found: CaseInformation


class AddUp(OfFacts, Task[Amount]):
    """Chief judge: the amount of the crime (section 4.4, task extension)."""

    name = "add-up"
    title = "Crime amount"
    information: DefendantInformation | None
    summary: str
