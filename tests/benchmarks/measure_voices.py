"""How often the interval of a panel's effective votes holds the truth: `python -m tests.benchmarks.measure_voices`.

Panels are made up, with a known correlation of votes: jurors who copy one and the same juror now and then, cases that
are clear to a degree drawn from a beta distribution, and jurors who see the same evidence with an error of their own (a
normal one).
"""

import random
from collections.abc import Iterable
from functools import cache, partial
from statistics import NormalDist

from scipy.optimize import brentq
from scipy.stats import multivariate_normal

from courtroom.evaluation.effective_votes import effective
from tests.benchmarks.tables import Row, Table, show

CORRELATIONS = (0.05, 0.2, 0.5, 0.8)
PANELS = ("copies one", "clear to a degree", "an error of their own")
MANY = 400
Votes = list[tuple[str, dict[str, int]]]


def tables() -> Iterable[Table]:
    """Kinds of panel by number of cases and of jurors."""
    rows = [
        Row(f"{kind}, {cases} cases, {jurors} jurors", partial(figures, kind, cases, jurors))
        for kind in PANELS
        for cases in (12, 30)
        for jurors in (3, 12, 17)
    ]
    head = ("panel", *(f"correlation {known}" for known in CORRELATIONS))
    yield Table("How often the interval of the effective votes holds the truth, in %", head, tuple(rows))


def figures(kind: str, cases: int, jurors: int) -> Iterable[str]:
    """Per cent, one for each correlation."""
    return [f"{100 * held(kind, cases, jurors, known, MANY):.0f}" for known in CORRELATIONS]


def held(kind: str, cases: int, jurors: int, known: float, many: int, share: float = 0.65) -> float:
    """Of so many panels, the share whose interval holds the true number of effective votes."""
    truth, hits, of = jurors / (1 + (jurors - 1) * known), 0, 0
    for seed in range(many):
        found = effective(simulated(kind, cases, jurors, known, share, random.Random(f"{kind}/{seed}")))
        if found is not None:
            hits, of = hits + (found[0].low <= truth <= found[0].high), of + 1
    return hits / of


def simulated(kind: str, cases: int, jurors: int, known: float, share: float, draw: random.Random) -> Votes:
    """Votes with a known correlation. `share`: of votes for one side."""
    return [(f"case {case}", _ballot(kind, jurors, known, share, draw)) for case in range(cases)]


def _ballot(kind: str, jurors: int, known: float, share: float, draw: random.Random) -> dict[str, int]:
    names = [f"juror {number}" for number in range(jurors)]
    if kind == "copies one":
        copied = draw.random() < share
        return {one: int(copied if draw.random() < known**0.5 else draw.random() < share) for one in names}
    if kind == "clear to a degree":
        whole = (1 - known) / known
        clear = draw.betavariate(whole * share, whole * (1 - share))
        return {one: int(draw.random() < clear) for one in names}
    seen, at = _latent(known, share), NormalDist().inv_cdf(share)
    common = draw.gauss(0, seen**0.5)
    return {one: int(common + draw.gauss(0, (1 - seen) ** 0.5) < at) for one in names}


@cache
def _latent(known: float, share: float) -> float:
    """The correlation of what is seen that gives votes of this correlation."""
    at = NormalDist().inv_cdf(share)

    def over(seen: float) -> float:
        both = multivariate_normal([0, 0], [[1, seen], [seen, 1]]).cdf([at, at])
        return float((both - share**2) / (share * (1 - share)) - known)

    return float(brentq(over, 1e-4, 0.9999))


main = partial(show, tables)
if __name__ == "__main__":
    main()
