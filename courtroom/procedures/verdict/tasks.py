"""What the panel and the meta-model are asked (appendix E; section 3.4.2)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field, field_validator

from courtroom.cases.criminal import CriminalCase
from courtroom.judging.answers import JudgmentAnswer
from courtroom.law.article_numbers import ArticleNumber
from courtroom.law.judgment import Judgment
from courtroom.law.statute import Statute
from courtroom.media.medium import Medium
from courtroom.models.task import Answer, Task
from courtroom.strict import Strict


class EventPoints(Answer):
    """o_ext: the salient points of the facts (prompt 1)."""

    points: tuple[str, ...] = Field(min_length=1, max_length=20)


class Shortlist(Answer):
    """S_statute: about five articles, the weightiest first; others than the candidates may be among them (prompt 2)."""

    articles: tuple[ArticleNumber, ...] = Field(min_length=1, max_length=12, description="Numbers, e.g. 272, 384.")

    @field_validator("articles", mode="before")
    @classmethod
    def _several(cls, value: Any) -> Any:
        return value if isinstance(value, list | tuple) else [value]

    @field_validator("articles")
    @classmethod
    def _once(cls, articles: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(articles))


class Draft(Answer):
    """y_draft: the most relevant article with a brief basis (prompt 3)."""

    predicted_article: ArticleNumber
    explanation: str = Field(min_length=1, description="How the facts meet the elements.")


class Verification(Answer):
    """(flag, feedback): Pass or Reject with advice (prompt 4)."""

    need_rejudge: bool = Field(description="True rejects the draft.")
    suggestions: str = Field(default="", description="What to do otherwise; empty when the draft passes.")


class FinalJudgment(JudgmentAnswer):
    """y_final: the reasoning in short, and the judgment (prompt 5)."""

    thought: str = Field(min_length=1)


class Directive(Answer):
    """r_txt: the text of a micro-directive."""

    directive: str = Field(min_length=1, description="One precise, testable rule: conditions first, then what follows.")


class Recalled(Strict):
    """A standard precedent as the supervisor and the presiding judge are shown it."""

    facts: str
    reasoning: str
    verdict: Judgment
    score: float
    similarity: float = 0.0
    """SemSim, the part of the score that is about the facts."""


class Directed(Strict):
    """A micro-directive as the supervisor and the presiding judge are shown it."""

    id: str
    text: str
    confidence: float
    anchor: int
    charges: tuple[str, ...]
    score: float
    similarity: float = 0.0


class Turn(Strict):
    """One turn of the loop that ended in a rejection."""

    draft: Draft
    feedback: str


class OfFacts(BaseModel):
    """For tasks whose role reads the facts: key frames come along."""

    case: CriminalCase

    def media(self) -> tuple[Medium, ...]:
        """The key frames."""
        return self.case.frames


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


class DraftOpinion(OfFacts, Task[Draft]):
    """Case-handling judge: the draft, with the feedback so far; the memory is out of its sight (Eq. 3)."""

    name = "draft"
    title = "Draft"
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    turns: tuple[Turn, ...] = ()


class Verify(OfFacts, Task[Verification]):
    """Adjudication supervisor: Pass or Reject, with statutes and memory in view."""

    name = "verify"
    title = "Verification"
    draft: Draft
    statutes: tuple[Statute, ...]
    precedents: tuple[Recalled, ...] = ()
    directives: tuple[Directed, ...] = ()


class Preside(OfFacts, Task[FinalJudgment]):
    """Presiding judge: the final judgment (Eq. 4)."""

    name = "preside"
    title = "Final judgment"
    draft: Draft | None
    passed: bool
    statutes: tuple[Statute, ...]
    precedents: tuple[Recalled, ...] = ()
    directives: tuple[Directed, ...] = ()


class Induce(Task[Directive]):
    """Meta-model, phase A: a coarse directive from consistent standards."""

    name = "induce"
    title = "Induction"
    language: str
    anchor: int
    charges: tuple[str, ...]
    standards: tuple[Recalled, ...]


class Refine(Task[Directive]):
    """Meta-model, phase B: the directive with conditions and exceptions, from a pair with the same labels."""

    name = "refine"
    title = "Contrastive refinement"
    language: str
    anchor: int
    directive: str
    positive: Recalled
    negative: Recalled


class Consolidate(Task[Directive]):
    """Meta-model, phase C: several near-duplicates in one (Eq. 8)."""

    name = "consolidate"
    title = "Consolidation"
    language: str
    anchor: int
    directives: tuple[str, ...]


class Advice(Answer):
    """r: where the reasoning went wrong, and what to look at (Eq. 5)."""

    advice: str = Field(
        min_length=1, description="Where the reasoning slipped and what to weigh instead, no article named."
    )


class Reflect(OfFacts, Task[Advice]):
    """Reflection model M_R: the logical gap between a wrong draft and the real articles."""

    name = "reflect"
    title = "Reflection"
    draft: Draft
    statutes: tuple[Statute, ...]
    real_articles: tuple[int, ...]
