"""What the six roles are asked, and what their answers look like (tables 6 to 13). Charges and articles stay free: the chief judge
is to prefer the candidates and may go beyond them (table 8)."""

from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, Field

from courtroom.cases.criminal import Given
from courtroom.judging.criminal import CaseInformation, JudgmentAnswer, OfFacts, fuller
from courtroom.law import Judgment
from courtroom.models.task import Answer, Label, Longest, Paragraph, Point, Sentence, Task, filled
from courtroom.strict import Strict

Yuan = Annotated[float, Field(ge=0, le=1e12)]
SCORES = (
    *("found.statute_scores", "found.charge_scores", "found.precedents.id", "found.precedents.similarity"),
    "found.charges.text",  # the text of its article, which is among the articles where it is near enough
)
"""Of what was looked up, what only the offline model reads; a language model is given the order alone."""


class Act(Answer):
    """One criminal act (table 6)."""

    act: Sentence = filled("What was done?")
    consequence: Sentence = Field(
        default="", description="What came of it, and after the last act: what did the person do then?"
    )
    intent: Literal["intent", "negligence", "unclear"] = Field(
        description="Intent or negligence? Of an act that is a crime in itself, ask whether the act was meant; of one that is a crime "
        "for its result alone, whether the result was. `unclear` where the facts leave it open."
    )


class DefendantInformation(Answer):
    """The junior judge's key facts: who, which acts with which consequence and state of mind."""

    defendant: Label = Field(description="What is the primary defendant's name? “unnamed” where the facts give none.")
    acts: Annotated[tuple[Act, ...], Longest(6)] = filled("Which acts did that person commit?", max_length=100)


class EveryAct(DefendantInformation):
    """For a crime amount, to which the acts of all add up."""

    acts: Annotated[tuple[Act, ...], Longest(40)] = filled(
        "Which criminal acts do the facts hold, whoever did them, each with its sum?", max_length=100
    )


class CaseSummary(Answer):
    """The senior judge's summary, one paragraph."""

    summary: Annotated[str, Longest(1_600)] = filled("What matters in the case, in one paragraph?")


class Reasoned(Answer):
    """For answers with their reasons first. The paper's own forms have none, so a knob turns them on."""

    reasons: Paragraph = filled("What speaks for and against, in a few sentences?")


class ReasonedJudgment(JudgmentAnswer, Reasoned):
    """A judgment with its reasons before it."""


class Response(Answer):
    """The defendant accepts the judgment, or objects with a reason."""

    published_order = "Table 9; the knob `reasons` puts what is weighed before it."

    accepts: bool = Field(description="Is the judgment accepted?")
    objection: Paragraph = Field(
        default="", description="Is it to the charges or to the penalty, and why? Empty when accepting."
    )


class ReasonedResponse(Response, Reasoned):
    """The same with what was weighed before it."""

    reasons: Paragraph = filled("What do you make of the judgment, in your own words?")


class Petition(Answer):
    """The appeal petition with its five parts (table 10)."""

    appellant: Sentence = filled("Who appeals: what is the name, and what does the case say of the person?")
    request: Sentence = filled("What is asked for?")
    facts_and_reasons: Annotated[str, Longest(1_600)] = filled("Which facts and reasons speak for it?")
    legal_basis: Paragraph = filled("On which law does it rest?")
    conclusion: Sentence = filled("With which request does it end?")


class Appealed(Strict):
    """Why there is a second instance: the petition, and as much of the first instance as the setup shows."""

    petition: Petition
    first: Judgment | None = None
    information: DefendantInformation | None = None
    summary: str = ""


class Amount(Answer):
    """The total amount of the crime."""

    parts: Annotated[tuple[Yuan, ...], Longest(40)] = Field(default=(), description="Which sums add up to it, in yuan?")
    amount: Yuan = Field(description="What is their total, in yuan?")


class ExtractInformation(OfFacts, Task[DefendantInformation]):
    """Junior judge: defendant, acts, consequences, intent (tables 6 and 11)."""

    name, title = "extract", "Defendant information"
    appeal: Appealed | None = None
    """In the second instance."""

    @property
    def form(self) -> type[DefendantInformation]:
        return EveryAct if self.case.asked == "crime_amount" else DefendantInformation


class SummariseCase(OfFacts, Task[CaseSummary]):
    """Senior judge: one paragraph for all that follows (tables 7 and 12)."""

    name, title = "summarise", "Case summary"
    appeal: Appealed | None = None
    information: DefendantInformation


class Decides(BaseModel):
    """For tasks whose role decides on articles, charges and term."""

    gives_way: ClassVar[tuple[str, ...]] = ("found.precedents", "found.statutes")
    reasons: bool = False
    """Whether reasons come before the judgment."""
    fuller: bool = Field(default=False, exclude_if=lambda fuller: not fuller)
    """Whether it may also suspend, fine, exempt and acquit."""

    @property
    def form(self) -> type[BaseModel]:
        plain = ReasonedJudgment if self.reasons else JudgmentAnswer
        return fuller(plain, "charge") if self.fuller else plain


class Decide(Decides, Task[JudgmentAnswer]):
    """Chief judge: articles, charges, term (tables 8 and 13). The facts themselves are not shown."""

    name, title = "decide", "Judgment"
    offline_only = (*SCORES, "language")  # a prompt has it from the case
    language: str
    information: DefendantInformation
    summary: str
    found: CaseInformation
    given: Given | None = None
    appeal: Appealed | None = None


class DecideAlone(OfFacts, Decides, Task[JudgmentAnswer]):
    """One judge without the other roles (table 1: “w/o MA”, and with nothing looked up the plain model)."""

    name, title = "decide-alone", "Judgment in one step"
    offline_only = SCORES
    found: CaseInformation


class Respond(OfFacts, Task[Response]):
    """Defendant: accept, or object with a reason (table 9)."""

    name, title = "respond", "Response to the judgment"
    judgment: Judgment
    reasons: bool = False

    @property
    def form(self) -> type[BaseModel]:
        return ReasonedResponse if self.reasons else Response


class DraftPetition(OfFacts, Task[Petition]):
    """Counsel: the appeal petition from the case, the judgment, the objection and what the judges wrote (table 10)."""

    name, title = "petition", "Appeal petition"
    judgment: Judgment
    objection: str
    information: DefendantInformation
    summary: str


class AddUp(OfFacts, Task[Amount]):
    """Chief judge: the amount of the crime (section 4.4, LawBench 3-7)."""

    name, title = "add-up", "Crime amount"
    information: DefendantInformation | None = None
    summary: str = ""


class QuestionAnalysis(Answer):
    """The junior judge's reading: who is who, what happened, which statement is looked for."""

    parties: Annotated[tuple[Point, ...], Longest(6)] = Field(
        default=(),
        max_length=20,
        description="Who are the parties, each with its part in the matter? Empty where there are none.",
    )
    points: Annotated[tuple[Point, ...], Longest(6)] = filled("On which points does the answer depend?", max_length=20)
    wanted: Literal["correct", "incorrect"] = Field(
        description="Does the question look for the correct option or for the one that is not?"
    )


class Issue(Answer):
    """The senior judge's paragraph: the legal issue, and the rules that it turns on."""

    issue: Paragraph = filled("Which legal issue, and which rules does it turn on?")


class ChosenOption(Answer):
    """The option that answers the question."""

    reason: Sentence = Field(default="", description="What speaks for it, in a sentence or two?")
    choice: Literal["A", "B", "C", "D"] = Field(description="Which option answers the question?")


class AnalyseQuestion(OfFacts, Task[QuestionAnalysis]):
    """Junior judge: parties, points, and what is looked for."""

    name, title = "analyse", "Reading of the question"


class StateIssue(OfFacts, Task[Issue]):
    """Senior judge: the legal issue."""

    name, title = "issue", "Legal issue"
    analysis: QuestionAnalysis


class ChooseOption(OfFacts, Task[ChosenOption]):
    """Chief judge: the option. One judge alone has neither analysis nor issue."""

    name, title = "choose", "Case analysis"
    offline_only = SCORES
    analysis: QuestionAnalysis | None = None
    issue: str = ""
    found: CaseInformation
