"""Backups that are put back where a store was, and files in the making when a process dies: all of it is there, or nothing changed."""

import errno
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Settings
from courtroom.errors import MediaError, StoreError
from courtroom.film.film import film
from courtroom.film.picture import Painter
from courtroom.shell.options import write
from courtroom.text.files import replacing
from courtroom.upkeep import backup
from courtroom.upkeep.doctor import examine
from tests import forks
from tests.attacks.test_stores import Shell, one_sentence
from tests.driving import drive
from tests.full_store import SMALL, STORE, full_store

ENDINGS = ("-wal", "-shm")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A backup of two runs."""
    file = tmp_path / "good.zip"
    backup.write(Settings(home=full_store()[0]), file)
    return file


def runs(home: Path) -> list[str]:
    with closing(Courthouse(Settings(home=home))) as house:
        return [run.id for run in house.store.runs()]


def hears(home: Path) -> None:
    """Put a run on record, and die as a server does that is killed."""
    house = Courthouse(Settings(home=home))
    drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), SMALL, 7))
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """A home whose server was killed: its last writes are in the log only."""
    home = tmp_path / "home"
    with forks.Fork(hears, home) as server:
        assert server.finish().returncode == -signal.SIGKILL
    assert (home / f"{STORE}-wal").stat().st_size > 0
    return home


def test_a_backup_beside_a_left_log_is_refused(killed: Path, good: Path, tmp_path: Path, shell: Shell) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (killed / STORE).rename(away / STORE)
    before = {ending: (killed / f"{STORE}{ending}").read_bytes() for ending in ENDINGS}
    code, _, err = shell(killed, "backup", str(good), "--restore")
    assert code == 1
    assert all(f"{STORE}{ending}" in one_sentence(err) for ending in ENDINGS)
    assert shell(killed, "runs")[0] == 1, "a program that begins here makes no store over the log"
    with pytest.raises(StoreError, match="the last writes"):
        Courthouse(Settings(home=killed))
    (told,) = [one.sentence for one in examine(Settings(home=killed), mend=True) if one.state == "wrong"]
    assert f"{STORE}-wal" in told
    assert before == {ending: (killed / f"{STORE}{ending}").read_bytes() for ending in ENDINGS}
    for ending in ENDINGS:
        (killed / f"{STORE}{ending}").rename(away / f"{STORE}{ending}")
    assert shell(killed, "backup", str(good), "--restore")[0] == 0
    assert runs(killed) == runs(full_store()[0])
    assert len(runs(away)) == 1, "what was moved together opens with its last writes"
    assert {one.state for one in examine(Settings(home=killed))} == {"fine"}


@pytest.mark.parametrize("ending", ["-wal", "-shm", "-journal"])
def test_each_kind_of_log_alone_is_refused(ending: str, good: Path, tmp_path: Path) -> None:
    log = tmp_path / "home" / f"{STORE}{ending}"
    log.parent.mkdir()
    log.write_bytes(b"left")
    with pytest.raises(StoreError, match=ending):
        backup.restore(Settings(home=tmp_path / "home"), good)
    assert [path.name for path in log.parent.iterdir()] == [log.name]
    assert log.read_bytes() == b"left"


def test_a_log_beside_an_emptied_store_is_not_deleted(killed: Path) -> None:
    before = (killed / f"{STORE}-wal").read_bytes()
    os.truncate(killed / STORE, 0)
    with pytest.raises(StoreError, match="the last writes"):
        Courthouse(Settings(home=killed))
    assert (killed / f"{STORE}-wal").read_bytes() == before


def meanwhile(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch) -> None:
    """Have this happen while a restore puts media in place."""
    real = backup._put_back_media

    def put(settings: Settings, folder: Path) -> None:
        real(settings, folder)
        act()

    monkeypatch.setattr(backup, "_put_back_media", put)


def test_a_server_begun_in_a_restore_is_refused(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    begun = []
    meanwhile(lambda: begun.append(forks.run("runs")), monkeypatch)
    monkeypatch.setenv("COURTROOM_HOME", str(home))
    backup.restore(Settings(home=home), good)
    assert begun[0].returncode == 1
    assert "A backup is being put back into" in one_sentence(begun[0].stderr)
    assert runs(home) == runs(full_store()[0])


@pytest.mark.parametrize("links", [True, False])
def test_a_store_that_appears_in_a_restore_stays(links: bool, good: Path, tmp_path: Path, monkeypatch: Any) -> None:
    home, other = tmp_path / "home", tmp_path / "other"
    Courthouse(Settings(home=other)).close()
    meanwhile(lambda: shutil.copy(other / STORE, home / STORE), monkeypatch)
    if not links:
        monkeypatch.setattr(os, "link", unable)
    with pytest.raises(StoreError, match="has a store already"):
        backup.restore(Settings(home=home), good)
    assert (home / STORE).read_bytes() == (other / STORE).read_bytes()


def unable(*names: object) -> None:
    raise OSError(errno.EPERM, "Operation not permitted")


def test_a_disk_without_links_takes_a_backup(good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", unable)
    backup.restore(Settings(home=tmp_path / "home"), good)
    assert runs(tmp_path / "home") == runs(full_store()[0])


def test_what_a_killed_restore_left_stops_no_server(tmp_path: Path) -> None:
    (tmp_path / "home" / ".restore-left").mkdir(parents=True)
    assert runs(tmp_path / "home") == []


OLD = b"the old file"


def die(*given: Any, **options: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_film(to: Path) -> None:
    """Draw a film, and die at its second picture."""
    from courtroom import film as films
    from tests.full_store import full_store

    house = Courthouse(Settings(home=full_store()[0]))
    record = house.record(full_store()[1])
    told = films.scene_to_film(record, house.procedures[record.run.procedure])
    real, drawn = Painter.picture, []

    def picture(painter: Painter, *given: Any, **options: Any) -> Any:
        if drawn:
            die()
        drawn.append(1)
        return real(painter, *given, **options)

    Painter.picture = picture  # type: ignore[method-assign]
    film(told, films.storyboard(told, 20), to)


def killed_write(to: Path) -> None:
    """Write a text, and die before the last byte is on disk."""
    written = Path.write_bytes
    Path.write_bytes = lambda path, body: (written(path, body[:5]), die())  # type: ignore
    write(to, "the new file")


@pytest.mark.parametrize(("work", "name"), [(killed_film, "a.mp4"), (killed_write, "a.json")])
def test_a_killed_writer_leaves_the_old_file(work: Callable[[Path], None], name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(OLD)
    with forks.Fork(work, tmp_path / name) as writer:
        assert writer.finish().returncode == -signal.SIGKILL
    assert (tmp_path / name).read_bytes() == OLD


def test_files_are_replaced_through_links_and_devices_are_not(tmp_path: Path) -> None:
    (tmp_path / "real").write_bytes(OLD)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    for name in (tmp_path / "link", Path("/dev/null")):
        with replacing(name) as part:
            part.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"
    assert not Path("/dev/null").is_file()
    with pytest.raises(IsADirectoryError), replacing(tmp_path / "real") as part:
        tmp_path.write_text("half")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link", "real"]


def test_a_storage_in_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MediaError, match="Name a folder or a storage"):
        Courthouse(Settings(home=tmp_path, media="memory://court"))
