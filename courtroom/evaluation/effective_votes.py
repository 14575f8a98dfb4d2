"""How many voices has a panel? What its votes are worth in independent votes, and whether members think for themselves.

Votes that go together over cases say the same thing again: n votes with correlation r are worth n / (1 + (n - 1) r)
independent ones (Kish's design effect). The correlation is how much more often two members agree on one case than votes
on two different cases do.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from courtroom.declarations.knobs import Widget, fields_drawn
from courtroom.declarations.parts import Choice
from courtroom.declarations.setup import Setup
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.evaluation.intervals import MISS_RATE, Interval
from courtroom.judging.jurors import was_set
from courtroom.text.words import words

FEWEST = 12
"""Cases from which on the interval holds the truth as often as it says; see docs/figures.md."""
MAX_READ_RUNS = 200
SHUFFLES = 400


@dataclass(frozen=True)
class Panel:
    """The ballots of one panel on one case, in order: who voted for which choice, by its place among the choices."""

    case: str
    ballots: tuple[Mapping[str, int], ...]
    """By the persona's text, or the member's id where it has none."""
    reasons: tuple[str, ...] = ()
    """Of each member in the last ballot."""
    seeded: bool = False
    """Whether the first ballot was set: it shows nothing of what members think."""

    @property
    def free(self) -> tuple[Mapping[str, int], ...]:
        return self.ballots[self.seeded :]


def panels(record: Record, choices: Sequence[Choice]) -> Iterator[Panel]:
    """The panels of a run: one for all that was voted on, such as each text."""
    places = {choice.name: place for place, choice in enumerate(choices)}
    free = [one for one in record.everybody if one.spec.script is None]
    who = {one.id: one.persona.text() if one.persona else one.id for one in free}
    on: dict[str, list[Mapping[str, Voted]]] = defaultdict(list)
    for path, votes in record.ballots.items():
        on[path[len(record.ballot_stage(path)) :]].append(votes)
    for what, ballots in on.items():
        cast = tuple(
            {who[m]: places[v.choice] for m, v in one.items() if v.choice in places and m in who} for one in ballots
        )
        reasons = tuple(text for m, vote in ballots[-1].items() if m in who and (text := " ".join(vote.reasons)))
        yield Panel(record.run.case_id + what, cast, reasons, was_set(record))


def effective(votes: Iterable[tuple[str, Mapping[str, int]]]) -> tuple[Interval, float, int] | None:
    """Return a panel's votes' worth in independent votes with a 95 % interval, of how many, over how many cases.

    Of several runs of a case the first counts. Each end of the interval is the wider one of the likelihood interval of
    a Dirichlet-multinomial and of the studentised jackknife. None with fewer than two cases, or where all agree.
    """
    from scipy.special import gammaln
    from scipy.stats import t

    by_case: dict[str, Counter[int]] = {}
    for case, ballot in votes:
        if len(ballot) > 1:
            by_case.setdefault(case, Counter(ballot.values()))
    kinds = sorted({kind for counts in by_case.values() for kind in counts})
    if len(by_case) < 2 or len(kinds) < 2:
        return None
    counts = np.array([[one[kind] for kind in kinds] for one in by_case.values()], dtype=float)
    n, cases = float(counts.sum(axis=1).mean()), len(counts)

    def scale(value: float) -> float:
        """Near normal, and without bounds."""
        value = min(max(value, 0.02 - 1 / (n - 1)), 0.995)
        return float(np.log((1 + (n - 1) * value) / (1 - value)))

    found = correlation(counts)
    left_out = np.array([scale(correlation(np.delete(counts, place, axis=0))) for place in range(cases)])
    pseudo = cases * scale(found) - (cases - 1) * left_out
    far = float(t.ppf(1 - MISS_RATE / 2, cases - 1))
    ends = np.exp(scale(found) + np.array([-far, far]) * pseudo.std(ddof=1) / cases**0.5)
    low, high = (ends - 1) / (ends + n - 1)
    grid = np.linspace(0.0025, 0.9975, 400)
    share = (counts.sum(axis=0) + 0.5) / (counts.sum() + len(kinds) / 2)
    whole = ((1 - grid) / grid)[:, None]
    parts = whole[..., None] * share
    likely = gammaln(whole) - gammaln(whole + counts.sum(axis=1)) + (gammaln(counts + parts) - gammaln(parts)).sum(-1)
    logs = likely.sum(axis=1)
    near = grid[2 * (logs.max() - logs) <= far**2]
    at_least = 0.0 if near[0] == grid[0] else float(near[0])
    at_most = 1.0 if near[-1] == grid[-1] else float(near[-1])
    three = (found, min(low, at_least), max(high, at_most))
    value, most, least = (n / (1 + (n - 1) * max(0.0, float(one))) for one in three)
    return Interval(value, min(least, value), max(most, value)), n, cases


def correlation(counts: NDArray[np.float64]) -> float:
    """How much more often two votes on one case agree than two on different cases, of what is possible: 1 is always, 0
    no more often. `counts`: shape (cases, choices)."""
    n, total = counts.sum(axis=1), counts.sum(axis=0)
    within = (counts * (counts - 1)).sum() / (n * (n - 1)).sum()
    pairs = n.sum() ** 2 - (n**2).sum()
    between = ((total**2).sum() - (counts**2).sum()) / pairs if pairs else 1.0  # one case alone
    return float((within - between) / (1 - between)) if between < 1 else 1.0


def variety(panel: Panel) -> float | None:
    """Return how different the members' last reasons are: the share of words that two of them do not have in common."""
    said = [frozenset(words(text)) for text in panel.reasons]
    apart = [1 - len(a & b) / len(a | b) for a, b in combinations(said, 2) if a | b]
    return fmean(apart) if apart else None


def persona_share(all_: Sequence[Panel]) -> tuple[float, float, int] | None:
    """How far what members of a panel differ in goes with who they are: 0 not at all, 1 wholly; with p, and how many
    votes it rests on. By the first free ballots. A persona is held against itself on the same case in another run, or
    on other cases where no case has two runs."""
    firsts = [(one.case, one.free[0]) for one in all_ if one.free and len(one.free[0]) > 1]
    again = Counter((case, who) for case, ballot in firsts for who in ballot)
    same_case = any(number > 1 for number in again.values())
    keys = [[(case if same_case else "", who) for who in ballot] for case, ballot in firsts]
    names = {key: place for place, key in enumerate(dict.fromkeys(key for one in keys for key in one))}
    groups = [np.array([names[key] for key in one]) for one in keys]
    away = [np.array(list(ballot.values())) == min(ballot.values()) for _, ballot in firsts]
    gaps = [one - one.mean() for one in away]
    sizes = np.bincount(np.concatenate(groups)) if groups else np.zeros(1)
    if not (sizes > 1).any() or not any(one.any() for one in gaps):
        return None
    of, spread = float((sizes * (sizes - 1)).sum()), float(np.mean(np.concatenate(gaps) ** 2))

    def shared(values: Sequence[NDArray[np.float64]]) -> float:
        together = np.concatenate(values)
        sums = np.bincount(np.concatenate(groups), together)
        return float((sums**2).sum() - (together**2).sum()) / of / spread

    random, found = np.random.default_rng(0), shared(gaps)
    by_chance = sum(shared([random.permutation(one) for one in gaps]) >= found - 1e-12 for _ in range(SHUFFLES))
    return min(1.0, max(0.0, found)), (1 + by_chance) / (SHUFFLES + 1), int(sizes[sizes > 1].sum())


def conformity(panel: Panel) -> tuple[int, int, int, int]:
    """How often a member went over to the others, of how often more than half of them stood against it; how many
    members that this happened to kept their first vote throughout, of how many."""
    went = opposed = 0
    faced: set[str] = set()
    for before, after in pairwise(panel.ballots):
        if len(before) == 1:
            continue  # nobody else is there
        for who in before.keys() & after.keys():
            others, many = Counter(vote for other, vote in before.items() if other != who).most_common(1)[0]
            if others != before[who] and 2 * many > len(before) - 1:
                opposed, went = opposed + 1, went + (after[who] == others)
                faced.add(who)
    kept = sum(len({one[who] for one in panel.ballots if who in one}) == 1 for who in faced)
    return went, opposed, kept, len(faced)


def panel_kind(setup: Setup) -> dict[str, Any]:
    """What makes two panels of a procedure one of a kind: the setup, without who was drawn and what a run may spend."""
    drawn = fields_drawn(type(setup))
    left_out = {drawn[widget] for widget in (Widget.PERSONAS, Widget.GRAPH) if widget in drawn}
    return setup.model_dump(mode="json", exclude={*left_out, "budget"})


def worth(all_: Iterable[Panel], who: str) -> str:
    """Return e.g. “17 jurors, worth about 2.3 independent votes”; empty where too few cases are behind it."""
    found = effective((one.case, one.ballots[-1]) for one in all_)
    if found is None or found[2] < FEWEST:
        return ""
    one, n, cases = found
    voters, about, low, high = f"{n:.0f} {who}", f"{one.value:.1f}", f"{one.low:.1f}", f"{one.high:.1f}"
    return f"{voters}, worth about {about} independent votes (95 % interval {low} to {high}, over {cases} cases)."
