-- Rows of `results` by the minute they were planned in, so that nobody has to count millions of them.
CREATE TABLE counts (
    minute      INTEGER NOT NULL, -- its start
    location_id INTEGER NOT NULL,
    outcome     INTEGER NOT NULL,
    rows        INTEGER NOT NULL,
    PRIMARY KEY (minute, location_id, outcome)
) WITHOUT ROWID;
INSERT INTO counts
    SELECT planned_at - (planned_at % 60000000 + 60000000) % 60000000 AS minute, location_id, outcome, count(*)
    FROM results GROUP BY minute, location_id, outcome;
