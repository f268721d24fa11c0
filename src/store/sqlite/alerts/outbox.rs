//! How notifications are stored.

use rusqlite::types::Value as SqlValue;
use rusqlite::{Connection, params};

use crate::domain::{CheckId, CustomerId, NewNotification, Notification, RecipientId, Timestamp};
use crate::store::contract::{
    DeliveryOutcome, NotificationFilter, Outbox, Paginated, Pagination, StoreFuture,
};

use crate::store::rows::decode::RowLocator;
use crate::store::rows::notification_row::{NotificationRow, state_code, state_from_code};
use crate::store::sqlite::decode::{skip_undecodable, text_column};
use crate::store::sqlite::paged_query::PagedQuery;
use crate::store::sqlite::store::SqliteStore;

/// State codes: 0 pending, 1 held, 2 sent, 3 digested, 4 dead (`NotificationState::ALL`).
const COLUMNS: &str =
    "id, key, recipient, group_id, created_at, not_before, state, attempts, next_at, sent_at,
    error, digest, notice";

/// Deletes up to `?2` finished notifications written before `?1`.
pub(super) const DELETE_FINISHED: &str = "DELETE FROM notifications WHERE id IN (
    SELECT id FROM notifications WHERE state >= 2 AND created_at < ?1 LIMIT ?2)";

/// Inserts a notification; returns whether its key is new.
pub(super) fn insert(conn: &Connection, row: &NotificationRow) -> rusqlite::Result<bool> {
    let NewNotification {
        idempotency_key: key,
        recipient_id: recipient,
        group_id: group,
        content,
        created_at,
        not_before,
    } = &row.notification;
    let inserted = conn
        .prepare_cached(
            "INSERT INTO notifications (key, customer, recipient, group_id, monitor_id, episode, check_id,
                 created_at, not_before, state, attempts, next_at, error, notice)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, 0, 0, ?9, '', ?10) ON CONFLICT DO NOTHING",
        )?
        .execute(params![
            key,
            content.customer.0,
            recipient.0,
            group,
            content.monitor_id.map(|id| id.0),
            content.episode_id.map(|id| id.0),
            content.check_id.map(|id| id.0.cast_signed()),
            created_at.as_micros(),
            not_before.as_micros(),
            row.content_json
        ])?;
    Ok(inserted == 1)
}

/// Inserts a notification; returns its id, also that of an existing one with its key.
fn insert_or_find_id(conn: &Connection, row: &NotificationRow) -> rusqlite::Result<i64> {
    if insert(conn, row)? {
        return Ok(conn.last_insert_rowid());
    }
    conn.prepare_cached("SELECT id FROM notifications WHERE key = ?1")?
        .query_row([&row.notification.idempotency_key], |row| row.get(0))
}

impl Outbox for SqliteStore {
    fn due_notifications(
        &self,
        now: Timestamp,
        max: u32,
        max_per_recipient: u32,
    ) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(self.readers.call(move |conn| select_due(conn, now, max, max_per_recipient)))
    }

    fn next_due(&self) -> StoreFuture<'_, Option<Timestamp>> {
        Box::pin(self.readers.call(|conn| {
            let next: Option<i64> = conn
                .prepare_cached("SELECT min(next_at) FROM notifications WHERE state = 0")?
                .query_row([], |row| row.get(0))?;
            Ok(next.map(Timestamp::from_micros))
        }))
    }

    fn held_notifications(&self, recipient: RecipientId, max: u32) -> StoreFuture<'_, Vec<Notification>> {
        Box::pin(self.readers.call(move |conn| {
            conn.prepare_cached(&format!(
                "SELECT {COLUMNS} FROM notifications WHERE state = 1 AND recipient = ?1 ORDER BY id LIMIT ?2"
            ))?
            .query_map([recipient.0, i64::from(max)], notification_from_row)?
            .filter_map(|row| skip_undecodable(row).transpose())
            .collect()
        }))
    }

    fn recipients_with_held(&self) -> StoreFuture<'_, Vec<RecipientId>> {
        Box::pin(self.readers.call(|conn| {
            conn.prepare_cached("SELECT DISTINCT recipient FROM notifications WHERE state = 1")?
                .query_map([], |row| row.get(0).map(RecipientId))?
                .collect()
        }))
    }

    fn record_outcomes(
        &self,
        outcomes: Vec<(i64, DeliveryOutcome)>,
        recorded_at: Timestamp,
    ) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| {
            outcomes
                .iter()
                .try_for_each(|(id, outcome)| record_outcome(context.conn, *id, outcome, recorded_at))
        }))
    }

    fn make_due_for_check(&self, check: CheckId, now: Timestamp) -> StoreFuture<'_, ()> {
        Box::pin(self.writer.call(move |context| {
            context
                .conn
                .prepare_cached(
                    "UPDATE notifications SET next_at = ?2
                     WHERE check_id = ?1 AND state = 0 AND attempts = 0 AND next_at > ?2",
                )?
                .execute([check.0.cast_signed(), now.as_micros()])?;
            Ok(())
        }))
    }

    fn enqueue(&self, notifications: Vec<NewNotification>) -> StoreFuture<'_, Vec<i64>> {
        Box::pin(async move {
            let rows: Vec<NotificationRow> =
                notifications.into_iter().map(NotificationRow::from_notification).collect();
            self.writer
                .call(move |context| rows.iter().map(|row| insert_or_find_id(context.conn, row)).collect())
                .await
        })
    }

    fn notifications(
        &self,
        filter: NotificationFilter,
        page: Pagination,
    ) -> StoreFuture<'_, Paginated<Notification>> {
        Box::pin(self.readers.call(move |conn| read_page(conn, &filter, page)))
    }

    fn retry_dead(&self, customer: CustomerId, id: i64, now: Timestamp) -> StoreFuture<'_, bool> {
        Box::pin(self.writer.call(move |context| {
            let changed = context
                .conn
                .prepare_cached(
                    "UPDATE notifications SET state = 0, attempts = 0, next_at = ?3, not_before = ?3
                     WHERE id = ?1 AND customer = ?2 AND state = 4",
                )?
                .execute([id, customer.0, now.as_micros()])?;
            Ok(changed == 1)
        }))
    }
}

/// Selects recipient by recipient, so that the cost depends on the result, not on the number of queued notifications.
fn select_due(
    conn: &Connection,
    now: Timestamp,
    max: u32,
    max_per_recipient: u32,
) -> rusqlite::Result<Vec<Notification>> {
    let tx = conn.unchecked_transaction()?;
    let mut select_next_recipient =
        tx.prepare_cached("SELECT min(recipient) FROM notifications WHERE state = 0 AND recipient > ?1")?;
    let mut select_due_of_recipient = tx.prepare_cached(
        "SELECT next_at, id FROM notifications WHERE state = 0 AND recipient = ?1 AND next_at <= ?2
         ORDER BY id LIMIT ?3",
    )?;
    let mut due_times_and_ids: Vec<(i64, i64)> = Vec::new();
    let mut last_recipient = i64::MIN;
    while let Some(recipient) = select_next_recipient.query_row([last_recipient], |row| row.get(0))? {
        last_recipient = recipient;
        let rows = select_due_of_recipient
            .query_map([recipient, now.as_micros(), i64::from(max_per_recipient)], |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?;
        for row in rows {
            due_times_and_ids.push(row?);
        }
    }
    due_times_and_ids.sort_unstable();
    due_times_and_ids.truncate(usize::try_from(max).unwrap_or(usize::MAX));
    let mut select_by_id =
        tx.prepare_cached(&format!("SELECT {COLUMNS} FROM notifications WHERE id = ?1"))?;
    let mut notifications = Vec::with_capacity(due_times_and_ids.len());
    for (_, id) in due_times_and_ids {
        // A row that cannot be decoded must not block the others.
        notifications.extend(skip_undecodable(select_by_id.query_row([id], notification_from_row))?);
    }
    Ok(notifications)
}

/// Records an outcome, unless the notification was finished, retried or removed meanwhile.
fn record_outcome(
    conn: &Connection,
    id: i64,
    outcome: &DeliveryOutcome,
    recorded_at: Timestamp,
) -> rusqlite::Result<()> {
    let recorded_at = recorded_at.as_micros();
    match outcome {
        DeliveryOutcome::Sent => conn
            .prepare_cached(
                "UPDATE notifications SET state = 2, attempts = attempts + 1, sent_at = ?2, error = ''
                 WHERE id = ?1 AND state = 0",
            )?
            .execute([id, recorded_at])?,
        DeliveryOutcome::RetryScheduled { error, next_attempt_at: next_at } => conn
            .prepare_cached(
                "UPDATE notifications SET attempts = attempts + 1, next_at = ?2, error = ?3
                 WHERE id = ?1 AND state = 0",
            )?
            .execute(params![id, next_at.as_micros(), error])?,
        DeliveryOutcome::Dead { error } => conn
            .prepare_cached(
                "UPDATE notifications SET state = 4, attempts = attempts + 1, error = ?2
                 WHERE id = ?1 AND state IN (0, 1)",
            )?
            .execute(params![id, error])?,
        DeliveryOutcome::Held => conn
            .prepare_cached("UPDATE notifications SET state = 1 WHERE id = ?1 AND state = 0")?
            .execute([id])?,
        DeliveryOutcome::Released => conn
            .prepare_cached("UPDATE notifications SET state = 0, next_at = ?2 WHERE id = ?1 AND state = 1")?
            .execute([id, recorded_at])?,
        DeliveryOutcome::Digested(digest) => conn
            .prepare_cached(
                "UPDATE notifications SET state = 3, digest = ?2, sent_at = ?3
                 WHERE id = ?1 AND state IN (0, 1)",
            )?
            .execute([id, *digest, recorded_at])?,
    };
    Ok(())
}

fn read_page(
    conn: &Connection,
    filter: &NotificationFilter,
    page: Pagination,
) -> rusqlite::Result<Paginated<Notification>> {
    let (mut conditions, mut values) = (vec!["1"], Vec::new());
    let filters = [
        ("customer = ?", filter.customer.map(|id| id.0)),
        ("state = ?", filter.state.map(state_code)),
        ("monitor_id = ?", filter.monitor.map(|id| id.0)),
        ("episode = ?", filter.episode.map(|id| id.0)),
        ("recipient = ?", filter.recipient.map(|id| id.0)),
        ("id = ?", filter.id),
    ];
    for (condition, value) in filters {
        if let Some(value) = value {
            conditions.push(condition);
            values.push(SqlValue::from(value));
        }
    }
    let conditions = conditions.join(" AND ");
    PagedQuery { table: "notifications", columns: COLUMNS, order_by: "id DESC", conditions, values }.fetch(
        conn,
        page,
        notification_from_row,
    )
}

fn notification_from_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<Notification> {
    let id = row.get(0)?;
    let locator = RowLocator { table: "notifications", key: &[("id", id)] };
    let content_json = text_column(locator, row, 12, "notice")?.unwrap_or_default();
    Ok(Notification {
        id,
        message: NewNotification {
            idempotency_key: row.get(1)?,
            recipient_id: RecipientId(row.get(2)?),
            group_id: row.get(3)?,
            content: locator.parse_json(content_json, "notice")?,
            created_at: Timestamp::from_micros(row.get(4)?),
            not_before: Timestamp::from_micros(row.get(5)?),
        },
        state: state_from_code(locator, row.get(6)?)?,
        attempts: row.get(7)?,
        next_attempt_at: Timestamp::from_micros(row.get(8)?),
        sent_at: row.get::<_, Option<i64>>(9)?.map(Timestamp::from_micros),
        error: row.get(10)?,
        digest_id: row.get(11)?,
    })
}
