//! Statistics of a time range, computed from results.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{CheckDetails, MonitorType, Outcome, Phase, Phases};
use crate::store::postgres::error::{PgError, PgResult, skip_undecodable};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::result_row::DetailsBody;
use crate::store::rows::rollup::missed_series::runs_within;
use crate::store::rows::rollup::stats::{RollupStats, has_passed};
use crate::store::rows::stored_result::add_common_phases;

use super::stored::Pair;

/// A range of time, in microseconds, of some monitors; at one location only, if given.
#[derive(Clone)]
pub(super) struct ResultRange {
    pub(super) monitors: Vec<i64>,
    pub(super) location: Option<i64>,
    pub(super) from: i64,
    pub(super) until: i64,
}

/// Computes the statistics of the planned runs of `range`, by start of the step of `step_us` microseconds, monitor and
/// location. Only with `with_browser_figures`, details of browser checks are read.
pub(super) async fn result_stats_by_step(
    conn: &mut PgConnection,
    range: &ResultRange,
    step_us: i64,
    with_browser_figures: bool,
) -> PgResult<HashMap<(i64, Pair), RollupStats>> {
    let start_of = |time: i64| time.saturating_sub(time.rem_euclid(step_us));
    let mut stats: HashMap<(i64, Pair), RollupStats> = HashMap::new();
    let rows = sqlx::query(
        "SELECT planned_at, monitor_id, location_id, outcome::bigint, duration_us, prepare_us::bigint,
             resolve_us::bigint, connect_us::bigint, tls_us::bigint, send_us::bigint, first_byte_us::bigint,
             transfer_us::bigint, validate_us::bigint, uncommon_phases
         FROM results WHERE monitor_id = ANY ($1) AND planned_at >= $2 AND planned_at < $3
             AND ($4::bigint IS NULL OR location_id = $4) AND last_planned_at IS NULL AND NOT is_first_check",
    )
    .bind(&range.monitors)
    .bind(range.from)
    .bind(range.until)
    .bind(range.location)
    .fetch_all(&mut *conn)
    .await?;
    for row in &rows {
        let (planned_at, pair) = (row.try_get(0)?, (row.try_get(1)?, row.try_get(2)?));
        let outcome: i64 = row.try_get(3)?;
        let Some(outcome) = u8::try_from(outcome).ok().and_then(Outcome::from_code) else { continue };
        let stats = stats.entry((start_of(planned_at), pair)).or_default();
        stats.add(outcome, 1, row.try_get::<i64, _>(4)?.unsigned_abs());
        if has_passed(outcome) {
            add_phases(stats, row, (planned_at, pair))?;
        }
    }
    if with_browser_figures {
        for (planned_at, pair, outcome, details) in select_browser_details(conn, range).await? {
            stats.entry((start_of(planned_at), pair)).or_default().sums.add_details(outcome, &details);
        }
    }
    for (first, last, run_count, pair) in select_missed(conn, range).await? {
        let mut start = start_of(first.max(range.from));
        while start < range.until && start <= last {
            let end = start.saturating_add(step_us);
            let missed = runs_within(first, last, run_count, start.max(range.from), end.min(range.until));
            if missed > 0 {
                stats.entry((start, pair)).or_default().add(Outcome::Missed, missed, 0);
            }
            start = end;
        }
    }
    Ok(stats)
}

fn add_phases(stats: &mut RollupStats, row: &PgRow, (planned_at, pair): (i64, Pair)) -> PgResult<()> {
    let key = [("planned_at", planned_at), ("monitor_id", pair.0), ("location_id", pair.1)];
    let locator = RowLocator { table: "results", key: &key };
    let mut phases = match row.try_get::<Option<&str>, _>(13)? {
        Some(json) => {
            let decoded = locator.parse_json::<Phases>(json, "session").map_err(PgError::from);
            skip_undecodable(decoded)?.unwrap_or_default()
        }
        None => Phases::default(),
    };
    let mut phases_us = [None; Phase::COMMON.len()];
    for (column, micros) in (5..).zip(&mut phases_us) {
        *micros = row.try_get::<_, usize>(column)?;
    }
    add_common_phases(&mut phases, &phases_us);
    phases.iter().for_each(|(phase, micros)| stats.sums.add_phase(phase, micros));
    Ok(())
}

/// Returns the details of the browser checks of `range`, with planned time, monitor and location, and outcome.
async fn select_browser_details(
    conn: &mut PgConnection,
    range: &ResultRange,
) -> PgResult<Vec<(i64, Pair, Outcome, CheckDetails)>> {
    let browser_monitors: Vec<i64> =
        sqlx::query_scalar("SELECT id FROM monitors WHERE id = ANY ($1) AND type = $2")
            .bind(&range.monitors)
            .bind(MonitorType::BrowserScript.name())
            .fetch_all(&mut *conn)
            .await?;
    if browser_monitors.is_empty() {
        return Ok(Vec::new());
    }
    let rows: Vec<(i64, i64, i64, i64, String)> = sqlx::query_as(
        "SELECT r.planned_at, r.monitor_id, r.location_id, r.outcome::bigint, d.body FROM results AS r
         JOIN result_details AS d ON d.is_failed = (r.outcome <> 0) AND d.planned_at = r.planned_at
             AND d.monitor_id = r.monitor_id AND d.location_id = r.location_id
         WHERE r.monitor_id = ANY ($1) AND r.planned_at >= $2 AND r.planned_at < $3
             AND d.planned_at >= $2 AND d.planned_at < $3
             AND ($4::bigint IS NULL OR r.location_id = $4) AND r.last_planned_at IS NULL AND NOT r.is_first_check",
    )
    .bind(browser_monitors)
    .bind(range.from)
    .bind(range.until)
    .bind(range.location)
    .fetch_all(conn)
    .await?;
    let mut details = Vec::with_capacity(rows.len());
    for (planned_at, monitor, location, outcome, body) in rows {
        let key = [("planned_at", planned_at), ("monitor_id", monitor), ("location_id", location)];
        let locator = RowLocator { table: "details", key: &key };
        let decoded = DetailsBody::decode(locator, &body).map_err(PgError::from);
        let outcome = u8::try_from(outcome).ok().and_then(Outcome::from_code);
        if let (Some(body), Some(outcome)) = (skip_undecodable(decoded)?, outcome) {
            details.push((planned_at, (monitor, location), outcome, body.details.into_owned()));
        }
    }
    Ok(details)
}

/// Returns the series of missed runs that touch `range`: first and last planned time, number of runs, and pair.
async fn select_missed(conn: &mut PgConnection, range: &ResultRange) -> PgResult<Vec<(i64, i64, i64, Pair)>> {
    let longest: i64 =
        sqlx::query_scalar("SELECT longest_missed_us FROM result_bounds").fetch_one(&mut *conn).await?;
    let rows: Vec<(i64, i64, i64, i64, i64)> = sqlx::query_as(
        "SELECT planned_at, last_planned_at, coalesce(missed_run_count, 1), monitor_id, location_id FROM results
         WHERE monitor_id = ANY ($1) AND last_planned_at >= $2 AND planned_at < $3 AND planned_at >= $4
             AND ($5::bigint IS NULL OR location_id = $5)",
    )
    .bind(&range.monitors)
    .bind(range.from)
    .bind(range.until)
    .bind(range.from.saturating_sub(longest))
    .bind(range.location)
    .fetch_all(conn)
    .await?;
    let series = |(first, last, run_count, monitor, location)| (first, last, run_count, (monitor, location));
    Ok(rows.into_iter().map(series).collect())
}
