//! The columns of a batch of results as arrays, for `unnest`.

use std::collections::HashSet;

use sqlx::PgConnection;

use crate::domain::Phase;
use crate::store::rows::result_row::ResultRow;

use super::error::PgResult;

/// Planned time in microseconds, monitor and location of a result.
pub(super) type ResultRowKey = (i64, i64, i64);

/// Returns the key of `row`.
pub(super) const fn key_of(row: &ResultRow) -> ResultRowKey {
    (row.planned_at, row.monitor_id, row.location_id)
}

/// Returns the keys as an array per column.
pub(super) fn key_columns(keys: impl Iterator<Item = ResultRowKey>) -> (Vec<i64>, Vec<i64>, Vec<i64>) {
    let mut columns = (Vec::new(), Vec::new(), Vec::new());
    for (planned_at, monitor, location) in keys {
        columns.0.push(planned_at);
        columns.1.push(monitor);
        columns.2.push(location);
    }
    columns
}

/// Inserts the narrow rows whose keys are free; returns their keys. The keys of `rows` differ.
pub(super) async fn insert_rows(
    conn: &mut PgConnection,
    rows: &[&ResultRow],
) -> PgResult<HashSet<ResultRowKey>> {
    let (planned_at, monitors, locations) = key_columns(rows.iter().map(|row| key_of(row)));
    let phases: Vec<[Option<u32>; Phase::COMMON.len()]> =
        rows.iter().map(|row| row.phase_columns()).collect();
    let phase = |index: usize| -> Vec<Option<i64>> {
        phases.iter().map(|phases| phases[index].map(i64::from)).collect()
    };
    let required = |value: fn(&ResultRow) -> i64| -> Vec<i64> { rows.iter().map(|row| value(row)).collect() };
    let optional = |value: fn(&ResultRow) -> Option<i64>| -> Vec<Option<i64>> {
        rows.iter().map(|row| value(row)).collect()
    };
    let bytes = |value: fn(&ResultRow) -> Option<&[u8]>| -> Vec<Option<&[u8]>> {
        rows.iter().map(|row| value(row)).collect()
    };
    let labels: Vec<&[u8]> = rows.iter().map(|row| row.type_and_name.hash.as_slice()).collect();
    let uncommon_phases: Vec<Option<String>> = rows.iter().map(|row| row.uncommon_phases_json()).collect();
    let first_checks: Vec<bool> = rows.iter().map(|row| row.is_first_check).collect();
    let inserted: Vec<ResultRowKey> = sqlx::query_as(
        "INSERT INTO results (planned_at, monitor_id, location_id, outcome, status, warning_status, start_delay_us,
             duration_us, prepare_us, resolve_us, connect_us, tls_us, send_us, first_byte_us, transfer_us, validate_us,
             body_wire_bytes, body_bytes, address, revision, last_attempt, label_hash, facts_hash, chain_hash,
             missed_reason, missed_run_count, last_planned_at, uncommon_phases, full_page_us, is_first_check)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
             $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bigint[], $13::bigint[],
             $14::bigint[], $15::bigint[], $16::bigint[], $17::bigint[], $18::bigint[], $19::bytea[], $20::bigint[],
             $21::bigint[], $22::bytea[], $23::bytea[], $24::bytea[], $25::bigint[], $26::bigint[], $27::bigint[],
             $28::text[], $29::bigint[], $30::boolean[])
         ON CONFLICT DO NOTHING RETURNING planned_at, monitor_id, location_id",
    )
    .bind(planned_at)
    .bind(monitors)
    .bind(locations)
    .bind(required(|row| i64::from(row.outcome.code())))
    .bind(required(|row| i64::from(row.status)))
    .bind(optional(|row| row.warning_status.map(i64::from)))
    .bind(required(|row| row.start_delay_us))
    .bind(required(|row| row.duration_us))
    .bind(phase(0))
    .bind(phase(1))
    .bind(phase(2))
    .bind(phase(3))
    .bind(phase(4))
    .bind(phase(5))
    .bind(phase(6))
    .bind(phase(7))
    .bind(optional(|row| row.body_wire_bytes))
    .bind(optional(|row| row.body_bytes))
    .bind(bytes(|row| row.address.as_deref()))
    .bind(required(|row| row.revision))
    .bind(required(|row| row.last_attempt_number))
    .bind(labels)
    .bind(bytes(|row| row.shared_facts.as_ref().map(|text| text.hash.as_slice())))
    .bind(bytes(|row| row.certificate_chain.as_ref().map(|text| text.hash.as_slice())))
    .bind(optional(|row| row.missed.and_then(|missed| i64::try_from(missed.reason_code).ok())))
    .bind(optional(|row| row.missed.map(|missed| i64::from(missed.run_count))))
    .bind(optional(|row| row.missed.map(|missed| missed.last_planned_at)))
    .bind(uncommon_phases)
    .bind(optional(|row| row.full_page_us))
    .bind(first_checks)
    .fetch_all(conn)
    .await?;
    Ok(inserted.into_iter().collect())
}

/// Inserts details (JSON) of results, unless they exist.
pub(super) async fn insert_details(
    conn: &mut PgConnection,
    details: &[(bool, ResultRowKey, &str)],
) -> PgResult<()> {
    if details.is_empty() {
        return Ok(());
    }
    let failed: Vec<bool> = details.iter().map(|(is_failed, ..)| *is_failed).collect();
    let (planned_at, monitors, locations) = key_columns(details.iter().map(|(_, key, _)| *key));
    let bodies: Vec<&str> = details.iter().map(|(_, _, body)| *body).collect();
    sqlx::query(
        "INSERT INTO result_details (is_failed, planned_at, monitor_id, location_id, body)
         SELECT * FROM unnest($1::boolean[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[])
         ON CONFLICT DO NOTHING",
    )
    .bind(failed)
    .bind(planned_at)
    .bind(monitors)
    .bind(locations)
    .bind(bodies)
    .execute(conn)
    .await?;
    Ok(())
}
