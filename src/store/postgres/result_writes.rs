//! Writes a batch of results: the result of a check takes the place of a missed run, any other repeat is dropped.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sqlx::PgConnection;

use crate::domain::Outcome;
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::result_row::ResultRow;
use crate::store::rows::usage_changes::{MonitorAttributes, UsageChanges};

use super::batch_columns::{ResultRowKey, insert_details, insert_rows, key_of};
use super::captures;
use super::error::PgResult;
use super::rollup::pending_rollups::StaleRollupMarker;
use super::{missed_runs, result_counts, usage};

/// Writes `rows`, which are ordered by their key, with details, captures, counts, usage and marks of stale rollups.
pub(super) async fn write_results(conn: &mut PgConnection, rows: &[ResultRow]) -> PgResult<()> {
    let (missed, real) = split_repeats(rows);
    let unrecorded = missed_runs::without_recorded_runs(conn, &missed).await?;
    missed_runs::widen_bounds(conn, &unrecorded).await?;
    let mut written = write_rows(conn, &unrecorded.iter().collect::<Vec<_>>()).await?;
    // Read after the bounds were widened, by this process or others.
    let replaced = missed_runs::remove_series_at(conn, &real).await?;
    written.extend(write_rows(conn, &real).await?);
    let parts: Vec<ResultRow> =
        replaced.iter().flat_map(|(series, recorded)| series.without(recorded)).collect();
    let stored_parts = write_rows(conn, &parts.iter().collect::<Vec<_>>()).await?;

    let attributes = monitor_attributes(conn, rows).await?;
    let (mut counts, mut usage) = (CountChanges::default(), UsageChanges::default());
    let missed_code = i64::from(Outcome::Missed.code());
    for (series, _) in &replaced {
        let customer = attributes_of(&attributes, series.monitor_id).customer;
        counts.add(series.planned_at, customer, series.location_id, missed_code, -1);
    }
    for row in parts.iter().filter(|row| stored_parts.contains(&key_of(row))) {
        let customer = attributes_of(&attributes, row.monitor_id).customer;
        counts.add(row.planned_at, customer, row.location_id, missed_code, 1);
    }
    let stored: Vec<&ResultRow> =
        unrecorded.iter().chain(real).filter(|row| written.contains(&key_of(row))).collect();
    for row in &stored {
        let attributes = attributes_of(&attributes, row.monitor_id);
        let outcome = i64::from(row.outcome.code());
        counts.add(row.planned_at, attributes.customer, row.location_id, outcome, 1);
        // Neither usage nor rollups count it.
        if !row.is_first_check {
            usage.add(row.planned_at, attributes, row.location_id, row.outcome);
        }
    }
    // Its lock comes before those of the counts, as where a verification is written: no deadlock arises.
    let rollup_marker = StaleRollupMarker::from_stored_bounds(conn).await?;
    result_counts::write_changes(conn, counts).await?;
    usage::write_changes(conn, usage).await?;
    let rolled_up_rows = stored.into_iter().filter(|row| !row.is_first_check);
    rollup_marker.mark_result_rows(conn, rolled_up_rows).await
}

/// Returns the missed runs, and the results of checks: of those with the same key the first one.
fn split_repeats(rows: &[ResultRow]) -> (Vec<&ResultRow>, Vec<&ResultRow>) {
    let (missed, mut real): (Vec<&ResultRow>, Vec<&ResultRow>) =
        rows.iter().partition(|row| row.outcome == Outcome::Missed);
    real.dedup_by_key(|row| key_of(row));
    (missed, real)
}

/// Inserts the rows whose keys are free, with details and captures; returns their keys.
async fn write_rows(conn: &mut PgConnection, rows: &[&ResultRow]) -> PgResult<HashSet<ResultRowKey>> {
    if rows.is_empty() {
        return Ok(HashSet::new());
    }
    let inserted = insert_rows(conn, rows).await?;
    let details: Vec<(bool, ResultRowKey, &str)> = rows
        .iter()
        .filter(|row| inserted.contains(&key_of(row)))
        .filter_map(|row| Some((row.is_stored_as_failed(), key_of(row), row.details_json.as_deref()?)))
        .collect();
    insert_details(conn, &details).await?;
    for row in rows.iter().filter(|row| !row.capture_chunks.is_empty() && inserted.contains(&key_of(row))) {
        captures::insert(conn, row.is_stored_as_failed(), key_of(row), &row.capture_chunks).await?;
    }
    Ok(inserted)
}

/// Returns what the counts need of the monitors of `rows`.
async fn monitor_attributes(
    conn: &mut PgConnection,
    rows: &[ResultRow],
) -> PgResult<HashMap<i64, MonitorAttributes>> {
    let ids: HashSet<i64> = rows.iter().map(|row| row.monitor_id).collect();
    let attributes: Vec<(i64, i64, Option<String>, Option<String>)> =
        sqlx::query_as("SELECT id, customer, billing_plancode, type FROM monitors WHERE id = ANY ($1)")
            .bind(ids.into_iter().collect::<Vec<_>>())
            .fetch_all(conn)
            .await?;
    let mut names: HashSet<Arc<str>> = HashSet::new();
    let mut intern = |name: Option<String>| {
        let name: Arc<str> = name.unwrap_or_default().into();
        if let Some(known) = names.get(&name) {
            return Arc::clone(known);
        }
        names.insert(Arc::clone(&name));
        name
    };
    Ok(attributes
        .into_iter()
        .map(|(id, customer, plan, monitor_type)| {
            (id, MonitorAttributes { customer, plan: intern(plan), monitor_type: intern(monitor_type) })
        })
        .collect())
}

fn attributes_of(attributes: &HashMap<i64, MonitorAttributes>, monitor: i64) -> &MonitorAttributes {
    static UNKNOWN: std::sync::LazyLock<MonitorAttributes> = std::sync::LazyLock::new(|| MonitorAttributes {
        customer: 0,
        plan: "".into(),
        monitor_type: "".into(),
    });
    attributes.get(&monitor).unwrap_or(&UNKNOWN)
}
