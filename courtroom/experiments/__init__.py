"""Experiments: a dataset, arms and repeats become cells, each an ordinary run; what they came to becomes a table.
`frame(NAME)` gives a notebook every cell of an experiment as a pandas frame."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["frame"]


def frame(name: str) -> pd.DataFrame:
    """Return a line for each cell of an experiment of this machine: arm, case, outcome, measures, what it took. `name`:
    the experiment's id, or its name for the newest of that name. Raises `CourtroomError`: there is no such experiment.
    """
    from courtroom.courthouse import Courthouse

    with closing(Courthouse()) as house:
        return house.experiments.results(name).frame
