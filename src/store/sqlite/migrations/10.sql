-- How many checks ran, by day (UTC), for the usage report. The plan and the type are those at the time of the check.

CREATE TABLE usage (
    day         INTEGER NOT NULL, -- its start
    customer    INTEGER NOT NULL,
    plan        TEXT NOT NULL,
    type        TEXT NOT NULL,
    location_id INTEGER NOT NULL,
    checks      INTEGER NOT NULL,
    PRIMARY KEY (customer, day, plan, type, location_id)
) WITHOUT ROWID;

-- What ran before counts under the plan that its monitor has now.
INSERT INTO usage
    SELECT start - (start % 86400000000 + 86400000000) % 86400000000, m.customer,
        ifnull(CASE WHEN json_valid(m.document) THEN json_extract(m.document, '$.billing_plancode') END, ''), ifnull(m.type, ''), location_id, sum(checks)
    FROM (
        SELECT start, monitor_id, location_id, ok + warning + error + unknown AS checks FROM rollups WHERE span = 1
        UNION ALL
        SELECT start, monitor_id, location_id, ok + warning + error + unknown FROM rollups
            WHERE span = 0 AND start >= (SELECT rolled_until FROM spans WHERE span = 1)
        UNION ALL
        SELECT planned_at, monitor_id, location_id, 1 FROM results
            WHERE outcome < 4 AND planned_at >= (SELECT rolled_until FROM spans WHERE span = 0)
    ) AS checked JOIN monitors AS m ON m.id = checked.monitor_id
    GROUP BY 1, 2, 3, 4, 5 HAVING sum(checks) > 0;
