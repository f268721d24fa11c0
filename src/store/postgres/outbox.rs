//! Notifications to be delivered.

use sqlx::{AssertSqlSafe, PgConnection};

use crate::domain::{CheckId, CustomerId, NewNotification, Notification, RecipientId, Timestamp};
use crate::store::contract::{
    DeliveryOutcome, NotificationFilter, Outbox, Paginated, Pagination, StoreFuture,
};
use crate::store::rows::notification_row::NotificationRow;

use super::error::{PgResult, skip_undecodable};
use super::notifications::{self, COLUMNS, notification_from_row};
use super::store::PostgresStore;

impl Outbox for PostgresStore {
    fn due_notifications(
        &self,
        now: Timestamp,
        max: u32,
        max_per_recipient: u32,
    ) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(self.read(move |conn| Box::pin(select_due(conn, now, max, max_per_recipient))))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.read(|conn| {
            Box::pin(async move {
                let select = "SELECT min(next_attempt_at) FROM notifications WHERE state = 0";
                let next: Option<i64> = sqlx::query_scalar(select).fetch_one(conn).await?;
                Ok(next.map(Timestamp::from_micros))
            })
        }))
    }

    fn held_notifications(&self, recipient: RecipientId, max: u32) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(self.read(move |conn| {
            Box::pin(async move {
                let select = format!(
                    "SELECT {COLUMNS} FROM notifications WHERE state = 1 AND recipient_id = $1 ORDER BY id LIMIT $2"
                );
                let rows = sqlx::query(AssertSqlSafe(select))
                    .bind(recipient.0)
                    .bind(i64::from(max))
                    .fetch_all(conn)
                    .await?;
                let decoded = rows.iter().map(|row| skip_undecodable(notification_from_row(row)));
                decoded.filter_map(Result::transpose).collect()
            })
        }))
    }

    fn recipients_with_held(&self) -> StoreFuture<'_, Vec<RecipientId>> {
        Box::pin(self.read(|conn| {
            Box::pin(async move {
                let select = "SELECT DISTINCT recipient_id FROM notifications WHERE state = 1 ORDER BY 1";
                let ids: Vec<i64> = sqlx::query_scalar(select).fetch_all(conn).await?;
                Ok(ids.into_iter().map(RecipientId).collect())
            })
        }))
    }

    fn record_outcomes(
        &self,
        outcomes: Vec<(i64, DeliveryOutcome)>,
        recorded_at: Timestamp,
    ) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                for (id, outcome) in outcomes {
                    record_outcome(conn, id, outcome, recorded_at).await?;
                }
                Ok(())
            })
        }))
    }

    fn make_due_for_check(&self, check: CheckId, now: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                sqlx::query(
                    "UPDATE notifications SET next_attempt_at = $2
                     WHERE check_id = $1 AND state = 0 AND attempts = 0 AND next_attempt_at > $2",
                )
                .bind(check.0.cast_signed())
                .bind(now.as_micros())
                .execute(conn)
                .await?;
                Ok(())
            })
        }))
    }

    fn enqueue(&self, notifications: Vec<NewNotification>) -> StoreFuture<'_, Vec<i64>> {
        Box::pin(async move {
            let rows: Vec<NotificationRow> =
                notifications.into_iter().map(NotificationRow::from_notification).collect();
            self.write(move |conn| Box::pin(notifications::insert_or_find_ids(conn, rows))).await
        })
    }

    fn notifications(
        &self,
        filter: NotificationFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<Notification>> {
        Box::pin(self.read_snapshot(move |conn| Box::pin(notifications::read_page(conn, filter, page))))
    }

    fn retry_dead(&self, customer: CustomerId, id: i64, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.write(move |conn| {
            Box::pin(async move {
                let updated = sqlx::query(
                    "UPDATE notifications SET state = 0, attempts = 0, next_attempt_at = $3, not_before = $3
                     WHERE id = $1 AND customer = $2 AND state = 4",
                )
                .bind(id)
                .bind(customer.0)
                .bind(now.as_micros())
                .execute(conn)
                .await?;
                Ok(updated.rows_affected() == 1)
            })
        }))
    }
}

/// Selects recipient by recipient, so that the cost depends on the result, not on the number of queued notifications.
async fn select_due(
    conn: &mut PgConnection,
    now: Timestamp,
    max: u32,
    max_per_recipient: u32,
) -> PgResult<Vec<Notification>> {
    let select = format!(
        "WITH RECURSIVE recipients AS (
             SELECT min(recipient_id) AS id FROM notifications WHERE state = 0
             UNION ALL
             SELECT (SELECT min(n.recipient_id) FROM notifications AS n WHERE n.state = 0 AND n.recipient_id > r.id)
             FROM recipients AS r WHERE r.id IS NOT NULL
         ), due AS (
             SELECT n.next_attempt_at, n.id FROM recipients AS r CROSS JOIN LATERAL (
                 SELECT next_attempt_at, id FROM notifications
                 WHERE state = 0 AND recipient_id = r.id AND next_attempt_at <= $1 ORDER BY id LIMIT $3
             ) AS n
             ORDER BY n.next_attempt_at, n.id LIMIT $2
         )
         SELECT {COLUMNS} FROM notifications JOIN due USING (id, next_attempt_at) ORDER BY next_attempt_at, id"
    );
    let rows = sqlx::query(AssertSqlSafe(select))
        .bind(now.as_micros())
        .bind(i64::from(max))
        .bind(i64::from(max_per_recipient))
        .fetch_all(conn)
        .await?;
    // A row that cannot be decoded must not block the others.
    rows.iter().filter_map(|row| skip_undecodable(notification_from_row(row)).transpose()).collect()
}

/// Records an outcome, unless the notification was finished, retried or removed meanwhile.
async fn record_outcome(
    conn: &mut PgConnection,
    id: i64,
    outcome: DeliveryOutcome,
    recorded_at: Timestamp,
) -> PgResult<()> {
    let recorded_at = recorded_at.as_micros();
    let update = match outcome {
        DeliveryOutcome::Sent => sqlx::query(
            "UPDATE notifications SET state = 2, attempts = attempts + 1, sent_at = $2, error = ''
             WHERE id = $1 AND state = 0",
        )
        .bind(id)
        .bind(recorded_at),
        DeliveryOutcome::RetryScheduled { error, next_attempt_at } => sqlx::query(
            "UPDATE notifications SET attempts = attempts + 1, next_attempt_at = $2, error = $3
             WHERE id = $1 AND state = 0",
        )
        .bind(id)
        .bind(next_attempt_at.as_micros())
        .bind(without_nul(error)),
        DeliveryOutcome::Dead { error } => sqlx::query(
            "UPDATE notifications SET state = 4, attempts = attempts + 1, error = $2
             WHERE id = $1 AND state IN (0, 1)",
        )
        .bind(id)
        .bind(without_nul(error)),
        DeliveryOutcome::Held => {
            sqlx::query("UPDATE notifications SET state = 1 WHERE id = $1 AND state = 0").bind(id)
        }
        DeliveryOutcome::Released => sqlx::query(
            "UPDATE notifications SET state = 0, next_attempt_at = $2 WHERE id = $1 AND state = 1",
        )
        .bind(id)
        .bind(recorded_at),
        DeliveryOutcome::Digested(digest) => sqlx::query(
            "UPDATE notifications SET state = 3, digest_id = $2, sent_at = $3
             WHERE id = $1 AND state IN (0, 1)",
        )
        .bind(id)
        .bind(digest)
        .bind(recorded_at),
    };
    update.execute(conn).await?;
    Ok(())
}

/// Replaces NUL characters, which PostgreSQL cannot store: the error may hold what a foreign server sent.
fn without_nul(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}
