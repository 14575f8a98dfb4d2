"""First drafts of recorded hearings with a known judgment: what an expert is trained on (VERDICT, section 3.3)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.law.statute import Statute
from courtroom.strict import Strict


class FirstDraft(Strict):
    """The case-handling judge's first draft in one run, with all that it was given."""

    run: str
    key: str = Field(description="Key of the recorded answer; the prompt is found under it.")
    case: CriminalCase
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    predicted_article: int
    explanation: str
    reasons_first: bool = False
    """Whether that run asked for the explanation before the article."""

    @property
    def right(self) -> bool:
        """Whether the drafted article is one of the real judgment's."""
        return self.case.gold is not None and self.predicted_article in (self.case.gold.relevant_articles or ())


class DraftBatch(Case):
    """First drafts to build training data from."""

    kind: Literal["drafts"] = "drafts"
    kind_title = "First drafts"
    drafts: tuple[FirstDraft, ...] = Field(min_length=1)

    def blind(self) -> Self:
        """Without the real judgments."""
        drafts = tuple(draft.model_copy(update={"case": draft.case.blind()}) for draft in self.drafts)
        return self.model_copy(update={"drafts": drafts})
