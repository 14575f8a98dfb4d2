"""How near the offline jury's votes come to votes on record: `python -m tests.benchmarks.measure_votes`.

On the sample disputes, which its formulas were tuned on, and on held-out disputes, which no tuning has read. The votes
of both are invented, so this is no measure against people. Seventeen jurors, the setup as it stands by default, seed 0.

Then the reading of a dispute alone, by cross-validation in ten parts over the samples and the training disputes. Three
figures are fitted to nine parts and tried on the tenth: how far evidence sways a jury, how much doubt is left, how far
it leans to the buyer. The words and their weights (`data/dispute_cues.toml`) were written with these disputes in view,
so the error on held-out ones is larger.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

import numpy as np
from scipy.optimize import minimize

from courtroom import Courthouse, Dispute
from courtroom.cases.kinds import parse_case
from courtroom.judging.dispute_weights import contributions
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from tests.benchmarks.tables import Row, Table, samples, show
from tests.driving import drive

PARTS, JURORS = 10, 17


def tables(house: Courthouse) -> Iterable[Table]:
    """Whole hearings, then the reading alone, with a line for all disputes that tuning may read."""
    known = samples(house, Dispute)
    sets = {"held out": disputes_in("held_out"), "samples, which the formulas were tuned on": known}
    head = ("disputes", "number", "error of votes", "majority right")
    rows = tuple(Row(name, partial(figures, house, of)) for name, of in sets.items())
    yield Table("Votes of the jury", (*head, "beyond round 1"), rows)
    read = Row("samples and training", lambda: reading([*disputes_in("training_disputes"), *known]))
    yield Table("Cross-validated reading", (*head, "sway", "doubt", "lean"), (read,))


def disputes_in(folder: str) -> list[Dispute]:
    """Those of a file beside the tests."""
    path = Path(__file__).parents[1] / folder / "disputes.json"
    found = [parse_case(data) for data in json.loads(path.read_text(encoding="utf-8"))]
    return [case for case in found if isinstance(case, Dispute)]


def figures(house: Courthouse, disputes: Sequence[Dispute]) -> Iterable[str]:
    """How many there are, the mean error of the buyer's votes of 17, in how many the majority is right, and how many
    took more rounds than one."""
    off, right, further = [], 0, 0
    for case in disputes:
        run = drive(house, house.new_run(CYBERJURORS.name, case, CYBERJURORS.setup(), 0))
        tallies = list(house.record(run).tallies.values())
        buyer = tallies[-1].counts["buyer"]
        off.append(abs(buyer - case.jury.buyer))
        right += (buyer > 8) == (case.jury.buyer > 8)
        further += len(tallies) > 1
    return str(len(disputes)), f"{fmean(off):.1f}", str(right), str(further)


def reading(disputes: Sequence[Dispute]) -> Iterable[str]:
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
