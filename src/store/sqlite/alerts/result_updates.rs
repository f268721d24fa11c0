//! Updates of stored results: verifications and added files.

use std::borrow::Cow;

use rusqlite::{Connection, OptionalExtension, params};

use crate::domain::{Outcome, Status};
use crate::store::contract::{CheckSuppression, CheckVerification, ResultKey};
use crate::store::rows::captures::CompressedCapture;
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::decode::RowLocator;
use crate::store::rows::result_row::{DetailsBody, to_json};
use crate::store::sqlite::decode::skip_undecodable;
use crate::store::sqlite::rollup::pending_rollups::StaleRollupMarker;
use crate::store::sqlite::writer::WriteContext;
use crate::store::sqlite::{captures, result_counts};

/// Adds a file to its result, if that exists and has no file of this name.
pub(super) fn attach_capture(conn: &Connection, added: &CompressedCapture) -> rusqlite::Result<()> {
    let Some(stored) = StoredOutcome::read(conn, &added.result_key)? else { return Ok(()) };
    // Details that cannot be decoded are neither overwritten nor do they block other writes.
    let Some(mut details) = skip_undecodable(stored.read_details(conn, &added.result_key))? else {
        return Ok(());
    };
    if details.captures.iter().any(|file| file.name == added.capture.name) {
        return Ok(());
    }
    details.captures.push(added.capture.clone());
    stored.write_details(conn, &added.result_key, &details)?;
    captures::insert(conn, stored.is_stored_as_failed(), result_primary_key(&added.result_key), &added.chunks)
}

/// Stores a verification. Status 70 turns an error into a warning whose warning status is the status that it had
/// (behaviour.md 5): in the result, counts, rollups and, for the last result there, the state.
/// Outcome codes in its SQL: 1 warning, 2 error.
pub(super) fn apply_verification(
    context: &mut WriteContext<'_>,
    verified: &CheckVerification,
    rollup_marker: &StaleRollupMarker,
) -> rusqlite::Result<()> {
    let (key, conn) = (&verified.result_key, context.conn);
    let Some(stored) = StoredOutcome::read(conn, key)? else { return Ok(()) };
    let Some(mut details) = skip_undecodable(stored.read_details(conn, key))? else { return Ok(()) };
    details.verification = Some(Cow::Borrowed(&verified.verification));
    let is_downgraded =
        verified.verification.status == Status::VERIFICATION_NO_ERROR && stored.outcome == Outcome::Error;
    if is_downgraded {
        details.status_text = None;
    }
    stored.write_details(conn, key, &details)?;
    if !is_downgraded {
        return Ok(());
    }
    let (planned_at, monitor, location) = result_primary_key(key);
    conn.prepare_cached(
        "UPDATE results SET outcome = 1, warning_status = status, status = 0
         WHERE planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3",
    )?
    .execute([planned_at, monitor, location])?;
    conn.prepare_cached(
        "UPDATE states SET outcome = 1, status = 0, since = ?4, streak = 1
         WHERE monitor_id = ?2 AND location_id = ?3 AND check_id = ?1 AND outcome = 2",
    )?
    .execute([key.check_id.0.cast_signed(), monitor, location, planned_at])?;
    let customer = context.cache.cached_customer(conn, monitor)?;
    let mut count_changes = CountChanges::default();
    count_changes.add(planned_at, customer, location, i64::from(Outcome::Error.code()), -1);
    count_changes.add(planned_at, customer, location, i64::from(Outcome::Warning.code()), 1);
    result_counts::write_changes(conn, count_changes)?;
    rollup_marker.mark_result(conn, planned_at, monitor, location)
}

/// Stores that the error of a result is suppressed: in its details, and in its row for the reports.
pub(super) fn apply_suppression(conn: &Connection, suppressed: &CheckSuppression) -> rusqlite::Result<()> {
    let key = &suppressed.result_key;
    let Some(stored) = StoredOutcome::read(conn, key)?.filter(|stored| stored.outcome == Outcome::Error)
    else {
        return Ok(());
    };
    let Some(mut details) = skip_undecodable(stored.read_details(conn, key))? else { return Ok(()) };
    details.suppressed_by.clone_from(&suppressed.suppressed_by);
    stored.write_details(conn, key, &details)?;
    let (planned_at, monitor, location) = result_primary_key(key);
    conn.prepare_cached(
        "UPDATE results SET suppressed = 1 WHERE planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3",
    )?
    .execute([planned_at, monitor, location])?;
    Ok(())
}

/// The stored outcome of a result, which can change.
struct StoredOutcome {
    outcome: Outcome,
}

impl StoredOutcome {
    /// Reads it; `None` when the result does not exist.
    fn read(conn: &Connection, key: &ResultKey) -> rusqlite::Result<Option<Self>> {
        let (planned_at, monitor, location) = result_primary_key(key);
        let outcome: Option<u8> = conn
            .prepare_cached(
                "SELECT outcome FROM results WHERE planned_at = ?1 AND monitor_id = ?2 AND location_id = ?3",
            )?
            .query_row([planned_at, monitor, location], |row| row.get(0))
            .optional()?;
        Ok(outcome.and_then(Outcome::from_code).map(|outcome| Self { outcome }))
    }

    /// Whether its details and captures are stored with `failed` = 1: for every outcome but ok.
    fn is_stored_as_failed(&self) -> bool {
        self.outcome != Outcome::Ok
    }

    fn read_details(&self, conn: &Connection, key: &ResultKey) -> rusqlite::Result<DetailsBody<'static>> {
        let (planned_at, monitor, location) = result_primary_key(key);
        let body: Option<String> = conn
            .prepare_cached(
                "SELECT body FROM details
                 WHERE failed = ?1 AND planned_at = ?2 AND monitor_id = ?3 AND location_id = ?4",
            )?
            .query_row(params![self.is_stored_as_failed(), planned_at, monitor, location], |row| row.get(0))
            .optional()?;
        let key = [("planned_at", planned_at), ("monitor_id", monitor), ("location_id", location)];
        let locator = RowLocator { table: "details", key: &key };
        match body {
            Some(body) => Ok(DetailsBody::decode(locator, &body)?),
            None => Ok(DetailsBody::default()),
        }
    }

    fn write_details(
        &self,
        conn: &Connection,
        key: &ResultKey,
        details: &DetailsBody<'_>,
    ) -> rusqlite::Result<()> {
        let (planned_at, monitor, location) = result_primary_key(key);
        conn.prepare_cached(
            "INSERT INTO details VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT DO UPDATE SET body = ?5",
        )?
        .execute(params![
            self.is_stored_as_failed(),
            planned_at,
            monitor,
            location,
            to_json(details)
        ])?;
        Ok(())
    }
}

/// Returns planned time in microseconds, monitor and location.
fn result_primary_key(key: &ResultKey) -> (i64, i64, i64) {
    (key.planned_at.as_micros(), key.monitor_id.0, key.location_id.0)
}
