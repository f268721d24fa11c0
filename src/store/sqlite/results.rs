//! Reads results and states.

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, Transaction, params, params_from_iter};

use crate::domain::{
    CapturedFile, CheckId, CheckResult, LocationId, MonitorId, Outcome, Paginated, Phase, Rollup,
    RollupQuery, Timestamp,
};
use crate::store::contract::{
    MonitorChanges, MonitorLocationState, NewestResultQuery, PaginatedResults, Pagination, ResultFilter,
    ResultStore, RollupSpan, StoreFuture,
};
use crate::store::rows::check_id_search::{aligned_blocks, hash_range};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::location_state::StoredLocationState;
use crate::store::rows::stored_result::StoredResult;

use super::decode::{skip_undecodable, text_column};
use super::result_filter::where_clause;
use super::rollup::{points, stored};
use super::store::SqliteStore;
use super::{captures, result_counts};

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

/// Returns the result with this id (see [`check_id_search`](crate::store::rows::check_id_search)).
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
    let key = [("planned_at", row.get(0)?), ("monitor_id", row.get(1)?), ("location_id", row.get(2)?)];
    let locator = RowLocator { table: "results", key: &key };
    let mut phases_us = [None; Phase::COMMON.len()];
    for (column, micros) in (8..).zip(&mut phases_us) {
        *micros = row.get(column)?;
    }
    let stored = StoredResult {
        planned_at: row.get(0)?,
        monitor_id: row.get(1)?,
        location_id: row.get(2)?,
        outcome: row.get(3)?,
        status: row.get(4)?,
        warning_status: row.get(5)?,
        start_delay_us: row.get(6)?,
        duration_us: row.get(7)?,
        phases_us,
        body_wire_bytes: row.get(16)?,
        body_bytes: row.get(17)?,
        address: row.get_ref(18)?.as_blob_or_null()?,
        revision: row.get(19)?,
        last_attempt_number: row.get(20)?,
        missed_reason: row.get(21)?,
        missed_run_count: row.get(22)?,
        last_planned_at: row.get(23)?,
        type_and_name: text_column(locator, row, 24, "label")?,
        shared_facts_json: text_column(locator, row, 25, "facts")?,
        certificate_chain_json: text_column(locator, row, 26, "chain")?,
        details_json: text_column(RowLocator { table: "details", ..locator }, row, 27, "body")?,
        uncommon_phases_json: text_column(locator, row, 28, "session")?,
        is_first_check: row.get::<_, Option<bool>>(29)? == Some(true),
    };
    Ok(stored.decode()?)
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
    let stored = StoredLocationState {
        monitor_id: row.get(0)?,
        location_id: row.get(1)?,
        check_id: row.get(2)?,
        planned_at: row.get(3)?,
        outcome: row.get(4)?,
        status: row.get(5)?,
        duration_us: row.get(6)?,
        streak_started_at: row.get(7)?,
        streak: row.get(8)?,
        last_full_page_at: row.get(9)?,
        last_was_first_check: row.get::<_, Option<bool>>(10)? == Some(true),
        last_slot_at: row.get(11)?,
    };
    Ok(stored.decode()?)
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

    fn state_changes(&self, position: Option<u64>) -> MonitorChanges {
        self.state_changes.since(position)
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
