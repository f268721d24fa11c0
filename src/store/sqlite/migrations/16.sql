-- What hosts report, and pushes.

CREATE TABLE host_states (
    host_id         INTEGER PRIMARY KEY,
    sequence        INTEGER NOT NULL,
    measured_at     INTEGER NOT NULL,
    received_at     INTEGER NOT NULL,
    agent_version   TEXT NOT NULL,
    system          TEXT NOT NULL,
    interval_s      INTEGER NOT NULL,
    reported_values TEXT NOT NULL    -- a line each: the value, a space, the series
);

CREATE TABLE host_layouts (
    host_id   INTEGER NOT NULL,
    layout    INTEGER NOT NULL,          -- start of the SHA-256 of the series
    last_used INTEGER NOT NULL,          -- the day, in microseconds
    series    TEXT NOT NULL,         -- a line each, sorted
    PRIMARY KEY (host_id, layout)
) WITHOUT ROWID;

CREATE TABLE host_history (
    host_id  INTEGER NOT NULL,
    span     INTEGER NOT NULL,           -- 0 a report, 1 a block of at least five minutes, 2 an hour
    position INTEGER NOT NULL,           -- number of the report, or start of the span
    start    INTEGER NOT NULL,           -- when it was measured, or start of the span
    layout   INTEGER NOT NULL,
    packed   BLOB NOT NULL,           -- two bytes a value
    PRIMARY KEY (host_id, span, position)
) WITHOUT ROWID;

CREATE TABLE host_rollups_due (
    host_id INTEGER NOT NULL,
    span    INTEGER NOT NULL,            -- 1 or 2
    start   INTEGER NOT NULL,
    length  INTEGER NOT NULL,
    PRIMARY KEY (host_id, span, start)
) WITHOUT ROWID;

CREATE TABLE push_states (
    monitor_id       INTEGER PRIMARY KEY,
    customer         INTEGER NOT NULL,
    token_hash       BLOB UNIQUE,     -- SHA-256; none once it was taken away
    token_created_at INTEGER,
    started_at       INTEGER,            -- of the job that runs
    received_at      INTEGER,
    status           INTEGER,            -- 0 up, 1 down
    message          TEXT,
    duration_us      INTEGER,
    exit_code        INTEGER,
    output           TEXT
);
