"""Which differences between arms hold: paired on the cases that both have, corrected for how many pairs are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from courtroom.evaluation.bootstrap import Interval
from courtroom.evaluation.effects import cases_needed, cases_needed_mcnemar, cohens_d, cohens_g
from courtroom.evaluation.significance import Tested, cochran, holm, mcnemar, paired_t, wilcoxon
from courtroom.experiments.measures import Measure, Scored
from courtroom.experiments.table import ArmGroup, drawn_together

ALPHA = 0.05
BOOTSTRAP = "bootstrap"


@dataclass(frozen=True)
class Pair:
    """Two arms on one measure and group."""

    measure: Measure
    group: str
    a: str
    b: str
    of_a: float
    of_b: float
    difference: Interval
    """First less second, with its bootstrap interval over cases."""
    test: str
    """What the p-value is by: McNemar's test where each case is right or wrong, else the bootstrap."""
    p: float
    corrected: float
    """After Holm's correction over all pairs of this measure and group."""
    others: tuple[Tested, ...]
    """Further tests, uncorrected."""
    effect: float | None
    """Cohen's g where each case is right or wrong, else Cohen's d of the pairs; None where a measure has no value a case."""
    cases: int
    needed: int | None
    """Cases that would show a difference of this size with a power of 80 %, uncorrected."""
    pairs: int
    """How many pairs the correction is for."""

    @property
    def holds(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.corrected < ALPHA


@dataclass(frozen=True)
class Overall:
    """Whether any arm differs from the others, of one measure and group, by Cochran's Q."""

    measure: Measure
    group: str
    tested: Tested
    majority: bool = False
    """Whether a case counts as right where most of its repeats are; without repeats each stands for itself."""


def pairs(groups: Mapping[tuple[str, str], ArmGroup], arms: Sequence[str], measures: Sequence[Measure]) -> list[Pair]:
    """Every pair of arms, for each measure and group; pairs that share no case with a value are left out."""
    found: list[Pair] = []
    for name in sorted({group for _, group in groups}):
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        for measure in measures:
            tested = [one for a, b in combinations(here, 2) if (one := _pair(measure, name, a, b, here)) is not None]
            corrected = holm([one.p for one in tested])
            found += [
                _replaced(one, p, len(tested)) for one, p in zip(tested, corrected, strict=True)
            ]  # fmt: skip
    return found


def overall(
    groups: Mapping[tuple[str, str], ArmGroup], arms: Sequence[str], measures: Sequence[Measure]
) -> list[Overall]:
    """Cochran's Q over the cases that all arms have, where each case is right or wrong and there are three arms or more.

    The test needs one value of each case under each arm: of its repeats, the majority. A tie counts as wrong.
    """
    found = []
    for name in sorted({group for _, group in groups}):
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        for measure in measures:
            if len(here) < 3 or measure.each is None:
                continue
            cases = sorted(frozenset.intersection(*(frozenset(group.by_case) for group in here)))
            several = [[_known(measure, group.by_case[case]) for group in here] for case in cases]
            kept = [row for row in several if all(row)]
            if kept and all(value in (0.0, 1.0) for row in kept for repeats in row for value in repeats):
                tested = cochran(
                    [[2 * sum(repeats) > len(repeats) for repeats in arm] for arm in zip(*kept, strict=True)]
                )
                found.append(Overall(measure, name, tested, any(len(repeats) > 1 for row in kept for repeats in row)))
    return found


def _known(measure: Measure, several: Sequence[Scored]) -> list[float]:
    """The values of a case's repeats that have one."""
    assert measure.each is not None
    return [value for one in several if (value := measure.each(one)) is not None]


def over_repeats(group: ArmGroup, measures: Sequence[Measure]) -> Tested | None:
    """Whether an arm is right more often in one of its repeats: Cochran's Q over the cases that have all of them.

    By the first measure that says right or wrong of each; None where there is none, or no repeats.
    """
    most = max(map(len, group.by_case.values()), default=0)
    whole = [several for several in group.by_case.values() if len(several) == most]
    for measure in measures:
        if most < 2 or measure.each is None:
            continue
        each = measure.each
        kept = [row for several in whole if None not in (row := [each(one) for one in several])]
        if kept and all(value in (0.0, 1.0) for row in kept for value in row):
            return cochran([[bool(value) for value in column] for column in zip(*kept, strict=True)])
    return None


def _pair(measure: Measure, name: str, a: ArmGroup, b: ArmGroup, here: Sequence[ArmGroup]) -> Pair | None:
    cases = sorted(a.by_case.keys() & b.by_case.keys())
    values: list[tuple[float, float]] = []
    if measure.each is not None:
        both = zip(cases, a.values(measure, cases), b.values(measure, cases), strict=True)
        kept = [(case, x, y) for case, x, y in both if x is not None and y is not None]
        cases, values = [case for case, _, _ in kept], [(x, y) for _, x, y in kept]
    if not cases:
        return None
    together = [group for group in here if group.by_case.keys() >= {*cases}]
    drawn = drawn_together(together, measure, cases)
    mine, other = drawn[together.index(a)], drawn[together.index(b)]
    if mine.value != mine.value or other.value != other.value:
        return None
    less = mine.less(other)
    test, p, effect, needed = BOOTSTRAP, less.p, None, None
    others: tuple[Tested, ...] = ()
    x, y = [one for one, _ in values], [one for _, one in values]
    if values and all(value in (0.0, 1.0) for pair in values for value in pair):
        right, too = [bool(one) for one in x], [bool(one) for one in y]
        found = mcnemar(right, too)
        test, p = found.test, found.p
        effect, needed = cohens_g(right, too), cases_needed_mcnemar(right, too)
    elif len(values) > 1:
        others = (paired_t(x, y), wilcoxon(x, y))
        effect, needed = cohens_d(x, y), cases_needed(x, y)
    return Pair(
        *(measure, name, a.arm, b.arm, mine.value, other.value, less.interval, test, p, p, others, effect),
        *(len(cases), needed, 1),
    )


def _replaced(pair: Pair, corrected: float, of: int) -> Pair:
    return replace(pair, corrected=corrected, pairs=of)
