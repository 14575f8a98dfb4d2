"""What made a member change sides: named by how often the same verdict comes again under four conditions.

The design is that of Hao et al. (2026), *Not All Flips Are Conformity*, arXiv:2606.00820: a change counts as influence of
peers only as far as it does not come about without them, and what their votes alone do is kept apart from what their
reasons do. The thresholds here are Courtroom's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Literal

from courtroom.questions.asides import CONDITIONS, Condition, Sample
from courtroom.strict import Strict

Name = Literal["instability", "conformity", "persuasion", "both", "own view", "not clear"]
UNSTABLE = Fraction(1, 3)
"""The share of other verdicts on the same inputs above which a member counts as unstable."""
REPRODUCED = Fraction(1, 2)
"""The share of answers above which a condition reproduces a verdict."""

MEANINGS: Mapping[Name, str] = {
    "instability": "The change does not hold: the same question gives different verdicts, or the same verdict comes "
    "without anything from peers.",
    "conformity": "The peers' votes alone bring the change about.",
    "persuasion": "The peers' reasons alone bring the change about, and their votes alone don't.",
    "both": "Only votes and reasons together bring the change about.",
    "own view": "The member votes like this without anything from peers.",
    "not clear": "Under one of the conditions there is no answer.",
}


class ConditionCounts(Strict):
    """The answers under one condition."""

    again: int = 0
    """As many give the verdict that is audited."""
    other: int = 0
    missing: int = 0
    """As many had no answer."""

    @property
    def share(self) -> Fraction:
        """The share of the verdict among the answers, 0 to 1, exactly; there must be one."""
        return Fraction(self.again, self.again + self.other)


def count(samples: Iterable[Sample], choice: str) -> dict[Condition, ConditionCounts]:
    """The answers by condition.

    Args:
        samples: of one audited call; where one was asked twice, its last answer counts.
        choice: the verdict that is audited.
    """
    last = {(one.condition, one.number): one.choice for one in samples}
    found: dict[Condition, Counter[str]] = {}
    for (condition, _), given in last.items():
        what = "missing" if given is None else "again" if given == choice else "other"
        found.setdefault(condition, Counter())[what] += 1
    return {condition: ConditionCounts(**counter) for condition, counter in found.items()}


def name(counts: Mapping[Condition, ConditionCounts], *, changed: bool) -> Name:
    """The name of a change; the first of these rules that holds gives it.

    1. *not clear*: there is no answer under one of the four conditions.
    2. *instability*: of the answers to the same inputs more than a third give another verdict; or, without votes and
       reasons of peers, more than half give this one. Peers are then not what changed it.
    3. *conformity*: with the peers' votes and no reasons, more than half give this verdict.
    4. *persuasion*: with the peers' reasons and no votes, more than half give this verdict.
    5. *both*: neither votes nor reasons alone reproduce it; the same inputs do.

    A member that voted once has not changed: where it gives this verdict without its peers too, that is its *own view*.

    Args:
        changed: whether the member had another vote before.
    """
    if any(
        condition not in counts or not (counts[condition].again + counts[condition].other) for condition in CONDITIONS
    ):
        return "not clear"
    if 1 - counts["same"].share > UNSTABLE:
        return "instability"
    if counts["neither"].share > REPRODUCED:
        return "instability" if changed else "own view"
    if counts["votes"].share > REPRODUCED:
        return "conformity"
    return "persuasion" if counts["reasons"].share > REPRODUCED else "both"
