-- What people change: monitors of the APIs, records, tokens, the audit trail; and captures of results.

ALTER TABLE monitors ADD COLUMN origin INTEGER NOT NULL DEFAULT 0; -- 0 a file, 1 an API, 2 `vigie apply`
ALTER TABLE monitors ADD COLUMN sealed BLOB;  -- its secrets; NULL when it has none, or they stay with its file
ALTER TABLE monitors ADD COLUMN trail TEXT;   -- who changed it when, as JSON; NULL when nothing is known
UPDATE monitors SET origin = 1 WHERE key IS NULL;
DROP INDEX monitors_by_key;
CREATE UNIQUE INDEX monitors_by_key ON monitors (customer, origin, key) WHERE key IS NOT NULL;
CREATE INDEX monitors_by_customer ON monitors (customer);

-- Users, blackouts, properties and the like. Ids of the settings (locations, certificates) end at 100000.
CREATE TABLE records (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    customer    INTEGER,          -- NULL only until a new customer has its id
    assoc       INTEGER,          -- what it is attached to
    unique_text TEXT,             -- no other record of its kind has the same
    revision    INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    created_by  TEXT NOT NULL,
    modified_at INTEGER NOT NULL,
    fields      TEXT NOT NULL,    -- JSON, without secrets
    private     BLOB              -- never shown: sealed secrets, hash of a password
);
CREATE INDEX records_by_customer ON records (kind, customer, id);
CREATE INDEX records_by_assoc ON records (kind, assoc) WHERE assoc IS NOT NULL;
CREATE UNIQUE INDEX records_by_text ON records (kind, unique_text) WHERE unique_text IS NOT NULL;
INSERT INTO records VALUES (1, 'customer', 1, NULL, 'default', 1, unixepoch() * 1000000, '', unixepoch() * 1000000,
    '{"name":"default"}', NULL);
UPDATE sqlite_sequence SET seq = 100000 WHERE name = 'records';

CREATE TABLE tokens (
    hash       BLOB PRIMARY KEY,  -- SHA-256 of the token
    kind       INTEGER NOT NULL,  -- 0 access token, 1 session of the legacy API
    user       INTEGER NOT NULL,
    issued_at  INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX tokens_by_user ON tokens (user);
CREATE INDEX tokens_by_end ON tokens (expires_at);

CREATE TABLE audit (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    customer    INTEGER NOT NULL,
    at          INTEGER NOT NULL,
    login       TEXT NOT NULL,
    address     TEXT NOT NULL,
    via         TEXT NOT NULL,
    action      TEXT NOT NULL,
    object      TEXT NOT NULL,
    object_id   INTEGER,
    object_name TEXT NOT NULL,
    before      TEXT NOT NULL,    -- JSON, as `after`
    after       TEXT NOT NULL
);
CREATE INDEX audit_by_customer ON audit (customer, id);

-- Counts per account as well. Results of no known monitor count for account 0.
ALTER TABLE counts RENAME TO counts_before;
CREATE TABLE counts (
    minute      INTEGER NOT NULL, -- its start
    customer    INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    outcome     INTEGER NOT NULL,
    rows        INTEGER NOT NULL,
    PRIMARY KEY (minute, customer, location_id, outcome)
) WITHOUT ROWID;
INSERT INTO counts
    SELECT r.planned_at - (r.planned_at % 60000000 + 60000000) % 60000000 AS minute, ifnull(m.customer, 0),
        r.location_id, r.outcome, count(*)
    FROM results AS r LEFT JOIN monitors AS m ON m.id = r.monitor_id GROUP BY 1, 2, 3, 4;
DROP TABLE counts_before;

-- Every monitor and location that had a result. The mark of a monitor is the hash of its id that check ids
-- are made with, and can be undone: the id of a check leads to the few marks that it may be of. Filled from
-- `places` by the code of this step.
CREATE TABLE marks (
    location_id INTEGER NOT NULL,
    mark        INTEGER NOT NULL,
    PRIMARY KEY (location_id, mark)
) WITHOUT ROWID;

-- Files that a result holds, compressed, in pieces. They go with its details.
CREATE TABLE captures (
    id          INTEGER PRIMARY KEY,
    failed      INTEGER NOT NULL, -- as in `details`
    planned_at  INTEGER NOT NULL,
    monitor_id  INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    name        TEXT NOT NULL,
    piece       INTEGER NOT NULL, -- from 0
    body        BLOB NOT NULL
);
CREATE UNIQUE INDEX captures_by_result ON captures (failed, planned_at, monitor_id, location_id, name, piece);
