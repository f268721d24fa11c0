//! Writes results, states and what alerting made of them.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::Outcome;
use crate::store::contract::MonitorState;

use super::alarms::rows::Rows;
use super::captures;
use super::counts::Changes;
use super::rollup::late;
use super::row::{Missed, Row, signed};
use super::shared::Shared;
use super::store::SqliteStore;
use super::writer::Writing;
use crate::store::contract::{Answer, Commit, Ingest, StoreError};

const INSERT: &str = "
    INSERT INTO results (planned_at, monitor_id, location_id, outcome, status, warning_status, started_after,
        total_us, prepare_us, resolve_us, connect_us, tls_us, send_us, first_byte_us, transfer_us, validate_us,
        body_wire_bytes, body_bytes, address, revision, attempts, label, facts, chain,
        missed_reason, missed_slots, last_planned_at, session, page_us)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22,
        ?23, ?24, ?25, ?26, ?27, ?28, ?29)
    ON CONFLICT DO NOTHING";

/// The code of [`Outcome::Missed`], as statements here have it.
const MISSED: i64 = 4;

/// A commit, ready to be written.
pub(super) struct Batch {
    /// In the order of the clustered key, so that neighbours are written together.
    rows: Vec<Row>,
    states: Vec<MonitorState>,
    alarm: Rows,
}

impl Batch {
    pub(super) fn of(commit: crate::store::contract::Commit) -> Self {
        let mut rows: Vec<Row> = commit.results.into_iter().map(Row::of).collect();
        // Stable: of two with one id the real one, else the first one, comes out either way.
        rows.sort_by_key(|row| (row.planned_at, row.monitor_id, row.location_id));
        let mut states = commit.states;
        states.sort_by_key(|state| (state.monitor_id, state.location_id));
        Self { rows, states, alarm: Rows::of(commit.alarm) }
    }

    pub(super) fn write(&self, writing: &mut Writing<'_>) -> rusqlite::Result<()> {
        let rolled = late::RolledUntil::read(writing.conn)?;
        let mut changes = Changes::default();
        for row in &self.rows {
            if keep(writing, row, &mut changes)? {
                rolled.mark(writing.conn, row)?;
            }
        }
        changes.write(writing.conn)?;
        for state in &self.states {
            keep_state(writing.conn, state)?;
        }
        self.alarm.write(writing)
    }
}

/// Whether anything changed.
fn keep(writing: &mut Writing<'_>, row: &Row, changes: &mut Changes) -> rusqlite::Result<bool> {
    let outcome = i64::from(row.outcome.code());
    let owner = writing.shared.owner(writing.conn, row.monitor_id)?;
    if insert(writing, row)? {
        changes.add(row.planned_at, owner, row.location_id, outcome, 1);
        return Ok(true);
    }
    if row.outcome == Outcome::Missed {
        return Ok(false);
    }
    let Some(missed) = take_missed(writing.conn, row)? else { return Ok(false) };
    insert(writing, row)?;
    changes.add(row.planned_at, owner, row.location_id, MISSED, -1);
    changes.add(row.planned_at, owner, row.location_id, outcome, 1);
    if let Some(rest) = missed.after_first(row.planned_at)
        && insert_rest(writing.conn, row, &rest)?
    {
        changes.add(rest.0, owner, row.location_id, MISSED, 1);
    }
    Ok(true)
}

fn insert(writing: &mut Writing<'_>, row: &Row) -> rusqlite::Result<bool> {
    let Writing { conn, shared } = writing;
    let share = |shared: &mut Shared, text| shared.id(conn, text, row.planned_at);
    let label = share(shared, &row.label)?;
    let facts = row.facts.as_ref().map(|text| share(shared, text)).transpose()?;
    let chain = row.chain.as_ref().map(|text| share(shared, text)).transpose()?;
    shared.place(conn, row.monitor_id, row.location_id)?;
    let [prepare, resolve, connect, tls, send, first_byte, transfer, validate] = row.phase_columns();
    let inserted = conn.prepare_cached(INSERT)?.execute(params![
        row.planned_at,
        row.monitor_id,
        row.location_id,
        row.outcome.code(),
        row.status,
        row.warning_status,
        row.started_after,
        row.total_us,
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
        row.attempts,
        label,
        facts,
        chain,
        row.missed.map(|missed| missed.reason),
        row.missed.map(|missed| missed.slots),
        row.missed.map(|missed| missed.last_planned_at),
        row.session(),
        row.page_us,
    ])?;
    if inserted == 1
        && let Some(details) = &row.details
    {
        conn.prepare_cached("INSERT INTO details VALUES (?1, ?2, ?3, ?4, ?5)")?.execute(params![
            row.failed(),
            row.planned_at,
            row.monitor_id,
            row.location_id,
            details
        ])?;
    }
    if inserted == 1 && !row.captures.is_empty() {
        let key = (row.planned_at, row.monitor_id, row.location_id);
        captures::keep(conn, row.failed(), key, &row.captures)?;
    }
    Ok(inserted == 1)
}

/// A series of missed runs that a real result takes the first of.
struct Series {
    missed: Missed,
    revision: i64,
    label: i64,
    details: Option<String>,
    found_after: i64,
    status: u16,
}

/// Removes the missed runs with the key of `row`; `None` when what is kept is no missed run.
fn take_missed(conn: &Connection, row: &Row) -> rusqlite::Result<Option<Series>> {
    let key = params![row.planned_at, row.monitor_id, row.location_id];
    let series = conn
        .prepare_cached(
            "DELETE FROM results
             WHERE planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3 AND outcome = 4
             RETURNING missed_reason, missed_slots, last_planned_at, revision, label, started_after, status",
        )?
        .query_row(key, |row| {
            Ok(Series {
                missed: Missed {
                    reason: row.get::<_, Option<usize>>(0)?.unwrap_or_default(),
                    slots: row.get::<_, Option<u32>>(1)?.unwrap_or(1),
                    last_planned_at: row.get::<_, Option<i64>>(2)?.unwrap_or_default(),
                },
                revision: row.get(3)?,
                label: row.get(4)?,
                found_after: row.get(5)?,
                status: row.get(6)?,
                details: None,
            })
        })
        .optional()?;
    let Some(mut series) = series else { return Ok(None) };
    series.details = conn
        .prepare_cached(
            "DELETE FROM details
             WHERE failed = 1 AND planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3 RETURNING body",
        )?
        .query_row(key, |row| row.get(0))
        .optional()?;
    Ok(Some(series))
}

impl Series {
    /// The same without its first run, when there are others. The runs lie evenly between first and last.
    fn after_first(mut self, first: i64) -> Option<(i64, Self)> {
        let left = self.missed.slots.checked_sub(1).filter(|&slots| slots > 0)?;
        let step = self.missed.last_planned_at.saturating_sub(first) / i64::from(left);
        self.missed.slots = left;
        self.found_after -= step;
        (step > 0).then_some((first + step, self))
    }
}

/// Whether there was a place for it.
fn insert_rest(conn: &Connection, row: &Row, (planned_at, rest): &(i64, Series)) -> rusqlite::Result<bool> {
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
            rest.found_after,
            rest.revision,
            rest.label,
            rest.missed.reason,
            rest.missed.slots,
            rest.missed.last_planned_at,
            rest.status
        ])?;
    if let (1, Some(details)) = (inserted, &rest.details) {
        conn.prepare_cached("INSERT OR REPLACE INTO details VALUES (1, ?1, ?2, ?3, ?4)")?
            .execute(params![planned_at, row.monitor_id, row.location_id, details])?;
    }
    Ok(inserted == 1)
}

fn keep_state(conn: &Connection, state: &MonitorState) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO states VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
         ON CONFLICT DO UPDATE SET check_id = ?3, planned_at = ?4, outcome = ?5, status = ?6, total_us = ?7,
             since = ?8, streak = ?9, full_page_at = ?10",
    )?
    .execute(params![
        state.monitor_id.0,
        state.location_id.0,
        state.check_id.0.cast_signed(),
        state.planned_at.as_micros(),
        state.outcome.code(),
        state.status.0,
        signed(state.total_us),
        state.since.as_micros(),
        state.streak,
        state.full_page_at.map(crate::domain::Timestamp::as_micros)
    ])?;
    Ok(())
}

impl Ingest for SqliteStore {
    fn commit(&self, commit: Commit) -> Answer<'_, ()> {
        Box::pin(async move {
            let batch = ready(commit).await?;
            self.writer.call(move |writing| batch.write(writing)).await
        })
    }
}

/// `commit`, ready to be written. Files are compressed apart from the threads that wait for targets.
async fn ready(commit: Commit) -> Result<Batch, StoreError> {
    let files = commit.results.iter().any(|result| !result.captures.is_empty());
    if !files && commit.alarm.evidence.is_empty() {
        return Ok(Batch::of(commit));
    }
    // Fails only when the runtime goes down.
    tokio::task::spawn_blocking(move || Batch::of(commit)).await.map_err(|_| StoreError::Closed)
}
