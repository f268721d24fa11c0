//! Stores what hosts report.

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{HostHistoryQuery, HostHistoryRow, HostId, HostReport, HostSpan, HostSummary, Timestamp};
use crate::store::contract::{HostStore, StoreError, StoreFuture};
use crate::store::rows::host_history::{
    HOUR_US, MAX_LAYOUTS, ROLLUP_CHUNK, ROLLUP_DELAY_US, block_of, expired_before, floor_to, keeps_report,
    merge_rows, span_code,
};
use crate::store::rows::host_state::{encode_values, host_report_from_row};
use crate::store::rows::host_values::{
    decode_row, encode_layout, encode_report, encode_statistics, layout_number,
};
use crate::store::rows::usage_changes::DAY_US;

use super::store::SqliteStore;

fn record_report(conn: &Connection, report: &HostReport) -> rusqlite::Result<()> {
    conn.prepare_cached(
        "INSERT INTO host_states VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT (host_id) DO UPDATE SET
             sequence = excluded.sequence, measured_at = excluded.measured_at, received_at = excluded.received_at,
             agent_version = excluded.agent_version, system = excluded.system, interval_s = excluded.interval_s,
             reported_values = excluded.reported_values
         WHERE measured_at < excluded.measured_at",
    )?
    .execute(params![
        report.host_id.0,
        report.sequence.cast_signed(),
        report.measured_at.as_micros(),
        report.received_at.as_micros(),
        report.agent_version,
        report.system,
        report.interval_s,
        encode_values(&report.values),
    ])?;
    let series = || report.values.iter().map(|value| value.series.as_str());
    if report.values.is_empty() || !keeps_report(report) {
        return Ok(());
    }
    let Some(layout) = ensure_layout(conn, report.host_id, report.measured_at.as_micros(), series)? else {
        return Ok(());
    };
    let inserted = conn
        .prepare_cached("INSERT OR IGNORE INTO host_history VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?
        .execute(params![
            report.host_id.0,
            span_code(HostSpan::Report),
            report.sequence.cast_signed(),
            report.measured_at.as_micros(),
            layout,
            encode_report(report.values.iter().map(|value| value.value)),
        ])?;
    if inserted > 0 {
        let (start, length) = block_of(report);
        mark_due(conn, report.host_id, HostSpan::Block, (start, length))?;
    }
    Ok(())
}

/// Returns the number of the set of series, which is stored; `None` when the host has too many sets.
fn ensure_layout<'a, I: Iterator<Item = &'a str>>(
    conn: &Connection,
    host_id: HostId,
    at: i64,
    series: impl Fn() -> I,
) -> rusqlite::Result<Option<i64>> {
    let (layout, day) = (layout_number(series()), floor_to(at, DAY_US));
    let last_used: Option<i64> = conn
        .prepare_cached("SELECT last_used FROM host_layouts WHERE host_id = ?1 AND layout = ?2")?
        .query_row([host_id.0, layout], |row| row.get(0))
        .optional()?;
    match last_used {
        Some(last_used) if last_used >= day => {}
        Some(_) => {
            conn.prepare_cached("UPDATE host_layouts SET last_used = ?3 WHERE host_id = ?1 AND layout = ?2")?
                .execute([host_id.0, layout, day])?;
        }
        None => {
            let count: i64 = conn
                .prepare_cached("SELECT count(*) FROM host_layouts WHERE host_id = ?1")?
                .query_row([host_id.0], |row| row.get(0))?;
            if count >= MAX_LAYOUTS {
                tracing::warn!(
                    host_id = host_id.0,
                    "a host reports too many sets of series; their history is not kept"
                );
                return Ok(None);
            }
            conn.prepare_cached("INSERT INTO host_layouts VALUES (?1, ?2, ?3, ?4)")?.execute(params![
                host_id.0,
                layout,
                day,
                encode_layout(series())
            ])?;
        }
    }
    Ok(Some(layout))
}

fn mark_due(
    conn: &Connection,
    host_id: HostId,
    span: HostSpan,
    (start, length): (i64, i64),
) -> rusqlite::Result<()> {
    conn.prepare_cached("INSERT OR IGNORE INTO host_rollups_due VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![host_id.0, span_code(span), start, length])?;
    Ok(())
}

fn select_state(conn: &Connection, host_id: HostId) -> rusqlite::Result<Option<HostReport>> {
    let row = conn
        .prepare_cached(
            "SELECT sequence, measured_at, received_at, agent_version, system, interval_s, reported_values
             FROM host_states WHERE host_id = ?1",
        )?
        .query_row([host_id.0], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?, row.get(6)?))
        })
        .optional()?;
    Ok(row.map(|row| host_report_from_row(host_id, row)).transpose()?)
}

fn select_history(conn: &Connection, query: HostHistoryQuery) -> rusqlite::Result<Vec<HostHistoryRow>> {
    let mut select = conn.prepare_cached(
        "SELECT h.start, l.series, h.packed FROM host_history AS h
         JOIN host_layouts AS l ON l.host_id = h.host_id AND l.layout = h.layout
         WHERE h.host_id = ?1 AND h.span = ?2 AND h.start >= ?3 AND h.start < ?4 ORDER BY h.start",
    )?;
    let mut rows = select.query(params![
        query.host_id.0,
        span_code(query.span),
        query.from.as_micros(),
        query.until.as_micros()
    ])?;
    let mut history = Vec::new();
    while let Some(row) = rows.next()? {
        let (layout, packed): (String, Vec<u8>) = (row.get(1)?, row.get(2)?);
        history.push(HostHistoryRow {
            start: Timestamp::from_micros(row.get(0)?),
            values: decode_row(query.host_id.0, &layout, &packed)?,
        });
    }
    Ok(history)
}

/// Rolls up a few spans; returns how many.
fn roll_up_chunk(conn: &Connection, span: HostSpan, now: Timestamp) -> rusqlite::Result<u64> {
    let source = if span == HostSpan::Block { HostSpan::Report } else { HostSpan::Block };
    let mut select = conn.prepare_cached(
        "SELECT host_id, start, length FROM host_rollups_due WHERE span = ?1 AND start + length <= ?2 LIMIT ?3",
    )?;
    let until = now.as_micros().saturating_sub(ROLLUP_DELAY_US);
    let due: Vec<(i64, i64, i64)> = select
        .query_map(params![span_code(span), until, ROLLUP_CHUNK], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for &(host, start, length) in &due {
        let host_id = HostId(host);
        let end = start.saturating_add(length);
        let (from, until) = (Timestamp::from_micros(start), Timestamp::from_micros(end));
        let rows = select_history(conn, HostHistoryQuery { host_id, span: source, from, until })?;
        let merged = merge_rows(&rows);
        let series = || merged.iter().map(|value| value.series.as_str());
        if !merged.is_empty()
            && let Some(layout) = ensure_layout(conn, host_id, start, series)?
        {
            conn.prepare_cached("INSERT OR REPLACE INTO host_history VALUES (?1, ?2, ?3, ?3, ?4, ?5)")?
                .execute(params![host, span_code(span), start, layout, encode_statistics(&merged)])?;
            if span == HostSpan::Block {
                mark_due(conn, host_id, HostSpan::Hour, (floor_to(start, HOUR_US), HOUR_US))?;
            }
        }
        conn.prepare_cached("DELETE FROM host_rollups_due WHERE host_id = ?1 AND span = ?2 AND start = ?3")?
            .execute(params![host, span_code(span), start])?;
    }
    Ok(due.len() as u64)
}

/// Removes what a host reported.
pub(super) fn delete_host(conn: &Connection, host_id: i64) -> rusqlite::Result<()> {
    for table in ["host_states", "host_layouts", "host_history", "host_rollups_due"] {
        conn.prepare_cached(&format!("DELETE FROM {table} WHERE host_id = ?1"))?.execute([host_id])?;
    }
    Ok(())
}

/// Removes the expired history of the host after `host`; returns it, and how many rows.
fn remove_history_after(
    conn: &Connection,
    host: i64,
    now: Timestamp,
) -> rusqlite::Result<Option<(i64, u64)>> {
    let next: Option<i64> = conn
        .prepare_cached("SELECT min(host_id) FROM host_layouts WHERE host_id > ?1")?
        .query_row([host], |row| row.get(0))?;
    let Some(host) = next else { return Ok(None) };
    let mut removed = 0;
    for span in HostSpan::ALL {
        removed += conn
            .prepare_cached("DELETE FROM host_history WHERE host_id = ?1 AND span = ?2 AND start < ?3")?
            .execute(params![host, span_code(span), expired_before(span, now)])?;
    }
    let oldest = expired_before(HostSpan::Hour, now).saturating_sub(DAY_US);
    removed += conn
        .prepare_cached("DELETE FROM host_layouts WHERE host_id = ?1 AND last_used < ?2")?
        .execute([host, oldest])?;
    Ok(Some((host, removed as u64)))
}

impl HostStore for SqliteStore {
    fn record_host_reports(&self, reports: Vec<HostReport>) -> StoreFuture<'_, ()> {
        Box::pin(
            self.writer.call(move |context| {
                reports.iter().try_for_each(|report| record_report(context.conn, report))
            }),
        )
    }

    fn host_state(&self, host_id: HostId) -> StoreFuture<'_, Option<HostReport>> {
        Box::pin(self.readers.call(move |conn| select_state(conn, host_id)))
    }

    fn host_summaries(&self, host_id: Option<HostId>) -> StoreFuture<'_, Vec<HostSummary>> {
        Box::pin(self.readers.call(move |conn| {
            conn.prepare_cached(
                "SELECT host_id, measured_at, received_at, agent_version, system FROM host_states \
                 WHERE ?1 IS NULL OR host_id = ?1",
            )?
            .query_map([host_id.map(|id| id.0)], |row| {
                Ok(HostSummary {
                    host_id: HostId(row.get(0)?),
                    measured_at: Timestamp::from_micros(row.get(1)?),
                    received_at: Timestamp::from_micros(row.get(2)?),
                    agent_version: row.get(3)?,
                    system: row.get(4)?,
                })
            })?
            .collect()
        }))
    }

    fn host_history(&self, query: HostHistoryQuery) -> StoreFuture<'_, Vec<HostHistoryRow>> {
        Box::pin(self.readers.call(move |conn| select_history(conn, query)))
    }
}

impl SqliteStore {
    /// Writes the rows of blocks and hours that ended a while before `now`; returns how many.
    pub(super) async fn roll_up_hosts_due(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut written = 0;
        for span in [HostSpan::Block, HostSpan::Hour] {
            loop {
                let chunk = self.writer.call(move |context| roll_up_chunk(context.conn, span, now)).await?;
                written += chunk;
                if chunk == 0 {
                    break;
                }
            }
        }
        Ok(written)
    }

    /// Removes expired history, a host per transaction; returns how many rows.
    pub(super) async fn remove_old_host_history(&self, now: Timestamp) -> Result<u64, StoreError> {
        let (mut host, mut removed) = (i64::MIN, 0);
        while let Some((next, rows)) =
            self.writer.call(move |context| remove_history_after(context.conn, host, now)).await?
        {
            (host, removed) = (next, removed + rows);
        }
        Ok(removed)
    }
}
