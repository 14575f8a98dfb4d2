"""The store: whether it opens, is whole, and of this version."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

from pydantic import SecretStr

from courtroom.errors import StoreError
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.store.file import check, damages, explained
from courtroom.store.migrations import MIGRATIONS
from courtroom.upkeep.doctor.result import CheckResult, fine, mended, wrong

ABOUT = "store"
BACKUP = "Put a backup in its place, or save what can be read with `sqlite3 FILE .recover`."


def store(settings: Settings, mend: bool) -> Iterator[CheckResult]:
    """Nothing is written but to mend an index, or to bring an older store up to this version."""
    if isinstance(settings.database, SecretStr):
        yield from _server(settings.database)
        return
    path = settings.sqlite
    try:
        check(path, MIGRATIONS, thorough=False)
        if not path.exists():
            yield fine(ABOUT, f"There is no store yet; the first command or visit makes {path}.")
            return
        with closing(sqlite3.connect(path, timeout=30)) as db:
            version: int = db.execute("PRAGMA user_version").fetchone()[0]
            found = damages(db)
            if found and mend and all("index" in line for line in found):
                db.execute("REINDEX")
                if not damages(db):
                    yield mended(ABOUT, f"{path} had damaged indexes; they are made anew.")
                    found = []
    except StoreError as error:
        yield wrong(ABOUT, str(error))
        return
    except sqlite3.Error as error:
        yield wrong(ABOUT, str(explained(error, path)))
        return
    if found:
        yield wrong(ABOUT, f"{path} is damaged: {found[0]}{' and more' if len(found) > 1 else ''}. {BACKUP}")
        return
    yield fine(ABOUT, f"The SQLite file {path} is whole.")
    yield from _version(settings, version, mend)


def _server(address: SecretStr) -> Iterator[CheckResult]:
    """A database that does not answer, or holds something else, is reported as it is when the app opens it."""
    try:
        database = Database(address)
    except StoreError as error:
        yield wrong(ABOUT, str(error))
        return
    version = database.connection.execute("SELECT current_setting('server_version')").fetchone()[0]
    yield fine(ABOUT, f"It is {database.place}, PostgreSQL {version}. Its server sees to it that it is whole.")
    yield fine("schema", f"The store has schema {len(MIGRATIONS)}, as this version writes it.")
    database.close()


def _version(settings: Settings, version: int, mend: bool) -> Iterator[CheckResult]:
    about, now = "schema", len(MIGRATIONS)
    if version == now:
        yield fine(about, f"The store has schema {version}, as this version writes it.")
    elif mend:
        try:
            Database(settings.sqlite).close()
        except StoreError as error:
            yield wrong(about, str(error))
        else:
            yield mended(
                about, f"The store had schema {version} and has {now} now; a copy of the old one is in the same folder."
            )
    else:
        yield wrong(
            about,
            f"The store has schema {version}, this version writes {now}. Open the app once, or use --mend: the store is "
            "copied and brought up to date. The rest can be checked then.",
        )
