//! Writes results, states and alerting changes.

use std::sync::Arc;

use rusqlite::{Connection, params};

use crate::domain::Timestamp;
use crate::store::contract::MonitorLocationState;

use super::alerts::prepared_alerts;
use super::rollup::pending_rollups;
use super::store::SqliteStore;
use super::write_cache::WriteCache;
use super::writer::WriteContext;
use super::{captures, missed_runs, result_counts, usage};
use crate::store::contract::{Ingest, IngestBatch, StoreFuture};
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::missed_series_rows::MissedSeries;
use crate::store::rows::prepared_batch::PreparedBatch;
use crate::store::rows::result_row::{ResultRow, saturating_i64};
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
    let mut newest_missed_at = missed_runs::newest_missed_at(context.conn)?;
    for row in &batch.rows {
        if upsert_result(context, row, &mut count_changes, &mut newest_missed_at)? {
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

/// Inserts a result whose key is free; returns whether anything changed. Missed runs are inserted without those that are
/// recorded, and the result of a check takes the place of a run that is recorded as missed until `newest_missed_at`,
/// which it keeps.
fn upsert_result(
    context: &mut WriteContext<'_>,
    row: &ResultRow,
    count_changes: &mut CountChanges,
    newest_missed_at: &mut i64,
) -> rusqlite::Result<bool> {
    let customer = context.cache.cached_customer(context.conn, row.monitor_id)?;
    if let Some(series) = MissedSeries::from_row(row) {
        *newest_missed_at = series.missed.last_planned_at.max(*newest_missed_at);
        let pair = (series.monitor_id, series.location_id);
        let recorded = missed_runs::select_recorded_runs(context.conn, pair, &series.planned_at_range())?;
        let mut changed = false;
        for part in series.without(&recorded) {
            changed |= insert_counted(context, &part, customer, count_changes)?;
        }
        return Ok(changed);
    }
    let replaced = if row.planned_at <= *newest_missed_at {
        missed_runs::remove_series_at(context.conn, row)?
    } else {
        None
    };
    let is_new = insert_counted(context, row, customer, count_changes)?;
    if let Some(series) = replaced {
        count_changes.add(series.planned_at, customer, row.location_id, MISSED_CODE, -1);
        for part in series.without(&[row.planned_at..=row.planned_at]) {
            insert_counted(context, &part, customer, count_changes)?;
        }
    }
    Ok(is_new)
}

/// Inserts a result unless its key exists, and counts it; returns whether it did.
fn insert_counted(
    context: &mut WriteContext<'_>,
    row: &ResultRow,
    customer: i64,
    count_changes: &mut CountChanges,
) -> rusqlite::Result<bool> {
    let is_new = insert_result(context, row)?;
    if is_new {
        count_changes.add(row.planned_at, customer, row.location_id, i64::from(row.outcome.code()), 1);
    }
    Ok(is_new)
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
            let prepared = PreparedBatch::prepare(Arc::clone(&batch)).await?;
            self.writer.call(move |context| write_batch(&prepared, context)).await?;
            self.state_changes.record(batch.monitors_with_changed_states());
            Ok(())
        })
    }
}
