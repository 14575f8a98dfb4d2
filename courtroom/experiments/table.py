"""The table of an experiment: a line for each arm and group of cases, with intervals, and which differences hold."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import isnan, lcm

import numpy as np

from courtroom.evaluation import significance
from courtroom.evaluation.intervals import FEWEST, Bounds, CaseSums, Interval, Sums, of_difference, of_measure
from courtroom.evaluation.significance import ALPHA, Tested, fewest_cases
from courtroom.experiments.measures import CaseResult, Measure
from courtroom.experiments.measures.measure import quotient

ALL = "all cases"


@dataclass(frozen=True)
class ArmSpending:
    """What the cells of an arm, or of all, took."""

    done: int
    failed: int
    calls: int
    tokens: int
    """Used: also those of answers that were on record, as another arm had asked the same before."""
    cost: float | None
    """US dollars, of the tokens used; None where a price is not known."""
    estimated: bool
    """Whether a provider did not count some of the tokens."""
    seconds: float

    @property
    def a_case(self) -> tuple[str, str]:
        """Return how many tokens and how many US dollars a case took, as they are printed."""
        tokens = f"{self.tokens / self.done:,.0f}" if self.calls and self.done else ""
        cost = "" if self.cost is None or not self.done else f"{self.cost / self.done:.4g}"
        told = [f"about {number}" if number and self.estimated else number or "–" for number in (tokens, cost)]
        return told[0], told[1]


@dataclass
class ArmGroup:
    """One arm's done cells within a group of cases."""

    arm: str
    group: str
    rows: Sequence[CaseResult]

    @cached_property
    def by_case(self) -> Mapping[str, Sequence[CaseResult]]:
        """What it came to, by case."""
        found: dict[str, list[CaseResult]] = {}
        for row in self.rows:
            found.setdefault(row.row, []).append(row)
        return found

    @cached_property
    def runs(self) -> Sequence[int]:
        """Return the numbers of its runs over all cases."""
        return sorted({row.repeat for row in self.rows})

    def each(self, measure: Measure) -> Mapping[str, Sequence[float]]:
        """The values of each case's repeats; repeats, and cases, that the measure leaves out are left out."""
        assert measure.each is not None
        several = {case: map(measure.each, repeats) for case, repeats in self.by_case.items()}
        known = {case: [one for one in values if one is not None] for case, values in several.items()}
        return {case: values for case, values in known.items() if values}

    def known(self, measure: Measure) -> dict[str, float]:
        """Each case's own value, the mean over its repeats; cases that the measure leaves out are left out."""
        return {case: sum(values) / len(values) for case, values in self.each(measure).items()}


@dataclass(frozen=True)
class TableRow:
    """One arm in one group, or what guessing reaches there."""

    arm: str
    """Or the guess's name."""
    group: str
    cases: int
    values: dict[str, Interval]
    """By the measure's name; a measure that no case has a value for is left out."""
    counts: dict[str, int] = field(default_factory=dict)
    """How many of the cases have a value, by the measure's name."""


@dataclass(frozen=True)
class ResultTable:
    """All lines, arms in the order of the experiment, for each group in turn."""

    measures: tuple[Measure, ...]
    arms: tuple[str, ...]
    groups: tuple[str, ...]
    lines: tuple[TableRow, ...]
    spent: Mapping[str, ArmSpending]
    guesses: tuple[TableRow, ...] = ()

    def below(self, line: TableRow, measure: Measure) -> bool:
        """Whether an arm's value is worse than a guess on the same cases."""
        if (one := line.values.get(measure.name)) is None:
            return False
        known = [of.values.get(measure.name) for of in self.guesses if of.group == line.group]
        sign = 1 if measure.better == "higher" else -1
        return any(guess and sign * one.value < sign * guess.value for guess in known)

    def line(self, arm: str, group: str) -> TableRow | None:
        return next((line for line in self.lines if (line.arm, line.group) == (arm, group)), None)


Groups = Mapping[tuple[str, str], ArmGroup]
"""By arm and group."""


def grouped(rows: Iterable[CaseResult], by_category: bool) -> Groups:
    """The done cells by arm and group; a single group where cases are not distinguished."""
    found: dict[tuple[str, str], list[CaseResult]] = {}
    for row in rows:
        if row.state == "done":
            found.setdefault((row.arm, row.category if by_category else ALL), []).append(row)
    return {(arm, group): ArmGroup(arm, group, cells) for (arm, group), cells in found.items()}


def case_sums(groups: Sequence[ArmGroup], measure: Measure) -> Iterator[CaseSums]:
    """Return for each arm what its cases with a value add to a measure; parts mean the same in all arms.

    Where each run has a value of its own, the runs stand side by side. Of arms with fewer runs these are repeated, so
    that all arms have as many.
    """
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

    at = 0
    for group in groups:
        here = slice(at, at := at + len(group.by_case))
        known = np.arange(here.start, here.stop)[sums[here].any(axis=1)]
        right_or_wrong = measure.ratio and measure.each is not None and bool(binary[known].all())
        cases = tuple(cells[place][1] for place in known)
        yield CaseSums(sums[known], many[known].astype(float), right_or_wrong, finish, cases)


def bounds_of(measure: Measure, binary: bool, cases: int) -> Bounds | None:
    """Between what a measure lies; one that has no bounds, but is right or wrong on many cases, is a share here."""
    return (0.0, 1.0) if measure.bounds is None and binary and cases >= FEWEST else measure.bounds


def interval_of(measure: Measure, given: CaseSums) -> Interval | None:
    """A measure of an arm with its interval; None where it has no value."""
    if not given.cases:
        return None
    found = of_measure(given, bounds_of(measure, given.binary, len(given.cases)), measure.ratio)
    return None if isnan(found.value) else found


def table(groups: Groups, rows: Sequence[CaseResult], arms: Sequence[str], measures: Sequence[Measure]) -> ResultTable:
    """The table of these cells, which `grouped` has grouped."""
    names = tuple(sorted({group for _, group in groups}))
    lines = []
    for name in names:
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        rows_ = [TableRow(group.arm, name, len(group.by_case), {}) for group in here]
        for measure in measures:
            for row, given in zip(rows_, case_sums(here, measure), strict=True):
                if found := interval_of(measure, given):
                    row.values[measure.name], row.counts[measure.name] = found, len(given.cases)
        lines += rows_
    spending = {arm: spent([row for row in rows if row.arm == arm]) for arm in arms}
    return ResultTable(tuple(measures), tuple(arms), names, tuple(lines), spending)


def spent(rows: Sequence[CaseResult]) -> ArmSpending:
    done = [row.outcome for row in rows if row.state == "done"]
    costs = [one.cost for one in done]
    return ArmSpending(
        done=len(done),
        failed=sum(row.state == "failed" for row in rows),
        calls=sum(one.calls for one in done),
        tokens=sum(one.prompt_tokens + one.completion_tokens for one in done),
        cost=None if None in costs else sum(cost for cost in costs if cost is not None),
        estimated=any(one.estimated for one in done),
        seconds=sum(one.latency_s for one in done),
    )


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
    values: tuple[Sequence[float], Sequence[float]] = field(default=((), ()), repr=False)
    """Each case's own value under the first arm, and under the second; none where a measure has no value a case."""

    @cached_property
    def others(self) -> tuple[Tested, ...]:
        """Further tests, uncorrected, where cases are not right or wrong: Student's on pairs, and Wilcoxon's."""
        if len(self.values[0]) < 2 or self.tested.test == "McNemar":
            return ()
        return significance.paired_t(*self.values), significance.wilcoxon(*self.values)

    @cached_property
    def effect(self) -> float | None:
        """Cohen's g where each case is right or wrong, else Cohen's d; None where a measure has no value a case."""
        return (significance.cohens_g if self.tested.test == "McNemar" else significance.cohens_d)(*self.values)

    @cached_property
    def needed(self) -> int | None:
        """Cases that would show a difference of this size with a power of 80 %, uncorrected."""
        exact = self.tested.test == "McNemar"
        return (significance.cases_needed_mcnemar if exact else significance.cases_needed)(*self.values)

    @property
    def knowable(self) -> bool:
        """Whether there are cases enough to show any difference, however large."""
        return self.cases >= fewest_cases(self.pairs)

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


Overall = Mapping[tuple[Measure, str], tuple[Tested, bool]]
"""By measure and group, whether any arm differs from the others, by Cochran's Q; and whether a case counts as right
where most of its repeats are: without repeats each stands for itself."""


def pairs(groups: Groups, arms: Sequence[str], measures: Sequence[Measure], against: str = "") -> list[Pair]:
    """Every pair of arms, for each measure and group; pairs that share no case with a value are left out. `against`: the
    one arm that each other is compared with."""
    found: list[Pair] = []
    for name in sorted({group for _, group in groups}):
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        two = len(here) * (len(here) - 1) // 2
        for measure in measures:
            sums = zip(here, case_sums(here, measure), strict=True)
            given = {group.arm: _each_once(measure, group, one) for group, one in sums}
            both = ((arm, against) for arm in given if arm != against) if against else combinations(given, 2)
            shared = [pair for pair in both if given.keys() >= {*pair}]
            tested = [one for a, b in shared if (one := _pair(measure, name, a, b, given[a], given[b], two))]
            corrected = significance.holm([one.tested.p for one in tested])
            found += [replace(pair, corrected=p, pairs=len(tested)) for pair, p in zip(tested, corrected, strict=True)]
    return found


def overall(groups: Groups, arms: Sequence[str], measures: Sequence[Measure]) -> Overall:
    """Cochran's Q over the cases that all arms have, where each case is right or wrong and there are three arms or
    more. The test needs one value of each case under each arm: of its repeats, the majority. A tie counts as wrong."""
    found: dict[tuple[Measure, str], tuple[Tested, bool]] = {}
    for name in sorted({group for _, group in groups}):
        here = [groups[arm, name] for arm in arms if (arm, name) in groups]
        for measure in measures:
            if len(here) < 3 or measure.each is None:
                continue
            known = [group.each(measure) for group in here]
            cases = sorted(frozenset.intersection(*map(frozenset, known)))
            every = [values for case in cases for values in (of_arm[case] for of_arm in known)]
            if cases and all(value in (0.0, 1.0) for values in every for value in values):
                right = [[2 * sum(of_arm[case]) > len(of_arm[case]) for case in cases] for of_arm in known]
                found[measure, name] = significance.cochran(right), any(len(one) > 1 for one in every)
    return found


def over_runs(group: ArmGroup, before: ArmGroup, measure: Measure) -> Tested | None:
    """Student's t over repeats: whether an arm's value differs from that of the arm before (CyberJurors, table 9: T).
    Each repeat is one pair; those that not all cases have are left out. None where there are fewer than two, or the
    cases are not the same."""
    by_repeat = (zip(*one.by_case.values(), strict=False) for one in (group, before))
    mine, other = ([measure.value(several) for several in repeats] for repeats in by_repeat)
    if len(mine) < 2 or len(mine) != len(other) or group.by_case.keys() != before.by_case.keys():
        return None
    return significance.paired_t(mine, other)


def over_repeats(group: ArmGroup, measures: Sequence[Measure]) -> Tested | None:
    """Whether an arm is right more often in one of its repeats: Cochran's Q over the cases that have all of them. By
    the first measure that says right or wrong of each; None where there is none, or no repeats."""
    most = max(map(len, group.by_case.values()), default=0)
    for measure in measures if most > 1 else ():
        kept = [values for values in group.each(measure).values() if len(values) == most] if measure.each else []
        if kept and all(value in (0.0, 1.0) for values in kept for value in values):
            return significance.cochran([*zip(*kept, strict=True)])
    return None


def _each_once(measure: Measure, group: ArmGroup, given: CaseSums) -> CaseSums:
    """Average a case's repeats, so that each case counts once whatever its repeats."""
    if measure.is_of_each_run:
        return given
    if measure.each is None:
        return replace(given, sums=given.sums / given.cells[:, None])
    known = group.known(measure)
    return replace(given, sums=np.array([(known[case], 1.0) for case in given.cases]).reshape(-1, 2))


def _pair(measure: Measure, group: str, a: str, b: str, of_a: CaseSums, of_b: CaseSums, pairs: int) -> Pair | None:
    others = {*of_b.cases}
    shared = [case for case in of_a.cases if case in others]
    if not shared:
        return None
    x, y = of_a.only(shared), of_b.only(shared)
    value_a, value_b = map(float, x.finish(np.stack([x.sums.sum(axis=0), y.sums.sum(axis=0)])))
    if isnan(value_a) or isnan(value_b):
        return None
    bounds = bounds_of(measure, x.binary and y.binary, len(shared))
    gap = of_difference(x, y, bounds, measure.ratio, measure.each is not None)
    values = (x.sums[:, 0].tolist(), y.sums[:, 0].tolist()) if measure.each is not None else ((), ())
    if measure.each is not None and all(value in (0.0, 1.0) for side in values for value in side):
        tested = significance.mcnemar(*values)
    else:
        tested = significance.permutation(x.sums, y.sums, x.finish, pairs)
    return Pair(measure, group, a, b, value_a, value_b, gap, tested, tested.p, len(shared), 1, values)


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
        least = fewest_cases(pair.pairs)
        return (
            f"{pair.measure.title}{where}: whether {pair.a} and {pair.b} differ can't be known from so few cases "
            f"({values}; {pair.cases:,} cases; at least {least} are needed)."
        )
    needed = ""
    if pair.needed:
        needed = f" About {pair.needed:,} cases would show a difference of this size (power 80 %, without correction)."
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


def summary(pairs: Sequence[Pair], overall: Overall) -> Iterator[str]:
    """For each measure and group: how many differences hold, and which arms nothing is shown to be better than."""
    for measure, group in dict.fromkeys((pair.measure, pair.group) for pair in pairs):
        mine = [pair for pair in pairs if (pair.measure, pair.group) == (measure, group)]
        held = [pair for pair in mine if pair.holds]
        arms = list(dict.fromkeys(arm for pair in mine for arm in (pair.a, pair.b)))
        beaten = {pair.worse for pair in held}
        best = [arm for arm in arms if arm not in beaten]
        where = "" if group == ALL else f" on {group}"
        q, by_majority = overall.get((measure, group), (None, False))
        how = ", each case by the majority of its repeats" if by_majority else ""
        asked = f" Cochran's Q over all arms{how}: {q.statistic:.1f}, p {p_value(q.p)}." if q else ""
        if not any(pair.knowable for pair in mine):
            count = "there are too few cases to know of any difference"
        elif len(mine) > 1:
            count = f"{len(held)} of {len(mine)} differences between arms hold"
        else:
            count = "the difference holds" if held else "no difference is shown"
        shown = f" No arm is shown to be better than {_listed(best)}." if held and best else ""
        yield f"{measure.title}{where}: {count}.{shown}{asked}"


def without_interval(table: ResultTable) -> Iterator[str]:
    """For measures that have no interval in some line, why."""
    for measure in table.measures:
        bare = [one for line in table.lines if (one := line.values.get(measure.name)) and not one.known]
        if bare and measure.ratio:
            yield (
                f"{measure.title} has no interval on fewer than {FEWEST} cases, or where too few of them differ: "
                "none would hold."
            )
        elif bare:
            yield f"{measure.title} has no interval: chance alone pushes it up."


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
