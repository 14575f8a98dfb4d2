-- The tables of the store, as SQLite reads them; `schema.py` has them for PostgreSQL. A change is a revision too.

-- Runs, and what belongs to one.
CREATE TABLE runs (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    procedure TEXT NOT NULL,
    case_id TEXT NOT NULL,
    title TEXT NOT NULL,
    case_hash TEXT NOT NULL,
    setup TEXT NOT NULL,
    seed INTEGER NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    verdict TEXT,
    parent TEXT,
    origin TEXT NOT NULL DEFAULT 'input',
    created REAL NOT NULL,
    wall_s REAL NOT NULL DEFAULT 0,
    control TEXT NOT NULL,
    imported TEXT,
    exported_id TEXT,
    exported_parent TEXT
);
CREATE INDEX runs_by_case ON runs (case_id, number, title, id, status, procedure);
CREATE INDEX runs_by_parent ON runs (parent);
CREATE INDEX runs_by_status ON runs (status, number, id, procedure);

CREATE TABLE snapshots (
    hash TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
);

CREATE TABLE events (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    generation INTEGER NOT NULL,
    overtaken INTEGER NOT NULL DEFAULT 0,
    stage TEXT NOT NULL,
    kind TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (run, overtaken, kind, path)
);
CREATE INDEX events_by_key ON events (run, key) WHERE kind = 'retrieval';
CREATE INDEX events_by_run ON events (run, seq);

CREATE TABLE answers (
    key TEXT NOT NULL PRIMARY KEY,
    model TEXT NOT NULL,
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    at REAL NOT NULL
);

CREATE TABLE parts (
    hash TEXT NOT NULL PRIMARY KEY,
    text TEXT NOT NULL
);

CREATE TABLE batched_calls (
    key TEXT NOT NULL PRIMARY KEY,
    batch TEXT NOT NULL,
    at REAL NOT NULL
);

CREATE TABLE interventions (
    run TEXT NOT NULL,
    number INTEGER NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    undone REAL,
    PRIMARY KEY (run, number),
    UNIQUE (run, id)
);

CREATE TABLE rewinds (
    run TEXT NOT NULL PRIMARY KEY,
    stage INTEGER NOT NULL
);

CREATE TABLE seats (
    token TEXT NOT NULL PRIMARY KEY,
    run TEXT NOT NULL,
    member TEXT NOT NULL,
    made REAL NOT NULL,
    UNIQUE (run, member)
);

CREATE TABLE questions (
    run TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    member TEXT NOT NULL,
    title TEXT NOT NULL,
    request TEXT NOT NULL,
    asked REAL NOT NULL,
    deadline REAL,
    answer TEXT,
    answered REAL,
    PRIMARY KEY (run, path, key)
);

CREATE TABLE payments (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    path TEXT NOT NULL,
    key TEXT NOT NULL,
    calls INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    prompt INTEGER NOT NULL,
    completion INTEGER NOT NULL,
    cost REAL,
    at REAL NOT NULL,
    beside INTEGER NOT NULL DEFAULT 0,
    estimated INTEGER NOT NULL DEFAULT 0,
    cached INTEGER NOT NULL DEFAULT 0,
    written INTEGER NOT NULL DEFAULT 0,
    batched INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX payments_by_run ON payments (run, path, key);

CREATE TABLE asides (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    kind TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL
);
CREATE INDEX asides_by_run ON asides (run, seq);

CREATE TABLE marks (
    run TEXT NOT NULL,
    target TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (run, target, reviewer)
);

CREATE TABLE imported_answers (
    run TEXT NOT NULL,
    key TEXT NOT NULL,
    request TEXT NOT NULL,
    reply TEXT NOT NULL,
    PRIMARY KEY (run, key)
);

CREATE TABLE audiences (
    run TEXT NOT NULL PRIMARY KEY,
    token TEXT NOT NULL UNIQUE,
    made REAL NOT NULL,
    closed REAL,
    shown INTEGER
);

CREATE TABLE audience_votes (
    run TEXT NOT NULL,
    poll TEXT NOT NULL,
    phone TEXT NOT NULL,
    choice TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (run, poll, phone)
);

CREATE TABLE audience_arguments (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    poll TEXT NOT NULL,
    phone TEXT NOT NULL,
    choice TEXT NOT NULL,
    text TEXT NOT NULL,
    at REAL NOT NULL,
    UNIQUE (run, poll, phone)
);

CREATE TABLE audience_likes (
    argument INTEGER NOT NULL,
    run TEXT NOT NULL,
    phone TEXT NOT NULL,
    at REAL NOT NULL,
    PRIMARY KEY (argument, phone)
);
CREATE INDEX audience_likes_by_run ON audience_likes (run, phone);

-- Cases, datasets, experiments, and what is kept under a name.
CREATE TABLE experiments (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    kind TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    created REAL NOT NULL,
    parent TEXT NOT NULL DEFAULT ''
);

CREATE TABLE experiment_cells (
    experiment TEXT NOT NULL,
    number INTEGER NOT NULL,
    arm INTEGER NOT NULL,
    row TEXT NOT NULL,
    repeat INTEGER NOT NULL,
    seed INTEGER NOT NULL,
    phase TEXT NOT NULL,
    run TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'waiting',
    reason TEXT NOT NULL DEFAULT '',
    outcome TEXT,
    PRIMARY KEY (experiment, number)
) WITHOUT ROWID;
CREATE INDEX experiment_cells_by_run ON experiment_cells (run);
CREATE INDEX experiment_cells_by_state ON experiment_cells (experiment, state, arm);

CREATE TABLE setups (
    name TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL,
    saved REAL NOT NULL
);

CREATE TABLE panels (
    name TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL,
    saved REAL NOT NULL
);

CREATE TABLE cases (
    id TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL,
    added REAL NOT NULL
);

CREATE TABLE capabilities (
    model TEXT NOT NULL,
    name TEXT NOT NULL,
    value INTEGER NOT NULL,
    PRIMARY KEY (model, name)
);

CREATE TABLE datasets (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    version TEXT,
    content INTEGER NOT NULL,
    kind TEXT NOT NULL DEFAULT '',
    count INTEGER NOT NULL DEFAULT 0,
    source TEXT NOT NULL,
    made REAL NOT NULL,
    frame TEXT NOT NULL DEFAULT '',
    job TEXT NOT NULL DEFAULT '',
    orders TEXT NOT NULL DEFAULT '',
    state TEXT NOT NULL DEFAULT '{}',
    UNIQUE (name, version)
);

CREATE TABLE dataset_rows (
    content INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    category TEXT NOT NULL,
    grp TEXT NOT NULL,
    asked TEXT NOT NULL,
    number INTEGER NOT NULL,
    place TEXT NOT NULL,
    outcome TEXT NOT NULL,
    length INTEGER NOT NULL,
    language TEXT NOT NULL,
    margin REAL,
    fingerprint BLOB NOT NULL,
    numbers TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (content, seq)
);
CREATE UNIQUE INDEX dataset_rows_by_id ON dataset_rows (content, id);

CREATE TABLE dataset_splits (
    dataset INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    split TEXT NOT NULL,
    PRIMARY KEY (dataset, seq)
) WITHOUT ROWID;

CREATE TABLE dataset_problems (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    dataset INTEGER NOT NULL,
    place TEXT NOT NULL,
    message TEXT NOT NULL
);

CREATE TABLE dataset_relevance (
    content INTEGER NOT NULL,
    query TEXT NOT NULL,
    candidate TEXT NOT NULL,
    grade INTEGER NOT NULL,
    PRIMARY KEY (content, query, candidate)
) WITHOUT ROWID;

-- The knowledge base.
CREATE TABLE knowledge (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT NOT NULL,
    added REAL NOT NULL,
    words TEXT,
    version INTEGER NOT NULL DEFAULT 0,
    UNIQUE (collection, id)
);
CREATE INDEX knowledge_by_version ON knowledge (collection, version);

CREATE TABLE knowledge_removed (
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (collection, id)
) WITHOUT ROWID;

CREATE TABLE collections (
    name TEXT NOT NULL PRIMARY KEY,
    embedding TEXT,
    changes INTEGER NOT NULL DEFAULT 0,
    seeded INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE vectors (
    embedding TEXT NOT NULL,
    digest BLOB NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (embedding, digest)
) WITHOUT ROWID;

CREATE TABLE origins (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    file TEXT NOT NULL,
    digest TEXT NOT NULL,
    records INTEGER NOT NULL,
    how TEXT NOT NULL,
    at REAL NOT NULL
);

CREATE TABLE lessons (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL,
    path TEXT NOT NULL,
    at REAL NOT NULL,
    body TEXT NOT NULL,
    undone REAL,
    UNIQUE (run, path)
);

CREATE TABLE memory_states (
    seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    collection TEXT NOT NULL,
    id TEXT NOT NULL,
    body TEXT,
    until INTEGER
);
CREATE INDEX memory_states_open ON memory_states (collection, id) WHERE until IS NULL;

CREATE TABLE memory_snapshots (
    name TEXT NOT NULL PRIMARY KEY,
    at INTEGER NOT NULL,
    digest TEXT NOT NULL,
    made REAL NOT NULL
);

-- The accounts of people.
CREATE TABLE accounts (
    id TEXT NOT NULL PRIMARY KEY,
    issuer TEXT NOT NULL,
    subject TEXT NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    access INTEGER NOT NULL,
    budget REAL,
    first REAL NOT NULL,
    last REAL NOT NULL,
    rings INTEGER NOT NULL DEFAULT 0,
    verified INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE spending (
    account TEXT NOT NULL,
    month TEXT NOT NULL,
    money REAL NOT NULL,
    estimated INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (account, month)
);

-- Whose each thing is, links, and who did what.
CREATE TABLE ownership (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    visibility TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) WITHOUT ROWID;

CREATE TABLE links (
    token TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    account TEXT NOT NULL,
    made REAL NOT NULL,
    expires REAL NOT NULL,
    ended REAL
);
CREATE INDEX links_by_what_they_open ON links (kind, id);

CREATE TABLE actions (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    at REAL NOT NULL,
    account TEXT NOT NULL,
    name TEXT NOT NULL,
    action TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    detail TEXT NOT NULL
);

-- The store itself.
CREATE TABLE alembic_version (
    version_num TEXT NOT NULL PRIMARY KEY
);

CREATE TABLE written_by (
    version TEXT NOT NULL,
    revision TEXT NOT NULL,
    tables TEXT NOT NULL,
    first REAL NOT NULL,
    PRIMARY KEY (version, revision)
);
