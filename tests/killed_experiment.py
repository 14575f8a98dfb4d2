"""Goes on with an experiment and dies right after a write, to be forked with COURTROOM_HOME set."""

from courtroom.courthouse import Courthouse
from courtroom.engine.answers import AnswerStore
from courtroom.experiments.store import ExperimentStore
from tests.kills import die_after

WRITES = ((AnswerStore, "keep"), (ExperimentStore, "conclude"))


def go_on(name: str, last: int) -> None:
    """Go on until the last write allowed; 0 is to the end."""
    die_after(last, WRITES)
    house = Courthouse()
    house.experiments.go(name)
    house.experiments.wait(name)
    house.close()
