"""How a hearing ended, as it is recorded: the judgment on each defendant, of one or of two instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from courtroom.engine.events import Verdict
from courtroom.procedures.jurisagents.trial import Trial


def verdict(judged: Sequence[Trial], everyone: Sequence[Trial], note: str = "") -> Verdict:
    """The run's verdict: `judgment` and `first_instance` are the primary defendant's, `judgments` those of several.

    Args:
        judged: the trials that came to a judgment.
        everyone: all of them.
        note: how it came about, where all had the same course; otherwise it is said of each.
    """
    details: dict[str, Any] = {}
    for trial in judged:
        if trial.number == 1:
            details |= _judgments(trial)
    if len(everyone) == 1:
        (trial,) = judged
        outcome, summary = "; ".join(trial.judgment.charges), str(trial.judgment)
        return Verdict(outcome=outcome, summary=summary, note=note or course(trial), details=details)
    details["judgments"] = [{"defendant": trial.name, **_judgments(trial)} for trial in judged]
    lines = [f"{trial.name}: {note or course(trial)}" for trial in judged]
    lines += [f"{trial.name}: no judgment, as an answer is missing." for trial in everyone if trial not in judged]
    return Verdict(
        outcome=" · ".join(f"{trial.name}: {'; '.join(trial.judgment.charges)}" for trial in judged),
        summary="\n".join(f"{trial.name}: {trial.judgment}" for trial in judged),
        note=" ".join(lines),
        details=details,
    )


def course(trial: Trial) -> str:
    """How a judgment came about, in a sentence."""
    if trial.response is None:
        return "The judgment of the first instance; the defendant gave no answer to it."
    if trial.response.accepts:
        return "The defendant accepted the judgment of the first instance."
    if trial.final is None:
        return "The judgment of the first instance; the appeal came to no judgment."
    same_term = trial.final.term_of_imprisonment == trial.first.term_of_imprisonment
    upheld = same_term and trial.final.same_labels(trial.first)
    return f"The second instance {'upheld' if upheld else 'changed'} the judgment."


def _judgments(trial: Trial) -> dict[str, Any]:
    first = {"first_instance": trial.first.model_dump(mode="json")} if trial.final else {}
    return {"judgment": trial.judgment.model_dump(mode="json")} | first
