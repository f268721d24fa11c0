//! Writes results, states and alerting changes.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{Outcome, Timestamp};
use crate::store::contract::MonitorLocationState;

use super::alerts::prepared_alerts;
use super::rollup::pending_rollups;
use super::store::SqliteStore;
use super::write_cache::WriteCache;
use super::writer::WriteContext;
use super::{captures, result_counts, usage};
use crate::store::contract::{Ingest, IngestBatch, StoreFuture};
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::prepared_batch::PreparedBatch;
use crate::store::rows::result_row::{MissedColumns, ResultRow, saturating_i64};
use crate::store::rows::usage_changes::UsageChanges;

const INSERT_RESULT: &str = "
    INSERT INTO results (planned_at, monitor_id, location_id, outcome, status, warning_status, started_after,
        total_us, prepare_us, resolve_us, connect_us, tls_us, send_us, first_byte_us, transfer_us, validate_us,
        body_wire_bytes, body_bytes, address, revision, attempts, label, facts, chain,
        missed_reason, missed_slots, last_planned_at, session, page_us, first_check)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
        ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30)
    ON CONFLICT DO NOTHING";

/// The code of [`crate::domain::Outcome::Missed`] in SQL statements.
const MISSED_CODE: i64 = 4;

/// Writes results with counts, usage and marks of stale rollups, then states and alerting changes.
fn write_batch(batch: &PreparedBatch, context: &mut WriteContext<'_>) -> rusqlite::Result<()> {
    let rollup_marker = pending_rollups::StaleRollupMarker::from_stored_bounds(context.conn)?;
    let (mut count_changes, mut usage_changes) = (CountChanges::default(), UsageChanges::default());
    for row in &batch.rows {
        if upsert_result(context, row, &mut count_changes)? {
            // Neither usage nor rollups count it.
            if row.is_first_check {
                continue;
            }
            let attributes = context.cache.cached_attributes(context.conn, row.monitor_id)?;
            usage_changes.add(row.planned_at, &attributes, row.location_id, row.outcome);
            rollup_marker.mark_result_row(context.conn, row)?;
        }
    }
    result_counts::write_changes(context.conn, count_changes)?;
    usage::write_changes(context.conn, usage_changes)?;
    for state in &batch.location_states {
        upsert_state(context.conn, state)?;
    }
    prepared_alerts::write(&batch.alert_changes, context)
}

/// Inserts a result, or replaces a missed one; returns whether anything changed.
fn upsert_result(
    context: &mut WriteContext<'_>,
    row: &ResultRow,
    count_changes: &mut CountChanges,
) -> rusqlite::Result<bool> {
    let outcome = i64::from(row.outcome.code());
    let customer = context.cache.cached_customer(context.conn, row.monitor_id)?;
    if insert_result(context, row)? {
        count_changes.add(row.planned_at, customer, row.location_id, outcome, 1);
        return Ok(true);
    }
    if row.outcome == Outcome::Missed {
        return Ok(false);
    }
    let Some(missed_series) = delete_missed(context.conn, row)? else { return Ok(false) };
    insert_result(context, row)?;
    count_changes.add(row.planned_at, customer, row.location_id, MISSED_CODE, -1);
    count_changes.add(row.planned_at, customer, row.location_id, outcome, 1);
    if let Some(remaining) = missed_series.without_first(row.planned_at)
        && insert_remaining_series(context.conn, row, &remaining)?
    {
        count_changes.add(remaining.0, customer, row.location_id, MISSED_CODE, 1);
    }
    Ok(true)
}

/// Inserts a result with its details and captures, unless its key exists; returns whether it did.
fn insert_result(context: &mut WriteContext<'_>, row: &ResultRow) -> rusqlite::Result<bool> {
    let WriteContext { conn, cache } = context;
    let shared_text_id = |cache: &mut WriteCache, text| cache.ensure_text(conn, text, row.planned_at);
    let type_and_name_id = shared_text_id(cache, &row.type_and_name)?;
    let facts_id = row.shared_facts.as_ref().map(|text| shared_text_id(cache, text)).transpose()?;
    let chain_id = row.certificate_chain.as_ref().map(|text| shared_text_id(cache, text)).transpose()?;
    cache.ensure_monitor_location(conn, row.monitor_id, row.location_id)?;
    let [prepare, resolve, connect, tls, send, first_byte, transfer, validate] = row.phase_columns();
    let inserted = conn.prepare_cached(INSERT_RESULT)?.execute(params![
        row.planned_at,
        row.monitor_id,
        row.location_id,
        row.outcome.code(),
        row.status,
        row.warning_status,
        row.start_delay_us,
        row.duration_us,
        prepare,
        resolve,
        connect,
        tls,
        send,
        first_byte,
        transfer,
        validate,
        row.body_wire_bytes,
        row.body_bytes,
        row.address,
        row.revision,
        row.last_attempt_number,
        type_and_name_id,
        facts_id,
        chain_id,
        row.missed.map(|missed| missed.reason_code),
        row.missed.map(|missed| missed.run_count),
        row.missed.map(|missed| missed.last_planned_at),
        row.uncommon_phases_json(),
        row.full_page_us,
        row.is_first_check.then_some(true),
    ])?;
    if inserted == 1
        && let Some(details) = &row.details_json
    {
        conn.prepare_cached("INSERT INTO details VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            row.is_stored_as_failed(),
            row.planned_at,
            row.monitor_id,
            row.location_id,
            details
        ])?;
    }
    if inserted == 1 && !row.capture_chunks.is_empty() {
        let key = (row.planned_at, row.monitor_id, row.location_id);
        captures::insert(conn, row.is_stored_as_failed(), key, &row.capture_chunks)?;
    }
    Ok(inserted == 1)
}

/// A series of missed runs whose first one a real result replaces.
struct MissedSeries {
    missed: MissedColumns,
    revision: i64,
    type_and_name_id: i64,
    details_json: Option<String>,
    /// Time from the first planned run until the runs were recorded as missed, in microseconds.
    detected_after_us: i64,
    status: u16,
}

/// Removes the missed runs with the key of `row`; `None` when the stored result is not a missed one.
fn delete_missed(conn: &Connection, row: &ResultRow) -> rusqlite::Result<Option<MissedSeries>> {
    let key = params![row.planned_at, row.monitor_id, row.location_id];
    let series = conn
        .prepare_cached(
            "DELETE FROM results
             WHERE planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3 AND outcome = 4
             RETURNING missed_reason, missed_slots, last_planned_at, revision, label, started_after, status",
        )?
        .query_row(key, |row| {
            Ok(MissedSeries {
                missed: MissedColumns {
                    reason_code: row.get::<_, Option<usize>>(0)?.unwrap_or_default(),
                    run_count: row.get::<_, Option<u32>>(1)?.unwrap_or(1),
                    last_planned_at: row.get::<_, Option<i64>>(2)?.unwrap_or_default(),
                },
                revision: row.get(3)?,
                type_and_name_id: row.get(4)?,
                detected_after_us: row.get(5)?,
                status: row.get(6)?,
                details_json: None,
            })
        })
        .optional()?;
    let Some(mut series) = series else { return Ok(None) };
    series.details_json = conn
        .prepare_cached(
            "DELETE FROM details
             WHERE failed = 1 AND planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3 RETURNING body",
        )?
        .query_row(key, |row| row.get(0))
        .optional()?;
    Ok(Some(series))
}

impl MissedSeries {
    /// Returns the planned time of the second run, and the series from it on, if there is one.
    fn without_first(mut self, first_planned_at: i64) -> Option<(i64, Self)> {
        let (planned_at, missed) = self.missed.without_first(first_planned_at)?;
        self.missed = missed;
        self.detected_after_us -= planned_at - first_planned_at;
        Some((planned_at, self))
    }
}

/// Inserts the rest of a series, for monitor and location of `row`; returns whether its key was free.
fn insert_remaining_series(
    conn: &Connection,
    row: &ResultRow,
    (planned_at, remaining): &(i64, MissedSeries),
) -> rusqlite::Result<bool> {
    let inserted = conn
        .prepare_cached(
            "INSERT INTO results (planned_at, monitor_id, location_id, outcome, status, started_after, total_us,
                 revision, attempts, label, missed_reason, missed_slots, last_planned_at)
             VALUES (?1, ?2, ?3, 4, ?10, ?4, 0, ?5, 0, ?6, ?7, ?8, ?9) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            planned_at,
            row.monitor_id,
            row.location_id,
            remaining.detected_after_us,
            remaining.revision,
            remaining.type_and_name_id,
            remaining.missed.reason_code,
            remaining.missed.run_count,
            remaining.missed.last_planned_at,
            remaining.status
        ])?;
    if let (1, Some(details)) = (inserted, &remaining.details_json) {
        conn.prepare_cached("INSERT OR REPLACE INTO details VALUES (1, ?1, ?2, ?3, ?4)")?
            .execute(params![planned_at, row.monitor_id, row.location_id, details])?;
    }
    Ok(inserted == 1)
}

fn upsert_state(conn: &Connection, state: &MonitorLocationState) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO states VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
         ON CONFLICT DO UPDATE SET check_id = ?3, planned_at = ?4, outcome = ?5, status = ?6, total_us = ?7,
             since = ?8, streak = ?9, full_page_at = ?10, first_check = ?11, slot_at = ?12",
    )?
    .execute(params![
        state.monitor_id.0,
        state.location_id.0,
        state.check_id.0.cast_signed(),
        state.planned_at.as_micros(),
        state.outcome.code(),
        state.status.0,
        saturating_i64(state.duration_us),
        state.streak_started_at.as_micros(),
        state.streak,
        state.last_full_page_at.map(Timestamp::as_micros),
        state.last_was_first_check().then_some(true),
        state.last_slot_at.filter(|_| state.last_was_first_check()).map(Timestamp::as_micros)
    ])?;
    Ok(())
}

impl Ingest for SqliteStore {
    fn commit_shared(&self, batch: Arc<IngestBatch>) -> StoreFuture<'_, ()> {
        Box::pin(async move {
            let prepared = PreparedBatch::prepare(batch).await?;
            self.writer.call(move |context| write_batch(&prepared, context)).await
        })
    }
}
