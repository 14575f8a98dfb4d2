"""The schema of the SQLite file, as the changes that led to it: each is made once, in this order, and none is ever edited."""

from __future__ import annotations

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
    # A dataset without a version is not finished yet. `content` is the dataset whose rows it has: a version with other splits
    # has the same rows. `numbers` is what statistics count in a row.
    """
    CREATE TABLE datasets (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL, version TEXT, content INTEGER NOT NULL, kind TEXT NOT NULL DEFAULT '',
        count INTEGER NOT NULL DEFAULT 0, source TEXT NOT NULL, made REAL NOT NULL, frame TEXT NOT NULL DEFAULT '',
        job TEXT NOT NULL DEFAULT '', orders TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT '{}',
        UNIQUE (name, version)
    );
    CREATE TABLE dataset_rows (
        content INTEGER NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, category TEXT NOT NULL, grp TEXT NOT NULL,
        asked TEXT NOT NULL, number INTEGER NOT NULL, place TEXT NOT NULL, outcome TEXT NOT NULL, length INTEGER NOT NULL, language TEXT NOT NULL,
        margin REAL, fingerprint BLOB NOT NULL, numbers TEXT NOT NULL, body TEXT NOT NULL, PRIMARY KEY (content, seq)
    );
    CREATE UNIQUE INDEX dataset_rows_by_id ON dataset_rows (content, id);
    CREATE TABLE dataset_splits (
        dataset INTEGER NOT NULL, seq INTEGER NOT NULL, split TEXT NOT NULL, PRIMARY KEY (dataset, seq)
    ) WITHOUT ROWID;
    CREATE TABLE dataset_problems (dataset INTEGER NOT NULL, place TEXT NOT NULL, message TEXT NOT NULL);
    CREATE TABLE dataset_relevance (
        content INTEGER NOT NULL, query TEXT NOT NULL, candidate TEXT NOT NULL, grade INTEGER NOT NULL,
        PRIMARY KEY (content, query, candidate)
    ) WITHOUT ROWID;
    """,
    # Imported law is in a knowledge base of its own. Before, an imported article took the place of the digest's and kept its
    # title, cue words and penalty bands; they are taken off it, its charges are listed anew, and the digest comes back.
    """
    CREATE TABLE origins (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, file TEXT NOT NULL, digest TEXT NOT NULL,
        records INTEGER NOT NULL, how TEXT NOT NULL, at REAL NOT NULL
    );
    ALTER TABLE imports ADD COLUMN base TEXT NOT NULL DEFAULT 'imported';
    ALTER TABLE imports ADD COLUMN how TEXT NOT NULL DEFAULT 'add';
    CREATE TABLE moved (seq INTEGER PRIMARY KEY);
    INSERT INTO moved SELECT seq FROM knowledge
        WHERE collection = 'statutes' AND json_valid(body) AND NOT json_extract(body, '$.digest');
    INSERT INTO moved SELECT seq FROM knowledge WHERE collection = 'charges' AND added > 0;
    INSERT INTO moved SELECT seq FROM knowledge
        WHERE collection = 'cases' AND added > 0 AND json_valid(body) AND id LIKE 'case-%';
    UPDATE collections SET seeded = 0, changes = changes + 1 WHERE name IN ('statutes', 'charges') AND EXISTS (
        SELECT 1 FROM knowledge WHERE collection = 'statutes' AND seq IN (SELECT seq FROM moved)
    );
    UPDATE collections SET changes = changes + 1 WHERE name = 'cases';
    DELETE FROM words_statutes WHERE rowid IN (SELECT seq FROM moved);
    DELETE FROM words_charges WHERE rowid IN (SELECT seq FROM moved);
    DELETE FROM words_cases WHERE rowid IN (SELECT seq FROM moved);
    DELETE FROM knowledge WHERE collection = 'charges' AND seq IN (SELECT seq FROM moved);
    UPDATE knowledge SET collection = collection || '.imported' WHERE seq IN (SELECT seq FROM moved);
    UPDATE knowledge SET body = json_set(body, '$.title', json('{"en":"","zh":""}'), '$.cues', json('{"en":"","zh":""}'),
        '$.bands', json('[]')) WHERE collection = 'statutes.imported';
    INSERT INTO knowledge (collection, id, body, added)
        SELECT 'charges.imported', name, json_object('id', name, 'name', json(both), 'articles', json_group_array(article),
            'text', json(text), 'cues', json('{"en":"","zh":""}')), max(added)
        FROM (
            SELECT coalesce(nullif(json_extract(c.value, '$.zh'), ''), json_extract(c.value, '$.en')) AS name,
                c.value AS both, k.id AS article, json_extract(k.body, '$.text') AS text, k.added
            FROM knowledge AS k, json_each(k.body, '$.charges') AS c WHERE k.collection = 'statutes.imported' ORDER BY k.seq
        ) GROUP BY name;
    INSERT OR IGNORE INTO collections (name) SELECT DISTINCT collection FROM knowledge WHERE instr(collection, '.');
    DROP TABLE moved;
    """,
    # What a run has paid for has rows of its own, written with the answers. Before, it stood in the events of calls alone; an
    # answered call that was overtaken and stands again had what it cost in both events.
    """
    CREATE TABLE payments (
        number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, path TEXT NOT NULL, key TEXT NOT NULL,
        calls INTEGER NOT NULL, attempts INTEGER NOT NULL, prompt INTEGER NOT NULL, completion INTEGER NOT NULL,
        cost REAL, at REAL NOT NULL
    );
    CREATE INDEX payments_by_run ON payments (run, path, key);
    INSERT INTO payments (run, path, key, calls, attempts, prompt, completion, cost, at)
        SELECT run, path, ifnull(json_extract(body, '$.keys[#-1]'), ''), max(json_extract(body, '$.asked')),
            max(ifnull(json_extract(body, '$.attempts'), 0)), max(ifnull(json_extract(body, '$.prompt_tokens'), 0)),
            max(ifnull(json_extract(body, '$.completion_tokens'), 0)), max(json_extract(body, '$.cost')), min(at)
        FROM (SELECT seq, run, path, at, iif(json_valid(body), body, '{}') AS body FROM events WHERE kind = 'call')
        WHERE json_extract(body, '$.asked') > 0
        GROUP BY run, path, json_extract(body, '$.keys'), iif(json_extract(body, '$.value') IS NULL, seq, 0)
        ORDER BY min(seq);
    """,
    # An experiment and its cells: each with its run's id before the run is made, and what it came to once it is done.
    """
    CREATE TABLE experiments (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, body TEXT NOT NULL, kind TEXT NOT NULL, status TEXT NOT NULL,
        reason TEXT NOT NULL DEFAULT '', created REAL NOT NULL, owner TEXT, heartbeat REAL
    );
    CREATE TABLE experiment_cells (
        experiment TEXT NOT NULL, number INTEGER NOT NULL, arm INTEGER NOT NULL, row TEXT NOT NULL, repeat INTEGER NOT NULL,
        seed INTEGER NOT NULL, phase TEXT NOT NULL, run TEXT NOT NULL, state TEXT NOT NULL DEFAULT 'waiting',
        reason TEXT NOT NULL DEFAULT '', outcome TEXT, PRIMARY KEY (experiment, number)
    ) WITHOUT ROWID;
    CREATE INDEX experiment_cells_by_run ON experiment_cells (run);
    CREATE INDEX experiment_cells_by_state ON experiment_cells (experiment, state, arm);
    """,
    # What was asked beside a run (answers of audits and interviews), and marks of reviewers: of a run (an empty target), of a
    # member or of a call. What is asked beside a run is paid for apart.
    """
    CREATE TABLE asides (
        seq INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, kind TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL
    );
    CREATE INDEX asides_by_run ON asides (run, seq);
    CREATE TABLE marks (
        run TEXT NOT NULL, target TEXT NOT NULL, reviewer TEXT NOT NULL, at REAL NOT NULL, body TEXT NOT NULL,
        PRIMARY KEY (run, target, reviewer)
    );
    ALTER TABLE payments ADD COLUMN beside INTEGER NOT NULL DEFAULT 0;
    """,
    # Words and vectors are indexed outside: a record keeps its words and the version of its collection that it came with, and
    # what was taken out leaves its id, so that an index takes in what has changed and nothing else.
    """
    ALTER TABLE knowledge ADD COLUMN words TEXT;
    ALTER TABLE knowledge ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
    CREATE INDEX knowledge_by_version ON knowledge (collection, version);
    CREATE INDEX knowledge_without_words ON knowledge (collection) WHERE words IS NULL;
    CREATE TABLE knowledge_removed (
        collection TEXT NOT NULL, id TEXT NOT NULL, version INTEGER NOT NULL, PRIMARY KEY (collection, id)
    ) WITHOUT ROWID;
    """,
    # Runs imported from a file, with the file's hash. Their answers are kept apart: nobody here knows whether a model gave
    # them, so they are shown and never served to another run. Panels of personas are saved under a name.
    """
    ALTER TABLE runs ADD COLUMN imported TEXT;
    CREATE TABLE imported_answers (
        run TEXT NOT NULL, key TEXT NOT NULL, request TEXT NOT NULL, reply TEXT NOT NULL, PRIMARY KEY (run, key)
    );
    CREATE TABLE panels (name TEXT PRIMARY KEY, body TEXT NOT NULL, saved REAL NOT NULL);
    """,
    # The audience of a run: what phones voted in each poll, what they said, and for whose argument they voted; and playlists,
    # which name moments of runs in an order.
    """
    CREATE TABLE audiences (
        run TEXT PRIMARY KEY, token TEXT NOT NULL UNIQUE, made REAL NOT NULL, closed REAL, shown INTEGER
    );
    CREATE TABLE audience_votes (
        run TEXT NOT NULL, poll TEXT NOT NULL, phone TEXT NOT NULL, choice TEXT NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (run, poll, phone)
    );
    CREATE TABLE audience_arguments (
        number INTEGER PRIMARY KEY AUTOINCREMENT, run TEXT NOT NULL, poll TEXT NOT NULL, phone TEXT NOT NULL,
        choice TEXT NOT NULL, text TEXT NOT NULL, at REAL NOT NULL, UNIQUE (run, poll, phone)
    );
    CREATE TABLE audience_likes (
        argument INTEGER NOT NULL, run TEXT NOT NULL, phone TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (argument, phone)
    );
    CREATE INDEX audience_likes_by_run ON audience_likes (run, phone);
    CREATE TABLE playlists (id TEXT PRIMARY KEY, body TEXT NOT NULL, made REAL NOT NULL);
    """,
    # Runs, sweeps, experiments and a dataset's problems are numbered by a column of their own in the order in which they came.
    # Before, SQLite's own number of a row said so, which no other database has.
    """
    ALTER TABLE runs RENAME TO runs_before;
    CREATE TABLE runs (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, procedure TEXT NOT NULL, case_id TEXT NOT NULL,
        title TEXT NOT NULL, case_hash TEXT NOT NULL, setup TEXT NOT NULL, seed INTEGER NOT NULL,
        status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', verdict TEXT,
        parent TEXT, origin TEXT NOT NULL DEFAULT 'input',
        created REAL NOT NULL, wall_s REAL NOT NULL DEFAULT 0,
        control TEXT NOT NULL, owner TEXT, heartbeat REAL, imported TEXT
    );
    INSERT INTO runs (number, id, procedure, case_id, title, case_hash, setup, seed, status, reason, verdict, parent, origin,
            created, wall_s, control, owner, heartbeat, imported)
        SELECT rowid, id, procedure, case_id, title, case_hash, setup, seed, status, reason, verdict, parent, origin,
            created, wall_s, control, owner, heartbeat, imported FROM runs_before ORDER BY rowid;
    DROP TABLE runs_before;
    CREATE INDEX runs_listed ON runs (created, id, status, procedure, parent);
    ALTER TABLE sweeps RENAME TO sweeps_before;
    CREATE TABLE sweeps (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, base TEXT NOT NULL, title TEXT NOT NULL,
        plan TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', created REAL NOT NULL, owner TEXT, heartbeat REAL
    );
    INSERT INTO sweeps (number, id, base, title, plan, status, reason, created, owner, heartbeat)
        SELECT rowid, id, base, title, plan, status, reason, created, owner, heartbeat FROM sweeps_before ORDER BY rowid;
    DROP TABLE sweeps_before;
    ALTER TABLE experiments RENAME TO experiments_before;
    CREATE TABLE experiments (
        number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL, body TEXT NOT NULL,
        kind TEXT NOT NULL, status TEXT NOT NULL, reason TEXT NOT NULL DEFAULT '', created REAL NOT NULL, owner TEXT, heartbeat REAL
    );
    INSERT INTO experiments (number, id, name, body, kind, status, reason, created, owner, heartbeat)
        SELECT rowid, id, name, body, kind, status, reason, created, owner, heartbeat FROM experiments_before ORDER BY rowid;
    DROP TABLE experiments_before;
    ALTER TABLE dataset_problems RENAME TO dataset_problems_before;
    CREATE TABLE dataset_problems (
        number INTEGER PRIMARY KEY AUTOINCREMENT, dataset INTEGER NOT NULL, place TEXT NOT NULL, message TEXT NOT NULL
    );
    INSERT INTO dataset_problems (number, dataset, place, message)
        SELECT rowid, dataset, place, message FROM dataset_problems_before ORDER BY rowid;
    DROP TABLE dataset_problems_before;
    """,
    # Runs are found by what they were forked from and by how they stand, and the list of runs is counted within one index. Before,
    # each of these read every row.
    """
    DROP INDEX runs_listed;
    CREATE INDEX runs_by_parent ON runs (parent);
    CREATE INDEX runs_by_status ON runs (status, number, id, procedure);
    CREATE INDEX runs_by_case ON runs (case_id, number, title, id, status, procedure);
    """,
    # The batch of writes that each process has committed last: one whose commit got no reply is looked up here.
    "CREATE TABLE batches (writer TEXT PRIMARY KEY, number INTEGER NOT NULL, at REAL NOT NULL)",
    # Who has signed in, what each may do, and how many US dollars the runs of each may cost in a month and have cost.
    """
    CREATE TABLE accounts (
        id TEXT PRIMARY KEY, issuer TEXT NOT NULL, subject TEXT NOT NULL, name TEXT NOT NULL, email TEXT NOT NULL,
        access INTEGER NOT NULL, budget REAL, first REAL NOT NULL, last REAL NOT NULL
    );
    CREATE TABLE spending (
        account TEXT NOT NULL, month TEXT NOT NULL, money REAL NOT NULL, PRIMARY KEY (account, month)
    );
    """,
    # Where people sign in: whose each thing is and who may see it, links that open one thing for a time (by the hash of what
    # stands in the address), and who did what.
    """
    CREATE TABLE ownership (
        kind TEXT NOT NULL, id TEXT NOT NULL, account TEXT NOT NULL, visibility TEXT NOT NULL, PRIMARY KEY (kind, id)
    ) WITHOUT ROWID;
    CREATE TABLE links (
        token TEXT PRIMARY KEY, kind TEXT NOT NULL, id TEXT NOT NULL, account TEXT NOT NULL, made REAL NOT NULL,
        expires REAL NOT NULL, ended REAL
    );
    CREATE INDEX links_by_what_they_open ON links (kind, id);
    CREATE TABLE actions (
        number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, account TEXT NOT NULL, name TEXT NOT NULL,
        action TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL, detail TEXT NOT NULL
    );
    """,
)
