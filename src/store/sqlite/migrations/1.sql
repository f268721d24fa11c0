-- Times are microseconds since 1970-01-01T00:00:00Z, durations microseconds.

CREATE TABLE monitors (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    customer    INTEGER NOT NULL,
    key         TEXT,             -- of a monitor file; NULL when an API call made it
    type        TEXT,             -- NULL, as what follows: the id is given away, the monitor not yet stored
    revision    INTEGER,
    modified_at INTEGER,
    removed_at  INTEGER,
    document    TEXT
);
CREATE UNIQUE INDEX monitors_by_key ON monitors (customer, key) WHERE key IS NOT NULL;

-- Texts that many results have in common: names, facts without the certificates, certificate chains.
CREATE TABLE shared (
    id        INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: rows may outlive what they name
    hash      BLOB NOT NULL UNIQUE, -- first 16 bytes of the SHA-256 of the text
    last_used INTEGER NOT NULL,     -- at most a day behind
    text      TEXT NOT NULL
);

-- One narrow row a check. The run and check ids follow from monitor, time and location, so they take
-- no space and need no index. Clustered by time: new rows land side by side, old ones go page by page.
CREATE TABLE results (
    planned_at      INTEGER NOT NULL,
    monitor_id      INTEGER NOT NULL,
    location_id     INTEGER NOT NULL,
    outcome         INTEGER NOT NULL,
    status          INTEGER NOT NULL,
    warning_status  INTEGER,
    started_after   INTEGER NOT NULL, -- actual start less planned_at
    total_us        INTEGER NOT NULL,
    prepare_us      INTEGER,
    resolve_us      INTEGER,
    connect_us      INTEGER,
    tls_us          INTEGER,
    send_us         INTEGER,
    first_byte_us   INTEGER,
    transfer_us     INTEGER,
    validate_us     INTEGER,
    body_wire_bytes INTEGER,
    body_bytes      INTEGER,
    address         BLOB,             -- 4 or 16 bytes of address, 2 of port
    revision        INTEGER NOT NULL,
    attempts        INTEGER NOT NULL,
    label           INTEGER NOT NULL, -- shared: type, a space, name
    facts           INTEGER,          -- shared: those that stay the same from run to run
    chain           INTEGER,          -- shared: certificates
    missed_reason   INTEGER,          -- this and what follows: of runs that did not happen
    missed_slots    INTEGER,
    last_planned_at INTEGER,
    PRIMARY KEY (planned_at, monitor_id, location_id)
) WITHOUT ROWID;
CREATE INDEX results_by_monitor ON results (monitor_id, planned_at);
CREATE INDEX results_not_ok ON results (outcome, planned_at) WHERE outcome <> 0;
CREATE INDEX results_missed ON results (last_planned_at) WHERE last_planned_at IS NOT NULL;
CREATE INDEX results_missed_of ON results (monitor_id, last_planned_at) WHERE last_planned_at IS NOT NULL;

-- Every monitor and location that had a result: with them a check id can be undone to its time.
CREATE TABLE places (
    monitor_id  INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    PRIMARY KEY (monitor_id, location_id)
) WITHOUT ROWID;

-- What the narrow row does not hold, as JSON. `failed` comes first, so that the details of ok results
-- can go earlier as one range.
CREATE TABLE details (
    failed      INTEGER NOT NULL,
    planned_at  INTEGER NOT NULL,
    monitor_id  INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    body        TEXT NOT NULL,
    PRIMARY KEY (failed, planned_at, monitor_id, location_id)
) WITHOUT ROWID;

CREATE TABLE states (
    monitor_id  INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    check_id    INTEGER NOT NULL,
    planned_at  INTEGER NOT NULL,
    outcome     INTEGER NOT NULL,
    status      INTEGER NOT NULL,
    total_us    INTEGER NOT NULL,
    since       INTEGER NOT NULL,
    streak      INTEGER NOT NULL,
    PRIMARY KEY (monitor_id, location_id)
) WITHOUT ROWID;

CREATE TABLE outbox (
    key        TEXT PRIMARY KEY,
    topic      TEXT NOT NULL,
    payload    TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE rollups (
    span        INTEGER NOT NULL, -- 0 hour, 1 day
    start       INTEGER NOT NULL,
    monitor_id  INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    ok          INTEGER NOT NULL,
    warning     INTEGER NOT NULL,
    error       INTEGER NOT NULL,
    unknown     INTEGER NOT NULL,
    missed      INTEGER NOT NULL,
    blackout    INTEGER NOT NULL,
    sum_us      INTEGER NOT NULL, -- of ok and warning
    sketch      BLOB,             -- of the same; NULL without one
    PRIMARY KEY (span, start, monitor_id, location_id)
) WITHOUT ROWID;
CREATE INDEX rollups_by_monitor ON rollups (span, monitor_id, start);

-- Rollups that were written and whose results changed since.
CREATE TABLE late (
    span        INTEGER NOT NULL,
    start       INTEGER NOT NULL,
    monitor_id  INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    PRIMARY KEY (span, start, monitor_id, location_id)
) WITHOUT ROWID;

-- How far each span is rolled up, and since when what it is made of is complete.
CREATE TABLE spans (
    span         INTEGER PRIMARY KEY,
    rolled_until INTEGER NOT NULL,
    sources_from INTEGER NOT NULL
);
INSERT INTO spans VALUES (0, -9223372036854775808, -9223372036854775808), (1, -9223372036854775808, -9223372036854775808);
