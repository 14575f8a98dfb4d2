"""Runs, driven until they settle."""

from courtroom.courthouse import Courthouse
from courtroom.engine.run import Control


def drive(house: Courthouse, run: str, control: Control | None = None) -> str:
    """Drive a run until it settles; its id."""
    house.runner.go(run, control)
    house.runner.wait(run, 60)
    return run
