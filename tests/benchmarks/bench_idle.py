"""What the server costs when nothing happens: `python -m tests.benchmarks.bench_idle [seconds]`.

The app is copied into a folder as the README's first command makes it, with a `.venv` of many files and its own `.courtroom`.
A browser stays on each page, all of them finished, and the server's CPU time is read from `/proc`. At last a small model of this machine
hears a long run (`tests.real_model`): first nobody looks on, then a browser does. The model's own process is not counted.
"""

import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.sync_api import sync_playwright

from courtroom.courthouse import Courthouse
from courtroom.experiments.what_if import evidence_left_out
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.app_server import CHROMIUM, FLAGS, ROOT, app_server
from tests.benchmarks.app_session import cpu_s
from tests.benchmarks.bench_room import begin
from tests.driving import done, drive
from tests.real_model import MODEL

FOLDERS, FILES = 3_000, 10
"""As many as the libraries of `requirements.txt` bring, about."""


def main(seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _copied(folder)
        home = folder / ".courtroom"
        pages = _finished(home)
        with app_server(home, folder) as server, sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            print(f"{'open page':<14} CPU of the server over {seconds:g} s")
            print(f"{'none':<14} {_share(server.pid, seconds):6.2%}", flush=True)
            for title, address in pages.items():
                page = browser.new_page()
                if title == "local run":
                    begin(page, f"{server.url}/{address}")
                else:
                    page.goto(f"{server.url}/{address}")
                    page.locator(".room .seat" if title == "watched" else "[data-testid=stMain] h1").first.wait_for()
                    page.wait_for_timeout(3_000)  # what is loaded for the first time
                print(f"{title:<14} {_share(server.pid, seconds):6.2%}", flush=True)
                page.close()
            browser.close()


def _copied(folder: Path) -> None:
    skipped = shutil.ignore_patterns(".venv", ".courtroom", ".git", ".*_cache", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=skipped, dirs_exist_ok=True)
    for number in range(FOLDERS):
        package = folder / ".venv" / "lib" / "python3.11" / "site-packages" / f"library{number // 30}" / f"part{number}"
        package.mkdir(parents=True)
        for file in range(FILES):
            (package / f"module{file}.py").touch()


def _finished(home: Path) -> dict[str, str]:
    """The pages' addresses, over a store in which a run, a fork of it and a what-if are done; last a run for a model of this machine."""
    house = Courthouse(Settings(home=home))
    case = house.library.case("oak-table")
    run = drive(house, house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=7, rounds=2), 0))
    fork = drive(house, house.fork(run, house.record(run).setup))
    what_if = done(house, house.experiments.what_ifs.experiment(run, evidence_left_out(case)[:3], (0,))).kept.id
    seat = house.people.seat(run, "juror-01").token
    local = house.new_run("cyberjurors", case, CyberJurorsSetup(model=ModelSpec(id=MODEL)), 0)
    house.close()
    return {
        "Cases": "",
        "Setup": f"setup?fork={run}",
        "Deliberation": f"deliberation?run={run}",
        "Knowledge": "knowledge",
        "What if": f"what_if?experiment={what_if}",
        "Runs": "runs",
        "Compare": f"compare?runs={run},{fork}",
        "Seat": f"?seat={seat}",
        "local run": f"deliberation?run={local}",
        "watched": f"deliberation?run={local}",
    }


def _share(process: int, seconds: float) -> float:
    """CPU time over wall time, 1 being one core."""
    before, began = cpu_s(process), time.monotonic()
    time.sleep(seconds)
    return (cpu_s(process) - before) / (time.monotonic() - began)


if __name__ == "__main__":
    main(float(sys.argv[1]) if len(sys.argv) > 1 else 20.0)
