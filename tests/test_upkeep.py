"""The doctor says what is wrong and mends it. A backup, also one while runs go on, holds everything; killed, it leaves what is whole.

And one process opens a store twice, while others open it, close it and are killed: nothing that was written is lost."""

import asyncio
import os
import shutil
import signal
import sqlite3
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import count, repeat
from pathlib import Path
from unittest.mock import Mock, create_autospec

import pytest

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.errors import StoreError
from courtroom.knowledge.search import Knowledge
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.store.opening import open_store
from courtroom.store.sqlite import check
from courtroom.upkeep import backup, doctor
from courtroom.upkeep.doctor import examine
from courtroom.upkeep.health import CheckResult
from pages.parts.shared import house as pages_house
from tests import forks
from tests.attacks.test_files import link, zipped
from tests.bell_servers import Hook
from tests.driving import drive, hearing, shell, until
from tests.full_store import STORE, full_store
from tests.furnished import copied
from tests.openai_server import OpenAIServer


@pytest.fixture
def home(tmp_path: Path) -> Path:
    copy = tmp_path / "home"
    shutil.copytree(full_store()[0], copy)
    return copy


def wrong(home: Path, mend: bool = False) -> dict[str, CheckResult]:
    return {one.about: one for one in examine(Settings(home=home), mend=mend) if one.state != "fine"}


def on_disk(home: Path) -> None:
    """Write both indexes of the precedents to disk."""
    settings = Settings(home=home)
    with closing(open_store(settings.database)) as database, closing(Knowledge(database, settings)) as knowledge:
        asyncio.run(knowledge.warm(("precedents",)))


def damage_words(home: Path) -> None:
    on_disk(home)
    path = next((home / "words" / "precedents").glob("*.store"))
    path.write_bytes(path.read_bytes()[:-9])


def damage_vectors(home: Path) -> None:
    on_disk(home)
    (home / "chroma" / "chroma.sqlite3").write_bytes(b"no database at all" * 1000)


def stray_rows(home: Path) -> None:
    with closing(sqlite3.connect(home / STORE, isolation_level=None)) as db:
        db.execute("DELETE FROM runs WHERE id = (SELECT run FROM seats)")
        db.execute("DELETE FROM experiments")


MENDED: Mapping[Callable[[Path], None], set[str]] = {
    damage_words: {"indexes"},
    damage_vectors: {"indexes"},
    stray_rows: {"rows: strays"},
}


@pytest.mark.parametrize("harm", MENDED, ids=lambda harm: harm.__name__)
def test_what_is_wrong_is_told_and_mended(harm: Callable[[Path], None], home: Path) -> None:
    harm(home)
    told = wrong(home)
    assert set(told) == MENDED[harm]
    assert {one.state for one in told.values()} == {"wrong"}
    assert {one.state for one in wrong(home, mend=True).values()} == {"mended"}, "it was left as it was before"
    assert wrong(home) == {}


def test_what_another_package_reads_is_listed_and_never_set_aside(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(home / STORE, isolation_level=None)) as db:
        db.execute("UPDATE runs SET procedure = 'two-judges'")
        for table in ("cases", "snapshots", "dataset_rows"):
            db.execute(f'UPDATE {table} SET body = replace(body, \'"kind":"dispute"\', \'"kind":"tender"\')')
        db.execute('UPDATE events SET body = replace(body, \'"kind":"call"\', \'"kind":"call","instead_of":"a"\')')
    monkeypatch.setenv("COURTROOM_HOME", str(home))
    assert len(shell("runs").splitlines()) == 3
    found = wrong(home, mend=True)
    assert {f"rows: {name}" for name in ("runs", "cases", "snapshots", "dataset_rows")} <= set(found)
    for one in found.values():
        assert one.about == "media" or (one.state == "wrong" and "a package that is not installed" in one.sentence), one
    assert not list(home.glob("set-aside-*"))


@pytest.mark.parametrize(("answer", "state"), [(200, "fine"), (401, "wrong")])
def test_a_configured_server_is_asked_once_and_no_key_is_told(answer: int, state: str) -> None:
    with Hook(status=answer, location="http://127.0.0.1:9/elsewhere") as server:
        address = f"http://me:hidden-word@127.0.0.1:{server.port}/v1"
        environment = dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE", "OF_ANOTHER_PROGRAM_BASE_URL"), address)
        keys = {"OPENAI_API_KEY": "sk-this-is-secret", "GROQ_API_KEY": "gsk-another-secret"}
        (found,) = doctor.reachable(Settings(), environment | keys)
    assert (found.state, server.paths) == (state, ["/v1/models"])
    assert not any(word in found.sentence + found.about for word in ("secret", "hidden-word"))


def test_connections_are_asked_and_a_slip_in_their_file_is_told(home: Path, tmp_path: Path) -> None:
    settings = Settings(home=home, connections=(file := tmp_path / "connections.toml"))
    with Hook() as server:
        file.write_text(f'connections.lab = {{provider = "openai", address = "http://127.0.0.1:{server.port}"}}')
        assert [(one.state, server.paths) for one in doctor.reachable(settings, {})] == [("fine", ["/models"])]
    file.write_text("[connections")
    assert {("connections", "wrong"), ("indexes", "fine")} <= {(one.about, one.state) for one in examine(settings)}


def test_a_backup_that_is_none_is_refused_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Settings(home=tmp_path / "home")
    bomb = zipfile.ZipInfo(STORE)
    bomb.compress_type = zipfile.ZIP_BZIP2  # the usual packing gives no more than a store of empty pages does
    bad = {
        "text.zip": b"no zip",
        "foreign.zip": zipped(("readme.txt", b"x")),
        "leads-out.zip": zipped((STORE, b"x"), ("../evil", b"x")),
        "leads-out-of-imports.zip": zipped((STORE, b"x"), ("imports/../../evil", b"x")),
        "no-store.zip": zipped((STORE, b"no database" * 100)),
        "bomb.zip": zipped((bomb, bytes(60_000_000))),
        "many.zip": zipped((STORE, b"x"), *((f"media/{number:064}.png", b"") for number in range(20))),
        "link.zip": zipped((STORE, b"x"), link(f"media/{0:064}.png", "/etc/passwd")),
    }
    told = dict.fromkeys(("leads-out.zip", "leads-out-of-imports.zip", "link.zip"), "link that leads out of it")
    told |= {"bomb.zip": "unpacks to far more", "many.zip": "10 are allowed"}
    monkeypatch.setattr(backup, "MOST_FILES", 10)
    for name, data in bad.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(StoreError, match=told.get(name)):
            backup.restore(settings, tmp_path / name)
    with pytest.raises(StoreError, match="can't be restored"):
        backup.restore(settings, tmp_path / "nope.zip")
    with pytest.raises(StoreError, match="is a file"):
        backup.restore(Settings(home=tmp_path / "text.zip"), tmp_path / "text.zip")
    assert list((tmp_path / "home").iterdir()) == []
    assert not (tmp_path / "evil").exists()


def test_a_store_that_answers_is_healthy_a_damaged_one_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("SERVER", "postgresql://of/another-program")
    assert shell("health") == "ok\tstore\tThere is no store yet; the first visit makes it.\n"
    assert not (tmp_path / "home").exists(), "asking makes none"
    Courthouse(Settings(home=tmp_path / "home")).close()
    assert shell("health") == "ok\tstore\tThe store answers.\n"
    (tmp_path / "home" / "courtroom.sqlite").write_bytes(b"no database" * 1000)
    assert shell("health", code=1).startswith("WRONG\tstore\t")


ENOUGH = 12


def outcome(house: Courthouse, run: str) -> tuple[object, dict[str, object]]:
    """What a run has come to: its verdict, and each call's value and keys by its path."""
    record = house.record(run)
    assert record.run.verdict is not None
    return record.run.verdict, {call.path: (call.value, call.keys, call.error) for call in record.calls}


@pytest.mark.usefixtures("either_database")
def test_a_backup_while_runs_go_on_restores_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = CyberJurorsSetup.model_validate({"jury_size": 3, "rounds": 1, "model": {"id": "openai/real"}})
    with OpenAIServer(delay=0.05, known_to=monkeypatch) as server:
        house = Courthouse(Settings(home=copied(tmp_path / "home")))
        case = house.library.case("oak-table")
        before = drive(house, house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=3, rounds=1), 99))
        runs = [house.new_run("cyberjurors", case, setup, seed) for seed in range(3)]
        for run in runs:
            house.runner.go(run)
        until(lambda: sum(len(house.record(run).calls) for run in runs) >= ENOUGH, "some answers")
        backup.write(house.settings, tmp_path / "all.zip")
        for run in runs:
            house.runner.wait(run, 60)
        asked = sum(server.answered.values())
        monkeypatch.delenv("COURTROOM_DATABASE", raising=False)
        again = Settings(home=tmp_path / "again")
        (left := again.home / "words-2").mkdir(parents=True)
        backup.restore(again, tmp_path / "all.zip")
        assert not left.exists(), "an index of another store"
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
        assert [outcome(restored, drive(restored, run)) for run in runs] == outcomes
        assert sum(server.answered.values()) - asked <= asked - kept, "what is in the backup is not asked again"
        restored.close()
        assert {one.state for one in examine(again)} == {"fine"}


EVENTS = ("open", "os.mkdir", "os.rename", "os.remove", "sqlite3.connect", "shutil.copyfile")
KILLS = 4


def dying(work: Callable[[Settings, Path], int], home: Path, file: Path, last: int) -> None:
    """Kill this process before so many things that it does to files; by 0, say how many there are. To be forked."""
    done = 0

    def look(event: str, given: tuple[object, ...]) -> None:
        nonlocal done
        if event in EVENTS and str(given[0]).startswith(str(file.parent)):
            done += 1
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


def test_a_backup_that_is_killed_leaves_the_one_before_and_the_store(home: Path, tmp_path: Path) -> None:
    file = tmp_path / "all.zip"
    written = backup.write(Settings(home=home), file)
    before = b""
    for _ in killed_all_along(backup.write, repeat(home), file):
        before = before or file.read_bytes()  # by the one that was not killed
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


ROUNDS = 4


def written_by_another(path: Path, name: str, killed: bool) -> None:
    """Opens the store, writes a row and closes it, or dies before it can; to be forked."""
    database = open_store(path)
    database.connection.execute("INSERT INTO panels VALUES (?, '{}', 0)", (name,))
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
    database.close()


def other_process(path: Path, name: str, killed: bool) -> None:
    with forks.Fork(written_by_another, path, name, killed) as process:
        assert process.finish().returncode == (-signal.SIGKILL if killed else 0)


def test_a_store_opened_twice_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    settings = Settings(home=tmp_path)
    first = Courthouse(settings)
    runs = []
    for number in range(ROUNDS):
        second = Courthouse(settings)
        other_process(settings.sqlite, f"panel-{number}", killed=number % 3 == 0)
        house = first if number % 5 else second
        runs.append(hearing(house, "debate", "oak-table", number, rounds=1).run.id)
        if number % 2:
            assert runs[-1] in forks.run("runs").stdout
        else:
            forks.run("run", "oak-table", "--procedure", "debate", "--set", "rounds=1", "--seed", str(1000 + number))
        second.close()
    first.close()
    listed = forks.run("runs").stdout
    with closing(sqlite3.connect(settings.sqlite)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
        assert db.execute("SELECT count(*) FROM panels").fetchone()[0] == ROUNDS
        assert db.execute("SELECT count(*) FROM runs WHERE status = 'done'").fetchone()[0] == 1.5 * ROUNDS
    house = Courthouse(settings)
    for run in runs:
        assert run in listed
        record = house.record(run)
        assert record.calls
        assert all(house.answers.reply(key) for call in record.calls for key in call.keys)


def test_a_courthouse_that_can_t_resume_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    close = create_autospec(Courthouse.close, side_effect=Courthouse.close)
    fails = Mock(side_effect=CourtroomError("The store is locked."))
    with monkeypatch.context() as patch:
        patch.setattr(Courthouse, "close", close)
        patch.setattr("courtroom.engine.runner.Runner.resume_interrupted", fails)
        for visits in (1, 2):
            with pytest.raises(CourtroomError, match="locked"):
                pages_house._open()
            assert close.call_count == visits
    with ThreadPoolExecutor(8) as visits:
        opened = list(visits.map(lambda _: pages_house._open(), range(8)))
    assert len({id(house) for house in opened}) == 1, "all sessions share one"
    assert not opened[0].closed
