-- Runs at locations whose agents are on other hosts are recorded as missed by the control plane.

-- Planned time of the newest missed run: only results that are not newer may take the place of one.
ALTER TABLE result_bounds ADD COLUMN newest_missed_at BIGINT NOT NULL DEFAULT 0;
UPDATE result_bounds SET newest_missed_at = coalesce((
    SELECT max(last_planned_at) FROM results WHERE last_planned_at IS NOT NULL), 0);

CREATE TABLE missed_run_sweeps (
    location_id BIGINT PRIMARY KEY,
    swept_until BIGINT NOT NULL -- missed runs that had to start until then are recorded
);
