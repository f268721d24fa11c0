//! States of monitors at their locations, and the pairs of monitor and location that had results.

use std::collections::HashSet;

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{MonitorId, MonitorLocationState, Timestamp};
use crate::store::rows::location_state::StoredLocationState;
use crate::store::rows::result_row::saturating_i64;
use crate::sync::Mutex;

use super::error::PgResult;

/// Most pairs that are remembered; beyond, they are forgotten.
const MAX_KNOWN_PAIRS: usize = 4_000_000;

/// The pairs of monitor and location that are stored; they are never removed.
#[derive(Default)]
pub(super) struct KnownPairs(Mutex<HashSet<(i64, i64)>>);

impl KnownPairs {
    /// Returns those of `pairs` that are not known to be stored, in order.
    pub(super) fn unknown(&self, pairs: impl Iterator<Item = (i64, i64)>) -> Vec<(i64, i64)> {
        let known = self.0.lock();
        let mut unknown: Vec<_> = pairs.filter(|pair| !known.contains(pair)).collect();
        unknown.sort_unstable();
        unknown.dedup();
        unknown
    }

    /// Remembers pairs whose transaction was committed.
    pub(super) fn remember(&self, pairs: Vec<(i64, i64)>) {
        let mut known = self.0.lock();
        if known.len() + pairs.len() > MAX_KNOWN_PAIRS {
            known.clear();
        }
        known.extend(pairs);
    }
}

/// Records that these monitors have results at these locations.
pub(super) async fn insert_pairs(conn: &mut PgConnection, pairs: &[(i64, i64)]) -> PgResult<()> {
    if pairs.is_empty() {
        return Ok(());
    }
    let mut rows: Vec<(i64, i64)> = pairs
        .iter()
        .map(|&(monitor, location)| (location, MonitorId(monitor).hash().cast_signed()))
        .collect();
    rows.sort_unstable();
    let (locations, hashes): (Vec<i64>, Vec<i64>) = rows.into_iter().unzip();
    sqlx::query(
        "INSERT INTO monitor_locations (location_id, monitor_hash) SELECT * FROM unnest($1::bigint[], $2::bigint[])
         ON CONFLICT DO NOTHING",
    )
    .bind(locations)
    .bind(hashes)
    .execute(conn)
    .await?;
    Ok(())
}

/// Inserts or replaces states, which are ordered by monitor and location.
pub(super) async fn upsert(conn: &mut PgConnection, states: &[MonitorLocationState]) -> PgResult<()> {
    // Of several states of a pair, the last one counts.
    let mut newest: Vec<&MonitorLocationState> = Vec::with_capacity(states.len());
    for state in states {
        let pair = |state: &MonitorLocationState| (state.monitor_id, state.location_id);
        newest.pop_if(|previous| pair(previous) == pair(state));
        newest.push(state);
    }
    if newest.is_empty() {
        return Ok(());
    }
    let column = |value: fn(&MonitorLocationState) -> i64| -> Vec<i64> {
        newest.iter().map(|state| value(state)).collect()
    };
    let optional_column = |value: fn(&MonitorLocationState) -> Option<i64>| -> Vec<Option<i64>> {
        newest.iter().map(|state| value(state)).collect()
    };
    let first_checks: Vec<bool> = newest.iter().map(|state| state.last_was_first_check()).collect();
    sqlx::query(
        "INSERT INTO location_states (monitor_id, location_id, check_id, planned_at, outcome, status, duration_us,
             streak_started_at, streak, last_full_page_at, last_was_first_check, last_slot_at)
         SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
             $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::boolean[], $12::bigint[])
         ON CONFLICT (monitor_id, location_id) DO UPDATE SET check_id = excluded.check_id,
             planned_at = excluded.planned_at, outcome = excluded.outcome, status = excluded.status,
             duration_us = excluded.duration_us, streak_started_at = excluded.streak_started_at,
             streak = excluded.streak, last_full_page_at = excluded.last_full_page_at,
             last_was_first_check = excluded.last_was_first_check, last_slot_at = excluded.last_slot_at",
    )
    .bind(column(|state| state.monitor_id.0))
    .bind(column(|state| state.location_id.0))
    .bind(column(|state| state.check_id.0.cast_signed()))
    .bind(column(|state| state.planned_at.as_micros()))
    .bind(column(|state| i64::from(state.outcome.code())))
    .bind(column(|state| i64::from(state.status.0)))
    .bind(column(|state| saturating_i64(state.duration_us)))
    .bind(column(|state| state.streak_started_at.as_micros()))
    .bind(column(|state| i64::from(state.streak)))
    .bind(optional_column(|state| state.last_full_page_at.map(Timestamp::as_micros)))
    .bind(first_checks)
    .bind(optional_column(|state| {
        state.last_slot_at.filter(|_| state.last_was_first_check()).map(Timestamp::as_micros)
    }))
    .execute(conn)
    .await?;
    Ok(())
}

/// Returns the states of the monitors that were not removed, by monitor and location; of `monitors` only, if given.
pub(super) async fn select(
    conn: &mut PgConnection,
    monitors: Option<Vec<i64>>,
) -> PgResult<Vec<MonitorLocationState>> {
    let rows = sqlx::query(
        "SELECT monitor_id, location_id, check_id, planned_at, outcome::bigint, status::bigint, duration_us,
             streak_started_at, streak, last_full_page_at, last_was_first_check, last_slot_at
         FROM location_states AS s
         WHERE ($1::bigint[] IS NULL OR monitor_id = ANY ($1)) AND NOT EXISTS
             (SELECT 1 FROM monitors AS m WHERE m.id = s.monitor_id AND m.removed_at IS NOT NULL)
         ORDER BY monitor_id, location_id",
    )
    .bind(monitors)
    .fetch_all(conn)
    .await?;
    rows.iter().map(state_from_row).collect()
}

fn state_from_row(row: &PgRow) -> PgResult<MonitorLocationState> {
    let stored = StoredLocationState {
        monitor_id: row.try_get(0)?,
        location_id: row.try_get(1)?,
        check_id: row.try_get(2)?,
        planned_at: row.try_get(3)?,
        outcome: row.try_get(4)?,
        status: row.try_get(5)?,
        duration_us: row.try_get(6)?,
        streak_started_at: row.try_get(7)?,
        streak: row.try_get(8)?,
        last_full_page_at: row.try_get(9)?,
        last_was_first_check: row.try_get(10)?,
        last_slot_at: row.try_get(11)?,
    };
    Ok(stored.decode()?)
}
