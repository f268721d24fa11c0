//! Stores what hosts report.

use sqlx::PgConnection;

use crate::domain::{HostHistoryQuery, HostHistoryRow, HostId, HostReport, HostSpan, HostSummary, Timestamp};
use crate::store::contract::{HostStore, StoreError, StoreFuture};
use crate::store::rows::host_history::{
    HOUR_US, MAX_LAYOUTS, ROLLUP_CHUNK, ROLLUP_DELAY_US, block_of, expired_before, floor_to, keeps_report,
    merge_rows, span_code,
};
use crate::store::rows::host_state::{HostStateRow, encode_values, host_report_from_row};
use crate::store::rows::host_values::{
    decode_row, encode_layout, encode_report, encode_statistics, layout_number,
};
use crate::store::rows::usage_changes::DAY_US;

use super::error::PgResult;
use super::store::PostgresStore;

/// Stores the newest of the reports of each host as its state, in one statement.
async fn upsert_states(conn: &mut PgConnection, reports: &[HostReport]) -> PgResult<()> {
    let mut newest: Vec<&HostReport> = reports.iter().collect();
    newest.sort_by_key(|report| (report.host_id, std::cmp::Reverse(report.measured_at)));
    newest.dedup_by_key(|report| report.host_id);
    let numbers =
        |value: fn(&HostReport) -> i64| newest.iter().map(|report| value(report)).collect::<Vec<_>>();
    let texts =
        |value: fn(&HostReport) -> String| newest.iter().map(|report| value(report)).collect::<Vec<_>>();
    sqlx::query(
        "INSERT INTO host_states
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::text[],
             $7::bigint[], $8::text[])
         ON CONFLICT (host_id) DO UPDATE SET
             sequence = excluded.sequence, measured_at = excluded.measured_at, received_at = excluded.received_at,
             agent_version = excluded.agent_version, system = excluded.system, interval_s = excluded.interval_s,
             reported_values = excluded.reported_values
         WHERE host_states.measured_at < excluded.measured_at",
    )
    .bind(numbers(|report| report.host_id.0))
    .bind(numbers(|report| report.sequence.cast_signed()))
    .bind(numbers(|report| report.measured_at.as_micros()))
    .bind(numbers(|report| report.received_at.as_micros()))
    .bind(texts(|report| report.agent_version.clone()))
    .bind(texts(|report| report.system.clone()))
    .bind(numbers(|report| i64::from(report.interval_s)))
    .bind(texts(|report| encode_values(&report.values)))
    .execute(conn)
    .await?;
    Ok(())
}

async fn insert_history(conn: &mut PgConnection, report: &HostReport) -> PgResult<()> {
    if report.values.is_empty() || !keeps_report(report) {
        return Ok(());
    }
    let series: Vec<&str> = report.values.iter().map(|value| value.series.as_str()).collect();
    let Some(layout) = ensure_layout(conn, report.host_id, report.measured_at.as_micros(), &series).await?
    else {
        return Ok(());
    };
    let inserted =
        sqlx::query("INSERT INTO host_history VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING")
            .bind(report.host_id.0)
            .bind(span_code(HostSpan::Report))
            .bind(report.sequence.cast_signed())
            .bind(report.measured_at.as_micros())
            .bind(layout)
            .bind(encode_report(report.values.iter().map(|value| value.value)))
            .execute(&mut *conn)
            .await?;
    if inserted.rows_affected() > 0 {
        mark_due(conn, report.host_id, HostSpan::Block, block_of(report)).await?;
    }
    Ok(())
}

/// Returns the number of the set of series, which is stored; `None` when the host has too many sets.
async fn ensure_layout(
    conn: &mut PgConnection,
    host_id: HostId,
    at: i64,
    series: &[&str],
) -> PgResult<Option<i64>> {
    let (layout, day) = (layout_number(series.iter().copied()), floor_to(at, DAY_US));
    let last_used: Option<i64> =
        sqlx::query_scalar("SELECT last_used FROM host_layouts WHERE host_id = $1 AND layout = $2")
            .bind(host_id.0)
            .bind(layout)
            .fetch_optional(&mut *conn)
            .await?;
    match last_used {
        Some(last_used) if last_used >= day => return Ok(Some(layout)),
        Some(_) => {}
        None => {
            let count: i64 = sqlx::query_scalar("SELECT count(*) FROM host_layouts WHERE host_id = $1")
                .bind(host_id.0)
                .fetch_one(&mut *conn)
                .await?;
            if count >= MAX_LAYOUTS {
                tracing::warn!(
                    host_id = host_id.0,
                    "a host reports too many sets of series; their history is not kept"
                );
                return Ok(None);
            }
        }
    }
    sqlx::query(
        "INSERT INTO host_layouts VALUES ($1, $2, $3, $4)
         ON CONFLICT (host_id, layout) DO UPDATE SET last_used = excluded.last_used",
    )
    .bind(host_id.0)
    .bind(layout)
    .bind(day)
    .bind(encode_layout(series.iter().copied()))
    .execute(conn)
    .await?;
    Ok(Some(layout))
}

async fn mark_due(
    conn: &mut PgConnection,
    host_id: HostId,
    span: HostSpan,
    (start, length): (i64, i64),
) -> PgResult<()> {
    sqlx::query("INSERT INTO host_rollups_due VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING")
        .bind(host_id.0)
        .bind(span_code(span))
        .bind(start)
        .bind(length)
        .execute(conn)
        .await?;
    Ok(())
}

async fn select_state(conn: &mut PgConnection, host_id: HostId) -> PgResult<Option<HostReport>> {
    let row: Option<HostStateRow> = sqlx::query_as(
        "SELECT sequence, measured_at, received_at, agent_version, system, interval_s, reported_values
         FROM host_states WHERE host_id = $1",
    )
    .bind(host_id.0)
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| host_report_from_row(host_id, row)).transpose()?)
}

async fn select_history(conn: &mut PgConnection, query: HostHistoryQuery) -> PgResult<Vec<HostHistoryRow>> {
    let rows: Vec<(i64, String, Vec<u8>)> = sqlx::query_as(
        "SELECT h.start, l.series, h.packed FROM host_history AS h
         JOIN host_layouts AS l ON l.host_id = h.host_id AND l.layout = h.layout
         WHERE h.host_id = $1 AND h.span = $2 AND h.start >= $3 AND h.start < $4 ORDER BY h.start",
    )
    .bind(query.host_id.0)
    .bind(span_code(query.span))
    .bind(query.from.as_micros())
    .bind(query.until.as_micros())
    .fetch_all(conn)
    .await?;
    let decode = |(start, layout, packed): (i64, String, Vec<u8>)| {
        Ok(HostHistoryRow {
            start: Timestamp::from_micros(start),
            values: decode_row(query.host_id.0, &layout, &packed)?,
        })
    };
    rows.into_iter().map(decode).collect()
}

/// Rolls up a few spans; returns how many.
async fn roll_up_chunk(conn: &mut PgConnection, span: HostSpan, now: Timestamp) -> PgResult<u64> {
    let source = if span == HostSpan::Block { HostSpan::Report } else { HostSpan::Block };
    let due: Vec<(i64, i64, i64)> = sqlx::query_as(
        "DELETE FROM host_rollups_due WHERE (host_id, span, start) IN (
             SELECT host_id, span, start FROM host_rollups_due WHERE span = $1 AND start + length <= $2 LIMIT $3)
         RETURNING host_id, start, length",
    )
    .bind(span_code(span))
    .bind(now.as_micros().saturating_sub(ROLLUP_DELAY_US))
    .bind(ROLLUP_CHUNK)
    .fetch_all(&mut *conn)
    .await?;
    for &(host, start, length) in &due {
        let host_id = HostId(host);
        let end = start.saturating_add(length);
        let (from, until) = (Timestamp::from_micros(start), Timestamp::from_micros(end));
        let rows = select_history(conn, HostHistoryQuery { host_id, span: source, from, until }).await?;
        let merged = merge_rows(&rows);
        let series: Vec<&str> = merged.iter().map(|value| value.series.as_str()).collect();
        if merged.is_empty() {
            continue;
        }
        let Some(layout) = ensure_layout(conn, host_id, start, &series).await? else { continue };
        sqlx::query(
            "INSERT INTO host_history VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (host_id, span, position)
             DO UPDATE SET layout = excluded.layout, packed = excluded.packed",
        )
        .bind(host)
        .bind(span_code(span))
        .bind(start)
        .bind(layout)
        .bind(encode_statistics(&merged))
        .execute(&mut *conn)
        .await?;
        if span == HostSpan::Block {
            mark_due(conn, host_id, HostSpan::Hour, (floor_to(start, HOUR_US), HOUR_US)).await?;
        }
    }
    Ok(due.len() as u64)
}

/// Removes what a host reported.
pub(super) async fn delete_host(conn: &mut PgConnection, host_id: i64) -> PgResult<()> {
    for statement in [
        "DELETE FROM host_states WHERE host_id = $1",
        "DELETE FROM host_layouts WHERE host_id = $1",
        "DELETE FROM host_history WHERE host_id = $1",
        "DELETE FROM host_rollups_due WHERE host_id = $1",
    ] {
        sqlx::query(statement).bind(host_id).execute(&mut *conn).await?;
    }
    Ok(())
}

/// Removes the expired history of the host after `host`; returns it, and how many rows.
async fn remove_history_after(
    conn: &mut PgConnection,
    host: i64,
    now: Timestamp,
) -> PgResult<Option<(i64, u64)>> {
    let next: Option<i64> = sqlx::query_scalar("SELECT min(host_id) FROM host_layouts WHERE host_id > $1")
        .bind(host)
        .fetch_one(&mut *conn)
        .await?;
    let Some(host) = next else { return Ok(None) };
    let mut removed = 0;
    for span in HostSpan::ALL {
        removed += sqlx::query("DELETE FROM host_history WHERE host_id = $1 AND span = $2 AND start < $3")
            .bind(host)
            .bind(span_code(span))
            .bind(expired_before(span, now))
            .execute(&mut *conn)
            .await?
            .rows_affected();
    }
    removed += sqlx::query("DELETE FROM host_layouts WHERE host_id = $1 AND last_used < $2")
        .bind(host)
        .bind(expired_before(HostSpan::Hour, now).saturating_sub(DAY_US))
        .execute(conn)
        .await?
        .rows_affected();
    Ok(Some((host, removed)))
}

impl HostStore for PostgresStore {
    fn record_host_reports(&self, reports: Vec<HostReport>) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                upsert_states(conn, &reports).await?;
                for report in &reports {
                    insert_history(conn, report).await?;
                }
                Ok(())
            })
        }))
    }

    fn host_state(&self, host_id: HostId) -> StoreFuture<'_, Option<HostReport>> {
        Box::pin(self.read(move |conn| Box::pin(select_state(conn, host_id))))
    }

    fn host_summaries(&self, host_id: Option<HostId>) -> StoreFuture<'_, Vec<HostSummary>> {
        Box::pin(self.read(move |conn| {
            Box::pin(async move {
                let rows: Vec<(i64, i64, i64, String, String)> = sqlx::query_as(
                    "SELECT host_id, measured_at, received_at, agent_version, system FROM host_states \
                     WHERE $1::bigint IS NULL OR host_id = $1",
                )
                .bind(host_id.map(|id| id.0))
                .fetch_all(conn)
                .await?;
                let to_summary = |(host_id, measured_at, received_at, agent_version, system)| HostSummary {
                    host_id: HostId(host_id),
                    measured_at: Timestamp::from_micros(measured_at),
                    received_at: Timestamp::from_micros(received_at),
                    agent_version,
                    system,
                };
                Ok(rows.into_iter().map(to_summary).collect())
            })
        }))
    }

    fn host_history(&self, query: HostHistoryQuery) -> StoreFuture<'_, Vec<HostHistoryRow>> {
        Box::pin(self.read(move |conn| Box::pin(select_history(conn, query))))
    }
}

impl PostgresStore {
    /// Writes the rows of blocks and hours that ended a while before `now`; returns how many.
    pub(super) async fn roll_up_hosts_due(&self, now: Timestamp) -> Result<u64, StoreError> {
        let mut written = 0;
        for span in [HostSpan::Block, HostSpan::Hour] {
            loop {
                let chunk = self.write(move |conn| Box::pin(roll_up_chunk(conn, span, now))).await?;
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
            self.write(move |conn| Box::pin(remove_history_after(conn, host, now))).await?
        {
            (host, removed) = (next, removed + rows);
        }
        Ok(removed)
    }
}
