-- What alerting keeps: watches of monitors, outages, and the messages that somebody is owed.

DROP TABLE outbox; -- nothing ever wrote to it

CREATE TABLE watches (
    monitor_id INTEGER PRIMARY KEY,
    body       TEXT NOT NULL     -- JSON
);

CREATE TABLE episodes (
    id              INTEGER PRIMARY KEY, -- follows from the monitor and its first failing run
    customer        INTEGER NOT NULL,
    monitor_id      INTEGER NOT NULL,
    monitor_name    TEXT NOT NULL,
    since           INTEGER NOT NULL,
    ended_at        INTEGER,
    acknowledged_by TEXT NOT NULL,
    acknowledged_at INTEGER,
    body            TEXT NOT NULL        -- JSON
);
CREATE INDEX episodes_by_customer ON episodes (customer, since);
CREATE INDEX episodes_by_monitor ON episodes (monitor_id, since);
CREATE INDEX episodes_open ON episodes (customer, since) WHERE ended_at IS NULL;
CREATE INDEX episodes_by_end ON episodes (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE notifications (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT NOT NULL UNIQUE, -- a repeat of the same news makes the same key and is dropped
    customer   INTEGER NOT NULL,
    recipient  INTEGER NOT NULL,
    group_id   INTEGER,              -- the group whose templates apply
    monitor_id INTEGER,
    episode    INTEGER,
    check_id   INTEGER,
    created_at INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    state      INTEGER NOT NULL,     -- 0 pending, 1 held, 2 sent, 3 digested, 4 dead
    attempts   INTEGER NOT NULL,
    next_at    INTEGER NOT NULL,
    sent_at    INTEGER,
    error      TEXT NOT NULL,
    digest     INTEGER,
    notice     TEXT NOT NULL         -- JSON
);
CREATE INDEX notifications_due ON notifications (next_at) WHERE state = 0;
-- In the order in which they were written: the one that is tried again goes before those behind it.
CREATE INDEX notifications_of_recipient ON notifications (recipient, id, next_at) WHERE state = 0;
CREATE INDEX notifications_waiting ON notifications (check_id) WHERE state = 0 AND attempts = 0;
CREATE INDEX notifications_held ON notifications (recipient) WHERE state = 1;
CREATE INDEX notifications_ended ON notifications (created_at) WHERE state >= 2;
CREATE INDEX notifications_by_customer ON notifications (customer, state);
CREATE INDEX notifications_by_monitor ON notifications (monitor_id) WHERE monitor_id IS NOT NULL;
CREATE INDEX notifications_by_episode ON notifications (episode) WHERE episode IS NOT NULL;
