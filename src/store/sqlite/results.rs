//! Reads results and states.

use std::borrow::Cow;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, params_from_iter};

use crate::domain::{
    Attempt, CapturedFile, CheckId, CheckResult, CheckTrigger, Facts, LocationId, MissedReason, MissedRuns,
    MonitorId, MonitorType, Outcome, Paginated, Phase, Phases, Revision, Rollup, RollupQuery, RunId, Status,
    Timestamp, TlsFacts, default_status_text,
};
use crate::store::contract::{MonitorLocationState, PaginatedResults, Pagination, ResultFilter};

use super::decode::{RowLocator, skip_undecodable};
use super::result_row::{DetailsBody, decode_address};
use super::{captures, result_counts};
use crate::store::contract::NewestResultQuery;
use crate::store::contract::ResultStore;
use crate::store::contract::RollupSpan;
use crate::store::contract::StoreFuture;
use crate::store::sqlite::result_filter::where_clause;
use crate::store::sqlite::rollup::{points, stored};
use crate::store::sqlite::store::SqliteStore;

/// Selects a result with everything that belongs to it; columns as [`result_from_row`] reads them.
const SELECT_RESULT: &str = "
    SELECT r.planned_at, r.monitor_id, r.location_id, r.outcome, r.status, r.warning_status, r.started_after,
        r.total_us, r.prepare_us, r.resolve_us, r.connect_us, r.tls_us, r.send_us, r.first_byte_us,
        r.transfer_us, r.validate_us, r.body_wire_bytes, r.body_bytes, r.address, r.revision, r.attempts,
        r.missed_reason, r.missed_slots, r.last_planned_at, label.text, facts.text, chain.text, details.body,
        r.session, r.first_check
    FROM results AS r
    LEFT JOIN shared AS label ON label.id = r.label
    LEFT JOIN shared AS facts ON facts.id = r.facts
    LEFT JOIN shared AS chain ON chain.id = r.chain
    LEFT JOIN details ON details.failed = (r.outcome <> 0) AND details.planned_at = r.planned_at
        AND details.monitor_id = r.monitor_id AND details.location_id = r.location_id
    WHERE r.planned_at = ?1 AND r.monitor_id = ?2 AND r.location_id = ?3";

/// Planned time in microseconds, monitor and location.
type ResultRowKey = (i64, i64, i64);

/// Returns a page of the matching results, newest first, and their number.
pub(super) fn read_page(
    conn: &Connection,
    filter: &ResultFilter,
    page: Pagination,
) -> rusqlite::Result<PaginatedResults> {
    // Count and page must see the same state of the database.
    let tx = conn.unchecked_transaction()?;
    let total = result_counts::count_matching(&tx, filter)?.unsigned_abs();
    let (conditions, mut values) = where_clause(&tx, filter)?;
    values.push(Value::from(page.limit));
    values.push(Value::from(i64::try_from(page.offset).unwrap_or(i64::MAX)));
    // First the keys, from the index alone if possible, then the complete rows of one page.
    let keys: Vec<ResultRowKey> = tx
        .prepare_cached(&format!(
            "SELECT planned_at, monitor_id, location_id FROM results WHERE {conditions}
             ORDER BY planned_at DESC, monitor_id DESC, location_id DESC LIMIT ? OFFSET ?"
        ))?
        .query_map(params_from_iter(&values), |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
        .collect::<Result<_, _>>()?;
    let results =
        keys.into_iter().filter_map(|key| result_or_skip(&tx, key).transpose()).collect::<Result<_, _>>()?;
    Ok(PaginatedResults { total, results })
}

/// Returns the result with this id. The id is a reversible hash of time, monitor and location: together with a location
/// it gives the monitor's hash mixed with the time. All stored times lie in one or two aligned blocks with equal
/// leading bits. This determines the leading bits of the monitor's hash and so a few candidate monitors. A wrong
/// candidate gives a time at which nothing was planned.
pub(super) fn by_id(tx: &Transaction<'_>, check_id: CheckId) -> rusqlite::Result<Option<CheckResult>> {
    let bounds: (Option<i64>, Option<i64>) = tx
        .prepare_cached(
            "SELECT (SELECT min(planned_at) FROM results), (SELECT max(planned_at) FROM results)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let (Some(first), Some(last)) = bounds else { return Ok(None) };
    let mut select_next_location =
        tx.prepare_cached("SELECT min(location_id) FROM marks WHERE location_id > ?1")?;
    let mut select_monitor_hashes =
        tx.prepare_cached("SELECT mark FROM marks WHERE location_id = ?1 AND mark BETWEEN ?2 AND ?3")?;
    let mut last_location = i64::MIN;
    while let Some(location) = select_next_location.query_row([last_location], |row| row.get(0))? {
        last_location = location;
        let hash_xor_time = check_id.monitor_hash_xor_time(LocationId(location));
        for (block_start, block_end) in aligned_blocks(first, last) {
            let range = hash_range(hash_xor_time, block_start, block_end);
            let monitor_hashes: Vec<i64> = select_monitor_hashes
                .query_map([location, range.0, range.1], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for monitor_hash in monitor_hashes {
                let planned_at = (hash_xor_time ^ monitor_hash.cast_unsigned()).cast_signed();
                let monitor = MonitorId::from_hash(monitor_hash.cast_unsigned());
                if let Some(result) = result_by_key(tx, (planned_at, monitor.0, location))? {
                    return Ok(Some(result));
                }
            }
        }
    }
    Ok(None)
}

/// Returns one or two aligned blocks of a power of two that cover `first..=last`.
fn aligned_blocks(first: i64, last: i64) -> impl Iterator<Item = (i64, i64)> {
    let width = last.abs_diff(first);
    let low_bits = width.checked_ilog2().map_or(0, |bits| u64::MAX >> (63 - bits)).cast_signed();
    let block_around = move |at: i64| (at & !low_bits, at | low_bits);
    let (lower, upper) = (block_around(first), block_around(last));
    std::iter::once(lower).chain((lower != upper).then_some(upper))
}

/// Returns the block of monitor hashes that give `hash_xor_time` when mixed with a time in `block_start..=block_end`.
fn hash_range(hash_xor_time: u64, block_start: i64, block_end: i64) -> (i64, i64) {
    let low_bits = (block_start ^ block_end).cast_unsigned();
    let start = (hash_xor_time ^ block_start.cast_unsigned()) & !low_bits;
    (start.cast_signed(), (start | low_bits).cast_signed())
}

/// Returns a capture of the result with this id, with its content.
pub(super) fn capture(
    conn: &Connection,
    check_id: CheckId,
    name: &str,
) -> rusqlite::Result<Option<CapturedFile>> {
    let tx = conn.unchecked_transaction()?;
    let Some(result) = by_id(&tx, check_id)? else { return Ok(None) };
    let capture = result.captures.iter().find(|capture| capture.name == name).cloned();
    capture.map_or(Ok(None), |capture| captures::read(&tx, &result, capture))
}

/// Returns the result of each of `states`: monitor and location of a state reverse the hash of the check id.
pub(super) fn results_for_states(
    conn: &Connection,
    states: &[MonitorLocationState],
) -> rusqlite::Result<Vec<Option<CheckResult>>> {
    let tx = conn.unchecked_transaction()?;
    let key = |state: &MonitorLocationState| {
        let planned_at = state.check_id.planned_at(state.monitor_id, state.location_id);
        (planned_at.as_micros(), state.monitor_id.0, state.location_id.0)
    };
    states.iter().map(|state| result_or_skip(&tx, key(state))).collect()
}

/// Returns the newest result of a planned run that each of `queries` asks for.
fn newest_results(
    conn: &Connection,
    queries: &[NewestResultQuery],
) -> rusqlite::Result<Vec<Option<CheckResult>>> {
    let tx = conn.unchecked_transaction()?;
    let mut select_key = tx.prepare_cached(
        "SELECT planned_at, monitor_id, location_id FROM results
         WHERE monitor_id = ?1 AND location_id = ?2 AND planned_at < ?3 AND (outcome IN (?4, ?5) OR NOT ?6)
             AND first_check IS NULL
         ORDER BY planned_at DESC LIMIT 1",
    )?;
    let passed_codes = [Outcome::Ok, Outcome::Warning].map(|outcome| i64::from(outcome.code()));
    let mut newest = |query: &NewestResultQuery| {
        let until = query.until.map_or(i64::MAX, Timestamp::as_micros);
        let (monitor, location) = (query.monitor_id.0, query.location_id.0);
        let values = params![monitor, location, until, passed_codes[0], passed_codes[1], query.only_passed];
        let key =
            select_key.query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).optional()?;
        key.map_or(Ok(None), |key| result_or_skip(&tx, key))
    };
    queries.iter().map(&mut newest).collect()
}

/// Like [`result_by_key`]; a result that cannot be decoded is logged and left out.
fn result_or_skip(conn: &Connection, key: ResultRowKey) -> rusqlite::Result<Option<CheckResult>> {
    Ok(skip_undecodable(result_by_key(conn, key))?.flatten())
}

fn result_by_key(
    conn: &Connection,
    (planned_at, monitor, location): ResultRowKey,
) -> rusqlite::Result<Option<CheckResult>> {
    conn.prepare_cached(SELECT_RESULT)?.query_row([planned_at, monitor, location], result_from_row).optional()
}

fn result_from_row(row: &Row<'_>) -> rusqlite::Result<CheckResult> {
    let planned_at = Timestamp::from_micros(row.get(0)?);
    let (monitor_id, location_id) = (MonitorId(row.get(1)?), LocationId(row.get(2)?));
    let run_id = RunId::new(monitor_id, planned_at);
    let status = Status(row.get(4)?);
    let started_at = Timestamp::from_micros(planned_at.as_micros().saturating_add(row.get(6)?));
    let total_us = row.get(7)?;
    let key = [
        ("planned_at", planned_at.as_micros()),
        ("monitor_id", monitor_id.0),
        ("location_id", location_id.0),
    ];
    let locator = RowLocator { table: "results", key: &key };
    let details_locator = RowLocator { table: "details", ..locator };
    let details = match details_locator.text_column(row, 27, "body")? {
        Some(body) => DetailsBody::decode(details_locator, body)?,
        None => DetailsBody::default(),
    };
    let label = locator.text_column(row, 24, "label")?.unwrap_or_default();
    let decoded_label = label
        .split_once(' ')
        .and_then(|(monitor_type, monitor_name)| Some((MonitorType::from_name(monitor_type)?, monitor_name)));
    let (monitor_type, monitor_name) = locator.require_decoded("label", label, decoded_label)?;
    let outcome: u8 = row.get(3)?;
    let outcome = locator.require_decoded("outcome", outcome, Outcome::from_code(outcome))?;
    Ok(CheckResult {
        check_id: CheckId::new(run_id, location_id),
        run_id,
        monitor_id,
        monitor_name: Arc::from(monitor_name),
        revision: Revision(row.get(19)?),
        monitor_type,
        location_id,
        planned_at,
        trigger: if row.get::<_, Option<bool>>(29)? == Some(true) {
            CheckTrigger::First
        } else {
            CheckTrigger::Schedule
        },
        started_at,
        outcome,
        status,
        warning_status: row.get::<_, Option<u16>>(5)?.map(Status),
        status_text: details
            .status_text
            .map_or_else(|| default_status_text(outcome, status).to_owned(), Cow::into_owned),
        reasons: details.reasons.into_owned(),
        duration_us: total_us,
        address: address_from_row(row, locator)?,
        attempts: match details.attempts {
            Some(attempts) => attempts.into_owned(),
            None => attempts_without_details(row, locator, started_at, total_us)?,
        },
        facts: facts_from_row(row, locator, details.facts)?,
        details: details.details.into_owned(),
        captures: details.captures,
        verification: details.verification.map(Cow::into_owned),
        suppressed_by: details.suppressed_by,
        missed: missed_from_row(row, locator)?,
    })
}

fn address_from_row(row: &Row<'_>, locator: RowLocator<'_>) -> rusqlite::Result<Option<SocketAddr>> {
    let bytes: Option<Vec<u8>> = row.get(18)?;
    let decode = |bytes: Vec<u8>| {
        decode_address(&bytes)
            .ok_or_else(|| locator.decode_error("address", format_args!("{} bytes", bytes.len())))
    };
    bytes.map(decode).transpose()
}

/// Returns the only attempt, or what is known of the deciding one when its details were removed.
fn attempts_without_details(
    row: &Row<'_>,
    locator: RowLocator<'_>,
    started_at: Timestamp,
    total_us: u64,
) -> rusqlite::Result<Vec<Attempt>> {
    let number: u8 = row.get(20)?;
    if number == 0 {
        return Ok(Vec::new());
    }
    let mut phases: Phases = locator.json_column(row, 28, "session")?.unwrap_or_default();
    for (column, phase) in (8..).zip(Phase::COMMON) {
        if let Some(micros) = row.get::<_, Option<u32>>(column)? {
            phases.set(phase, Duration::from_micros(u64::from(micros)));
        }
    }
    Ok(vec![Attempt {
        number,
        started_at,
        duration_us: total_us,
        phases,
        failure: None,
        warnings: Vec::new(),
    }])
}

fn facts_from_row(
    row: &Row<'_>,
    locator: RowLocator<'_>,
    own_facts: Option<Facts>,
) -> rusqlite::Result<Facts> {
    let mut facts = match own_facts {
        Some(facts) => facts,
        None => locator.json_column(row, 25, "facts")?.unwrap_or_default(),
    };
    // A flattened part without required fields deserializes as present: undo that.
    if facts.tls.as_deref() == Some(&TlsFacts::default()) {
        facts.tls = None;
    }
    if let Some(certificates) = locator.json_column(row, 26, "chain")? {
        facts.tls.get_or_insert_default().certificates = certificates;
    }
    if let (Some(http), Some(wire_bytes), Some(body_bytes)) = (&mut facts.http, row.get(16)?, row.get(17)?) {
        (http.body_wire_bytes, http.body_bytes) = (wire_bytes, body_bytes);
    }
    Ok(facts)
}

fn missed_from_row(row: &Row<'_>, locator: RowLocator<'_>) -> rusqlite::Result<Option<MissedRuns>> {
    let Some(run_count) = row.get(22)? else { return Ok(None) };
    let reason: usize = row.get(21)?;
    Ok(Some(MissedRuns {
        reason: locator.require_decoded("missed_reason", reason, MissedReason::ALL.get(reason).copied())?,
        run_count,
        last_planned_at: Timestamp::from_micros(row.get(23)?),
    }))
}

const SELECT_STATES: &str = "
    SELECT monitor_id, location_id, check_id, planned_at, outcome, status, total_us, since, streak,
        full_page_at, first_check, slot_at
    FROM states AS s WHERE NOT EXISTS
        (SELECT 1 FROM monitors AS m WHERE m.id = s.monitor_id AND m.removed_at IS NOT NULL)";

/// Returns the states of all monitors that were not removed.
pub(super) fn states(conn: &Connection) -> rusqlite::Result<Vec<MonitorLocationState>> {
    conn.prepare_cached(&format!("{SELECT_STATES} ORDER BY monitor_id, location_id"))?
        .query_map(params![], state_from_row)?
        .collect()
}

/// Returns the states of those of `monitors` that were not removed, by monitor and location.
pub(super) fn states_for(
    conn: &Connection,
    monitors: &[MonitorId],
) -> rusqlite::Result<Vec<MonitorLocationState>> {
    let ids: Vec<i64> = monitors.iter().map(|id| id.0).collect();
    conn.prepare_cached(&format!(
        "{SELECT_STATES} AND s.monitor_id IN (SELECT value FROM json_each(?1)) ORDER BY monitor_id, location_id"
    ))?
    .query_map([serde_json::Value::from(ids).to_string()], state_from_row)?
    .collect()
}

fn state_from_row(row: &Row<'_>) -> rusqlite::Result<MonitorLocationState> {
    let (monitor_id, location_id) = (MonitorId(row.get(0)?), LocationId(row.get(1)?));
    let key = [("monitor_id", monitor_id.0), ("location_id", location_id.0)];
    let outcome: u8 = row.get(4)?;
    let decoded_outcome = RowLocator { table: "states", key: &key }.require_decoded(
        "outcome",
        outcome,
        Outcome::from_code(outcome),
    )?;
    let planned_at = Timestamp::from_micros(row.get(3)?);
    Ok(MonitorLocationState {
        monitor_id,
        location_id,
        check_id: CheckId(row.get::<_, i64>(2)?.cast_unsigned()),
        planned_at,
        outcome: decoded_outcome,
        status: Status(row.get(5)?),
        duration_us: row.get(6)?,
        streak_started_at: Timestamp::from_micros(row.get(7)?),
        streak: row.get(8)?,
        last_slot_at: if row.get::<_, Option<bool>>(10)? == Some(true) {
            row.get::<_, Option<i64>>(11)?.map(Timestamp::from_micros)
        } else {
            Some(planned_at)
        },
        last_full_page_at: row.get::<_, Option<i64>>(9)?.map(Timestamp::from_micros),
    })
}

impl ResultStore for SqliteStore {
    fn results(&self, filter: ResultFilter, page: Pagination) -> StoreFuture<'_, PaginatedResults> {
        Box::pin(self.readers.call(move |conn| self::read_page(conn, &filter, page)))
    }

    fn result(&self, check_id: CheckId) -> StoreFuture<'_, Option<CheckResult>> {
        Box::pin(self.readers.call(move |conn| by_id(&conn.unchecked_transaction()?, check_id)))
    }

    fn capture(&self, check_id: CheckId, name: String) -> StoreFuture<'_, Option<CapturedFile>> {
        Box::pin(self.readers.call(move |conn| capture(conn, check_id, &name)))
    }

    fn location_states_for(&self, monitors: Vec<MonitorId>) -> StoreFuture<'_, Vec<MonitorLocationState>> {
        Box::pin(self.readers.call(move |conn| states_for(conn, &monitors)))
    }

    fn results_for_states(
        &self,
        states: Vec<MonitorLocationState>,
    ) -> StoreFuture<'_, Vec<Option<CheckResult>>> {
        Box::pin(self.readers.call(move |conn| results_for_states(conn, &states)))
    }

    fn newest_results(&self, queries: Vec<NewestResultQuery>) -> StoreFuture<'_, Vec<Option<CheckResult>>> {
        Box::pin(self.readers.call(move |conn| newest_results(conn, &queries)))
    }

    fn location_states(&self) -> StoreFuture<'_, Vec<MonitorLocationState>> {
        Box::pin(self.readers.call(states))
    }

    fn rollups(
        &self,
        monitor: MonitorId,
        span: RollupSpan,
        from: Timestamp,
        until: Timestamp,
    ) -> StoreFuture<'_, Vec<Rollup>> {
        Box::pin(self.readers.call(move |conn| stored::select_rollups(conn, monitor, span, from, until)))
    }

    fn rollup_points(
        &self,
        query: RollupQuery,
        page: Pagination,
    ) -> StoreFuture<'_, Option<Paginated<Rollup>>> {
        Box::pin(self.readers.call(move |conn| points::select_points(conn, &query, page)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn the_monitor_hash_of_a_result_is_in_the_range_of_its_id(
            monitor: i64, location: i64, first in 0_i64..1 << 52, width in 0_i64..1 << 45, fraction in 0.0..1.0,
        ) {
            #[expect(clippy::cast_possible_truncation, reason = "a place between the two")]
            let planned_at = first + (width as f64 * fraction) as i64;
            let (monitor, location) = (MonitorId(monitor), LocationId(location));
            let id = CheckId::new(RunId::new(monitor, Timestamp::from_micros(planned_at)), location);
            let hash_xor_time = id.monitor_hash_xor_time(location);
            let monitor_hash = monitor.hash().cast_signed();
            let ranges: Vec<_> =
                aligned_blocks(first, first + width).map(|(from, to)| hash_range(hash_xor_time, from, to)).collect();
            proptest::prop_assert!(ranges.iter().any(|&(from, to)| (from..=to).contains(&monitor_hash)));
            let widest = ranges.iter().map(|(from, to)| from.abs_diff(*to)).max().unwrap_or(0);
            proptest::prop_assert!(widest <= width.unsigned_abs() * 2);
            proptest::prop_assert_eq!((hash_xor_time ^ monitor_hash.cast_unsigned()).cast_signed(), planned_at);
            proptest::prop_assert_eq!(MonitorId::from_hash(monitor.hash()), monitor);
        }
    }
}
