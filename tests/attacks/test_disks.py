"""Disks that are full, locked or broken while a hearing goes on: nothing that was paid for is lost."""

from __future__ import annotations

import asyncio
import json
import logging
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from courtroom.engine.control import Control
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.models.request import Request
from courtroom.store.writer import FULL, LOCKED, UNWRITABLE
from tests.toy import Bench, Scripted

LONG = "The kettle stayed cold. " * 2000
"""An answer that needs pages of its own."""


def long_answer(request: Request) -> str:
    return json.dumps({"side": "buyer", "reason": LONG})


def until(found: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + 60
    while not found():
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.01)


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home", Scripted(long_answer))
    yield bench
    bench.close()


def written_by(bench: Bench) -> sqlite3.Connection:
    """The connection by which the engine writes."""
    return bench.writers[-1].put(lambda: bench.database.connection).result(10)


def heard_until_asked(bench: Bench) -> str:
    """A run whose first answers are under way."""
    bench.model.hold = asyncio.Event()
    run = bench.start()
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    return run


def answered(bench: Bench) -> None:
    """Let the answers come in."""
    assert bench.model.hold is not None
    bench.runner._loop.call(bench.model.hold.set)


def whole(record: Record, bench: Bench) -> None:
    """Every answer was asked for once, is on record, and is counted."""
    assert record.run.status == "done", record.run.reason
    assert record.run.reason == ""
    assert len(bench.model.history) == record.asked == 6
    assert record.tokens == (60, 6)
    assert record.cost == pytest.approx(0.06)
    assert all(bench.answers.reply(key) for call in record.calls for key in call.keys)


def test_a_disk_that_is_full_in_mid_run_holds_the_answers_says_so_and_goes_on_by_itself(bench: Bench) -> None:
    run = heard_until_asked(bench)
    disk = written_by(bench)
    disk.execute("PRAGMA max_page_count = 1")
    answered(bench)
    until(lambda: bench.runner.trouble(run), "the full disk to be noticed")
    assert bench.runner.trouble(run) == FULL
    until(lambda: bench.store.run(run).reason == FULL, "others to be told")
    assert bench.runner.drives(run)
    assert bench.store.status(run) == "running"
    assert not bench.runner.record(run).calls
    assert len(bench.model.history) == 3, "nothing new is asked"
    disk.execute("PRAGMA max_page_count = 1000000")
    bench.runner.wait(run, 60)
    whole(bench.runner.record(run), bench)
    assert bench.runner.trouble(run) == ""


def test_a_full_disk_between_two_stages_lets_no_stage_begin(bench: Bench) -> None:
    run = bench.start()
    bench.runner.go(run, Control(stage="round 1"))
    bench.runner.wait(run, 60)
    disk = written_by(bench)
    disk.execute("PRAGMA max_page_count = 1")
    part = ("INSERT INTO parts VALUES ('anything', ?)", (LONG,))
    held = bench.writers[-1].put(lambda: bench.database.connection.execute(*part))
    until(lambda: bench.writers[-1].trouble, "the full disk to be noticed")
    another = bench.start()
    with pytest.raises(CourtroomError, match="disk is full"):
        bench.runner.go(another)
    bench.runner.go(run)
    assert len(bench.model.history) == 3
    disk.execute("PRAGMA max_page_count = 1000000")
    held.result(60)
    bench.runner.go(run)
    bench.runner.wait(run, 60)
    whole(bench.runner.record(run), bench)


def test_a_store_that_another_program_locks_for_long_holds_the_answers(bench: Bench) -> None:
    run = heard_until_asked(bench)
    written_by(bench).execute("PRAGMA busy_timeout = 20")
    other = sqlite3.connect(bench.database.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    answered(bench)
    until(lambda: bench.runner.trouble(run), "the lock to be noticed")
    assert bench.runner.trouble(run) == LOCKED
    other.execute("ROLLBACK")
    other.close()
    bench.runner.wait(run, 60)
    whole(bench.runner.record(run), bench)


def test_a_process_that_closes_while_the_disk_is_full_does_not_hang_and_tells_what_is_lost(
    bench: Bench, caplog: pytest.LogCaptureFixture
) -> None:
    run = heard_until_asked(bench)
    disk = written_by(bench)
    disk.execute("PRAGMA max_page_count = 1")
    answered(bench)
    until(lambda: bench.runner.trouble(run), "the full disk to be noticed")
    with caplog.at_level(logging.ERROR, "courtroom"):
        bench.runner.close()
    assert "a write is lost" in caplog.text
    disk.execute("PRAGMA max_page_count = 1000000")
    bench.model.hold = None
    bench.runner = bench.new_runner()
    bench.runner.go(run)
    bench.runner.wait(run, 60)
    assert bench.store.run(run).status == "done"


LIMITED = """
import asyncio, resource, sys
from pathlib import Path
from tests.attacks.test_disks import answered, heard_until_asked, long_answer, until, whole
from tests.toy import Bench, Scripted
bench = Bench(Path(sys.argv[1]), Scripted(long_answer))
run = heard_until_asked(bench)
size = Path(f"{bench.database.path}-wal").stat().st_size
resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, resource.RLIM_INFINITY))
answered(bench)
until(lambda: bench.runner.trouble(run), "the limit to be noticed")
print(bench.runner.trouble(run))
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
bench.runner.wait(run, 60)
whole(bench.runner.record(run), bench)
bench.close()
"""


def test_a_file_that_may_not_grow_holds_the_answers(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(tmp_path / "home")],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() in (FULL, UNWRITABLE)


def fill(ballast: Path) -> None:
    """Leave no room on a disk."""
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(bytes(4096)):
            pass


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 4 MB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", disk], capture_output=True, check=False)
    if done.returncode:
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_a_real_disk_that_is_full_holds_the_answers_until_there_is_room(small_disk: Path) -> None:
    bench = Bench(small_disk / "home", Scripted(long_answer))
    run = heard_until_asked(bench)
    ballast = small_disk / "ballast"
    fill(ballast)
    answered(bench)
    until(lambda: bench.runner.trouble(run), "the full disk to be noticed")
    assert bench.runner.trouble(run) == FULL
    ballast.unlink()
    bench.runner.wait(run, 60)
    whole(bench.runner.record(run), bench)
    bench.close()
