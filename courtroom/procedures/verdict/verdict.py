"""A run's verdict from the final judgment."""

from __future__ import annotations

from collections.abc import Sequence

from courtroom.engine.events import Verdict
from courtroom.procedures.verdict.tasks import FinalJudgment, Turn


def verdict(final: FinalJudgment, note: str) -> Verdict:
    """The run's verdict."""
    judgment = final.judgment()
    return Verdict(
        outcome="; ".join(judgment.charges),
        summary=f"{judgment}\n\n{final.thought}",
        note=note,
        details={"judgment": judgment.model_dump(mode="json")},
    )


def how_it_passed(turns: Sequence[Turn]) -> str:
    """How the loop of drafts went, in a sentence."""
    rejections = sum(not turn.passed for turn in turns)
    if not rejections:
        return "The first draft passed."
    if turns[-1].passed:
        return f"The draft passed in turn {len(turns)}, after {rejections} rejection{'s' * (rejections > 1)}."
    return f"No draft passed in {len(turns)} turns; the presiding judge decided with all of them in view."
