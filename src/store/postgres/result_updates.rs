//! Updates of stored results: verifications and added files.

use std::borrow::Cow;

use sqlx::PgConnection;

use crate::domain::{Outcome, Status};
use crate::store::contract::{CheckSuppression, CheckVerification, ResultKey};
use crate::store::rows::captures::CompressedCapture;
use crate::store::rows::count_changes::CountChanges;
use crate::store::rows::decode::RowLocator;
use crate::store::rows::result_row::{DetailsBody, to_json};

use super::batch_columns::ResultRowKey;
use super::error::{PgError, PgResult, skip_undecodable};
use super::rollup::pending_rollups::StaleRollupMarker;
use super::{captures, result_counts};

/// Adds a file to its result, if that exists and has no file of this name.
pub(super) async fn attach_capture(conn: &mut PgConnection, added: &CompressedCapture) -> PgResult<()> {
    let key = row_key(&added.result_key);
    let Some(stored) = StoredOutcome::lock(conn, key).await? else { return Ok(()) };
    // Details that cannot be decoded are neither overwritten nor do they block other writes.
    let Some(mut details) = skip_undecodable(stored.read_details(conn, key).await)? else { return Ok(()) };
    if details.captures.iter().any(|file| file.name == added.capture.name) {
        return Ok(());
    }
    details.captures.push(added.capture.clone());
    stored.write_details(conn, key, &details).await?;
    captures::insert(conn, stored.is_stored_as_failed(), key, &added.chunks).await
}

/// Stores a verification. Status 70 turns an error into a warning whose warning status is the status that it had
/// (behaviour.md 5): in the result, counts, rollups and, for the last result there, the state.
/// Outcome codes in its SQL: 1 warning, 2 error.
pub(super) async fn apply_verification(
    conn: &mut PgConnection,
    verified: &CheckVerification,
    rollup_marker: &StaleRollupMarker,
) -> PgResult<()> {
    let key = row_key(&verified.result_key);
    let Some(stored) = StoredOutcome::lock(conn, key).await? else { return Ok(()) };
    let Some(mut details) = skip_undecodable(stored.read_details(conn, key).await)? else { return Ok(()) };
    details.verification = Some(Cow::Borrowed(&verified.verification));
    let is_downgraded =
        verified.verification.status == Status::VERIFICATION_NO_ERROR && stored.outcome == Outcome::Error;
    if is_downgraded {
        details.status_text = None;
    }
    stored.write_details(conn, key, &details).await?;
    if !is_downgraded {
        return Ok(());
    }
    let (planned_at, monitor, location) = key;
    sqlx::query(
        "UPDATE results SET outcome = 1, warning_status = status, status = 0
         WHERE planned_at = $1 AND monitor_id = $2 AND location_id = $3",
    )
    .bind(planned_at)
    .bind(monitor)
    .bind(location)
    .execute(&mut *conn)
    .await?;
    sqlx::query(
        "UPDATE location_states SET outcome = 1, status = 0, streak_started_at = $4, streak = 1
         WHERE monitor_id = $2 AND location_id = $3 AND check_id = $1 AND outcome = 2",
    )
    .bind(verified.result_key.check_id.0.cast_signed())
    .bind(monitor)
    .bind(location)
    .bind(planned_at)
    .execute(&mut *conn)
    .await?;
    let customer: Option<i64> = sqlx::query_scalar("SELECT customer FROM monitors WHERE id = $1")
        .bind(monitor)
        .fetch_optional(&mut *conn)
        .await?;
    let mut count_changes = CountChanges::default();
    let customer = customer.unwrap_or_default();
    count_changes.add(planned_at, customer, location, i64::from(Outcome::Error.code()), -1);
    count_changes.add(planned_at, customer, location, i64::from(Outcome::Warning.code()), 1);
    result_counts::write_changes(conn, count_changes).await?;
    rollup_marker.mark_result(conn, key).await
}

/// Stores that the error of a result is suppressed: in its details, and in its row for the reports.
pub(super) async fn apply_suppression(
    conn: &mut PgConnection,
    suppressed: &CheckSuppression,
) -> PgResult<()> {
    let key = row_key(&suppressed.result_key);
    let stored = StoredOutcome::lock(conn, key).await?;
    let Some(stored) = stored.filter(|stored| stored.outcome == Outcome::Error) else { return Ok(()) };
    let Some(mut details) = skip_undecodable(stored.read_details(conn, key).await)? else { return Ok(()) };
    details.suppressed_by.clone_from(&suppressed.suppressed_by);
    stored.write_details(conn, key, &details).await?;
    let (planned_at, monitor, location) = key;
    sqlx::query(
        "UPDATE results SET is_suppressed = true
         WHERE planned_at = $1 AND monitor_id = $2 AND location_id = $3",
    )
    .bind(planned_at)
    .bind(monitor)
    .bind(location)
    .execute(conn)
    .await?;
    Ok(())
}

/// The stored outcome of a result, which can change.
struct StoredOutcome {
    outcome: Outcome,
}

impl StoredOutcome {
    /// Reads it, and locks the result until the end of the transaction; `None` when the result does not exist.
    async fn lock(
        conn: &mut PgConnection,
        (planned_at, monitor, location): ResultRowKey,
    ) -> PgResult<Option<Self>> {
        let outcome: Option<i64> = sqlx::query_scalar(
            "SELECT outcome::bigint FROM results
             WHERE planned_at = $1 AND monitor_id = $2 AND location_id = $3 FOR UPDATE",
        )
        .bind(planned_at)
        .bind(monitor)
        .bind(location)
        .fetch_optional(conn)
        .await?;
        let outcome = outcome.and_then(|code| u8::try_from(code).ok()).and_then(Outcome::from_code);
        Ok(outcome.map(|outcome| Self { outcome }))
    }

    /// Whether its details and captures are stored with those of failed results: for every outcome but ok.
    fn is_stored_as_failed(&self) -> bool {
        self.outcome != Outcome::Ok
    }

    async fn read_details(
        &self,
        conn: &mut PgConnection,
        (planned_at, monitor, location): ResultRowKey,
    ) -> PgResult<DetailsBody<'static>> {
        let body: Option<String> = sqlx::query_scalar(
            "SELECT body FROM result_details
             WHERE is_failed = $1 AND planned_at = $2 AND monitor_id = $3 AND location_id = $4",
        )
        .bind(self.is_stored_as_failed())
        .bind(planned_at)
        .bind(monitor)
        .bind(location)
        .fetch_optional(conn)
        .await?;
        let key = [("planned_at", planned_at), ("monitor_id", monitor), ("location_id", location)];
        let locator = RowLocator { table: "details", key: &key };
        match body {
            Some(body) => DetailsBody::decode(locator, &body).map_err(PgError::from),
            None => Ok(DetailsBody::default()),
        }
    }

    async fn write_details(
        &self,
        conn: &mut PgConnection,
        (planned_at, monitor, location): ResultRowKey,
        details: &DetailsBody<'_>,
    ) -> PgResult<()> {
        sqlx::query(
            "INSERT INTO result_details (is_failed, planned_at, monitor_id, location_id, body)
             VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (is_failed, planned_at, monitor_id, location_id) DO UPDATE SET body = excluded.body",
        )
        .bind(self.is_stored_as_failed())
        .bind(planned_at)
        .bind(monitor)
        .bind(location)
        .bind(to_json(details))
        .execute(conn)
        .await?;
        Ok(())
    }
}

/// Returns planned time in microseconds, monitor and location.
fn row_key(key: &ResultKey) -> ResultRowKey {
    (key.planned_at.as_micros(), key.monitor_id.0, key.location_id.0)
}
