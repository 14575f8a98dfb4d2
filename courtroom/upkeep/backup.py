"""One file with everything that can't be made again: the store and the media."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sqlite3
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any

from filelock import FileLock, Timeout

from courtroom.cases.archives import MAX_STREAM, Archive
from courtroom.errors import CaseError, StoreError
from courtroom.media.store import media_of
from courtroom.settings import Settings
from courtroom.store.connection import FAILURES
from courtroom.store.database import Database
from courtroom.store.opening import explained, open_store
from courtroom.store.schema import begun, columns_of_tables
from courtroom.store.sqlite import LOCK, RESTORING, check, copy, damages, demand_no_log
from courtroom.upkeep.health import Progress

AT_ONCE = 40
NOT_MOVED = frozenset({"written_by", "alembic_version"})
"""Say which programs have written a store and which schema it has, and are made with it."""


def move(source: Database, target: Database, progress: Progress = lambda table, done: None) -> Mapping[str, int]:
    """Copy every row, all or nothing; nobody writes to the source meanwhile. How many rows each table had.

    Files beside the store, such as media, are not touched: both stores have the same. Raises `StoreError`: the target
    holds something already, a row can't be moved, or something came there otherwise."""
    with source.transaction():
        return _all(source, target, progress)


def _all(source: Database, target: Database, progress: Progress) -> Mapping[str, int]:
    tables = {table: kinds for table, kinds in columns_of_tables().items() if table not in NOT_MOVED}
    with target.transaction() as db:
        for table in tables:
            if db.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone():
                raise StoreError(f"{begun(target.place)} is not empty. Move into a new database; nothing was written.")
        moved = {table: _copied(source, target, table, kinds, progress) for table, kinds in tables.items()}
        for table, kinds in tables.items():
            if _digest(source, table, kinds) != _digest(target, table, kinds):
                why = f"The rows of {table} came to {target.place} otherwise than they were. Nothing was kept there."
                raise StoreError(why)
        if target.name == "PostgreSQL":
            numbered = target.execute(
                "SELECT table_name, column_name FROM information_schema.columns"
                " WHERE table_schema = current_schema() AND is_identity = 'YES'"
            )
            for table, column in numbered.fetchall():
                target.execute(
                    f"SELECT setval(pg_get_serial_sequence('{table}', '{column}'), max({column}))"
                    f" FROM {table} HAVING count(*) > 0"
                )
    return moved


def _rows(database: Database, table: str, columns: Iterable[str]) -> Iterator[tuple[Any, ...]]:
    return map(tuple, database.each(f"SELECT {', '.join(columns)} FROM {table}"))


def _copied(source: Database, target: Database, table: str, kinds: Mapping[str, str], progress: Progress) -> int:
    mark = ", ".join("CAST(? AS TEXT)" if kind == "TEXT" else "?" for kind in kinds.values())
    done = 0
    left = _rows(source, table, kinds)
    while rows := [*islice(left, AT_ONCE)]:
        values = ", ".join([f"({mark})"] * len(rows))
        sent = [_storable(value, target) for value in chain.from_iterable(rows)]
        try:
            target.execute(f"INSERT INTO {table} ({', '.join(kinds)}) VALUES {values}", tuple(sent))
        except FAILURES as error:
            raise StoreError(
                f"A row of {table} does not fit ({error}). `python -m courtroom doctor --mend` sets aside rows "
                "that can't be read; then move again. Nothing was written."
            ) from error
        done += len(rows)
        progress(table, done)
    return done


def _storable(value: Any, target: Database) -> Any:
    """Bytes that are no text stay what they are; PostgreSQL has a way of its own for them."""
    if isinstance(value, str) and target.name == "SQLite" and not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return value.encode(errors="surrogateescape")
    return value


def _digest(database: Database, table: str, columns: Iterable[str]) -> tuple[int, int]:
    """How many rows there are, and what they hold, whatever their order."""
    count, whole = 0, 0
    for row in _rows(database, table, columns):
        count += 1
        whole += int.from_bytes(hashlib.sha256(repr(row).encode(errors="surrogatepass")).digest(), "big")
    return count, whole % 2**256


STORE = "courtroom.sqlite"
MOST_FILES = 1_000_000
MOST_TIMES = 1_100
"""A store of empty pages unpacks to almost so many times its packed size, the most that ZIP's usual packing gives."""
_MEMBER = re.compile(r"courtroom\.sqlite|media/[0-9a-f]{64}\.[a-z0-9]+")
"""What a backup holds, and all that is taken out of one."""
_INDEX = re.compile(r"(chroma|words)(-\d+)?")
"""Folders of indexes, which are made anew."""
_BEFORE = re.compile(r"imports/[0-9a-f]{64}\.jsonl")
"""What backups held before 1.0.0 of imports under way. Today such an import begins again, and they are left out."""


def write(settings: Settings, to: Path, progress: Progress = lambda table, done: None) -> int:
    """A consistent copy, also while runs go on; opened again before it takes the name. The number of its files. Raises
    `StoreError`: there is nothing to copy, it can't be written, or it does not open. Raises `MediaError`: the object
    storage of the media does not answer. `progress`: is called while rows are copied from a server."""
    if isinstance(settings.database, Path) and not settings.sqlite.is_file():
        raise StoreError(f"There is no store at {settings.sqlite}, so there is nothing to copy. Check COURTROOM_HOME.")
    if to.suffix.lower() != ".zip" or to.is_dir():
        raise StoreError(f"{to} must be a file name that ends in .zip.")
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        with _folder(to.parent, ".backup-") as folder:
            store, part = folder / STORE, folder / to.name
            if isinstance(settings.database, Path):
                copy(settings.sqlite, store)
            else:  # as it was at one moment, while others write to it
                with closing(open_store(settings.database)) as old, closing(open_store(store)) as new, old.snapshot():
                    _all(old, new, progress)
            # After the store: a medium is there before any row names it.
            count, media = 1, media_of(settings)
            with zipfile.ZipFile(part, "w", strict_timestamps=False) as archive:
                archive.write(store, STORE, zipfile.ZIP_DEFLATED)
                for name in media.names():
                    if _MEMBER.fullmatch(member := f"media/{name}") and (content := media.read(name)) is not None:
                        archive.writestr(member, content)
                        count += 1
            store.unlink()
            _verify(part, folder / "again")
            os.replace(part, to)
    except OSError as error:
        why = f"{to} can't be written: {error.strerror or error}. Make room, or name another file."
        raise StoreError(why) from error
    except FAILURES as error:
        raise explained(error, settings.database) from error
    return count


def restore(settings: Settings, source: Path) -> int:
    """Put a backup into a home without a store. The number of its files. Raises `StoreError`: there is a store
    already, or the file is no whole backup. Raises `MediaError`: the object storage of the media does not take
    them."""
    home = settings.home
    if not isinstance(settings.database, Path):
        raise StoreError(
            "COURTROOM_DATABASE is set. Unset it, restore into a SQLite file, then use `python -m courtroom "
            "migrate --to ADDRESS`."
        )
    taken = StoreError(f"{home} has a store already. Set COURTROOM_HOME to an empty folder, and restore there.")
    if settings.sqlite.exists():
        raise taken
    if home.is_file():
        raise StoreError(f"{home} is a file. Set COURTROOM_HOME to an empty folder, and restore there.")
    try:
        demand_no_log(settings.sqlite)
        home.mkdir(parents=True, exist_ok=True)
        with _folder(home, RESTORING) as folder:
            again = folder / "again"
            count = _verify(source, again)
            _put_back_media(settings, again / "media")
            for left in home.iterdir():  # of the store that was here before: another one's would be believed
                if left.is_dir() and _INDEX.fullmatch(left.name):
                    shutil.rmtree(left)
            demand_no_log(settings.sqlite)
            _take_name(again / STORE, settings.sqlite)  # last: a home with a store is a home with all of it
    except FileExistsError as error:
        raise taken from error
    except OSError as error:
        why = f"{source} can't be restored: {error.strerror or error}. Check the file and {home}."
        raise StoreError(why) from error
    return count


def _take_name(file: Path, name: Path) -> None:
    """Give a file a name that nothing has yet. Raises `FileExistsError`: something has it, which stays as it is."""
    try:
        os.link(file, name)
    except FileExistsError:
        raise
    except OSError:  # this disk has no hard links; programs that begin meanwhile see that a backup is being put back
        if name.exists():
            raise FileExistsError(name) from None
        os.replace(file, name)


@contextmanager
def _folder(within: Path, prefix: str) -> Iterator[Path]:
    """A folder to work in. Those that killed processes have left behind are removed: nobody holds their locks."""
    with ExitStack() as stack:
        making = within / f".{LOCK}{prefix}"
        with FileLock(making):  # else another process takes a folder that has no lock yet for one that was left behind
            for left in within.glob(f"{prefix}*"):
                with suppress(Timeout, OSError), FileLock(left / LOCK, timeout=0):
                    shutil.rmtree(left, ignore_errors=True)
            folder = Path(tempfile.mkdtemp(dir=within, prefix=prefix))
            stack.enter_context(FileLock(folder / LOCK))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)  # while it is still locked
            making.unlink()
        yield folder


def _put_back_media(settings: Settings, folder: Path) -> None:
    """To where the settings keep media, which may be elsewhere than where the backup found them."""
    if not folder.is_dir():
        return
    if (media := media_of(settings)).storage is None:
        shutil.copytree(folder, media.folder, dirs_exist_ok=True)
        return
    for path in sorted(folder.iterdir()):
        media.storage.put(path.name, path.read_bytes())


def _verify(path: Path, folder: Path) -> int:
    path.stat()  # one that is not there is told as such
    try:
        room = min(MAX_STREAM, shutil.disk_usage(folder.parent).free)
        with closing(Archive(path.name, path, MOST_FILES, room, MOST_TIMES)) as archive:
            names = [name for name in map(str, archive.paths()) if not _BEFORE.fullmatch(name)]
            if STORE not in names or not all(map(_MEMBER.fullmatch, names)):
                raise StoreError(f"{path.name} is no backup of Courtroom. Choose another file.")
            for name in names:
                to = folder / name
                to.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(PurePosixPath(name)) as packed, to.open("wb") as file:
                    shutil.copyfileobj(packed, file)  # which finds by its checksum what is damaged
        check(folder / STORE)
        with closing(sqlite3.connect(folder / STORE)) as db:
            found = damages(db)
    except CaseError as error:
        raise StoreError(str(error)) from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise StoreError(f"{path.name} is no ZIP file, or it is damaged. Choose another backup.") from error
    except sqlite3.Error as error:
        raise StoreError(f"The store in {path.name} does not open ({error}). Choose another backup.") from error
    if found:
        raise StoreError(f"The store in {path.name} is damaged: {found[0]}. `doctor` says more; choose another backup.")
    return len(names)
