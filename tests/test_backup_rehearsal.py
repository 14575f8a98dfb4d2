"""A backup is taken while runs go on, which go on from it to the same end; killed, it and its restoring leave what is whole."""

import os
import shutil
import signal
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, repeat
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import StoreError
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from courtroom.store.sqlite import check
from courtroom.upkeep import backup
from courtroom.upkeep.doctor import examine
from tests import forks
from tests.driving import drive
from tests.full_store import full_store
from tests.openai_server import OpenAIServer

RUNS, ENOUGH = 3, 12


def outcome(house: Courthouse, run: str) -> tuple[object, dict[str, object]]:
    """What a run has come to: its verdict, and each call's value and keys by its path."""
    record = house.record(run)
    assert record.run.verdict is not None
    return record.run.verdict, {call.path: (call.value, call.keys, call.error) for call in record.calls}


@pytest.mark.usefixtures("either_database")
def test_a_backup_while_runs_go_on_restores_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = CyberJurorsSetup.model_validate({"jury_size": 3, "rounds": 1, "model": {"id": "openai/real"}})
    with OpenAIServer(delay=0.05) as server:
        server.known(monkeypatch)
        house = Courthouse(Settings(home=tmp_path / "home"))
        case = house.library.case("oak-table")
        before = drive(house, house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=3, rounds=1), 99))
        runs = [house.new_run("cyberjurors", case, setup, seed) for seed in range(RUNS)]
        for run in runs:
            house.runner.go(run)
        while sum(len(house.record(run).calls) for run in runs) < ENOUGH:
            time.sleep(0.01)
        backup.write(house.settings, tmp_path / "all.zip")
        for run in runs:
            house.runner.wait(run, 60)
        asked = sum(server.answered.values())
        monkeypatch.delenv("COURTROOM_DATABASE", raising=False)
        again = Settings(home=tmp_path / "again")
        backup.restore(again, tmp_path / "all.zip")
        with pytest.raises(StoreError, match="has a store already"):
            backup.restore(again, tmp_path / "all.zip")
        restored = Courthouse(again)
        assert restored.files.export(before) == house.files.export(before)
        kept = under_way = 0
        for run in runs:
            then, now = restored.record(run), house.record(run)
            under_way += then.run.status == "running"
            assert now.events[: len(then.events)] == then.events
            for key in (key for call in then.calls for key in call.keys):
                kept += 1
                assert restored.answers.reply(key) == house.answers.reply(key)
        assert kept >= ENOUGH // 2
        assert under_way, "the copy is of the moment at which it began"
        outcomes = [outcome(house, run) for run in runs]
        house.close()
        for run in runs:
            drive(restored, run)
        assert [outcome(restored, run) for run in runs] == outcomes
        assert sum(server.answered.values()) - asked <= asked - kept, "what is in the backup is not asked again"
        restored.close()
        assert {one.state for one in examine(again)} == {"fine"}


EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "sqlite3.connect", "shutil.copyfile")
KILLS = 5


def dying(work: Callable[[Settings, Path], int], home: Path, file: Path, last: int) -> None:
    """Kill this process before so many things that it does to files; by 0, say how many there are. To be forked."""
    seen = count(1)
    done = 0

    def look(event: str, given: tuple[object, ...]) -> None:
        nonlocal done
        if event in EVENTS and str(given[0]).startswith(str(file.parent)):
            done = next(seen)
            if done == last:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(look)
    work(Settings(home=home), file)
    print(done)


def killed_all_along(work: Callable[[Settings, Path], int], homes: Iterator[Path], file: Path) -> Iterator[Path]:
    """The homes in which it was killed: sooner and later, from the first thing that it does to a file to the last one."""
    with forks.Fork(dying, work, next(homes), file, 0) as whole:
        total = int(whole.finish().stdout)
    assert total > KILLS
    for number in range(KILLS):
        home = next(homes)
        with forks.Fork(dying, work, home, file, 1 + (total - 1) * number // (KILLS - 1)) as killed:
            assert killed.finish().returncode == -signal.SIGKILL
        yield home


def test_a_backup_that_is_killed_leaves_the_one_before_and_the_store(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "all.zip"
    shutil.copytree(full_store()[0], home)
    written = backup.write(Settings(home=home), file)
    before = file.read_bytes()
    for number, _ in enumerate(killed_all_along(backup.write, repeat(home), file)):
        if number == 0:
            before = file.read_bytes()  # by the one that was not killed
        assert file.read_bytes() == before
        assert check(home / "courtroom.sqlite")
    assert backup.write(Settings(home=home), file) == written
    assert not list(tmp_path.glob(".backup-*")), "what was left behind is gone"


def test_a_restore_that_is_killed_leaves_no_store_or_all_of_it(tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    written = backup.write(Settings(home=full_store()[0]), file)
    for home in killed_all_along(backup.restore, (tmp_path / f"home-{number}" for number in count()), file):
        if not (home / "courtroom.sqlite").exists():
            assert backup.restore(Settings(home=home), file) == written
            assert not list(home.glob(".restore-*")), "what was left behind is gone"
        assert check(home / "courtroom.sqlite")
        assert len(list((home / "media").iterdir())) + 1 == written


def test_a_backup_of_before_that_holds_imports_under_way_is_restored_without_them(tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    written = backup.write(Settings(home=full_store()[0]), file)
    with zipfile.ZipFile(file, "a") as archive:
        archive.writestr(f"imports/{64 * 'a'}.jsonl", '{"number": 264}\n')
    again = Settings(home=tmp_path / "again")
    assert backup.restore(again, file) == written
    assert not (again.home / "imports").exists()
    assert {one.state for one in examine(again)} == {"fine"}


def works_in_folders(within: Path) -> None:
    """Makes folders one after the other and uses each; to be forked."""
    for number in range(100):
        with backup._folder(within, ".backup-") as folder:
            (folder / "store").write_text(str(number))
            assert (folder / "store").read_text() == str(number)
    print("done")


def test_backups_that_begin_and_end_at_once_take_no_folder_from_each_other(tmp_path: Path) -> None:
    with ExitStack() as stack:
        both = [stack.enter_context(forks.Fork(works_in_folders, tmp_path)) for _ in range(3)]
        done = [process.finish() for process in both]
    assert [(one.returncode, one.stdout) for one in done] == [(0, "done\n")] * 3, done
    assert list(tmp_path.iterdir()) == []
