//! Writes a batch of results: a missed result is replaced by a real one, any other repeat is dropped.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sqlx::PgConnection;

use crate::domain::{Outcome, Phases};
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::result_row::{MissedColumns, ResultRow};
use crate::store::rows::shared_text::SharedText;
use crate::store::rows::usage_changes::{MonitorAttributes, UsageChanges};

use super::batch_columns::{ResultRowKey, insert_details, insert_rows, key_columns, key_of};
use super::captures;
use super::error::PgResult;
use super::rollup::pending_rollups::StaleRollupMarker;
use super::{result_counts, usage};

/// Writes `rows`, which are ordered by their key, with details, captures, counts, usage and marks of stale rollups.
pub(super) async fn write_results(conn: &mut PgConnection, rows: &[ResultRow]) -> PgResult<()> {
    let (missed, real) = split_repeats(rows);
    widen_missed_bounds(conn, &missed).await?;
    let mut written = write_rows(conn, &missed).await?;
    let inserted = write_rows(conn, &real).await?;
    let repeats: Vec<&ResultRow> =
        real.iter().copied().filter(|row| !inserted.contains(&key_of(row))).collect();
    written.extend(inserted);

    let attributes = monitor_attributes(conn, rows).await?;
    let (mut counts, mut usage) = (CountChanges::default(), UsageChanges::default());
    let replaced = replace_missed(conn, &repeats).await?;
    for series in &replaced {
        let attributes = attributes_of(&attributes, series.row.monitor_id);
        let missed_code = i64::from(Outcome::Missed.code());
        counts.add(series.row.planned_at, attributes.customer, series.row.location_id, missed_code, -1);
        if let Some(remaining) = &series.stored_remaining {
            counts.add(*remaining, attributes.customer, series.row.location_id, missed_code, 1);
        }
    }
    written.extend(replaced.iter().map(|series| key_of(series.row)));

    let stored: Vec<&ResultRow> =
        rows_of(&missed, &real).filter(|row| written.contains(&key_of(row))).collect();
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

/// Returns the missed and the real results to be written: of rows with the same key the first one of each, and no
/// missed one that follows a real one.
fn split_repeats(rows: &[ResultRow]) -> (Vec<&ResultRow>, Vec<&ResultRow>) {
    let (mut missed, mut real): (Vec<&ResultRow>, Vec<&ResultRow>) = (Vec::new(), Vec::new());
    for row in rows {
        let is_repeat_of = |last: Option<&&ResultRow>| last.is_some_and(|last| key_of(last) == key_of(row));
        if is_repeat_of(real.last()) {
            continue;
        }
        if row.outcome != Outcome::Missed {
            real.push(row);
        } else if !is_repeat_of(missed.last()) {
            missed.push(row);
        }
    }
    (missed, real)
}

/// Returns all rows, of a missed and a real one with the same key the real one only.
fn rows_of<'a>(missed: &[&'a ResultRow], real: &[&'a ResultRow]) -> impl Iterator<Item = &'a ResultRow> {
    let real_keys: HashSet<ResultRowKey> = real.iter().map(|row| key_of(row)).collect();
    let missed: Vec<_> = missed.iter().copied().filter(|row| !real_keys.contains(&key_of(row))).collect();
    missed.into_iter().chain(real.to_vec())
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

/// Notes how long the longest series of missed runs is, before it is stored.
async fn widen_missed_bounds(conn: &mut PgConnection, missed: &[&ResultRow]) -> PgResult<()> {
    let length = |row: &&ResultRow| Some(row.missed?.last_planned_at.saturating_sub(row.planned_at));
    let Some(longest) = missed.iter().filter_map(length).max() else { return Ok(()) };
    sqlx::query("UPDATE result_bounds SET longest_missed_us = $1 WHERE longest_missed_us < $1")
        .bind(longest)
        .execute(conn)
        .await?;
    Ok(())
}

/// A missed result that a real one replaced.
struct ReplacedSeries<'a> {
    /// The real result.
    row: &'a ResultRow,
    /// Planned time of the second run of the series, if it was stored as the first of the rest.
    stored_remaining: Option<i64>,
}

/// Columns of a removed series: key, reason, number of runs, last planned time, revision, hash of the label, delay of
/// the detection, status.
type MissedRow = (i64, i64, i64, i64, i64, i64, i64, Vec<u8>, i64, i64);

/// Replaces the missed results with the keys of `rows` by these; the rest of a series of missed runs stays.
async fn replace_missed<'a>(
    conn: &mut PgConnection,
    rows: &[&'a ResultRow],
) -> PgResult<Vec<ReplacedSeries<'a>>> {
    if rows.is_empty() {
        return Ok(Vec::new());
    }
    let (planned_at, monitors, locations) = key_columns(rows.iter().map(|row| key_of(row)));
    let removed: Vec<MissedRow> = sqlx::query_as(
        "DELETE FROM results AS r USING unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k (planned_at, monitor_id, location_id)
         WHERE r.planned_at = k.planned_at AND r.monitor_id = k.monitor_id AND r.location_id = k.location_id
             AND r.outcome = 4
         RETURNING r.planned_at, r.monitor_id, r.location_id, coalesce(r.missed_reason, 0)::bigint,
             coalesce(r.missed_run_count, 1), coalesce(r.last_planned_at, 0), r.revision, r.label_hash,
             r.start_delay_us, r.status::bigint",
    )
    .bind(planned_at)
    .bind(monitors)
    .bind(locations)
    .fetch_all(&mut *conn)
    .await?;
    if removed.is_empty() {
        return Ok(Vec::new());
    }
    let mut details = remove_details(conn, &removed).await?;
    let removed: HashMap<ResultRowKey, MissedRow> =
        removed.into_iter().map(|row| ((row.0, row.1, row.2), row)).collect();
    let replacing: Vec<&'a ResultRow> =
        rows.iter().copied().filter(|row| removed.contains_key(&key_of(row))).collect();
    write_rows(conn, &replacing).await?;
    let remaining: Vec<ResultRow> = removed
        .values()
        .filter_map(|row| remaining_series(row, details.remove(&(row.0, row.1, row.2))))
        .collect();
    let stored = write_rows(conn, &remaining.iter().collect::<Vec<_>>()).await?;
    let stored_remaining: HashMap<ResultRowKey, i64> = removed
        .iter()
        .filter_map(|(key, row)| {
            let (planned_at, _) = missed_columns(row).without_first(row.0)?;
            stored.contains(&(planned_at, row.1, row.2)).then_some((*key, planned_at))
        })
        .collect();
    Ok(replacing
        .into_iter()
        .map(|row| ReplacedSeries { row, stored_remaining: stored_remaining.get(&key_of(row)).copied() })
        .collect())
}

async fn remove_details(
    conn: &mut PgConnection,
    removed: &[MissedRow],
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

fn missed_columns(row: &MissedRow) -> MissedColumns {
    MissedColumns {
        reason_code: usize::try_from(row.3).unwrap_or_default(),
        run_count: u32::try_from(row.4).unwrap_or(1),
        last_planned_at: row.5,
    }
}

/// Returns the series from its second run on, if there is one.
fn remaining_series(row: &MissedRow, details_json: Option<String>) -> Option<ResultRow> {
    let (planned_at, missed) = missed_columns(row).without_first(row.0)?;
    let mut label_hash = [0; 16];
    label_hash.copy_from_slice(row.7.get(..16)?);
    Some(ResultRow {
        planned_at,
        monitor_id: row.1,
        location_id: row.2,
        outcome: Outcome::Missed,
        status: u16::try_from(row.9).unwrap_or_default(),
        warning_status: None,
        start_delay_us: row.8 - (planned_at - row.0),
        duration_us: 0,
        full_page_us: None,
        phases: Phases::default(),
        body_wire_bytes: None,
        body_bytes: None,
        address: None,
        revision: row.6,
        last_attempt_number: 0,
        // Its text is stored.
        type_and_name: SharedText { hash: label_hash, text: String::new() },
        shared_facts: None,
        certificate_chain: None,
        missed: Some(missed),
        is_first_check: false,
        details_json,
        capture_chunks: Vec::new(),
    })
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
