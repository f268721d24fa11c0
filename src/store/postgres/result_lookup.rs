//! Reads results by their keys.

use std::collections::HashMap;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{CheckId, CheckResult, LocationId, MonitorId, Outcome, Phase};
use crate::store::rows::check_id_search::{aligned_blocks, hash_range};
use crate::store::rows::stored_result::StoredResult;

use super::batch_columns::{ResultRowKey, key_columns};
use super::error::{PgResult, skip_undecodable};

/// Returns the result of each of `keys`, with its details; `None` for one that does not exist. One that cannot be
/// decoded is logged and left out.
pub(super) async fn results_by_keys(
    conn: &mut PgConnection,
    keys: &[ResultRowKey],
) -> PgResult<Vec<Option<CheckResult>>> {
    let mut found = HashMap::with_capacity(keys.len());
    for (key, decoded) in select_results(conn, keys).await? {
        if let Some(result) = skip_undecodable(decoded)? {
            found.insert(key, result);
        }
    }
    Ok(keys.iter().map(|key| found.get(key).cloned()).collect())
}

/// Returns the results with these keys that exist, each decoded or with the reason why not.
async fn select_results(
    conn: &mut PgConnection,
    keys: &[ResultRowKey],
) -> PgResult<Vec<(ResultRowKey, PgResult<CheckResult>)>> {
    let times = keys.iter().map(|(planned_at, ..)| *planned_at);
    let (Some(first), Some(last)) = (times.clone().min(), times.max()) else { return Ok(Vec::new()) };
    let (planned_at, monitors, locations) = key_columns(keys.iter().copied());
    // The bounds let the server skip partitions.
    let rows = sqlx::query(
        "SELECT r.planned_at, r.monitor_id, r.location_id, r.outcome::bigint, r.status::bigint,
             r.warning_status::bigint, r.start_delay_us, r.duration_us, r.prepare_us::bigint, r.resolve_us::bigint,
             r.connect_us::bigint, r.tls_us::bigint, r.send_us::bigint, r.first_byte_us::bigint,
             r.transfer_us::bigint, r.validate_us::bigint, r.body_wire_bytes, r.body_bytes, r.address, r.revision,
             r.last_attempt::bigint, r.missed_reason::bigint, r.missed_run_count, r.last_planned_at, label.text,
             facts.text, chain.text, r.uncommon_phases, r.is_first_check
         FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k (planned_at, monitor_id, location_id)
         JOIN results AS r ON r.planned_at = k.planned_at AND r.monitor_id = k.monitor_id
             AND r.location_id = k.location_id AND r.planned_at BETWEEN $4 AND $5
         LEFT JOIN shared_texts AS label ON label.hash = r.label_hash
         LEFT JOIN shared_texts AS facts ON facts.hash = r.facts_hash
         LEFT JOIN shared_texts AS chain ON chain.hash = r.chain_hash",
    )
    .bind(planned_at)
    .bind(monitors)
    .bind(locations)
    .bind(first)
    .bind(last)
    .fetch_all(&mut *conn)
    .await?;
    let keys_and_outcomes: Vec<(ResultRowKey, i64)> = rows
        .iter()
        .map(|row| Ok((key_from_row(row)?, row.try_get(3)?)))
        .collect::<Result<_, sqlx::Error>>()?;
    let details = select_details(conn, &keys_and_outcomes, (first, last)).await?;
    rows.iter()
        .map(|row| {
            let key = key_from_row(row)?;
            Ok((key, result_from_row(row, key, details.get(&key).map(String::as_str))))
        })
        .collect()
}

/// Returns the details of results, whose outcome codes are given.
async fn select_details(
    conn: &mut PgConnection,
    results: &[(ResultRowKey, i64)],
    (first, last): (i64, i64),
) -> PgResult<HashMap<ResultRowKey, String>> {
    let mut details = HashMap::new();
    for is_failed in [false, true] {
        let keys = results
            .iter()
            .filter(|(_, outcome)| (*outcome != i64::from(Outcome::Ok.code())) == is_failed)
            .map(|(key, _)| *key);
        let (planned_at, monitors, locations) = key_columns(keys);
        if planned_at.is_empty() {
            continue;
        }
        let rows: Vec<(i64, i64, i64, String)> = sqlx::query_as(
            "SELECT d.planned_at, d.monitor_id, d.location_id, d.body
             FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS k (planned_at, monitor_id, location_id)
             JOIN result_details AS d ON d.is_failed = $4 AND d.planned_at = k.planned_at
                 AND d.monitor_id = k.monitor_id AND d.location_id = k.location_id
                 AND d.planned_at BETWEEN $5 AND $6",
        )
        .bind(planned_at)
        .bind(monitors)
        .bind(locations)
        .bind(is_failed)
        .bind(first)
        .bind(last)
        .fetch_all(&mut *conn)
        .await?;
        details.extend(rows.into_iter().map(|(at, monitor, location, body)| ((at, monitor, location), body)));
    }
    Ok(details)
}

fn key_from_row(row: &PgRow) -> Result<ResultRowKey, sqlx::Error> {
    Ok((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?))
}

fn result_from_row(
    row: &PgRow,
    (planned_at, monitor_id, location_id): ResultRowKey,
    details_json: Option<&str>,
) -> PgResult<CheckResult> {
    let mut phases_us = [None; Phase::COMMON.len()];
    for (column, micros) in (8..).zip(&mut phases_us) {
        *micros = row.try_get::<_, usize>(column)?;
    }
    let stored = StoredResult {
        planned_at,
        monitor_id,
        location_id,
        outcome: row.try_get(3)?,
        status: row.try_get(4)?,
        warning_status: row.try_get(5)?,
        start_delay_us: row.try_get(6)?,
        duration_us: row.try_get(7)?,
        phases_us,
        body_wire_bytes: row.try_get(16)?,
        body_bytes: row.try_get(17)?,
        address: row.try_get(18)?,
        revision: row.try_get(19)?,
        last_attempt_number: row.try_get(20)?,
        missed_reason: row.try_get(21)?,
        missed_run_count: row.try_get(22)?,
        last_planned_at: row.try_get(23)?,
        type_and_name: row.try_get(24)?,
        shared_facts_json: row.try_get(25)?,
        certificate_chain_json: row.try_get(26)?,
        details_json,
        uncommon_phases_json: row.try_get(27)?,
        is_first_check: row.try_get(28)?,
    };
    Ok(stored.decode()?)
}

/// Returns the result with this id (see [`check_id_search`](crate::store::rows::check_id_search)).
pub(super) async fn by_id(conn: &mut PgConnection, check_id: CheckId) -> PgResult<Option<CheckResult>> {
    let bounds: (Option<i64>, Option<i64>) =
        sqlx::query_as("SELECT (SELECT min(planned_at) FROM results), (SELECT max(planned_at) FROM results)")
            .fetch_one(&mut *conn)
            .await?;
    let (Some(first), Some(last)) = bounds else { return Ok(None) };
    let mut keys: Vec<ResultRowKey> = Vec::new();
    let mut last_location = i64::MIN;
    while let Some(location) = next_location(conn, last_location).await? {
        last_location = location;
        let hash_xor_time = check_id.monitor_hash_xor_time(LocationId(location));
        for (block_start, block_end) in aligned_blocks(first, last) {
            let range = hash_range(hash_xor_time, block_start, block_end);
            let monitor_hashes: Vec<i64> = sqlx::query_scalar(
                "SELECT monitor_hash FROM monitor_locations
                 WHERE location_id = $1 AND monitor_hash BETWEEN $2 AND $3",
            )
            .bind(location)
            .bind(range.0)
            .bind(range.1)
            .fetch_all(&mut *conn)
            .await?;
            keys.extend(monitor_hashes.into_iter().map(|monitor_hash| {
                let planned_at = (hash_xor_time ^ monitor_hash.cast_unsigned()).cast_signed();
                (planned_at, MonitorId::from_hash(monitor_hash.cast_unsigned()).0, location)
            }));
        }
    }
    match select_results(conn, &keys).await?.into_iter().next() {
        Some((_, result)) => result.map(Some),
        None => Ok(None),
    }
}

async fn next_location(conn: &mut PgConnection, after: i64) -> PgResult<Option<i64>> {
    Ok(sqlx::query_scalar("SELECT min(location_id) FROM monitor_locations WHERE location_id > $1")
        .bind(after)
        .fetch_one(conn)
        .await?)
}
