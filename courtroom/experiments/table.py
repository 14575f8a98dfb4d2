"""The table of an experiment: a line for each arm and group of cases, with intervals, and which differences hold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations, permutations
from math import lcm
from typing import TYPE_CHECKING

from courtroom.cases.case import Case
from courtroom.evaluation.intervals import FEWEST, Bounds, CaseSums, Interval, of_difference, of_measure
from courtroom.evaluation.significance import (
    Tested,
    cases_needed,
    cases_needed_mcnemar,
    cochran,
    cohens_d,
    cohens_g,
    fewest_cases,
    holm,
    mcnemar,
    paired_t,
    permutation,
    wilcoxon,
)
from courtroom.experiments.measures import CaseResult, Measure
from courtroom.experiments.measures.measure import quotient
from courtroom.experiments.outcome import Outcome

if TYPE_CHECKING:
    from courtroom.evaluation.intervals import Sums

ALL = "all cases"


@dataclass(frozen=True)
class CellRow:
    """One cell, as far as it is: the row of all exports."""

    number: int
    arm: str
    row: str
    """The case's id in its dataset."""
    case: Case
    category: str
    repeat: int
    run: str
    """Empty for a prediction made elsewhere."""
    state: str
    """`waiting`, `done` or `failed`."""
    reason: str
    outcome: Outcome | None
    relevance: Mapping[str, int] = field(default_factory=dict)
    """How relevant other rows are to the case, by their ids."""
    single: Outcome | None = None
    """What the single model came to that its arm's gain is over."""

    @property
    def scored(self) -> CaseResult | None:
        """What measures read; None where there is no outcome."""
        if self.outcome is None:
            return None
        return CaseResult(self.case, self.category, self.outcome, self.relevance, self.single, self.repeat)


@dataclass(frozen=True)
class ArmSpending:
    """What the cells of an arm took."""

    done: int
    failed: int
    waiting: int
    calls: int
    tokens: int
    """Used: also those of answers that were on record, as another arm had asked the same before."""
    cost: float | None
    """US dollars, of the tokens used; None where a price is not known."""
    estimated: bool
    """Whether a provider did not count some of the tokens."""
    seconds: float

    @property
    def tokens_a_case(self) -> str:
        """Return how many tokens a case took, as it is printed."""
        return self._told(f"{self.tokens / self.done:,.0f}") if self.calls and self.done else "–"

    @property
    def cost_a_case(self) -> str:
        """Return how many US dollars a case took, as it is printed."""
        return "–" if self.cost is None or not self.done else self._told(f"{self.cost / self.done:.4g}")

    def _told(self, number: str) -> str:
        return f"about {number}" if self.estimated else number


@dataclass
class ArmGroup:
    """One arm's done cells within a group of cases."""

    arm: str
    group: str
    rows: Sequence[CellRow]
    _values: dict[str, dict[str, float | None]] = field(default_factory=dict)

    @cached_property
    def by_case(self) -> Mapping[str, Sequence[CaseResult]]:
        """What it came to, by case."""
        found: dict[str, list[CaseResult]] = {}
        for row in self.rows:
            if scored := row.scored:
                found.setdefault(row.row, []).append(scored)
        return found

    @cached_property
    def runs(self) -> Sequence[int]:
        """Return the numbers of its runs over all cases."""
        return sorted({row.repeat for row in self.rows})

    def values(self, measure: Measure, cases: Sequence[str]) -> list[float | None]:
        """Each case's own value, the mean over its repeats; None where the measure leaves it out."""
        if measure.name not in self._values:
            known = {case: _known(measure, several) for case, several in self.by_case.items()}
            means = {case: sum(values) / len(values) if values else None for case, values in known.items()}
            self._values[measure.name] = means
        return [self._values[measure.name][case] for case in cases]


@dataclass(frozen=True)
class TableRow:
    """One arm in one group."""

    arm: str
    group: str
    cases: int
    values: dict[str, Interval]
    """By the measure's name; a measure that no case has a value for is left out."""
    counts: dict[str, int]
    """How many of the cases have a value, by the measure's name."""


@dataclass(frozen=True)
class Guess:
    """What guessing reaches on the cases of a group, by the measure's name."""

    name: str
    group: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class ResultTable:
    """All lines, arms in the order of the experiment, for each group in turn."""

    measures: tuple[Measure, ...]
    arms: tuple[str, ...]
    groups: tuple[str, ...]
    lines: tuple[TableRow, ...]
    spent: Mapping[str, ArmSpending]
    guesses: tuple[Guess, ...] = ()
    over_repeats: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """P over an arm's repeats, and T against the arm before (CyberJurors, tables 8 and 9); empty without repeats."""

    def below(self, line: TableRow | None, measure: Measure) -> bool:
        """Whether an arm's value is worse than a guess on the same cases."""
        one = line.values.get(measure.name) if line else None
        if line is None or one is None:
            return False
        known = [of.values[measure.name] for of in self.guesses if of.group == line.group and measure.name in of.values]
        return any(one.value < guess if measure.better == "higher" else one.value > guess for guess in known)

    def line(self, arm: str, group: str) -> TableRow | None:
        return next((line for line in self.lines if (line.arm, line.group) == (arm, group)), None)


def grouped(rows: Iterable[CellRow], by_category: bool) -> dict[tuple[str, str], ArmGroup]:
    """The done cells by arm and group; a single group where cases are not distinguished."""
    found: dict[tuple[str, str], list[CellRow]] = {}
    for row in rows:
        if row.outcome is not None:
            found.setdefault((row.arm, row.category if by_category else ALL), []).append(row)
    return {(arm, group): ArmGroup(arm, group, cells) for (arm, group), cells in found.items()}


def case_sums(groups: Sequence[ArmGroup], measure: Measure) -> list[tuple[list[str], CaseSums]]:
    """Return for each arm its cases with a value, and what each adds to a measure; parts mean the same in all arms.

    Where each run has a value of its own, the runs stand side by side. Of arms with fewer runs these are repeated, so
    that all arms have as many.
    """
    import numpy as np

    cells = [(group, case) for group in groups for case in sorted(group.by_case)]
    parts = measure.parts([one for group, case in cells for one in group.by_case[case]])
    many = np.array([len(group.by_case[case]) for group, case in cells])
    firsts = np.cumsum(many) - many
    runs = lcm(*(len(group.runs) for group in groups)) if measure.is_of_each_run else 1
    side_by_side = np.zeros((len(cells), runs, parts.shape[1]))
    for place, (group, case) in enumerate(cells):
        for part, one in zip(parts[firsts[place] :], group.by_case[case], strict=False):
            of_run = slice(group.runs.index(one.repeat), None, len(group.runs)) if measure.is_of_each_run else slice(1)
            side_by_side[place, of_run] += part
    sums = side_by_side.reshape(len(cells), -1)
    binary = np.minimum.reduceat(np.isin(parts, (0.0, 1.0)).all(axis=1), firsts)

    def finish(sums: Sums) -> Sums:
        values = measure.finish(sums.reshape(-1, parts.shape[1])).reshape(-1, runs)
        known = sums.reshape(len(sums), runs, -1).any(axis=2)
        return quotient(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1))

    found, at = [], 0
    for group in groups:
        here = slice(at, at := at + len(group.by_case))
        known = np.arange(here.start, here.stop)[sums[here].any(axis=1)]
        right_or_wrong = measure.ratio and measure.each is not None and bool(binary[known].all())
        of_arm = CaseSums(sums[known], many[known].astype(float), right_or_wrong, finish)
        found.append(([cells[place][1] for place in known], of_arm))
    return found


def bounds_of(measure: Measure, binary: bool, cases: int) -> Bounds | None:
    """Between what a measure lies; one that has no bounds, but is right or wrong on many cases, is a share here."""
    return (0.0, 1.0) if measure.bounds is None and binary and cases >= FEWEST else measure.bounds


def interval_of(measure: Measure, given: CaseSums) -> Interval:
    bounds = bounds_of(measure, given.binary, len(given.sums))
    return of_measure(given, bounds, measure.ratio)


def table(
    groups: Mapping[tuple[str, str], ArmGroup],
    rows: Sequence[CellRow],
    arms: Sequence[str],
    measures: Sequence[Measure],
) -> ResultTable:
    """The table of these cells, which `grouped` has grouped."""
    names = tuple(sorted({group for _, group in groups}))
    lines = []
    for name in names:
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        rows_ = [TableRow(group.arm, name, len(group.by_case), {}, {}) for group in here]
        for measure in measures:
            for row, (cases, given) in zip(rows_, case_sums(here, measure), strict=True):
                if cases and (found := interval_of(measure, given)).value == found.value:
                    row.values[measure.name], row.counts[measure.name] = found, len(cases)
        lines += rows_
    return ResultTable(tuple(measures), tuple(arms), names, tuple(lines), {arm: spent(rows, arm) for arm in arms})


def spent(rows: Iterable[CellRow], arm: str) -> ArmSpending:
    mine = [row for row in rows if row.arm == arm]
    done = [row.outcome for row in mine if row.outcome is not None]
    costs = [one.cost for one in done]
    return ArmSpending(
        done=len(done),
        failed=sum(row.state == "failed" for row in mine),
        waiting=sum(row.state == "waiting" for row in mine),
        calls=sum(one.calls for one in done),
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in done),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        estimated=any(one.estimated for one in done),
        seconds=sum(one.latency_s for one in done),
    )


ALPHA = 0.05
TESTS = {"permutation": "a permutation test", "McNemar": "McNemar's exact test"}


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
    """First less second, with its interval over cases."""
    tested: Tested
    """By McNemar's exact test where each case is right or wrong, else by swapping the arms' answers case by case."""
    corrected: float
    """After Holm's correction over all pairs of this measure and group."""
    cases: int
    pairs: int
    """How many pairs the correction is for."""
    values: tuple[list[float], list[float]] | None = field(default=None, repr=False)
    """Each case's own value under the first arm, and under the second; None where a measure has no value a case."""

    @cached_property
    def others(self) -> tuple[Tested, ...]:
        """Further tests, uncorrected, where cases are not right or wrong: Student's on pairs, and Wilcoxon's."""
        if self.values is None or self.cases < 2 or self.tested.test == "McNemar":
            return ()
        return paired_t(*self.values), wilcoxon(*self.values)

    @cached_property
    def effect(self) -> float | None:
        """Cohen's g where each case is right or wrong, else Cohen's d; None where a measure has no value a case."""
        if self.values is None:
            return None
        return cohens_g(*self._right) if self.tested.test == "McNemar" else cohens_d(*self.values)

    @cached_property
    def needed(self) -> int | None:
        """Cases that would show a difference of this size with a power of 80 %, uncorrected."""
        if self.values is None:
            return None
        return cases_needed_mcnemar(*self._right) if self.tested.test == "McNemar" else cases_needed(*self.values)

    @property
    def _right(self) -> tuple[list[bool], list[bool]]:
        a, b = self.values or ((), ())
        return [*map(bool, a)], [*map(bool, b)]

    @property
    def knowable(self) -> bool:
        """Whether there are cases enough to show any difference, however large."""
        return self.cases >= fewest_cases(ALPHA, self.pairs)

    @property
    def holds(self) -> bool:
        return self.corrected < ALPHA

    @property
    def better(self) -> str:
        ahead = self.difference.value > 0 if self.measure.better == "higher" else self.difference.value < 0
        return self.a if ahead else self.b

    @property
    def worse(self) -> str:
        return self.b if self.better == self.a else self.a


@dataclass(frozen=True)
class Overall:
    """Whether any arm differs from the others, of one measure and group, by Cochran's Q."""

    measure: Measure
    group: str
    tested: Tested
    majority: bool = False
    """Whether a case counts as right where most of its repeats are; without repeats each stands for itself."""


def pairs(
    groups: Mapping[tuple[str, str], ArmGroup], arms: Sequence[str], measures: Sequence[Measure], against: str = ""
) -> list[Pair]:
    """Every pair of arms, for each measure and group; pairs that share no case with a value are left out. `against`: the
    one arm that each other is compared with."""
    found: list[Pair] = []
    for name in sorted({group for _, group in groups}):
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        for measure in measures:
            given = [
                _each_once(measure, group, *one) for group, one in zip(here, case_sums(here, measure), strict=True)
            ]
            two = len(here) * (len(here) - 1) // 2
            both = (
                permutations(zip(here, given, strict=True), 2)
                if against
                else combinations(zip(here, given, strict=True), 2)
            )
            tested = [
                one
                for a, b in both
                if against in ("", b[0].arm) and (one := _pair(measure, name, a, b, two)) is not None
            ]
            corrected = holm([one.tested.p for one in tested])
            found += [replace(pair, corrected=p, pairs=len(tested)) for pair, p in zip(tested, corrected, strict=True)]
    return found


def overall(
    groups: Mapping[tuple[str, str], ArmGroup], arms: Sequence[str], measures: Sequence[Measure]
) -> list[Overall]:
    """Cochran's Q over the cases that all arms have, where each case is right or wrong and there are three arms or
    more. The test needs one value of each case under each arm: of its repeats, the majority. A tie counts as wrong."""
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


def _known(measure: Measure, several: Sequence[CaseResult]) -> list[float]:
    """The values of a case's repeats that have one."""
    assert measure.each is not None
    return [value for one in several if (value := measure.each(one)) is not None]


def by_repeat(group: ArmGroup, measure: Measure) -> list[float]:
    """A measure over all cases, for each repeat by itself; repeats that not all cases have are left out."""
    several = list(group.by_case.values())
    parts = [
        measure.parts([repeats[n] for repeats in several]).sum(axis=0, keepdims=True)
        for n in range(min(map(len, several), default=0))
    ]
    return [float(measure.finish(one)[0]) for one in parts]


def over_runs(group: ArmGroup, before: ArmGroup, measure: Measure) -> Tested | None:
    """Student's t over repeats: whether an arm's value differs from that of the arm before (CyberJurors, table 9: T).
    Each repeat is one pair. None where there are fewer than two repeats, or the cases are not the same."""
    mine, other = by_repeat(group, measure), by_repeat(before, measure)
    if len(mine) < 2 or len(mine) != len(other) or group.by_case.keys() != before.by_case.keys():
        return None
    return paired_t(mine, other)


def over_repeats(group: ArmGroup, measures: Sequence[Measure]) -> Tested | None:
    """Whether an arm is right more often in one of its repeats: Cochran's Q over the cases that have all of them. By
    the first measure that says right or wrong of each; None where there is none, or no repeats."""
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


def _each_once(
    measure: Measure, group: ArmGroup, cases: Sequence[str], given: CaseSums
) -> tuple[dict[str, int], CaseSums]:
    """Place an arm's cases, and average repeats, so that each counts once whatever its repeats."""
    import numpy as np

    if measure.is_of_each_run:
        sums = given.sums
    elif measure.each is None:
        sums = given.sums / given.cells[:, None]
    else:
        sums = np.array([(value or 0.0, 1.0) for value in group.values(measure, cases)]).reshape(-1, 2)
    return {case: place for place, case in enumerate(cases)}, replace(given, sums=sums)


def _pair(
    measure: Measure,
    name: str,
    one: tuple[ArmGroup, tuple[dict[str, int], CaseSums]],
    other: tuple[ArmGroup, tuple[dict[str, int], CaseSums]],
    pairs: int,
) -> Pair | None:
    import numpy as np

    (first, (of_first, x)), (second, (of_second, y)) = one, other
    shared = [case for case in of_first if case in of_second]
    if not shared:
        return None
    x = _of_cases(x, [of_first[case] for case in shared])
    y = _of_cases(y, [of_second[case] for case in shared])
    of_a, of_b = map(float, x.finish(np.stack([x.sums.sum(axis=0), y.sums.sum(axis=0)])))
    if of_a != of_a or of_b != of_b:
        return None
    bounds = bounds_of(measure, x.binary and y.binary, len(shared))
    gap = of_difference(x, y, bounds, measure.ratio, measure.each is not None)
    values = (x.sums[:, 0].tolist(), y.sums[:, 0].tolist()) if measure.each is not None else None
    if values and all(value in (0.0, 1.0) for side in values for value in side):
        tested = mcnemar(*([*map(bool, side)] for side in values))
    else:
        tested = permutation(x.sums, y.sums, x.finish, pairs)
    return Pair(measure, name, first.arm, second.arm, of_a, of_b, gap, tested, tested.p, len(shared), 1, values)


def _of_cases(given: CaseSums, places: Sequence[int]) -> CaseSums:
    return replace(given, sums=given.sums[places], cells=given.cells[places])


def sentence(pair: Pair) -> str:
    """One pair: which arm is better, by how much, and whether that holds."""
    first, second = (pair.of_a, pair.of_b) if pair.better == pair.a else (pair.of_b, pair.of_a)
    where = "" if pair.group == ALL else f" on {pair.group}"
    corrected = f"p {p_value(pair.corrected)} by {TESTS[pair.tested.test]}"
    corrected += f" with Holm's correction for {pair.pairs} pairs" if pair.pairs > 1 else ""
    if pair.holds:
        values = f"{number(first, pair.measure)} against {number(second, pair.measure)}"
        return (
            f"{pair.measure.title}{where}: {pair.better} is better than {pair.worse} ({values}; difference "
            f"{gap(abs(pair.difference.value), pair.measure)}{_between(pair)}; {corrected}; {pair.cases:,} cases)."
        )
    values = f"{number(pair.of_a, pair.measure)} against {number(pair.of_b, pair.measure)}"
    if not pair.knowable:
        least = fewest_cases(ALPHA, pair.pairs)
        return (
            f"{pair.measure.title}{where}: whether {pair.a} and {pair.b} differ can't be known from so few cases "
            f"({values}; {pair.cases:,} cases; at least {least} are needed)."
        )
    needed = (
        f" About {pair.needed:,} cases would show a difference of this size (power 80 %, without correction)."
        if pair.needed
        else ""
    )
    return (
        f"{pair.measure.title}{where}: no difference between {pair.a} and {pair.b} is shown "
        f"({values}{_between(pair)}; {corrected}; {pair.cases:,} cases).{needed}"
    )


def _between(pair: Pair) -> str:
    """The interval of the difference, of the better arm less the other where that holds; empty without one."""
    if not pair.difference.known:
        return ""
    ends = (pair.difference.low, pair.difference.high)
    low, high = (-ends[1], -ends[0]) if pair.holds and pair.difference.value < 0 else ends
    return f", 95 % interval {gap(low, pair.measure)} to {gap(high, pair.measure)}"


def summary(pairs: Sequence[Pair], overall: Sequence[Overall] = ()) -> list[str]:
    """For each measure and group: how many differences hold, and which arms nothing is shown to be better than."""
    rows = []
    for measure, group in dict.fromkeys((pair.measure, pair.group) for pair in pairs):
        mine = [pair for pair in pairs if (pair.measure, pair.group) == (measure, group)]
        held = [pair for pair in mine if pair.holds]
        arms = list(dict.fromkeys(arm for pair in mine for arm in (pair.a, pair.b)))
        beaten = {pair.worse for pair in held}
        best = [arm for arm in arms if arm not in beaten]
        where = "" if group == ALL else f" on {group}"
        q = next((one for one in overall if (one.measure, one.group) == (measure, group)), None)
        how = ", each case by the majority of its repeats" if q and q.majority else ""
        asked = f" Cochran's Q over all arms{how}: {q.tested.statistic:.1f}, p {p_value(q.tested.p)}." if q else ""
        if not any(pair.knowable for pair in mine):
            count = "there are too few cases to know of any difference"
        elif len(mine) > 1:
            count = f"{len(held)} of {len(mine)} differences between arms hold"
        else:
            count = "the difference holds" if held else "no difference is shown"
        shown = f" No arm is shown to be better than {_listed(best)}." if held and best else ""
        rows.append(f"{measure.title}{where}: {count}.{shown}{asked}")
    return rows


def without_interval(table: ResultTable) -> list[str]:
    """For measures that have no interval in some line, why."""
    found = []
    for measure in table.measures:
        bare = [one for line in table.lines if (one := line.values.get(measure.name)) and not one.known]
        if bare and measure.ratio:
            found.append(
                f"{measure.title} has no interval on fewer than {FEWEST} cases, or where too few of them differ: "
                "none would hold."
            )
        elif bare:
            found.append(f"{measure.title} has no interval: chance alone pushes it up.")
    return found


def printed(interval: Interval | None, measure: Measure, counted: str = "") -> str:
    if interval is None:
        return "–"
    if not interval.known:
        return number(interval.value, measure) + (f" ({counted})" if counted else "")
    low, high = (number(end, measure).removesuffix(" %") for end in (interval.low, interval.high))
    return f"{number(interval.value, measure)} ({low} to {high}{counted and f'; {counted}'})"


def number(value: float, measure: Measure) -> str:
    return f"{100 * value:.1f} %" if measure.percent else f"{value:.3g}"


def gap(value: float, measure: Measure) -> str:
    """A difference of two values of a measure as it is printed: of shares, in percentage points."""
    return f"{100 * value:.1f} points" if measure.percent else f"{value:.3g}"


def p_value(p: float) -> str:
    """A p-value as it is quoted, with its sign."""
    return "below 0.001" if p < 0.001 else f"= {p:.3f}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
