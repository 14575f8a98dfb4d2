-- Changes of the tables of older stores, as SQLite reads them; `schema.py` has them for PostgreSQL. Each begins with its
-- number. A new store is made from `tables.sql`.

-- Revision 0001
-- A store that a development version wrote before 1.0.0 is taken over. What-ifs of before are dropped, as they are
-- experiments now; their runs stay.
ALTER TABLE experiments ADD COLUMN parent TEXT NOT NULL DEFAULT '';
DROP TABLE sweep_runs;
DROP TABLE sweeps;
DROP TABLE playlists;
DROP TABLE imports;
DELETE FROM ownership WHERE kind IN ('sweep', 'playlist');
DELETE FROM links WHERE kind IN ('sweep', 'playlist');
DROP INDEX knowledge_without_words;
DROP TABLE written_by;
CREATE TABLE written_by (
    version TEXT NOT NULL,
    revision TEXT NOT NULL,
    tables TEXT NOT NULL,
    first REAL NOT NULL,
    PRIMARY KEY (version, revision)
);
CREATE TABLE alembic_version (
    version_num TEXT NOT NULL PRIMARY KEY
);
INSERT INTO alembic_version VALUES ('0001');

-- Revision 0002
-- An imported run keeps the ids of its file beside those that it has here. Runs that were imported by 1.0.0 keep
-- the ids of their files: reviewers know them by these. What 1.0.0 left of deleted runs goes.
ALTER TABLE runs ADD COLUMN exported_id TEXT;
ALTER TABLE runs ADD COLUMN exported_parent TEXT;
UPDATE runs SET exported_id = id, exported_parent = parent WHERE imported IS NOT NULL;
DELETE FROM interventions WHERE run NOT IN (SELECT id FROM runs);

-- Revision 0003
-- Who drives a run or an experiment has a lock of the system's own, and is not on record any more.
ALTER TABLE runs DROP COLUMN owner;
ALTER TABLE runs DROP COLUMN heartbeat;
ALTER TABLE experiments DROP COLUMN owner;
ALTER TABLE experiments DROP COLUMN heartbeat;
DROP TABLE batches;
DROP TABLE lost_drivers;

-- Revision 0004
-- A payment says whether a provider did not count its tokens, so that they and the cost are about so much. Those of
-- 1.0.0, which estimated nothing, count as told.
ALTER TABLE payments ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN estimated INTEGER NOT NULL DEFAULT 0;

-- Revision 0005
-- A payment says what of its tokens came from a provider's cache and went by its batch, of which nothing is known
-- of earlier ones; batches are on record.
ALTER TABLE payments ADD COLUMN cached INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN written INTEGER NOT NULL DEFAULT 0;
ALTER TABLE payments ADD COLUMN batched INTEGER NOT NULL DEFAULT 0;
CREATE TABLE batched_calls (
    key TEXT NOT NULL PRIMARY KEY,
    batch TEXT NOT NULL,
    at REAL NOT NULL
);

-- Revision 0006
-- An account says whether its person is told when something of it ends, waits or fails. Nobody has asked for it.
ALTER TABLE accounts ADD COLUMN rings INTEGER NOT NULL DEFAULT 0;

-- Revision 0007
-- An account says whether the provider knows that the e-mail address is this person's: who is listed as an owner owns
-- by the settings alone. Of earlier ones it is not known before the next visit.
ALTER TABLE accounts ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
