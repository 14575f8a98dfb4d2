"""How near the offline jury's votes come to votes on record: `python -m tests.benchmarks.measure_votes`.

On the sample disputes, which its formulas were tuned on, and on held-out disputes, which no tuning has read. The votes
of both are invented, so this is no measure against people. Seventeen jurors, the setup as it stands by default, seed 0.
"""

import json
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from statistics import fmean

from courtroom.cases.dispute import Dispute
from courtroom.cases.kinds import parse_case
from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from tests.benchmarks.tables import Row, Table, samples, show
from tests.driving import drive


def tables(house: Courthouse) -> Iterable[Table]:
    sets = {"held out": held_out(), "samples, which the formulas were tuned on": samples(house, Dispute)}
    head = ("disputes", "number", "error of votes", "majority right", "beyond round 1")
    yield Table("Votes of the jury", head, tuple(Row(name, partial(figures, house, of)) for name, of in sets.items()))


def disputes_in(folder: str) -> list[Dispute]:
    """Those of a file beside the tests."""
    path = Path(__file__).parents[1] / folder / "disputes.json"
    found = [parse_case(data) for data in json.loads(path.read_text(encoding="utf-8"))]
    return [case for case in found if isinstance(case, Dispute)]


held_out = partial(disputes_in, "held_out")
"""The disputes that no tuning has read."""


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


main = partial(show, tables)
if __name__ == "__main__":
    main()
