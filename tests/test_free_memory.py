"""A server that has finished its runs gives memory back to the system."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine import driven_runs
from courtroom.engine.free_memory import give_back
from courtroom.settings import Settings
from tests.toy import CASE, toy

MEASURED = """
import threading
from pathlib import Path
from courtroom.engine.free_memory import give_back

def megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) // 256

kept = []
def work():
    blocks = [bytearray(60_000) for _ in range(1_000)]
    kept.append(blocks[::20])  # what is kept holds its neighbours' places

threads = [threading.Thread(target=work) for _ in range(3)]
for one in threads: one.start()
for one in threads: one.join()
before = megabytes()
give_back()
print(before - megabytes())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only glibc keeps memory in this way, and gives it back when asked")
def test_what_threads_have_let_go_of_goes_back_to_the_system() -> None:
    ran = subprocess.run([sys.executable, "-c", MEASURED], check=True, capture_output=True, text=True)
    assert int(ran.stdout) > 100


def test_memory_is_given_back_once_all_runs_have_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = threading.Event()
    monkeypatch.setattr(driven_runs, "IDLE_S", 0.0)
    monkeypatch.setattr(driven_runs, "give_back", lambda: (give_back(), given.set()))
    house = Courthouse(Settings(home=tmp_path / "home"), procedures=[toy(tmp_path)])
    run = house.new_run("toy", CASE, house.procedures["toy"].setup(), 0)
    house.runner.go(run)
    house.runner.wait(run)
    assert given.wait(60)
    house.close()
