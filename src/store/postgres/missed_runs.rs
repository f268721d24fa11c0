//! Series of missed runs in which results of checks take the place of single runs.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use sqlx::PgConnection;

use super::batch_columns::{ResultRowKey, key_columns, key_of};
use super::error::PgResult;
use super::store::PostgresStore;
use crate::domain::{LocationId, Timestamp};
use crate::store::contract::{MissedRunStore, PlannedRuns, StoreFuture};
use crate::store::rows::missed_runs::MissedColumns;
use crate::store::rows::missed_series_rows::MissedSeries;
use crate::store::rows::result_row::ResultRow;
use crate::store::rows::shared_text::SharedText;

/// Columns of a removed series: key, reason, number of runs, last planned time, revision, hash of the label, delay of
/// the detection, status.
type SeriesColumns = (i64, i64, i64, i64, i64, i64, i64, Vec<u8>, i64, i64);

/// A removed series of missed runs, and when those of its runs were planned that have results.
pub(super) type ReplacedSeries = (MissedSeries, Vec<RangeInclusive<i64>>);

/// Returns the rows that are left of the series `rows` without the runs that are recorded, in the database or by a row
/// before.
pub(super) async fn without_recorded_runs(
    conn: &mut PgConnection,
    rows: &[&ResultRow],
) -> PgResult<Vec<ResultRow>> {
    let series: Vec<MissedSeries> = rows.iter().filter_map(|row| MissedSeries::from_row(row)).collect();
    if series.is_empty() {
        return Ok(Vec::new());
    }
    let ranges =
        series.iter().map(|series| (series.monitor_id, series.location_id, series.planned_at_range()));
    let mut recorded = select_recorded_runs(conn, &ranges.collect::<Vec<_>>()).await?;
    let mut left = Vec::new();
    for (index, series) in series.iter().enumerate() {
        left.extend(series.without(recorded.get(index).map_or(&[], Vec::as_slice)));
        let own_runs = series.planned_at_range();
        let later = rows.iter().enumerate().skip(index + 1);
        for (later, _) in later
            .take_while(|(_, row)| row.planned_at <= *own_runs.end())
            .filter(|(_, row)| (row.monitor_id, row.location_id) == (series.monitor_id, series.location_id))
        {
            recorded[later].push(own_runs.clone());
        }
    }
    Ok(left)
}

/// Returns when recorded runs are planned, for each of `ranges` of a monitor at a location within it.
async fn select_recorded_runs(
    conn: &mut PgConnection,
    ranges: &[(i64, i64, RangeInclusive<i64>)],
) -> PgResult<Vec<Vec<RangeInclusive<i64>>>> {
    let keys =
        ranges.iter().map(|(monitor, location, planned_at)| (*planned_at.start(), *monitor, *location));
    let (first, monitors, locations) = key_columns(keys);
    let last: Vec<i64> = ranges.iter().map(|(_, _, planned_at)| *planned_at.end()).collect();
    let (from, until) = (first.iter().min().copied(), last.iter().max().copied());
    // A first check is none of the planned runs, unless it has the key of one.
    let rows: Vec<(i64, i64, i64)> = sqlx::query_as(
        "SELECT k.index, r.planned_at, coalesce(r.last_planned_at, r.planned_at)
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) WITH ORDINALITY
             AS k (first, monitor_id, location_id, last, index)
         JOIN results AS r ON r.monitor_id = k.monitor_id AND r.location_id = k.location_id
             AND r.planned_at <= k.last AND (NOT r.is_first_check OR r.planned_at = k.first)
             AND (r.planned_at >= k.first OR r.last_planned_at >= k.first)
         WHERE r.planned_at >= $5 - (SELECT longest_missed_us FROM result_bounds) AND r.planned_at <= $6",
    )
    .bind(first)
    .bind(monitors)
    .bind(locations)
    .bind(last)
    .bind(from)
    .bind(until)
    .fetch_all(conn)
    .await?;
    let mut recorded = vec![Vec::new(); ranges.len()];
    for (index, first, last) in rows {
        let of_range: Option<&mut Vec<_>> =
            usize::try_from(index - 1).ok().and_then(|index| recorded.get_mut(index));
        if let Some(of_range) = of_range {
            of_range.push(first..=last);
        }
    }
    Ok(recorded)
}

/// Notes how long the longest series of missed runs is and when the newest missed run was planned, before the series are
/// stored.
pub(super) async fn widen_bounds(conn: &mut PgConnection, missed: &[ResultRow]) -> PgResult<()> {
    let series = || missed.iter().filter_map(|row| Some((row.planned_at, row.missed?.last_planned_at)));
    let longest = series().map(|(first, last)| last.saturating_sub(first)).max();
    let Some((longest, newest)) = longest.zip(series().map(|(_, last)| last).max()) else { return Ok(()) };
    sqlx::query(
        "UPDATE result_bounds SET longest_missed_us = greatest(longest_missed_us, $1),
             newest_missed_at = greatest(newest_missed_at, $2)
         WHERE longest_missed_us < $1 OR newest_missed_at < $2",
    )
    .bind(longest)
    .bind(newest)
    .execute(conn)
    .await?;
    Ok(())
}

/// Removes and returns the series of missed runs that have runs of `rows`, the results of checks.
pub(super) async fn remove_series_at(
    conn: &mut PgConnection,
    rows: &[&ResultRow],
) -> PgResult<Vec<ReplacedSeries>> {
    let Some(oldest) = rows.iter().map(|row| row.planned_at).min() else { return Ok(Vec::new()) };
    let (newest_missed_at, longest_missed_us): (i64, i64) =
        sqlx::query_as("SELECT newest_missed_at, longest_missed_us FROM result_bounds")
            .fetch_one(&mut *conn)
            .await?;
    if oldest > newest_missed_at {
        return Ok(Vec::new());
    }
    let late: Vec<&ResultRow> =
        rows.iter().copied().filter(|row| row.planned_at <= newest_missed_at).collect();
    let newest = late.iter().map(|row| row.planned_at).max();
    let (planned_at, monitors, locations) = key_columns(late.iter().map(|row| key_of(row)));
    let is_first_check: Vec<bool> = late.iter().map(|row| row.is_first_check).collect();
    // A first check is none of the planned runs, unless it has the key of one.
    let removed: Vec<SeriesColumns> = sqlx::query_as(
        "DELETE FROM results AS r USING unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::boolean[])
             AS k (planned_at, monitor_id, location_id, is_first_check)
         WHERE r.monitor_id = k.monitor_id AND r.location_id = k.location_id
             AND r.last_planned_at >= k.planned_at AND r.planned_at <= k.planned_at
             AND (r.planned_at = k.planned_at OR NOT k.is_first_check)
             AND r.planned_at >= $5 AND r.planned_at <= $6
         RETURNING r.planned_at, r.monitor_id, r.location_id, coalesce(r.missed_reason, 0)::bigint,
             coalesce(r.missed_run_count, 1), coalesce(r.last_planned_at, 0), r.revision, r.label_hash,
             r.start_delay_us, r.status::bigint",
    )
    .bind(planned_at)
    .bind(monitors)
    .bind(locations)
    .bind(is_first_check)
    .bind(oldest.saturating_sub(longest_missed_us))
    .bind(newest)
    .fetch_all(&mut *conn)
    .await?;
    if removed.is_empty() {
        return Ok(Vec::new());
    }
    let mut details = remove_details(conn, &removed).await?;
    let mut late_by_pair: HashMap<(i64, i64), Vec<&ResultRow>> = HashMap::new();
    for row in late {
        late_by_pair.entry((row.monitor_id, row.location_id)).or_default().push(row);
    }
    let with_recorded_runs = |columns: SeriesColumns| {
        let details_json = details.remove(&(columns.0, columns.1, columns.2));
        let series = to_series(columns, details_json);
        let of_pair = late_by_pair.get(&(series.monitor_id, series.location_id)).into_iter().flatten();
        let of_series = of_pair.filter(|row| {
            series.planned_at_range().contains(&row.planned_at)
                && (!row.is_first_check || row.planned_at == series.planned_at)
        });
        let recorded = of_series.map(|row| row.planned_at..=row.planned_at).collect();
        (series, recorded)
    };
    Ok(removed.into_iter().map(with_recorded_runs).collect())
}

async fn remove_details(
    conn: &mut PgConnection,
    removed: &[SeriesColumns],
) -> PgResult<HashMap<ResultRowKey, String>> {
    let (planned_at, monitors, locations) = key_columns(removed.iter().map(|row| (row.0, row.1, row.2)));
    let details: Vec<(i64, i64, i64, String)> = sqlx::query_as(
        "DELETE FROM result_details AS d USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k (planned_at, monitor_id, location_id)
         WHERE d.is_failed AND d.planned_at = k.planned_at AND d.monitor_id = k.monitor_id
             AND d.location_id = k.location_id
         RETURNING d.planned_at, d.monitor_id, d.location_id, d.body",
    )
    .bind(planned_at)
    .bind(monitors)
    .bind(locations)
    .fetch_all(conn)
    .await?;
    Ok(details.into_iter().map(|(at, monitor, location, body)| ((at, monitor, location), body)).collect())
}

fn to_series(columns: SeriesColumns, details_json: Option<String>) -> MissedSeries {
    let (
        planned_at,
        monitor_id,
        location_id,
        reason,
        run_count,
        last_planned_at,
        revision,
        label,
        delay,
        status,
    ) = columns;
    let mut label_hash = [0; 16];
    label_hash.iter_mut().zip(label).for_each(|(to, from)| *to = from);
    MissedSeries {
        planned_at,
        monitor_id,
        location_id,
        missed: MissedColumns {
            reason_code: usize::try_from(reason).unwrap_or_default(),
            run_count: u32::try_from(run_count).unwrap_or(1),
            last_planned_at,
        },
        start_delay_us: delay,
        status: u16::try_from(status).unwrap_or_default(),
        revision,
        // Its text is stored.
        type_and_name: SharedText { hash: label_hash, text: String::new() },
        details_json,
    }
}

impl MissedRunStore for PostgresStore {
    fn missed_run_sweeps(&self) -> StoreFuture<'_, Vec<(LocationId, Timestamp)>> {
        Box::pin(self.read(|conn| {
            Box::pin(async move {
                let sweeps: Vec<(i64, i64)> =
                    sqlx::query_as("SELECT location_id, swept_until FROM missed_run_sweeps")
                        .fetch_all(conn)
                        .await?;
                let to_sweep = |(location, until)| (LocationId(location), Timestamp::from_micros(until));
                Ok(sweeps.into_iter().map(to_sweep).collect())
            })
        }))
    }

    fn set_missed_run_sweeps(&self, swept_until: Vec<(LocationId, Timestamp)>) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                let (locations, until): (Vec<i64>, Vec<i64>) =
                    swept_until.iter().map(|(location, until)| (location.0, until.as_micros())).unzip();
                sqlx::query(
                    "INSERT INTO missed_run_sweeps SELECT * FROM unnest($1::bigint[], $2::bigint[])
                     ON CONFLICT (location_id) DO UPDATE SET swept_until = excluded.swept_until",
                )
                .bind(locations)
                .bind(until)
                .execute(conn)
                .await?;
                Ok(())
            })
        }))
    }

    fn recorded_runs(&self, runs: Vec<PlannedRuns>) -> StoreFuture<'_, Vec<Vec<RangeInclusive<Timestamp>>>> {
        Box::pin(self.read(move |conn| {
            Box::pin(async move {
                let to_range = |runs: &PlannedRuns| {
                    let planned_at = runs.planned_at.start().as_micros()..=runs.planned_at.end().as_micros();
                    (runs.monitor_id.0, runs.location_id.0, planned_at)
                };
                let ranges: Vec<_> = runs.iter().map(to_range).collect();
                let recorded = select_recorded_runs(conn, &ranges).await?;
                let to_time = |micros: i64| Timestamp::from_micros(micros);
                let to_times = |runs: Vec<RangeInclusive<i64>>| {
                    runs.iter().map(|runs| to_time(*runs.start())..=to_time(*runs.end())).collect()
                };
                Ok(recorded.into_iter().map(to_times).collect())
            })
        }))
    }
}
