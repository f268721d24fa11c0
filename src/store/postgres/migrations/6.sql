-- What hosts report, and pushes.

CREATE TABLE host_states (
    host_id         BIGINT PRIMARY KEY,
    sequence        BIGINT NOT NULL,
    measured_at     BIGINT NOT NULL,
    received_at     BIGINT NOT NULL,
    agent_version   TEXT NOT NULL,
    system          TEXT NOT NULL,
    interval_s      BIGINT NOT NULL,
    reported_values TEXT NOT NULL    -- a line each: the value, a space, the series
);

CREATE TABLE host_layouts (
    host_id   BIGINT NOT NULL,
    layout    BIGINT NOT NULL,          -- start of the SHA-256 of the series
    last_used BIGINT NOT NULL,          -- the day, in microseconds
    series    TEXT NOT NULL,         -- a line each, sorted
    PRIMARY KEY (host_id, layout)
);

CREATE TABLE host_history (
    host_id  BIGINT NOT NULL,
    span     SMALLINT NOT NULL,           -- 0 a report, 1 a block of at least five minutes, 2 an hour
    position BIGINT NOT NULL,           -- number of the report, or start of the span
    start    BIGINT NOT NULL,           -- when it was measured, or start of the span
    layout   BIGINT NOT NULL,
    packed   BYTEA NOT NULL,           -- two bytes a value
    PRIMARY KEY (host_id, span, position)
);

CREATE TABLE host_rollups_due (
    host_id BIGINT NOT NULL,
    span    SMALLINT NOT NULL,            -- 1 or 2
    start   BIGINT NOT NULL,
    length  BIGINT NOT NULL,
    PRIMARY KEY (host_id, span, start)
);

CREATE TABLE push_states (
    monitor_id       BIGINT PRIMARY KEY,
    customer         BIGINT NOT NULL,
    token_hash       BYTEA UNIQUE,     -- SHA-256; none once it was taken away
    token_created_at BIGINT,
    started_at       BIGINT,            -- of the job that runs
    received_at      BIGINT,
    status           SMALLINT,            -- 0 up, 1 down
    message          TEXT,
    duration_us      BIGINT,
    exit_code        BIGINT,
    output           TEXT
);
