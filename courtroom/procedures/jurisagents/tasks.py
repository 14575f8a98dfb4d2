"""What the six roles are asked, and what their answers look like (tables 6 to 13).

Charges and articles stay free: the chief judge is to prefer the candidates and may go beyond them (table 8).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from courtroom.cases.criminal import Given
from courtroom.judging.answers import JudgmentAnswer
from courtroom.judging.criminal_tasks import OfFacts
from courtroom.judging.referred import CaseInformation
from courtroom.law.judgment import Judgment
from courtroom.models.task import Answer, Task
from courtroom.strict import Strict

Yuan = Annotated[float, Field(ge=0, le=1e12)]
SCORES = (
    *("found.statute_scores", "found.charge_scores", "found.precedents.id", "found.precedents.similarity"),
    "found.charges.text",  # the text of its article, which is among the articles where it is near enough
)
"""Of what was looked up, what only the offline model reads; a language model is given the order alone."""


class Act(Answer):
    """One criminal act (table 6)."""

    act: str = Field(min_length=1, description="What was done.")
    consequence: str = Field(default="", description="What came of it; empty where the facts do not say.")
    intent: Literal["intent", "negligence"]


class DefendantInformation(Answer):
    """The junior judge's key facts: who, which acts with which consequence and state of mind."""

    defendant: str = Field(description="Name of the primary defendant; “unnamed” where the facts give none.")
    acts: tuple[Act, ...] = Field(min_length=1, max_length=20)


class CaseSummary(Answer):
    """The senior judge's summary, one paragraph."""

    summary: str = Field(min_length=1)


class Reasoned(Answer):
    """For answers with their reasons first. The paper's own forms have none, so a knob turns them on."""

    reasons: str = Field(min_length=1, description="What speaks for and against, in a few sentences.")


class ReasonedJudgment(JudgmentAnswer, Reasoned):
    """A judgment with its reasons before it."""


class Response(Answer):
    """The defendant accepts the judgment, or objects with a reason."""

    published_order = "Table 9; the knob `reasons` puts what is weighed before it."

    accepts: bool
    objection: str = Field(default="", description="To the charges or to the penalty, and why; empty when accepting.")


class ReasonedResponse(Response, Reasoned):
    """The same with what was weighed before it."""


class Petition(Answer):
    """The appeal petition with its five parts (table 10)."""

    appellant: str = Field(min_length=1, description="Who appeals: the name, and what the case says of the person.")
    request: str = Field(min_length=1)
    facts_and_reasons: str = Field(min_length=1)
    legal_basis: str = Field(min_length=1)
    conclusion: str = Field(min_length=1)


class Appealed(Strict):
    """Why there is a second instance: the judgment of the first one, and the petition against it."""

    first: Judgment
    petition: Petition


class Amount(Answer):
    """The total amount of the crime."""

    parts: tuple[Yuan, ...] = Field(default=(), description="The sums that it is made of, in yuan.")
    amount: Yuan = Field(description="Their total in yuan.")


class ExtractInformation(OfFacts, Task[DefendantInformation]):
    """Junior judge: defendant, acts, consequences, intent (tables 6 and 11)."""

    name = "extract"
    title = "Defendant information"
    appeal: Appealed | None = None
    """In the second instance."""


class SummariseCase(OfFacts, Task[CaseSummary]):
    """Senior judge: one paragraph for all that follows (tables 7 and 12)."""

    name = "summarise"
    title = "Case summary"
    appeal: Appealed | None = None
    information: DefendantInformation


class Decides(BaseModel):
    """For tasks whose role decides on articles, charges and term."""

    reasons: bool = False
    """Whether reasons come before the judgment."""

    @property
    def form(self) -> type[BaseModel]:
        """The judgment, with or without reasons."""
        return ReasonedJudgment if self.reasons else JudgmentAnswer


class Decide(Decides, Task[JudgmentAnswer]):
    """Chief judge: articles, charges, term (tables 8 and 13). The facts themselves are not shown."""

    name = "decide"
    offline_only = (*SCORES, "language")  # a prompt has it from the case
    title = "Judgment"
    language: str
    information: DefendantInformation
    summary: str
    found: CaseInformation
    given: Given | None = None
    appeal: Appealed | None = None


class DecideAlone(OfFacts, Decides, Task[JudgmentAnswer]):
    """One judge without the other roles (table 1: “w/o MA”, and with nothing looked up the plain model)."""

    name = "decide-alone"
    offline_only = SCORES
    title = "Judgment in one step"
    found: CaseInformation


class Respond(OfFacts, Task[Response]):
    """Defendant: accept, or object with a reason (table 9)."""

    name = "respond"
    title = "Response to the judgment"
    judgment: Judgment
    reasons: bool = False

    @property
    def form(self) -> type[BaseModel]:
        """The response, with or without what was weighed."""
        return ReasonedResponse if self.reasons else Response


class DraftPetition(OfFacts, Task[Petition]):
    """Counsel: the appeal petition from the case, the judgment, the objection and what the judges wrote (table 10)."""

    name = "petition"
    title = "Appeal petition"
    judgment: Judgment
    objection: str
    information: DefendantInformation
    summary: str


class AddUp(OfFacts, Task[Amount]):
    """Chief judge: the amount of the crime (section 4.4, LawBench 3-7)."""

    name = "add-up"
    title = "Crime amount"
    information: DefendantInformation | None = None
    summary: str = ""
