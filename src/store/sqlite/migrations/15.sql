-- Runs at locations whose agents are on other hosts are recorded as missed by the control plane.

CREATE TABLE missed_run_sweeps (
    location_id INTEGER PRIMARY KEY,
    swept_until INTEGER NOT NULL -- missed runs that had to start until then are recorded
);
