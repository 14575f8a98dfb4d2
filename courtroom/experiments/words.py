"""What a comparison shows, in sentences that a reader can quote."""

from __future__ import annotations

from collections.abc import Sequence

from courtroom.experiments.comparison import BOOTSTRAP, Overall, Pair
from courtroom.experiments.measures import Measure
from courtroom.experiments.table import ALL

TESTS = {BOOTSTRAP: "a bootstrap over cases", "McNemar": "McNemar's test"}


def sentence(pair: Pair) -> str:
    """One pair: which arm is better, by how much, and whether that holds."""
    ahead = pair.difference.value > 0 if pair.measure.better == "higher" else pair.difference.value < 0
    better, worse = (pair.a, pair.b) if ahead else (pair.b, pair.a)
    first, second = (pair.of_a, pair.of_b) if ahead else (pair.of_b, pair.of_a)
    ends = (pair.difference.low, pair.difference.high)
    low, high = ends if pair.difference.value > 0 else (-ends[1], -ends[0])
    where = "" if pair.group == ALL else f" on {pair.group}"
    values = f"{number(first, pair.measure)} against {number(second, pair.measure)}"
    corrected = f"p {p_value(pair.corrected)} by {TESTS[pair.test]}"
    corrected += f" with Holm's correction for {pair.pairs} pairs" if pair.pairs > 1 else ""
    if pair.holds:
        return (
            f"{pair.measure.title}{where}: {better} is better than {worse} ({values}; difference "
            f"{gap(abs(pair.difference.value), pair.measure)}, 95 % interval {gap(low, pair.measure)} to "
            f"{gap(high, pair.measure)}; {corrected}; {pair.cases:,} cases)."
        )
    needed = (
        f" About {pair.needed:,} cases would show a difference of this size (power 80 %, without correction)."
        if pair.needed
        else ""
    )
    return (
        f"{pair.measure.title}{where}: no difference between {pair.a} and {pair.b} is shown "
        f"({number(pair.of_a, pair.measure)} against {number(pair.of_b, pair.measure)}; {corrected}; {pair.cases:,} cases).{needed}"
    )


def summary(pairs: Sequence[Pair], overall: Sequence[Overall] = ()) -> list[str]:
    """For each measure and group: how many differences hold, and which arms nothing is shown to be better than."""
    found = []
    for measure, group in dict.fromkeys((pair.measure, pair.group) for pair in pairs):
        mine = [pair for pair in pairs if (pair.measure, pair.group) == (measure, group)]
        held = [pair for pair in mine if pair.holds]
        arms = list(dict.fromkeys(arm for pair in mine for arm in (pair.a, pair.b)))
        beaten = {_worse(pair) for pair in held}
        best = [arm for arm in arms if arm not in beaten]
        where = "" if group == ALL else f" on {group}"
        q = next((one for one in overall if (one.measure, one.group) == (measure, group)), None)
        how = ", each case by the majority of its repeats" if q and q.majority else ""
        asked = f" Cochran's Q over all arms{how}: {q.tested.statistic:.1f}, p {p_value(q.tested.p)}." if q else ""
        count = f"{len(held)} of {len(mine)} differences between arms hold" if len(mine) > 1 else (
            "the difference holds" if held else "no difference is shown")  # fmt: skip
        shown = f" No arm is shown to be better than {_listed(best)}." if held and best else ""
        found.append(f"{measure.title}{where}: {count}.{shown}{asked}")
    return found


def number(value: float, measure: Measure) -> str:
    """A value of a measure as it is printed."""
    return f"{100 * value:.1f} %" if measure.percent else f"{value:.3g}"


def gap(value: float, measure: Measure) -> str:
    """A difference of two values of a measure as it is printed: of shares, in percentage points."""
    return f"{100 * value:.1f} points" if measure.percent else f"{value:.3g}"


def p_value(p: float) -> str:
    """A p-value as it is quoted, with its sign."""
    return "below 0.001" if p < 0.001 else f"= {p:.3f}"


def _worse(pair: Pair) -> str:
    ahead = pair.difference.value > 0 if pair.measure.better == "higher" else pair.difference.value < 0
    return pair.b if ahead else pair.a


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
