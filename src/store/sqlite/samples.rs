//! Reads results for statistics. First checks are none of the planned runs, and so left out.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{LocationId, LocationMeanDuration, MonitorId, Outcome, Sample, Timestamp};
use crate::store::contract::{SampleStore, StoreFuture};
use crate::store::rows::decode::RowLocator;

use super::store::SqliteStore;

impl SampleStore for SqliteStore {
    fn samples(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        until: Timestamp,
        max: u32,
    ) -> StoreFuture<'_, Vec<Sample>> {
        Box::pin(self.readers.call(move |conn| select_samples(conn, monitor, from, until, max)))
    }

    fn oldest_planned_at(&self, monitor: MonitorId) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.readers.call(move |conn| {
            let first: Option<i64> = conn
                .prepare_cached(
                    "SELECT planned_at FROM results INDEXED BY results_by_monitor
                     WHERE monitor_id = ?1 AND first_check IS NULL ORDER BY planned_at LIMIT 1",
                )?
                .query_row([monitor.0], |row| row.get(0))
                .optional()?;
            Ok(first.map(Timestamp::from_micros))
        }))
    }

    fn mean_durations(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        until: Timestamp,
    ) -> StoreFuture<'_, Vec<LocationMeanDuration>> {
        Box::pin(self.readers.call(move |conn| select_means(conn, monitor, from, until)))
    }
}

fn select_samples(
    conn: &Connection,
    monitor: MonitorId,
    from: Timestamp,
    until: Timestamp,
    max: u32,
) -> rusqlite::Result<Vec<Sample>> {
    conn.prepare_cached(
        "SELECT planned_at, location_id, outcome, total_us, missed_slots, page_us, suppressed
         FROM results INDEXED BY results_by_monitor
         WHERE monitor_id = ?1 AND planned_at >= ?2 AND planned_at < ?3 AND first_check IS NULL
         ORDER BY planned_at, location_id LIMIT ?4",
    )?
    .query_map(params![monitor.0, from.as_micros(), until.as_micros(), max], |row| {
        let (planned_at, location, outcome): (i64, i64, u8) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let key = [("planned_at", planned_at), ("monitor_id", monitor.0), ("location_id", location)];
        let locator = RowLocator { table: "results", key: &key };
        Ok(Sample {
            planned_at: Timestamp::from_micros(planned_at),
            location_id: LocationId(location),
            outcome: locator.require_decoded("outcome", outcome, Outcome::from_code(outcome))?,
            duration_us: row.get(3)?,
            covered_run_count: row.get::<_, Option<u32>>(4)?.unwrap_or(1),
            full_page_us: row.get(5)?,
            is_suppressed_by_dependency: row.get::<_, Option<bool>>(6)?.unwrap_or_default(),
        })
    })?
    .collect()
}

fn select_means(
    conn: &Connection,
    monitor: MonitorId,
    from: Timestamp,
    until: Timestamp,
) -> rusqlite::Result<Vec<LocationMeanDuration>> {
    let (ok, warning) = (Outcome::Ok.code(), Outcome::Warning.code());
    conn.prepare_cached(
        "SELECT location_id, count(*), sum(total_us) FROM results INDEXED BY results_by_monitor
         WHERE monitor_id = ?1 AND planned_at >= ?2 AND planned_at < ?3 AND outcome IN (?4, ?5)
             AND first_check IS NULL
         GROUP BY location_id ORDER BY location_id",
    )?
    .query_map(params![monitor.0, from.as_micros(), until.as_micros(), ok, warning], |row| {
        Ok(LocationMeanDuration {
            location_id: LocationId(row.get(0)?),
            check_count: row.get(1)?,
            sum_us: row.get(2)?,
        })
    })?
    .collect()
}
