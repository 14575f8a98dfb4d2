"""How the offline jury's reading of a dispute does on disputes that its figures were not fitted to: `python -m
tests.benchmarks.fit_votes`.

By cross-validation in ten parts over the samples and the training disputes, all with invented votes. Three figures are
fitted to nine parts and tried on the tenth: how far evidence sways a jury, how much doubt is left, how far it leans to
the buyer. The words and their weights (`data/dispute_cues.toml`) were written with these disputes in view, so the error
on held-out ones is larger.
"""

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np
from scipy.optimize import minimize

from courtroom.cases.dispute import Dispute
from courtroom.courthouse import Courthouse
from courtroom.judging.dispute_weights import contributions
from tests.benchmarks.measure_votes import disputes_in
from tests.benchmarks.tables import Row, Table, samples, show

PARTS = 10
JURORS = 17


def tables(house: Courthouse) -> Iterable[Table]:
    """One table with a line for all disputes together."""
    disputes = [*training(), *samples(house, Dispute)]
    head = ("disputes", "number", "error of votes", "majority right", "sway", "doubt", "lean")
    yield Table("Cross-validated reading", head, (Row("samples and training", lambda: figures(disputes)),))


training = partial(disputes_in, "training_disputes")
"""The disputes that tuning may read."""


def figures(disputes: Sequence[Dispute]) -> Iterable[str]:
    """How many, the mean error of the buyer's votes of 17, in how many the majority is right, and what was fitted to
    all of them."""
    weighed = [[one.weight for one in contributions(case)] for case in disputes]
    sums = np.array([[sum(max(w, 0) for w in ws), sum(max(-w, 0) for w in ws)] for ws in weighed])
    votes = np.array([case.jury.buyer if case.jury else 0 for case in disputes])
    given = np.zeros(len(votes))
    for part in range(PARTS):
        held = np.arange(len(votes)) % PARTS == part
        given[held] = np.round(expected(fitted(sums[~held], votes[~held]), sums[held]))
    error, right = np.abs(given - votes).mean(), int(((given > 8) == (votes > 8)).sum())
    sway, doubt, lean = fitted(sums, votes)
    return str(len(votes)), f"{error:.1f}", str(right), f"{sway:.1f}", f"{doubt:.1f}", f"{lean:.2f}"


def expected(three: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """The buyer's votes that sway, doubt and lean give to the weights of both sides."""
    sway, doubt, lean = three
    stances = sway * (sums[:, 0] - sums[:, 1]) / (sums.sum(1) + abs(doubt)) + lean
    return np.asarray(JURORS / (1 + np.exp(-stances)))


def fitted(sums: np.ndarray, votes: np.ndarray) -> np.ndarray:
    """Sway, doubt and lean with the least squared error."""
    return np.asarray(minimize(lambda three: ((expected(three, sums) - votes) ** 2).mean(), (3.0, 3.0, 0.0)).x)


main = partial(show, tables)
if __name__ == "__main__":
    main()
