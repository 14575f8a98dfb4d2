"""What the panel is asked, and what its answers look like (appendix E).

Articles are never narrowed to a list: the paper's assistant may add articles to the candidates (prompt 2), which are "for
reference only" to the judge (prompt 3), and the presiding judge names articles and charges freely (prompt 5).
"""

import re
from typing import Annotated, Any, ClassVar

from pydantic import AliasChoices, BaseModel, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from courtroom.judging.criminal import FURTHER, TERM, Articles, Charges, OfFacts, OneTerm, fuller
from courtroom.law import ArticleNumber, Further, Judgment, Statute, articles_named
from courtroom.models.narrow import asked_at_most
from courtroom.models.task import Answer, Longest, Paragraph, Point, Task, filled
from courtroom.strict import Strict


class EventPoints(Answer):
    """o_ext: the salient points of the facts (prompt 1)."""

    points: Annotated[tuple[Point, ...], Longest(8)] = filled(
        "Which points of the facts matter for a judgment?", max_length=100
    )


MORE = 2
"""Articles on a shortlist beyond the number that it is to have about."""


class Shortlist(Answer):
    """S_statute: about five articles, the weightiest first; others than the candidates may be among them (prompt 2)."""

    articles: Annotated[tuple[ArticleNumber, ...], Longest(8)] = filled(
        "Which articles, by their numbers (133 for 133-1 too)?", max_length=12
    )

    @field_validator("articles", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return value if isinstance(value, list | tuple) else [value]

    @field_validator("articles")
    @classmethod
    def _once(cls, articles: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(articles))


EXPLANATION = filled("How do the facts meet the elements of the article, in short?")
SUGGESTIONS = Field(
    default="", description="What is wrong, and what should be done otherwise? Empty when the draft passes."
)


class DraftJudgment(Answer):
    """y_draft: the most relevant article and a brief basis (prompt 3).

    The article stands before its basis, as in the paper's output form; the knob `reasons_first` turns this round.
    """

    published_order = "appendix E, prompt 3"
    predicted_article: ArticleNumber = Field(description="Which article fits best, by its number (133 for 133-1 too)?")
    explanation: Paragraph = EXPLANATION


class _Explained(Answer):
    explanation: Paragraph = EXPLANATION


class ReasonedDraft(DraftJudgment, _Explained):
    """A draft whose basis stands before the article."""

    published_order = ""


class Verification(Answer):
    """(flag, feedback): Pass or Reject with advice (prompt 4).

    The flag stands before the advice, as in the paper's output form; the knob `reasons_first` turns this round.
    """

    published_order = "appendix E, prompt 4"
    need_rejudge: bool = Field(description="Is the draft rejected?")
    suggestions: Paragraph = SUGGESTIONS


class _Advised(Answer):
    suggestions: Paragraph = SUGGESTIONS


class ReasonedVerification(Verification, _Advised):
    """A verification whose advice stands before the flag."""

    published_order = ""


class FinalJudgment(Answer):
    """y_final: the reasoning in short, then the judgment (prompt 5)."""

    thought: Paragraph = filled("Which reasoning leads to the judgment, in short?")
    relevant_articles: Articles
    accusation: Charges = Field(validation_alias=AliasChoices("accusation", "charge", "charges"))
    term_of_imprisonment: OneTerm = Field(description=TERM)
    further: SkipJsonSchema[Further | None] = FURTHER

    def judgment(self) -> Judgment:
        return Judgment(
            relevant_articles=self.relevant_articles,
            charges=self.accusation,
            term_of_imprisonment=self.term_of_imprisonment,
            further=self.further,
        )


class Recalled(Strict):
    """A standard precedent as it is shown."""

    facts: str
    reasoning: str
    verdict: Judgment


class Directed(Strict):
    """A micro-directive as it is shown."""

    text: str
    confidence: float
    anchor: int
    charges: tuple[str, ...]


class Turn(Strict):
    """One turn of the loop: a draft, and what the supervisor says of it."""

    draft: DraftJudgment
    passed: bool = False
    feedback: str


class OfMemory(BaseModel):
    """For tasks whose role is given the memory."""

    gives_way: ClassVar[tuple[str, ...]] = ("precedents", "directives")
    offline_only: ClassVar[tuple[str, ...]] = ("precedent_similarity", "directive_similarity")
    precedents: tuple[Recalled, ...] = ()
    directives: tuple[Directed, ...] = ()
    precedent_similarity: tuple[float, ...] = ()
    directive_similarity: tuple[float, ...] = ()
    """Cosines with the facts, in the same order. A language model reads the texts themselves."""


class Decides(BaseModel):
    """For tasks whose role decides on the final judgment."""

    fuller: bool = Field(default=False, exclude_if=lambda fuller: not fuller)
    """Whether it may also suspend, fine, exempt and acquit."""

    @property
    def form(self) -> type[BaseModel]:
        return fuller(FinalJudgment, "accusation") if self.fuller else FinalJudgment


class ExtractPoints(OfFacts, Task[EventPoints]):
    """Court clerk: salient points without any judgment."""

    name, title = "extract", "Event points"


class Rerank(OfFacts, Task[Shortlist]):
    """Judicial assistant: filter and rerank the coarse set (Eq. 2)."""

    name, title = "rerank", "Statute shortlist"
    points: tuple[str, ...]
    candidates: tuple[Statute, ...]
    about: int = 5
    """How many articles are to be kept."""

    @property
    def form(self) -> type[BaseModel]:
        return asked_at_most(Shortlist, "articles", self.about + MORE)


class DraftOpinion(OfFacts, Task[DraftJudgment]):
    """Case-handling judge: the draft, with the feedback so far; the memory is out of sight (Eq. 3)."""

    name, title = "draft", "Draft"
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    turns: tuple[Turn, ...] = ()
    reasons_first: bool = False

    @property
    def form(self) -> type[DraftJudgment]:
        return ReasonedDraft if self.reasons_first else DraftJudgment


class Verify(OfFacts, OfMemory, Task[Verification]):
    """Adjudication supervisor: Pass or Reject, with statutes and memory in view."""

    name, title = "verify", "Verification"
    draft: DraftJudgment
    statutes: tuple[Statute, ...]
    reasons_first: bool = False

    @property
    def form(self) -> type[Verification]:
        return ReasonedVerification if self.reasons_first else Verification


class Preside(OfFacts, OfMemory, Decides, Task[FinalJudgment]):
    """Presiding judge: the final judgment, from all that the panel has produced (Eq. 4, prompt 5)."""

    name, title = "preside", "Final judgment"
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    turns: tuple[Turn, ...]


class JudgeAlone(OfFacts, OfMemory, Decides, Task[FinalJudgment]):
    """One judge without a panel, with statutes and memory (ablation “w/o MAS”, table 3)."""

    name, title = "alone", "Judgment"
    statutes: tuple[Statute, ...]


class DirectiveText(Answer):
    """r_txt: the text of a micro-directive."""

    directive: Paragraph = filled("Which precise rule can be tested here: under which conditions does what follow?")


class SharpenedDirective(Answer):
    """The feature at which two trajectories part, then r_txt with it."""

    branching_feature: Paragraph = filled("What did the right reasoning see and the wrong one miss?")
    directive: Paragraph = filled("How does the rule read with exact conditions and exceptions?")


class Induce(Task[DirectiveText]):
    """Meta-model, phase A: a coarse directive from consistent standards."""

    name, title = "induce", "Induction"
    language: str
    anchor: int
    charges: tuple[str, ...]
    standards: tuple[Recalled, ...]


class RefineDirective(Task[SharpenedDirective]):
    """Meta-model, phase B: the directive with conditions and exceptions, from a right and a wrong trajectory."""

    name, title = "refine", "Contrastive refinement"
    language: str
    anchor: int
    charges: tuple[str, ...]
    directive: str
    positive: Recalled
    negative: Recalled


class Consolidate(Task[DirectiveText]):
    """Meta-model, phase C: several near-duplicates in one (Eq. 8)."""

    name, title = "consolidate", "Consolidation"
    language: str
    anchor: int
    charges: tuple[str, ...]
    directives: tuple[str, ...]


class Advice(Answer):
    """r: where the reasoning went wrong, and what to look at (Eq. 5)."""

    advice: Paragraph = filled(
        "Where did the reasoning go wrong, and what is to be weighed instead? Name no article and no charge."
    )


class ReflectOnDraft(OfFacts, Task[Advice]):
    """Reflection model M_R: the logical gap between a wrong draft and the real articles."""

    name, title = "reflect", "Reflection"
    offline_only = ("real_charges",)  # what the advice must not name
    points: tuple[str, ...]
    draft: DraftJudgment
    statutes: tuple[Statute, ...]
    turns: tuple[Turn, ...] = ()
    """The drafts before this one, with the advice on each."""
    real_articles: tuple[int, ...]
    real_charges: tuple[str, ...]

    def problem(self, answer: Advice) -> str | None:
        """Advice that gives the answer away would make a copy the winner of a pair."""
        advice, facts = answer.advice.casefold(), self.case.facts.casefold()
        real = [statute for statute in self.statutes if statute.number in self.real_articles]
        names = {name for statute in real for charge in statute.charges for name in (charge.zh, charge.en) if name}
        told = any(name.casefold() in advice and name.casefold() not in facts for name in {*names, *self.real_charges})
        numbers = articles_named(advice) | (_numbers(advice) - _numbers(facts))
        if told or numbers & set(self.real_articles):
            return "name neither an article nor a charge that really applies; say what to look at in the facts"
        return None


def _numbers(text: str) -> set[int]:
    return set(map(int, re.findall(r"\d+", text)))
