"""What a sweep has shown: shares with intervals, flips and swings by variant. Pure functions over its cells."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING

from courtroom.engine.events import Verdict
from courtroom.sweeps.plan import Kind, SweepPlan
from courtroom.sweeps.store import SweepCell

if TYPE_CHECKING:
    import pandas as pd

Z = 1.959963984540054
"""The 97.5 % point of the normal distribution: intervals are of 95 %."""


@dataclass(frozen=True)
class Share:
    """A share with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Result:
    """One variant over its seeds."""

    name: str
    kind: Kind
    runs: tuple[str, ...]
    """Ids, by seed; also of runs that are not made or not done."""
    planned: int
    outcomes: Mapping[str, int]
    """How many runs came to each outcome."""
    shares: Mapping[str, Share]
    """Of the runs that are done, by outcome; for every outcome of the whole sweep."""
    votes: float | None
    """Mean share of the votes cast for what the base decided; None where nobody votes."""
    swing: float | None
    """Mean change of support against the base under the same seed: of that share of the votes, or, where nobody votes,
    of the share of runs; None where there is no pair yet."""
    flips: int
    """Seeds under which the outcome differs from the base's."""
    pairs: int
    """Seeds under which both this and the base are done."""

    @property
    def done(self) -> int:
        """How many runs have their verdict."""
        return sum(self.outcomes.values())

    @property
    def outcome(self) -> str:
        """The most frequent outcome; empty before there is any."""
        return max(self.outcomes, key=lambda name: self.outcomes[name], default="")


@dataclass(frozen=True)
class SweepResults:
    """All variants, in the order of the plan; the base is the first."""

    decided: str
    """What the base decided most often; all support is for or against it."""
    outcomes: tuple[str, ...]
    """Every outcome of the sweep, the most frequent first."""
    rows: tuple[Result, ...]

    def influential(self, *kinds: Kind) -> list[Result]:
        """Variants of these kinds (default: all) that moved the support, those that moved it most first."""
        rows = [row for row in self.rows[1:] if row.swing is not None and (not kinds or row.kind in kinds)]
        return sorted(rows, key=lambda row: (-(row.flips / row.pairs), -abs(row.swing or 0.0)))


def results(plan: SweepPlan, cells: Sequence[SweepCell]) -> SweepResults:
    """Results as far as the runs are done."""
    verdicts = {(cell.variant, cell.seed): cell.verdict for cell in cells if cell.status == "done" and cell.verdict}
    found = Counter(verdict.outcome for verdict in verdicts.values())
    base = {seed: verdicts[0, seed] for seed in plan.seeds if (0, seed) in verdicts}
    decided = max((v.outcome for v in base.values()), key=[v.outcome for v in base.values()].count, default="")
    outcomes = tuple(sorted(found, key=lambda name: (-found[name], name)))
    rows = []
    for number, variant in enumerate(plan.variants):
        done = {seed: verdicts[number, seed] for seed in plan.seeds if (number, seed) in verdicts}
        counts = Counter(verdict.outcome for verdict in done.values())
        paired = [(done[seed], base[seed]) for seed in done if seed in base]
        moved = [support(mine, decided) - support(theirs, decided) for mine, theirs in paired]
        cast = [share for verdict in done.values() if (share := vote_share(verdict, decided)) is not None]
        rows.append(
            Result(
                name=variant.name,
                kind=variant.kind,
                runs=tuple(cell.run for cell in cells if cell.variant == number),
                planned=len(plan.seeds),
                outcomes=dict(counts),
                shares={name: wilson(counts[name], len(done)) for name in outcomes} if done else {},
                votes=fmean(cast) if cast else None,
                swing=fmean(moved) if moved else None,
                flips=sum(mine.outcome != theirs.outcome for mine, theirs in paired),
                pairs=len(paired),
            )
        )
    return SweepResults(decided, outcomes, tuple(rows))


def vote_share(verdict: Verdict, outcome: str) -> float | None:
    """Share of the votes cast that are for an outcome; None where nobody voted."""
    cast = sum(verdict.counts.values())
    return verdict.counts.get(outcome, 0) / cast if cast else None


def support(verdict: Verdict, outcome: str) -> float:
    """Share of the votes for an outcome; where nobody votes, 1 or 0 by what was decided."""
    share = vote_share(verdict, outcome)
    return float(verdict.outcome == outcome) if share is None else share


def wilson(hits: int, trials: int) -> Share:
    """A share with its 95 % score interval (Wilson 1927), which holds for few trials and near 0 and 1.

    Raises:
        ValueError: there is no trial.
    """
    if trials < 1:
        raise ValueError("a share needs a trial")
    share, spread = hits / trials, Z * Z / trials
    middle = (share + spread / 2) / (1 + spread)
    half = Z * math.sqrt(share * (1 - share) / trials + spread / (4 * trials)) / (1 + spread)
    return Share(share, max(0.0, middle - half), min(1.0, middle + half))


def table(found: SweepResults) -> pd.DataFrame:
    """A line a variant; shares from 0 to 1, None where there is nothing yet."""
    import pandas as pd  # slow to import: only when there is a table

    lines = []
    for row in found.rows:
        line: dict[str, object] = {
            "variant": row.name,
            "done": row.done,
            "planned": row.planned,
            "outcome": row.outcome,
        }
        for name in found.outcomes:
            share = row.shares.get(name)
            line |= {
                f"{name}": share and share.value,
                f"{name} low": share and share.low,
                f"{name} high": share and share.high,
            }
        line |= {"votes": row.votes, "swing": row.swing, "flips": row.flips, "pairs": row.pairs}
        lines.append(line)
    return pd.DataFrame(lines)
