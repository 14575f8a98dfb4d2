"""The SQLite file: one connection a thread, WAL, numbered migrations."""

from __future__ import annotations

import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from courtroom.store import file as store_file
from courtroom.version import __version__

MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE runs (
        id TEXT PRIMARY KEY, procedure TEXT NOT NULL, case_id TEXT NOT NULL, title TEXT NOT NULL,
        case_hash TEXT NOT NULL, setup TEXT NOT NULL, seed INTEGER NOT NULL,
        status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', verdict TEXT,
        parent TEXT, origin TEXT NOT NULL DEFAULT 'input',
        created REAL NOT NULL, wall_s REAL NOT NULL DEFAULT 0,
        control TEXT NOT NULL, owner TEXT, heartbeat REAL
    );
    CREATE TABLE snapshots (hash TEXT PRIMARY KEY, body TEXT NOT NULL);
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL,
        at REAL NOT NULL, body TEXT NOT NULL, UNIQUE (run, kind, path)
    );
    CREATE INDEX events_by_run ON events (run, seq);
    CREATE TABLE answers (
        key TEXT PRIMARY KEY, model TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL, at REAL NOT NULL
    );
    CREATE TABLE parts (hash TEXT PRIMARY KEY, text TEXT NOT NULL);
    CREATE TABLE capabilities (model TEXT NOT NULL, name TEXT NOT NULL, value INTEGER NOT NULL, PRIMARY KEY (model, name));
    CREATE TABLE cases (id TEXT PRIMARY KEY, body TEXT NOT NULL, added REAL NOT NULL);
    CREATE TABLE precedents (id TEXT PRIMARY KEY, body TEXT NOT NULL, added REAL NOT NULL);
    CREATE TABLE setups (name TEXT PRIMARY KEY, body TEXT NOT NULL, saved REAL NOT NULL);
    """,
    """
    CREATE TABLE knowledge (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL,
        added REAL NOT NULL, UNIQUE (collection, id)
    );
    CREATE TABLE collections (
        name TEXT PRIMARY KEY, embedding TEXT, changes INTEGER NOT NULL DEFAULT 0, seeded INTEGER NOT NULL DEFAULT 0
    );
    CREATE TABLE vectors (
        embedding TEXT NOT NULL, digest BLOB NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (embedding, digest)
    ) WITHOUT ROWID;
    CREATE TABLE imports (
        digest TEXT PRIMARY KEY, collection TEXT NOT NULL, name TEXT NOT NULL, total INTEGER NOT NULL,
        done INTEGER NOT NULL, began REAL NOT NULL
    );
    CREATE TABLE lessons (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, path TEXT NOT NULL, at REAL NOT NULL,
        body TEXT NOT NULL, undone REAL, UNIQUE (run, path)
    );
    CREATE VIRTUAL TABLE words_precedents USING fts5(words);
    CREATE VIRTUAL TABLE words_statutes USING fts5(words);
    CREATE VIRTUAL TABLE words_charges USING fts5(words);
    CREATE VIRTUAL TABLE words_cases USING fts5(words);
    CREATE VIRTUAL TABLE words_standards USING fts5(words);
    CREATE VIRTUAL TABLE words_directives USING fts5(words);
    CREATE VIRTUAL TABLE words_buffer USING fts5(words);
    CREATE VIRTUAL TABLE vocabulary_precedents USING fts5vocab(words_precedents, row);
    CREATE VIRTUAL TABLE vocabulary_statutes USING fts5vocab(words_statutes, row);
    CREATE VIRTUAL TABLE vocabulary_charges USING fts5vocab(words_charges, row);
    CREATE VIRTUAL TABLE vocabulary_cases USING fts5vocab(words_cases, row);
    CREATE VIRTUAL TABLE vocabulary_standards USING fts5vocab(words_standards, row);
    CREATE VIRTUAL TABLE vocabulary_directives USING fts5vocab(words_directives, row);
    CREATE VIRTUAL TABLE vocabulary_buffer USING fts5vocab(words_buffer, row);
    INSERT INTO knowledge (collection, id, body, added) SELECT 'precedents', id, body, added FROM precedents;
    INSERT INTO collections (name, seeded)
        SELECT 'precedents', 1 FROM capabilities WHERE model = 'precedents' AND name = 'seeded';
    DROP TABLE precedents;
    UPDATE events SET body = json_object('kind', 'learned', 'path', path, 'lesson', json_object('phase', 'norms', 'ops',
        json_array(json_object('op', 'put', 'collection', 'precedents', 'record', json_extract(body, '$.record')))))
        WHERE kind = 'learned';
    """,
    """
    CREATE VIRTUAL TABLE words_examples USING fts5(words);
    CREATE VIRTUAL TABLE vocabulary_examples USING fts5vocab(words_examples, row);
    """,
    """
    CREATE TABLE sweeps (
        id TEXT PRIMARY KEY, base TEXT NOT NULL, title TEXT NOT NULL, plan TEXT NOT NULL, status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '', created REAL NOT NULL, owner TEXT, heartbeat REAL
    );
    CREATE TABLE sweep_runs (
        sweep TEXT NOT NULL, variant INTEGER NOT NULL, seed INTEGER NOT NULL, run TEXT NOT NULL,
        PRIMARY KEY (sweep, variant, seed)
    ) WITHOUT ROWID;
    """,
    """
    CREATE TABLE interventions (
        run TEXT NOT NULL, number INTEGER NOT NULL, id TEXT NOT NULL, body TEXT NOT NULL, undone REAL,
        PRIMARY KEY (run, number), UNIQUE (run, id)
    );
    CREATE TABLE rewinds (run TEXT PRIMARY KEY, stage INTEGER NOT NULL);
    CREATE TABLE seats (
        token TEXT PRIMARY KEY, run TEXT NOT NULL, member TEXT NOT NULL, made REAL NOT NULL, UNIQUE (run, member)
    );
    CREATE TABLE questions (
        run TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL, member TEXT NOT NULL, title TEXT NOT NULL,
        request TEXT NOT NULL, asked REAL NOT NULL, deadline REAL, answer TEXT, answered REAL,
        PRIMARY KEY (run, path, key)
    );
    """,
    """
    CREATE TABLE written_by (
        version TEXT NOT NULL, schema INTEGER NOT NULL, first REAL NOT NULL, PRIMARY KEY (version, schema)
    );
    CREATE INDEX runs_listed ON runs (created, id, status, procedure, parent);
    CREATE INDEX sweep_runs_by_run ON sweep_runs (run);
    """,
    """
    CREATE TABLE lost_drivers (
        run TEXT PRIMARY KEY, owner TEXT NOT NULL, times INTEGER NOT NULL, seen INTEGER NOT NULL
    );
    """,
    # Events carry what is asked of them: `stage`, '' outside of all stages; `key` of a look-up; `generation`, how often the
    # run had been worked out anew before; `overtaken`, the generation that took its place, 0 while it stands. Before, an
    # overtaken event had the kind 'overtaken' and a number before its path. How often a run was worked out anew was not on
    # record: an answer that was overtaken twice counts as of the second generation.
    """
    ALTER TABLE events RENAME TO events_before;
    CREATE TABLE anew (seq INTEGER PRIMARY KEY, run TEXT NOT NULL, number INTEGER NOT NULL);
    INSERT INTO anew SELECT seq, run, row_number() OVER (
        PARTITION BY run, substr(path, instr(path, '/') + 1), iif(json_valid(body), json_extract(body, '$.kind'), '') ORDER BY seq
    ) FROM events_before WHERE kind = 'overtaken';
    CREATE TABLE ends (
        run TEXT NOT NULL, number INTEGER NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (run, number)
    ) WITHOUT ROWID;
    INSERT INTO ends SELECT run, number, max(seq) FROM anew GROUP BY run, number;
    CREATE TABLE events (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, generation INTEGER NOT NULL,
        overtaken INTEGER NOT NULL DEFAULT 0, stage TEXT NOT NULL, kind TEXT NOT NULL, path TEXT NOT NULL,
        key TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL, UNIQUE (run, overtaken, kind, path)
    );
    INSERT INTO events (seq, run, generation, overtaken, stage, kind, path, key, at, body)
        SELECT seq, run, generation, overtaken, stage, kind, path,
            iif(kind = 'retrieval' AND json_valid(body), ifnull(json_extract(body, '$.key'), ''), ''), at,
            iif(json_valid(body), json_set(body, '$.stage', stage), body)
        FROM (
            SELECT seq, run, generation, overtaken, kind, path, at, body, iif(
                kind NOT IN ('note', 'learned', 'seated')
                OR EXISTS (SELECT 1 FROM events_before AS s WHERE s.run = e.run AND s.kind = 'stage' AND s.path = e.first),
                first, ''
            ) AS stage
            FROM (
                SELECT *, substr(inner || '/', 1, instr(inner || '/', '/') - 1) AS first
                FROM (
                    SELECT *, iif(kind = 'seated' AND path LIKE 'panel/%', substr(path, 7), path) AS inner
                    FROM (
                        SELECT seq, run, 0 AS overtaken, kind, path, at, body, ifnull(
                            (SELECT max(number) FROM ends WHERE ends.run = b.run AND ends.seq < b.seq), 0
                        ) AS generation
                        FROM events_before AS b WHERE kind != 'overtaken'
                        UNION ALL
                        SELECT b.seq, b.run, number, iif(json_valid(body), ifnull(json_extract(body, '$.kind'), 'call'), 'call'),
                            substr(path, instr(path, '/') + 1), at, body, number - 1
                        FROM anew JOIN events_before AS b USING (seq)
                    )
                )
            ) AS e
        );
    DROP TABLE events_before;
    DROP TABLE anew;
    DROP TABLE ends;
    CREATE INDEX events_by_run ON events (run, seq);
    CREATE INDEX events_by_key ON events (run, key) WHERE kind = 'retrieval';
    """,
    # The states of each record of the learned memory; `until` is the state from which on it holds no more, and an empty body
    # marks where a record was taken out. So the memory can be read as it was at any state, and a snapshot is one number.
    """
    CREATE TABLE memory_states (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, id TEXT NOT NULL, body TEXT, until INTEGER
    );
    CREATE INDEX memory_states_open ON memory_states (collection, id) WHERE until IS NULL;
    CREATE TABLE memory_snapshots (name TEXT PRIMARY KEY, at INTEGER NOT NULL, digest TEXT NOT NULL, made REAL NOT NULL);
    """,
    # What was asked beside a run (answers of audits and interviews), and marks of reviewers: of a run (an empty target), of a
    # member or of a call.
    """
    CREATE TABLE asides (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL
    );
    CREATE INDEX asides_by_run ON asides (run, seq);
    CREATE TABLE marks (
        run TEXT NOT NULL, target TEXT NOT NULL, reviewer TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (run, target, reviewer)
    );
    """,
)


class Database:
    """Connections to one SQLite file. Safe to share between threads; each thread gets its own connection.

    Raises:
        StoreError: the file can't be used; the sentence says why, and nothing was written to it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._local = threading.local()
        self._open: set[sqlite3.Connection] = set()
        store_file.make_folder(path.parent)
        try:
            store_file.check(path, MIGRATIONS)
            self._migrate()
        except sqlite3.Error as error:
            self.close()
            raise store_file.explained(error, path) from error

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection (autocommit; use `transaction` for more than one statement)."""
        connection: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if connection is None:
            connection = sqlite3.connect(self.path, timeout=30, isolation_level=None, check_same_thread=False)
            connection.row_factory = sqlite3.Row
            # Bytes that are no text make their own row unreadable, not the rows after it.
            connection.text_factory = lambda data: data.decode("utf-8", "surrogateescape")
            # A killed process loses nothing in WAL with NORMAL; only a power cut may lose the last commits. The log is
            # folded in after 40 MB, not 4: folding waits for the disk.
            connection.executescript(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA wal_autocheckpoint=10000; PRAGMA foreign_keys=ON;"
            )
            self._local.connection = connection
            self._open.add(connection)
            weakref.finalize(threading.current_thread(), self._ended, connection)
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and the write lock from the start; within another it is part of that one."""
        connection = self.connection
        if connection.in_transaction:
            yield connection
            return
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:  # where the disk is full, SQLite has rolled back already
                connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close every thread's connection."""
        for connection in list(self._open):
            connection.close()
        self._open.clear()
        self._local = threading.local()

    def _ended(self, connection: sqlite3.Connection) -> None:
        """A thread has: a browser's every click may begin one, and its files would stay open."""
        connection.close()
        self._open.discard(connection)

    def _migrate(self) -> None:
        """Bring an older store up to this version, in one transaction: a process that dies in it leaves the store as it was."""
        me = (__version__, len(MIGRATIONS))
        if self._version() == me[1] and self._written_by(me):
            return
        with self.transaction() as connection:
            version = self._version()
            if 0 < version < len(MIGRATIONS) and self._holds_anything():
                store_file.copy(self.path, self.path.with_name(f"{self.path.name}.v{version}.bak"))
            for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
                for statement in filter(str.strip, script.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {number}")
            connection.execute("INSERT OR IGNORE INTO written_by VALUES (?, ?, ?)", (*me, time.time()))

    def _version(self) -> int:
        version: int = self.connection.execute("PRAGMA user_version").fetchone()[0]
        return version

    def _written_by(self, program: tuple[str, int]) -> bool:
        row = self.connection.execute("SELECT 1 FROM written_by WHERE version = ? AND schema = ?", program)
        return row.fetchone() is not None

    def _holds_anything(self) -> bool:
        names = store_file.tables(MIGRATIONS[: self._version()])
        plain = [name for name in names if not name.startswith(("words_", "vocabulary_"))]
        return any(self.connection.execute(f"SELECT 1 FROM {name} LIMIT 1").fetchone() for name in plain)
