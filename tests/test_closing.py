"""What a process leaves open when it closes."""

import gc
import os
from operator import le
from pathlib import Path

import pytest

from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.driving import drive, until
from tests.openai_server import OpenAIServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def heard(house: Courthouse, seed: int = 0, case: Case | None = None, **knobs: object) -> str:
    small = {"jury_size": 3, "rounds": 1, "consensus": 1.0, "grounding_rounds": 1}
    setup = CyberJurorsSetup.model_validate({**small, **knobs})
    run = drive(house, house.new_run("cyberjurors", case or house.library.case("oak-table"), setup, seed))
    assert house.store.status(run) == "done", house.store.run(run).reason
    return run


def held() -> tuple[int, int]:
    """Threads and open files of this process."""
    gc.collect()  # Chroma ends a thread when its last object goes
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def test_a_courthouse_that_is_closed_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    with OpenAIServer() as server:
        server.known(monkeypatch)
        for number in range(4):
            house = Courthouse(Settings(home=tmp_path / str(number)))  # Chroma shares what it has open of one home
            heard(house, number, model={"id": "openai/any"})
            house.close()
            until(lambda: not server.open, "the server to be done")
            if number:  # at the first, much is loaded that stays
                counted.append(held())
        before = tuple(map(max, *counted[:2]))  # a thread that is ending may still be there
        until(lambda: all(map(le, held(), before)), "all threads and files of a closed courthouse to go")
