"""How often a mirror finds a jury that favours a name, and how often it says so of one that does not:
`python -m tests.benchmarks.bench_mirror` (about 30 minutes). Each experiment hears 40 made-up trials through the engine.
"""

from collections.abc import Iterator
from functools import partial

from courtroom.courthouse import Courthouse
from courtroom.experiments.table import Pair
from tests.benchmarks.tables import Row, Table, new_house, share, show
from tests.driving import answered_by, done
from tests.favouring_jury import OTHER, FavouringJury, mirror_of, trials

CASES, EXPERIMENTS = 40, 100
FAVOURS = (0.3, 0.2, 0.0)


def found_in(house: Courthouse, favour: float, seed: int) -> list[Pair]:
    """What a mirror moved over trials of their own."""
    answered_by(house, FavouringJury(favour))
    results = done(house, mirror_of(house, trials(CASES, seed)))
    house.experiments.delete(results.kept.id)
    return results.mirror


def shares(favour: float) -> Iterator[str]:
    """In which share of the experiments the name is found, and in which anything else is."""
    with new_house() as house:
        every = [found_in(house, favour, seed) for seed in range(EXPERIMENTS)]
    held = [{OTHER in pair.a for pair in found if pair.holds} for found in every]
    yield share(sum(True in one for one in held) / EXPERIMENTS)
    yield share(sum(False in one for one in held) / EXPERIMENTS)


def tables() -> Iterator[Table]:
    rows = tuple(Row(f"{favour:.0%} of its votes", partial(shares, favour)) for favour in FAVOURS)
    head = ("by how much a jury of three favours the name", "the name is found", "something else is said")
    yield Table(f"{EXPERIMENTS} mirrors over {CASES} trials, one hearing each", head, rows)


main = partial(show, tables)
if __name__ == "__main__":
    main()
