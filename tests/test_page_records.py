"""What a page reads of a run and draws of it is worked out once for all who look, and anew where something has come."""

from __future__ import annotations

from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.latest import MOST
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from pages.parts.live.room_view import scene_of
from pages.parts.shared.records import read


def test_a_run_and_its_scene_are_read_once_until_something_has_come(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    setup = CyberJurorsSetup(jury_size=3, rounds=1)
    case = house.library.case("oak-table")
    runs = [house.new_run("cyberjurors", case, setup, seed) for seed in range(MOST + 1)]
    run, procedure = runs[0], house.procedures["cyberjurors"].about(case)
    before = read(house, run)
    assert read(house, run) is before
    assert scene_of(before, procedure) is scene_of(read(house, run), procedure)
    version = scene_of(before, procedure).version
    house.runner.go(run)
    house.runner.wait(run, 20)
    after = read(house, run)
    assert after is not before
    assert len(after.events) > len(before.events)
    assert scene_of(after, procedure).version != version
    for other in runs[1:]:
        read(house, other)
    assert read(house, run) is not after, "those that were looked at longest ago are let go of"
    house.store.delete(run)
    with pytest.raises(NoSuchRun):
        read(house, run)
    house.close()
