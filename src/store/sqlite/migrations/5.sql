-- Performance alerts that are raised.

CREATE TABLE raised (
    alert       INTEGER NOT NULL,
    location_id INTEGER NOT NULL,
    body        TEXT NOT NULL,    -- JSON: since when, and who was told
    PRIMARY KEY (alert, location_id)
) WITHOUT ROWID;
