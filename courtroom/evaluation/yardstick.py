"""The human yardstick: does a simulated jury move from its first ballot to its verdict as juries of people do?

People are 2,018 deliberations of real and mock juries with a known first ballot and a known verdict; death-penalty
cases are left out (`data/juries/first_ballots.csv`, from the R package `sate`, CC0). Model and people are compared at
the same first ballots.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from statistics import fmean
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from courtroom.declarations.parts import ROUND
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.effective_votes import Panel, conformity, effective, panels, persona_share, variety, worth
from courtroom.evaluation.intervals import Interval
from courtroom.judging.jurors import private_votes
from courtroom.language import N_
from courtroom.settings import DATA

FILE = DATA / "juries" / "first_ballots.csv"
BALLOTS = "jury deliberations in the R package sate 3.1.1 (CC0: Devine et al. 2001, 2004, 2007; Sandys 1995; NCSC)"
CHATS = "348 deliberations in a chat (Hu, Whiting and Bernstein, CHI 2021)"
SYMMETRY = "MacCoun and Kerr 1988: symmetrical"
PRIVATE = "more than a third of jurors (Waters and Hans 2009)"
SIZES = (6, 12)
"""Juries of people. A panel of another size is held against twelve."""
EVEN = {
    "": N_("From an even split, the case is found proven"),
    "reasonable-doubt": N_("From an even split, proven beyond reasonable doubt"),
    "clear-and-convincing": N_("From an even split, proven by clear and convincing evidence"),
    "preponderance": N_("From an even split, proven by the preponderance of the evidence"),
}
"""By the standard of proof."""
DRAWS, ALPHA = 4_000, 0.05
PLACE = ["size", "votes"]
"""Names of what is in a place; see `Deliberation`."""


@dataclass(frozen=True)
class Deliberation:
    """One jury: where it began and where it came to. Shares are of the side that has to prove its case."""

    size: int
    share: float
    """Of those who voted in the first ballot, 0 to 1."""
    verdict: bool | None
    """Whether this side won; None is a hung jury."""
    standard: str = ""
    """Of proof; empty where nobody says."""
    last: float | None = None
    """The share in the last ballot; this and all below are not known of people."""
    unanimous: bool = False
    rounds: int = 0
    """Ballots after the first."""
    dissent: float | None = None
    """Of those who were asked in private in the last ballot, the share that was against the verdict."""
    changed: tuple[int, int, int, int] = (0, 0, 0, 0)
    """Who ended on another side: of the first majority, of how many; of the first minority, of how many."""

    @property
    def even(self) -> bool:
        """Whether the first ballot is a tie."""
        return abs(self.share - 0.5) < 1e-6

    @property
    def place(self) -> tuple[int, int]:
        """The size of the people's juries that it is compared with, and the votes of its first ballot among so many."""
        size = self.size if self.size in SIZES else SIZES[-1]
        return size, round(self.share * size)

    @property
    def prevails(self) -> bool:
        """Whether the first majority has won; where there is none, it has not."""
        return not self.even and self.verdict is not None and self.verdict == (self.share > 0.5)


@lru_cache(maxsize=1)
def people() -> tuple[Deliberation, ...]:
    """Read the juries of people, without death-penalty cases and those without a first ballot or a verdict."""
    known = ["six_person_jury", "prop_jurors_g", "guilty_verdict"]
    rows = pd.read_csv(FILE).query("death_penalty == 0")[known].dropna()
    return tuple(Deliberation(SIZES[six == 0], share, won == 1) for six, share, won in rows.itertuples(index=False))


def deliberation(record: Record, procedure: Procedure) -> Deliberation | None:
    """A run as a deliberation; None where it is not done, has scripted members, or does not decide by ballots between
    two sides. `procedure`: that of the run, with what can be voted for in its case; the first choice is for the side
    that has to prove its case."""
    choices = procedure.choices
    rounds = {stage.path for stage in record.stages if stage.stage_kind == ROUND}
    ballots = [votes for path, votes in record.ballots.items() if record.ballot_stage(path) in rounds]
    scripted = any(one.spec.script for one in record.everybody)
    if record.run.verdict is None or len(choices) != 2 or not ballots or scripted:
        return None
    names = [choice.name for choice in choices]
    both = (ballots[0], ballots[-1])
    begins, ends = ({who: one.choice == names[0] for who, one in votes.items() if one.choice} for votes in both)
    if len(begins) < 2 or not ends:
        return None
    share, last = fmean(begins.values()), fmean(ends.values())
    groups = [
        [ends[who] != vote for who, vote in begins.items() if who in ends and (vote == (share >= 0.5)) is most]
        for most in (True, False)
    ]
    outcome = record.run.verdict.outcome
    private = next(reversed(private_votes(record, procedure).values()), {})
    return Deliberation(
        size=len(ballots[0]),
        share=share,
        verdict=outcome == names[0] if outcome in names else None,
        standard=str(record.run.verdict.details.get("standard of proof", "")),
        last=last,
        unanimous=last in (0, 1),
        rounds=len(ballots) - 1,
        dissent=fmean(vote != outcome for vote in private.values()) if outcome in names and private else None,
        changed=(sum(groups[0]), len(groups[0]), sum(groups[1]), len(groups[1])),
    )


@dataclass(frozen=True)
class Line:
    """One thing that was measured, beside people where it is known of them."""

    name: str
    title: str
    value: float
    low: float | None
    """None where there is no interval."""
    high: float | None
    n: int
    people: float | None = None
    people_low: float | None = None
    people_high: float | None = None
    people_n: int | None = None
    source: str = ""
    p: float | None = None
    percent: bool = True

    def in_words(self) -> dict[str, str]:
        """Return it as a row of a table, with what is known of people beside it."""
        people = self._within(self.people, self.people_low, self.people_high, self.people_n)
        return {
            "measure": self.title,
            "these runs": self._within(self.value, self.low, self.high, self.n),
            "people": people,
            "p": "–" if self.p is None else "< 0.001" if self.p < 0.001 else f"{self.p:.3f}",
            "source": self.source,
        }

    def _within(self, value: float | None, low: float | None, high: float | None, n: int | None) -> str:
        if value is None:
            return "–"
        one, *ends = (f"{100 * x:.0f} %" if self.percent else f"{x:.2f}" for x in (value, low, high) if x is not None)
        return one + (f" ({' – '.join(ends)})" if ends else "") + (f", n = {n:,}" if n else "")


@dataclass(frozen=True)
class Yardstick:
    """A set of runs beside people."""

    model: tuple[Deliberation, ...]
    panels: tuple[Panel, ...] = ()
    """Who voted how in these runs, also in those that do not decide between two sides."""

    @cached_property
    def curve(self) -> pd.DataFrame:
        """A row for every first ballot of the sizes at hand: from how many the side with the burden wins, of how many.

        A hung jury is no win, as nothing is proven.
        """
        sizes = sorted({one.place[0] for one in self.model})
        places = pd.MultiIndex.from_tuples([(size, votes) for size in sizes for votes in range(size + 1)], names=PLACE)
        mine, theirs = (_counted((one.place, one.verdict is True) for one in all_) for all_ in (self.model, people()))
        both = mine.reindex(places).join(theirs.add_prefix("people_"))
        return both.fillna(0).astype(int).reset_index()

    @cached_property
    def distance(self) -> tuple[Interval, float] | None:
        """How far the curve lies from that of people, 0 to 1, with its 95 % interval, and p of no distance at all.

        The root of the mean squared difference over first ballots of which both have two deliberations or more. What
        chance alone adds to the squares is taken off, so that it is 0 on average where there is no distance, and cut at
        0. The interval is of a bootstrap within first ballots, p of a permutation within them. None where no first
        ballot is in both.
        """
        shared = self.curve.query("n > 1 and people_n > 1")
        if shared.empty:
            return None
        wins, n, theirs, of = shared[["wins", "n", "people_wins", "people_n"]].to_numpy(float).T
        random = np.random.default_rng(0)

        def squared(a: NDArray[np.float64], b: NDArray[np.float64]) -> tuple[Any, Any]:
            """The mean square, and what of it is chance."""
            mine, other = a / n, b / of
            chance = mine * (1 - mine) / (n - 1) + other * (1 - other) / (of - 1)
            return ((mine - other) ** 2).mean(axis=-1), chance.mean(axis=-1)

        found, chance = squared(wins, theirs)
        drawn = random.binomial(n.astype(int), wins / n, (DRAWS, len(n))).astype(float)
        others = random.binomial(of.astype(int), theirs / of, (DRAWS, len(n))).astype(float)
        again, by_chance = squared(drawn, others)
        low, high = np.quantile(again - by_chance - chance, (ALPHA / 2, 1 - ALPHA / 2))
        both = (wins + theirs).astype(int)
        mixed = random.hypergeometric(both, (n + of).astype(int) - both, n.astype(int), (DRAWS, len(n))).astype(float)
        null, _ = squared(mixed, both - mixed)
        value, low, high = (float(max(0.0, one)) ** 0.5 for one in (found - chance, low, high))
        return Interval(value, low, high), float((1 + (null >= found - 1e-12).sum()) / (DRAWS + 1))

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """All that is measured, in the order of a table; what these runs do not show is left out."""
        found = [self._majority(), *self._even_splits(), *self._movement(), *self._voices()]
        return tuple(line for line in found if line)

    @property
    def sentences(self) -> Iterator[str]:
        """What it comes to, to be quoted."""
        if line := next((one for one in self.lines if one.name == "majority"), None):
            p, (mine, theirs) = line.p or 0.0, (f"{100 * share:.0f} %" for share in (line.value, line.people or 0.0))
            told = N_("Follows the first majority less than people do")
            if p >= ALPHA:
                told = N_("No difference from people is shown in how often the first majority prevails")
            elif line.value > (line.people or 0.0):
                told = N_("Follows the first majority more than people do")
            yield f"{told}: {mine} against {theirs} at the same first ballots, p {_p(p)}."
        if self.distance:
            one, p = self.distance
            points, low, high = (f"{100 * value:.0f}" for value in (one.value, one.low, one.high))
            yield (
                f"From first ballot to verdict these {len(self.model)} runs lie {points} points from the curve of "
                f"people (95 % interval {low} to {high}, p {_p(p)})."
            )
            yield f"By this curve they are {'' if p < ALPHA else 'not '}told apart from people."
        if voices := worth(self.panels, "votes"):
            yield voices

    def as_data(self) -> dict[str, Any]:
        """As plain data, for `--json` and the page's download."""
        return {
            "runs": len(self.model),
            "sentences": list(self.sentences),
            "distance": {**asdict(self.distance[0]), "p": self.distance[1]} if self.distance else None,
            "curve": self.curve.to_dict("records"),
            "lines": [asdict(line) for line in self.lines],
        }

    # --- within ---------------------------------------------------------------------------------------------

    def _majority(self) -> Line | None:
        """How often the first majority prevails, and how often it would with people from the same first ballots."""
        both = (self.model, people())
        mine, theirs = (_counted((one.place, one.prevails) for one in all_ if not one.even) for all_ in both)
        shared = mine.join(theirs.add_prefix("people_"), how="inner")
        if shared.empty:
            return None
        wins, n, others, of = shared.to_numpy().T
        random, weights = np.random.default_rng(0), n / n.sum()
        value, their_value = float(wins.sum() / n.sum()), float(weights @ (others / of))
        again = (random.binomial(of, others / of, (DRAWS, len(of))) / of) @ weights
        won = wins + others
        mixed = random.hypergeometric(won, n + of - won, n, (DRAWS, len(n)))
        gaps = np.abs((mixed / n - (won - mixed) / of) @ weights)
        p = float((1 + (gaps >= abs(value - their_value) - 1e-12).sum()) / (DRAWS + 1))
        one = wilson(int(wins.sum()), int(n.sum()))
        low, high = (float(end) for end in np.quantile(again, (ALPHA / 2, 1 - ALPHA / 2)))
        beside = _beside(Interval(their_value, low, high), int(of.sum()), BALLOTS)
        title = N_("The first majority prevails")
        return Line("majority", title, value, one.low, one.high, int(n.sum()), p=p, **beside)

    def _even_splits(self) -> Iterable[Line | None]:
        """How often the side that has to prove its case wins from a tie, by standard of proof."""
        from scipy.stats import binomtest, fisher_exact

        ties = [one for one in self.model if one.even]
        sizes = {one.place[0] for one in ties}
        theirs = [one for one in people() if one.even and one.size in sizes]
        hits = sum(one.verdict is True for one in theirs)
        for standard in sorted({one.standard for one in ties}):
            verdicts = [one.verdict is True for one in ties if one.standard == standard]
            wins, n = sum(verdicts), len(verdicts)
            title = EVEN.get(standard, EVEN[""])
            if standard == "preponderance":
                known: dict[str, Any] = {"people": 0.5, "source": SYMMETRY, "p": float(binomtest(wins, n, 0.5).pvalue)}
            elif standard in ("", "reasonable-doubt") and theirs:
                p = float(fisher_exact([[wins, n - wins], [hits, len(theirs) - hits]]).pvalue)
                known = _beside(wilson(hits, len(theirs)), len(theirs), BALLOTS) | {"p": p}
            else:
                known = {}
            yield _share(f"even-{standard}" if standard else "even", title, wins, n, known)

    def _movement(self) -> Iterable[Line | None]:
        """Whose votes move, how far, and how it ends."""
        runs, many = self.model, len(self.model)
        moved = [(one.changed[0] + one.changed[2], one.changed[1] + one.changed[3]) for one in runs]
        gross = [changed / of for changed, of in moved if of]
        net = [abs(one.last - one.share) for one in runs if one.last is not None]
        of_people = _beside(Interval(412 / 1_959, 0.192, 0.228), 348, CHATS)
        yield _mean("gross", N_("Votes that change, gross"), gross, of_people)
        yield _mean("net", N_("Votes that change, net"), net)
        still = sum(changed == 0 for changed, _ in moved)
        yield _share("still", N_("Juries in which no vote changes"), still, many, _beside(wilson(97, 348), 348, CHATS))
        unanimous = sum(one.unanimous for one in runs)
        yield _share("unanimous", N_("Unanimous at the end"), unanimous, many, _beside(wilson(153, 348), 348, CHATS))
        dissent = [one.dissent for one in runs if one.dissent is not None]
        known = {"people": 1 / 3, "people_n": 3_500, "source": PRIVATE}
        yield _mean("private", N_("In private against the verdict"), dissent, known)
        yield _share("hung", N_("Hung juries"), sum(one.verdict is None for one in runs), many)
        yield _mean("rounds", N_("Rounds after the first ballot"), [float(one.rounds) for one in runs], percent=False)
        parted = [one.changed for one in runs if not one.even]
        majority, minority = ([one[at] / one[at + 1] for one in parted if one[at + 1]] for at in (0, 2))
        yield _mean("majority-changes", N_("Members of the first majority who change"), majority)
        yield _mean("minority-changes", N_("Members of the first minority who change"), minority)

    def _voices(self) -> Iterable[Line | None]:
        """How many voices there are, and whether members think for themselves."""
        for name, title, at in (
            ("first", N_("Independent votes in the first ballot"), 0),
            ("next", N_("Independent votes after the first round"), 1),
            ("last", N_("Independent votes at the end"), -1),
        ):
            if found := effective((one.case, one.free[min(at, len(one.free) - 1)]) for one in self.panels if one.free):
                one, _n, cases = found
                yield Line(f"votes-{name}", title, one.value, one.low, one.high, cases, percent=False)
        apart = [one for one in map(variety, self.panels) if one is not None]
        yield _mean("variety", N_("Variety of reasons"), apart)
        if known := persona_share(self.panels):
            title = N_("Differences that go with who the member is")
            yield Line("who", title, known[0], None, None, known[2], p=known[1])
        rates = [conformity(panel) for panel in self.panels]
        over, kept = ([one[at] / one[at + 1] for one in rates if one[at + 1]] for at in (0, 2))
        yield _mean("conformity", N_("Goes over to a majority of the others"), over)
        yield _mean("independence", N_("Keeps its first vote against a majority"), kept)


def of_runs(runs: Iterable[str], record: Callable[[str], Record], procedures: Mapping[str, Procedure]) -> Yardstick:
    """Hold runs beside people; of those that do not decide by ballots between two sides, only votes count."""
    found: list[Deliberation] = []
    voted: list[Panel] = []
    for run in dict.fromkeys(runs):
        read = record(run)
        procedure = procedures[read.run.procedure].about(read.case)
        voted += panels(read, procedure.choices)
        if one := deliberation(read, procedure):
            found.append(one)
    return Yardstick(tuple(found), tuple(voted))


def _counted(pairs: Iterable[tuple[tuple[int, int], bool]]) -> pd.DataFrame:
    """How often it is true (`wins`), and of how many (`n`), by place."""
    rows = pd.DataFrame([(*place, is_true) for place, is_true in pairs], columns=[*PLACE, "wins"])
    return rows.astype(int).groupby(PLACE)["wins"].agg(wins="sum", n="size")


def wilson(hits: int, n: int) -> Interval:
    """A share of one at least with Wilson's 95 % interval."""
    from statsmodels.stats.proportion import proportion_confint

    low, high = proportion_confint(hits, n, ALPHA, method="wilson")
    return Interval(hits / n, float(low), float(high))


def _beside(one: Interval, n: int, source: str) -> dict[str, Any]:
    """What is known of people, for a line."""
    return {"people": one.value, "people_low": one.low, "people_high": one.high, "people_n": n, "source": source}


def _share(name: str, title: str, hits: int, n: int, known: Mapping[str, Any] | None = None) -> Line | None:
    if not n:
        return None
    one = wilson(hits, n)
    return Line(name, title, one.value, one.low, one.high, n, **(known or {}))


def _mean(
    name: str, title: str, values: Sequence[float], known: Mapping[str, Any] | None = None, *, percent: bool = True
) -> Line | None:
    """A mean over runs with the percentile interval of a bootstrap."""
    if not values:
        return None
    random, given = np.random.default_rng(0), np.array(values)
    means = given[random.integers(0, len(given), (DRAWS, len(given)))].mean(axis=1)
    low, high = (float(end) for end in np.quantile(means, (ALPHA / 2, 1 - ALPHA / 2)))
    return Line(name, title, fmean(values), low, high, len(values), **(known or {}), percent=percent)


def _p(p: float) -> str:
    return "< 0.001" if p < 0.001 else f"= {p:.3f}"
