"""Case analysis, a legal question with four options (section 4.4, LawBench 3-6): the same roles with tasks of their own.

Such a question may be of any law and need not have a defendant, so none of the tasks of a trial fits it.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.judging.criminal_tasks import OfFacts
from courtroom.judging.referred import CaseInformation
from courtroom.models.task import Answer, Task
from courtroom.procedures.jurisagents.tasks import SCORES


class QuestionAnalysis(Answer):
    """The junior judge's reading: who is who, what happened, which statement is looked for."""

    parties: tuple[str, ...] = Field(
        default=(), max_length=20, description="Each with its part in the matter; empty where there are none."
    )
    points: tuple[str, ...] = Field(min_length=1, max_length=20, description="The points on which the answer depends.")
    wanted: Literal["correct", "incorrect"] = Field(
        description="Whether the question looks for the correct option or for the one that is not."
    )


class Issue(Answer):
    """The senior judge's paragraph: the legal issue, and the rules that it turns on."""

    issue: str = Field(min_length=1)


class ChosenOption(Answer):
    """The option that answers the question."""

    reason: str = Field(default="", description="What speaks for it, in a sentence or two.")
    choice: Literal["A", "B", "C", "D"]


class AnalyseQuestion(OfFacts, Task[QuestionAnalysis]):
    """Junior judge: parties, points, and what is looked for."""

    name = "analyse"
    title = "Reading of the question"


class StateIssue(OfFacts, Task[Issue]):
    """Senior judge: the legal issue."""

    name = "issue"
    title = "Legal issue"
    analysis: QuestionAnalysis


class ChooseOption(OfFacts, Task[ChosenOption]):
    """Chief judge: the option. One judge alone has neither analysis nor issue."""

    name = "choose"
    offline_only = SCORES
    title = "Case analysis"
    analysis: QuestionAnalysis | None = None
    issue: str = ""
    found: CaseInformation
