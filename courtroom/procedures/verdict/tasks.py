"""What the panel is asked, and what its answers look like (appendix E).

Articles are never narrowed to a list: the paper's assistant may add articles to the candidates (prompt 2), which are "for
reference only" to the judge (prompt 3), and the presiding judge names articles and charges freely (prompt 5).
"""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, BaseModel, Field, field_validator

from courtroom.judging.answers import TERM, Articles, Charges, OneTerm
from courtroom.judging.criminal_tasks import OfFacts
from courtroom.law.article_numbers import ArticleNumber
from courtroom.law.judgment import Judgment
from courtroom.law.statute import Statute
from courtroom.models.task import Answer, Task
from courtroom.strict import Strict


class EventPoints(Answer):
    """o_ext: the salient points of the facts (prompt 1)."""

    points: tuple[str, ...] = Field(min_length=1, max_length=20)


class Shortlist(Answer):
    """S_statute: about five articles, the weightiest first; others than the candidates may be among them (prompt 2)."""

    articles: tuple[ArticleNumber, ...] = Field(
        min_length=1, max_length=12, description="Article numbers, e.g. 272, 384."
    )

    @field_validator("articles", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return value if isinstance(value, list | tuple) else [value]

    @field_validator("articles")
    @classmethod
    def _once(cls, articles: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(articles))


EXPLANATION = Field(min_length=1, description="How the facts meet the elements of the article, in short.")
SUGGESTIONS = Field(default="", description="What is wrong and what to do otherwise; empty when the draft passes.")


class DraftJudgment(Answer):
    """y_draft: the most relevant article and a brief basis (prompt 3).

    The article stands before its basis, as in the paper's output form; the knob `reasons_first` turns this round.
    """

    published_order = "appendix E, prompt 3"
    predicted_article: ArticleNumber
    explanation: str = EXPLANATION


class _Explained(Answer):
    explanation: str = EXPLANATION


class ReasonedDraft(DraftJudgment, _Explained):
    """A draft whose basis stands before the article."""

    published_order = ""


class Verification(Answer):
    """(flag, feedback): Pass or Reject with advice (prompt 4).

    The flag stands before the advice, as in the paper's output form; the knob `reasons_first` turns this round.
    """

    published_order = "appendix E, prompt 4"
    need_rejudge: bool = Field(description="True rejects the draft.")
    suggestions: str = SUGGESTIONS


class _Advised(Answer):
    suggestions: str = SUGGESTIONS


class ReasonedVerification(Verification, _Advised):
    """A verification whose advice stands before the flag."""

    published_order = ""


class FinalJudgment(Answer):
    """y_final: the reasoning in short, then the judgment (prompt 5)."""

    thought: str = Field(min_length=1, description="The reasoning in short.")
    relevant_articles: Articles
    accusation: Charges = Field(validation_alias=AliasChoices("accusation", "charge", "charges"))
    term_of_imprisonment: OneTerm = Field(description=TERM)

    def judgment(self) -> Judgment:
        """As a judgment, names and numbers made uniform."""
        return Judgment(
            relevant_articles=self.relevant_articles,
            charges=self.accusation,
            term_of_imprisonment=self.term_of_imprisonment,
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

    precedents: tuple[Recalled, ...] = ()
    directives: tuple[Directed, ...] = ()
    precedent_similarity: tuple[float, ...] = ()
    directive_similarity: tuple[float, ...] = ()
    """Cosines with the facts, in the same order. A language model reads the texts themselves."""


SIMILARITIES = ("precedent_similarity", "directive_similarity")


class ExtractPoints(OfFacts, Task[EventPoints]):
    """Court clerk: salient points without any judgment."""

    name = "extract"
    title = "Event points"


class Rerank(OfFacts, Task[Shortlist]):
    """Judicial assistant: filter and rerank the coarse set (Eq. 2)."""

    name = "rerank"
    title = "Statute shortlist"
    points: tuple[str, ...]
    candidates: tuple[Statute, ...]
    about: int = 5
    """How many articles are to be kept."""


class DraftOpinion(OfFacts, Task[DraftJudgment]):
    """Case-handling judge: the draft, with the feedback so far; the memory is out of sight (Eq. 3)."""

    name = "draft"
    title = "Draft"
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    turns: tuple[Turn, ...] = ()
    reasons_first: bool = False

    @property
    def form(self) -> type[DraftJudgment]:
        """A draft, its basis before or after the article."""
        return ReasonedDraft if self.reasons_first else DraftJudgment


class Verify(OfFacts, OfMemory, Task[Verification]):
    """Adjudication supervisor: Pass or Reject, with statutes and memory in view."""

    name = "verify"
    title = "Verification"
    offline_only = SIMILARITIES
    draft: DraftJudgment
    statutes: tuple[Statute, ...]
    reasons_first: bool = False

    @property
    def form(self) -> type[Verification]:
        """A verification, its advice before or after the flag."""
        return ReasonedVerification if self.reasons_first else Verification


class Preside(OfFacts, OfMemory, Task[FinalJudgment]):
    """Presiding judge: the final judgment, from all that the panel has produced (Eq. 4, prompt 5)."""

    name = "preside"
    title = "Final judgment"
    offline_only = SIMILARITIES
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    turns: tuple[Turn, ...]


class JudgeAlone(OfFacts, OfMemory, Task[FinalJudgment]):
    """One judge without a panel, with statutes and memory (ablation “w/o MAS”, table 3)."""

    name = "alone"
    title = "Judgment"
    offline_only = SIMILARITIES
    statutes: tuple[Statute, ...]
