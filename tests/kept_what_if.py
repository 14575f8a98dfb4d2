"""A what-if on record of which nothing has run, also on a run that has no verdict yet."""

from courtroom.courthouse import Courthouse
from courtroom.experiments.plan import cells, rows_of
from courtroom.experiments.spec import Arm, Cases, Experiment
from courtroom.experiments.what_if import BASE


def kept_what_if(house: Courthouse, run: str, rounds: tuple[int, ...], name: str = "what-if") -> str:
    """One arm as it was and one for each number of rounds, under seed 0; the experiment's id."""
    changes = (Arm(name=f"rounds {n}", kind="knob", set={"rounds": n}, procedure="cyberjurors") for n in rounds)
    base = Arm(**BASE.model_dump(), procedure="cyberjurors")
    experiment = Experiment(
        name=name, title="Table", dataset=Cases(run=run), arms=(base, *changes), seeds=(0,), at_once=2
    )
    rows = [row.id for row in rows_of(house, Cases(run=run))]
    planned = ((cell if cell.arm else cell.model_copy(update={"run": ""}), None) for cell in cells(experiment, rows))
    return house.experiments.store.create(experiment, "dispute", planned)
