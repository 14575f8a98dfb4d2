"""A run's verdict from the final judgment."""

from __future__ import annotations

from courtroom.engine.events import Verdict
from courtroom.procedures.verdict.tasks import Draft, FinalJudgment, Turn


def verdict(final: FinalJudgment, note: str) -> Verdict:
    """The run's verdict."""
    judgment = final.judgment()
    return Verdict(
        outcome="; ".join(judgment.charges),
        summary=f"{judgment}\n\n{final.thought}",
        note=note,
        details={"judgment": judgment.model_dump(mode="json")},
    )


def told(draft: Draft, turns: list[Turn], passed: bool) -> str:
    """How the loop of drafts went, in a sentence."""
    if not turns:
        return "The first draft passed."
    if passed:
        return f"The draft passed in turn {len(turns) + 1}, after {len(turns)} rejection{'s' * (len(turns) > 1)}."
    return f"No draft passed in {len(turns)} turns; the presiding judge decided with the last one, article {draft.predicted_article}."
