//! Reads results for statistics. First checks are none of the planned runs, and so left out.

use sqlx::PgConnection;

use crate::domain::{LocationId, LocationMeanDuration, MonitorId, Outcome, Sample, Timestamp};
use crate::store::contract::{SampleStore, StoreFuture};
use crate::store::rows::decode::RowLocator;

use super::error::PgResult;
use super::store::PostgresStore;

impl SampleStore for PostgresStore {
    fn samples(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        until: Timestamp,
        max: u32,
    ) -> StoreFuture<'_, Vec<Sample>> {
        Box::pin(self.read(move |conn| Box::pin(select_samples(conn, monitor, from, until, max))))
    }

    fn oldest_planned_at(&self, monitor: MonitorId) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.read(move |conn| {
            Box::pin(async move {
                let first: Option<i64> = sqlx::query_scalar(
                    "SELECT planned_at FROM results WHERE monitor_id = $1 AND NOT is_first_check
                     ORDER BY planned_at LIMIT 1",
                )
                .bind(monitor.0)
                .fetch_optional(conn)
                .await?;
                Ok(first.map(Timestamp::from_micros))
            })
        }))
    }

    fn mean_durations(
        &self,
        monitor: MonitorId,
        from: Timestamp,
        until: Timestamp,
    ) -> StoreFuture<'_, Vec<LocationMeanDuration>> {
        Box::pin(self.read(move |conn| Box::pin(select_means(conn, monitor, from, until))))
    }
}

/// Planned time, location, outcome, duration, number of missed runs, duration of the full page, whether it is
/// suppressed.
type SampleRow = (i64, i64, i64, i64, Option<i64>, Option<i64>, bool);

async fn select_samples(
    conn: &mut PgConnection,
    monitor: MonitorId,
    from: Timestamp,
    until: Timestamp,
    max: u32,
) -> PgResult<Vec<Sample>> {
    let rows: Vec<SampleRow> = sqlx::query_as(
        "SELECT planned_at, location_id, outcome::bigint, duration_us, missed_run_count, full_page_us, is_suppressed
         FROM results WHERE monitor_id = $1 AND planned_at >= $2 AND planned_at < $3 AND NOT is_first_check
         ORDER BY planned_at, location_id LIMIT $4",
    )
    .bind(monitor.0)
    .bind(from.as_micros())
    .bind(until.as_micros())
    .bind(i64::from(max))
    .fetch_all(conn)
    .await?;
    rows.into_iter().map(|row| Ok(sample_from_row(monitor, row)?)).collect()
}

fn sample_from_row(
    monitor: MonitorId,
    (planned_at, location, outcome, duration_us, missed_runs, full_page_us, is_suppressed): SampleRow,
) -> Result<Sample, crate::store::rows::decode::DecodeError> {
    let key = [("planned_at", planned_at), ("monitor_id", monitor.0), ("location_id", location)];
    let locator = RowLocator { table: "results", key: &key };
    let decoded = u8::try_from(outcome).ok().and_then(Outcome::from_code);
    Ok(Sample {
        planned_at: Timestamp::from_micros(planned_at),
        location_id: LocationId(location),
        outcome: locator.require_decoded("outcome", outcome, decoded)?,
        duration_us: duration_us.unsigned_abs(),
        covered_run_count: missed_runs.and_then(|runs| u32::try_from(runs).ok()).unwrap_or(1),
        full_page_us: full_page_us.map(i64::unsigned_abs),
        is_suppressed_by_dependency: is_suppressed,
    })
}

async fn select_means(
    conn: &mut PgConnection,
    monitor: MonitorId,
    from: Timestamp,
    until: Timestamp,
) -> PgResult<Vec<LocationMeanDuration>> {
    let passed_codes = [Outcome::Ok, Outcome::Warning].map(|outcome| i64::from(outcome.code()));
    let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
        "SELECT location_id, count(*), sum(duration_us)::bigint FROM results
         WHERE monitor_id = $1 AND planned_at >= $2 AND planned_at < $3 AND outcome = ANY ($4)
             AND NOT is_first_check
         GROUP BY location_id ORDER BY location_id",
    )
    .bind(monitor.0)
    .bind(from.as_micros())
    .bind(until.as_micros())
    .bind(passed_codes.to_vec())
    .fetch_all(conn)
    .await?;
    let to_mean = |(location, check_count, sum_us): (i64, i64, i64)| LocationMeanDuration {
        location_id: LocationId(location),
        check_count: check_count.unsigned_abs(),
        sum_us: sum_us.unsigned_abs(),
    };
    Ok(rows.into_iter().map(to_mean).collect())
}
