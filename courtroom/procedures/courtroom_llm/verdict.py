"""A run's verdict from the decisions on its texts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from courtroom.cases.labelled import Labelled
from courtroom.engine.events import Verdict
from courtroom.procedures.courtroom_llm.bench import Decision
from courtroom.procedures.courtroom_llm.trial import Session


def verdict(court: Session, items: Sequence[Labelled], decisions: Sequence[Decision | None]) -> Verdict:
    """One text's label with its grounds, or how many texts got which label.

    Raises:
        QuorumLost: too few texts have a label.
    """
    made = [decision for decision in decisions if decision is not None]
    court.needs(len(made), len(items), "texts could be decided")
    return of_one(court, made[0]) if len(items) == 1 else of_several(items, made)


def of_one(court: Session, made: Decision) -> Verdict:
    """The text's label, with the reason of the last judge who decided so."""
    ambiguous = made.trial is not None and made.trial.ambiguous
    return Verdict(
        outcome=made.label,
        counts=made.votes,
        abstained=len(court.panel("judge")) - sum(made.votes.values()),
        summary=made.reason,
        note="The preliminary hearings disagreed: the text is ambiguous." if ambiguous else "",
        details={"results": [made.result()]},
    )


def of_several(items: Sequence[Labelled], made: Sequence[Decision]) -> Verdict:
    """How many texts got which label."""
    unclear = sum(bool(one.trial and one.trial.ambiguous) for one in made)
    return Verdict(
        outcome=f"{len(made)} texts classified",
        counts=dict(Counter(one.label for one in made).most_common()),
        abstained=len(items) - len(made),
        summary=f"{len(made)} of {len(items)} texts have a label; the tab Results sets them beside the known ones.",
        note=f"{unclear} of them are ambiguous: their preliminary hearings disagreed." if unclear else "",
        details={"results": [one.result() for one in made]},
    )
