"""Stores that are newer, odd, damaged, or where they may not be, and backups put back: one sentence, and all of it is there, or nothing changed."""

import ctypes
import errno
import os
import random
import re
import shutil
import signal
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Settings, __version__
from courtroom import film as films
from courtroom.errors import MediaError, StoreError
from courtroom.film.film import film
from courtroom.film.picture import Painter
from courtroom.shell.options import write
from courtroom.store.schema import REVISION
from courtroom.text.files import replacing
from courtroom.upkeep import backup
from courtroom.upkeep.doctor import examine
from courtroom.upkeep.stored_rows import READERS
from tests import forks
from tests.driving import drive
from tests.full_store import SMALL, STORE, as_before, full_store
from tests.pages import page

Attack = Callable[[Path], object]
Shell = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A copy to be spoiled."""
    copy = tmp_path / "home"
    shutil.copytree(full_store()[0], copy, ignore=shutil.ignore_patterns("chroma", "courtroom.log"))
    return copy


def spoil(home: Path, *statements: str) -> None:
    with closing(sqlite3.connect(home / STORE)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def one_sentence(err: str) -> str:
    """What stderr holds, if it is one line and no traceback."""
    assert "Traceback" not in err
    (line,) = err.strip().splitlines()
    assert line.endswith((".", "!"))
    return line


def by(*statements: str) -> Attack:
    return lambda home: spoil(home, *statements)


def other_program(home: Path, *more: str) -> None:
    (home / STORE).unlink()
    spoil(home, "CREATE TABLE bookmarks (url TEXT)", *more)


def older(home: Path, *more: str) -> None:
    as_before(home / STORE, schema=21)
    spoil(home, *more)


def folder_in_its_place(home: Path) -> None:
    (home / STORE).unlink()
    (home / STORE).mkdir()


def zeros_within(home: Path) -> None:
    with (home / STORE).open("r+b") as file:
        file.seek(4096 * 3)
        file.write(bytes(4096 * 40))


ALEMBIC = ("CREATE TABLE alembic_version (version_num TEXT)", f"INSERT INTO alembic_version VALUES ('{REVISION}')")
NEWER = "UPDATE alembic_version SET version_num = '0999'"
ELSE = "holds something else than a store of Courtroom"
BEFORE = "was written by a development version before 1.0.0"
REFUSED: dict[str, tuple[Attack, str]] = {
    "newer": (
        by("INSERT INTO written_by VALUES ('9.1.0', '0999', '', 9e9)", NEWER),
        "was written by Courtroom 9.1.0 with revision 0999",
    ),
    "newer without a name": (by("DROP TABLE written_by", NEWER), "was written by a newer Courtroom with revision 0999"),
    "a text": (lambda home: (home / STORE).write_text("Dear diary, I was a judge.\n" * 400), "is not a SQLite file"),
    "another program's": (other_program, ELSE),
    "another program's, of Alembic": (lambda home: other_program(home, *ALEMBIC), ELSE),
    "older": (older, BEFORE),
    "older without a name": (lambda home: older(home, "DROP TABLE written_by"), BEFORE),
    "lacks a table": (by("DROP TABLE snapshots"), "the table snapshots is missing"),
    "a folder in its place": (folder_in_its_place, "is a folder"),
    "cut": (lambda home: os.truncate(home / STORE, (home / STORE).stat().st_size // 2), "is damaged"),
    "cut to its head": (lambda home: os.truncate(home / STORE, 60), "is damaged"),
    "zeros within": (zeros_within, "is damaged"),
}


@pytest.mark.parametrize(("attack", "why"), REFUSED.values(), ids=REFUSED)
def test_an_unusable_store_is_refused_and_left(attack: Attack, why: str, home: Path, shell: Shell) -> None:
    attack(home)
    store = home / STORE
    before = store.read_bytes() if store.is_file() else b""
    for words in (["runs"], ["cases"], ["run", "oak-table"]):
        code, out, err = shell(home, *words)
        assert (code, out) == (1, "")
        assert why in one_sentence(err)
    assert why.replace("_", "\\_") in "".join(error.value for error in page().error).replace("\\.", ".")
    assert any(finding.state == "wrong" for finding in examine(Settings(home=home), mend=True))
    assert before == (store.read_bytes() if store.is_file() else b"")


def test_an_empty_file_becomes_a_store_and_no_file_a_folder(tmp_path: Path, shell: Shell) -> None:
    (tmp_path / STORE).touch()
    assert shell(tmp_path, "runs") == (0, "", "")
    deep = tmp_path / "not" / "there" / "yet"
    assert shell(deep, "runs") == (0, "", "")
    with closing(sqlite3.connect(deep / STORE)) as db:
        assert db.execute("SELECT version, revision FROM written_by").fetchall() == [(__version__, REVISION)]
    (tmp_path / "file").write_text("")
    for home in (tmp_path / "file", tmp_path / "file" / "below"):
        code, _, err = shell(home, "runs")
        assert (code, "be a folder" in one_sentence(err)) == (1, True)
        assert "be a folder" in page().error[0].value
        code, out, _ = shell(home, "doctor")
        assert (code, "can't be a folder" in out) == (1, True)


def as_anybody(*words: str) -> None:
    """The command of the shell, for which rights hold although root may run the tests; to be forked."""
    libc = ctypes.CDLL(None)
    head, rights = (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)()
    assert libc.capget(head, rights) == 0
    for number, right in enumerate(rights):
        rights[number] = right & ~0b110  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH
    assert libc.capset(head, rights) == 0
    forks.shell(*words)


def without_rights(home: Path, *words: str) -> forks.CompletedProcess[str]:
    with forks.Fork(as_anybody, *words, environment={**os.environ, "COURTROOM_HOME": str(home)}) as process:
        return process.finish()


@pytest.mark.parametrize("rights", [0o555, 0o000], ids=["read-only", "no rights"])
def test_a_home_that_may_not_be_written_is_told(home: Path, rights: int) -> None:
    os.chmod(home / STORE, 0o444)
    os.chmod(home, rights)
    done, doctor = without_rights(home, "runs"), without_rights(home, "doctor", "--mend")
    os.chmod(home, 0o755)
    assert (doctor.returncode, doctor.stderr, "WRONG\tfolder" in doctor.stdout) == (1, "", True)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.search("can't be .* set COURTROOM_HOME", one_sentence(done.stderr))
    os.chmod(home, 0o555)
    done = without_rights(home / "new" / "home", "runs")
    os.chmod(home, 0o755)
    assert (done.returncode, "can't be made" in one_sentence(done.stderr)) == (1, True)


@pytest.mark.parametrize("seed", range(4))
def test_flipped_bits_never_end_in_a_traceback(home: Path, shell: Shell, seed: int) -> None:
    chance = random.Random(seed)
    data = bytearray((home / STORE).read_bytes())
    first = 0 if seed % 3 == 0 else 4096  # the head of the file too, now and then
    for _ in range(1 + 20 * (seed % 4)):
        data[chance.randrange(first, len(data))] ^= 1 << chance.randrange(8)
    (home / STORE).write_bytes(data)
    for word in ("runs", "cases", "doctor"):
        code, _, err = shell(home, word)
        assert (code in (0, 1), "Traceback" in err) == (True, False)


def test_a_table_whose_name_is_no_text_is_told(home: Path, shell: Shell) -> None:
    data = (home / STORE).read_bytes()
    assert b"CREATE TABLE rewinds" in data
    damaged = data.replace(b"CREATE TABLE rewinds", b"CREATE TABLx rewinds").replace(b"rewinds", b"re\xceinds")
    (home / STORE).write_bytes(damaged)
    for word in ("runs", "doctor"):
        code, out, err = shell(home, word)
        assert (code, "damaged" in out + err, "Traceback" in err) == (1, True, False)


def wal_of_another(log: Path) -> None:
    other = log.parent.parent / "other"
    with closing(sqlite3.connect(other)) as db:
        db.execute("PRAGMA journal_mode=WAL")
        db.execute("CREATE TABLE t (x)")
        db.executemany("INSERT INTO t VALUES (?)", [("y" * 900,)] * 500)
        db.commit()
        shutil.copy(f"{other}-wal", log)


WALS: dict[str, Attack] = {
    "gone": lambda log: log.unlink(missing_ok=True),
    "of another": wal_of_another,
    "noise": lambda log: log.write_bytes(random.Random(0).randbytes(50_000)),
}


@pytest.mark.parametrize("attack", WALS.values(), ids=WALS)
def test_a_log_that_is_gone_or_foreign_is_no_traceback(attack: Attack, home: Path, shell: Shell) -> None:
    attack(home / f"{STORE}-wal")
    code, out, err = shell(home, "runs")
    assert (code == 0 and len(out.splitlines()) == 3) or (code == 1 and one_sentence(err))


BAD = {
    **dict.fromkeys(("setups", "experiments", "dataset_rows", "marks", "asides", "panels"), "body = '7'"),
    **dict.fromkeys(("audience_votes", "audience_likes"), "at = 'soon'"),
    "snapshots": "body = '{'",
    "runs": "control = '[]'",
    "events": "body = 'no json'",
    "interventions": "body = '{\"kind\": 3}'",
    "questions": "request = ''",
    "parts": "text = 'another'",
    "answers": "reply = CAST(x'ff00fe' AS TEXT)",
    "cases": 'body = \'{"kind": "dispute"}\'',
    "knowledge": "body = CAST(x'80' AS TEXT)",
    "lessons": "body = '{}'",
    "memory_states": "body = 'no json'",
    "memory_snapshots": "made = 'never'",
    "audiences": "closed = 'soon'",
    "audience_arguments": "text = ''",
    "imported_answers": "reply = '7'",
    "accounts": "access = 7",
}
SHOWN = {"runs", "cases"}
"""Tables of which there is a page."""


@pytest.mark.parametrize("spoiled", [{"runs"}, {"cases"}, BAD.keys() - SHOWN], ids=["runs", "cases", "others"])
def test_a_bad_row_hides_no_other_and_is_set_aside(spoiled: set[str], home: Path, shell: Shell) -> None:
    assert set(BAD) == set(READERS)
    rows = "UPDATE {0} SET {1} WHERE rowid = (SELECT max(rowid) FROM {0})"
    spoil(home, *(rows.format(table, BAD[table]) for table in spoiled))
    code, runs, err = shell(home, "runs")
    assert (code, "can't be read" in err) == (0, "runs" in spoiled)
    assert len(runs.splitlines()) == (2 if "runs" in spoiled else 3)
    code, cases, err = shell(home, "cases")
    assert (code, "can't be read" in err) == (0, "cases" in spoiled)
    assert len(cases.splitlines()) > 10
    assert ("can't be read" in shell(home, "experiment", "status")[2]) == ("experiments" in spoiled)
    for name in spoiled & SHOWN:
        assert "be read" in "".join(warning.value for warning in page(name).warning)
    found = {finding.about: finding.state for finding in examine(Settings(home=home))}
    assert {found[f"rows: {table}"] for table in spoiled} == {"wrong"}
    assert not list(home.glob("set-aside-*"))
    assert shell(home, "doctor", "--mend")[0] == 0
    assert list(home.glob("set-aside-*.json"))
    assert all(finding.state == "fine" for finding in examine(Settings(home=home)))


def test_a_locked_store_is_told_in_a_sentence_and_logged(home: Path, shell: Shell, monkeypatch: Any) -> None:
    monkeypatch.setattr("courtroom.store.sqlite.PATIENCE_S", 0.05)
    with closing(sqlite3.connect(home / STORE, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        code, _, err = shell(home, "panels", "delete", "two neighbours")
    assert (code, "locked" in one_sentence(err)) == (1, True)
    assert "Traceback" in (home / "courtroom.log").read_text()


ENDINGS = ("-wal", "-shm")


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """A backup of two runs."""
    file = tmp_path / "good.zip"
    backup.write(Settings(home=full_store()[0]), file)
    return file


def runs(home: Path) -> list[str]:
    with closing(Courthouse(Settings(home=home))) as house:
        return [run.id for run in house.store.each()]


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
    (killed / STORE).touch()
    with pytest.raises(StoreError, match="the last writes"):
        Courthouse(Settings(home=killed))  # nor is it deleted beside a store that was emptied
    (killed / STORE).unlink()
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
    assert [(path.name, path.read_bytes()) for path in log.parent.iterdir()] == [(log.name, b"left")]


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
    (tmp_path / "home" / ".restore-left").mkdir()
    assert runs(tmp_path / "home") == runs(full_store()[0]), "what a killed restore left stops no server"


OLD = b"the old file"


def die(*given: Any, **options: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def killed_film(to: Path) -> None:
    """Draw a film, and die at its second picture."""
    house = Courthouse(Settings(home=full_store()[0]))
    record = house.record(full_store()[1])
    told = films.scene_to_film(record, house.procedures[record.run.procedure])
    real, drawn = Painter.picture, count()

    def picture(painter: Painter, *given: Any, **options: Any) -> Any:
        if next(drawn):
            die()
        return real(painter, *given, **options)

    Painter.picture = picture  # type: ignore[method-assign]
    film(Painter(told, "wide", "light"), films.storyboard(told, 20), to)


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
