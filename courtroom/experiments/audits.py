"""Why members changed sides, over the runs of an experiment: what the audits of its runs have found, by arm."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import islice

from courtroom.experiments.table import CellRow
from courtroom.questions.audit import Audit, shares
from courtroom.questions.naming import Name


@dataclass(frozen=True)
class ArmAudits:
    """The audited votes of one arm."""

    arm: str
    runs: int
    """Runs of the arm in which a vote was audited."""
    audits: tuple[Audit, ...]

    @property
    def shares(self) -> dict[Name, float]:
        """Which share of them has which name, the largest first."""
        return shares(self.audits)


def arm_audits(
    rows: Sequence[CellRow], audited: Collection[str], audits_of: Callable[[str], Sequence[Audit]]
) -> list[ArmAudits]:
    """What was found in each arm, in the order of the arms; arms without an audited vote are left out.

    Args:
        audited: runs in which something was audited.
        audits_of: the audits of a run.
    """
    found: dict[str, list[tuple[Audit, ...]]] = {}
    for row in rows:
        if row.run in audited and (audits := tuple(audits_of(row.run))):
            found.setdefault(row.arm, []).append(audits)
    return [ArmAudits(arm, len(runs), tuple(one for run in runs for one in run)) for arm, runs in found.items()]


def first_runs(rows: Sequence[CellRow], each: int) -> list[str]:
    """The first finished runs of each arm, so many each."""
    arms = dict.fromkeys(row.arm for row in rows)
    done = (((row.run for row in rows if row.arm == arm and row.run and row.state == "done")) for arm in arms)
    return [run for runs in done for run in islice(runs, each)]
