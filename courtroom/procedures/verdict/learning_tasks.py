"""What the meta-model is asked (section 3.4.2), and the reflection model (section 3.3.2)."""

from __future__ import annotations

from pydantic import Field

from courtroom.judging.criminal_tasks import OfFacts
from courtroom.law.statute import Statute
from courtroom.models.task import Answer, Task
from courtroom.procedures.verdict.tasks import DraftJudgment, Recalled


class DirectiveText(Answer):
    """r_txt: the text of a micro-directive."""

    directive: str = Field(
        min_length=1, description="One precise rule that can be tested: the conditions, then what follows."
    )


class SharpenedDirective(Answer):
    """The feature at which two trajectories part, then r_txt with it."""

    branching_feature: str = Field(min_length=1, description="What the right reasoning saw and the wrong one missed.")
    directive: str = Field(min_length=1, description="The rule with exact conditions and exceptions.")


class Induce(Task[DirectiveText]):
    """Meta-model, phase A: a coarse directive from consistent standards."""

    name = "induce"
    title = "Induction"
    language: str
    anchor: int
    charges: tuple[str, ...]
    standards: tuple[Recalled, ...]


class RefineDirective(Task[SharpenedDirective]):
    """Meta-model, phase B: the directive with conditions and exceptions, from a right and a wrong trajectory."""

    name = "refine"
    title = "Contrastive refinement"
    language: str
    anchor: int
    charges: tuple[str, ...]
    directive: str
    positive: Recalled
    negative: Recalled


class Consolidate(Task[DirectiveText]):
    """Meta-model, phase C: several near-duplicates in one (Eq. 8)."""

    name = "consolidate"
    title = "Consolidation"
    language: str
    anchor: int
    charges: tuple[str, ...]
    directives: tuple[str, ...]


class Advice(Answer):
    """r: where the reasoning went wrong, and what to look at (Eq. 5)."""

    advice: str = Field(
        min_length=1, description="Where the reasoning went wrong and what to weigh instead; names no article."
    )


class ReflectOnDraft(OfFacts, Task[Advice]):
    """Reflection model M_R: the logical gap between a wrong draft and the real articles."""

    name = "reflect"
    title = "Reflection"
    draft: DraftJudgment
    statutes: tuple[Statute, ...]
    real_articles: tuple[int, ...]
