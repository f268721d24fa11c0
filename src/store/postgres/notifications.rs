//! How notifications are stored.

use sqlx::postgres::PgRow;
use sqlx::{PgConnection, Row};

use crate::domain::{NewNotification, Notification, RecipientId, Timestamp};
use crate::store::contract::{NotificationFilter, Paginated, Pagination};
use crate::store::rows::decode::RowLocator;
use crate::store::rows::notification_row::{NotificationRow, state_code, state_from_code};
use crate::store::rows::stored_result::narrow;

use super::error::PgResult;
use super::paged_query::PagedQuery;

/// State codes: 0 pending, 1 held, 2 sent, 3 digested, 4 dead (`NotificationState::ALL`).
pub(super) const COLUMNS: &str =
    "id, idempotency_key, recipient_id, group_id, created_at, not_before, state::bigint,
    attempts, next_attempt_at, sent_at, error, digest_id, content";

/// Inserts notifications, except those whose key exists.
pub(super) async fn insert_all(conn: &mut PgConnection, rows: &[NotificationRow]) -> PgResult<()> {
    for row in rows {
        insert(conn, row).await?;
    }
    Ok(())
}

/// Inserts a notification; returns its id, `None` when its key exists.
async fn insert(conn: &mut PgConnection, row: &NotificationRow) -> PgResult<Option<i64>> {
    let NewNotification { idempotency_key, recipient_id, group_id, content, created_at, not_before } =
        &row.notification;
    Ok(sqlx::query_scalar(
        "INSERT INTO notifications (idempotency_key, customer, recipient_id, group_id, monitor_id, episode_id,
             check_id, created_at, not_before, state, attempts, next_attempt_at, error, content)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, 0, $9, '', $10)
         ON CONFLICT (idempotency_key) DO NOTHING RETURNING id",
    )
    .bind(idempotency_key)
    .bind(content.customer.0)
    .bind(recipient_id.0)
    .bind(*group_id)
    .bind(content.monitor_id.map(|id| id.0))
    .bind(content.episode_id.map(|id| id.0))
    .bind(content.check_id.map(|id| id.0.cast_signed()))
    .bind(created_at.as_micros())
    .bind(not_before.as_micros())
    .bind(&row.content_json)
    .fetch_optional(conn)
    .await?)
}

/// Inserts notifications; returns their ids, also those of existing ones with their keys.
pub(super) async fn insert_or_find_ids(
    conn: &mut PgConnection,
    rows: Vec<NotificationRow>,
) -> PgResult<Vec<i64>> {
    let mut ids = Vec::with_capacity(rows.len());
    for row in &rows {
        let id = match insert(conn, row).await? {
            Some(id) => id,
            None => {
                sqlx::query_scalar("SELECT id FROM notifications WHERE idempotency_key = $1")
                    .bind(&row.notification.idempotency_key)
                    .fetch_one(&mut *conn)
                    .await?
            }
        };
        ids.push(id);
    }
    Ok(ids)
}

/// Returns a page of the matching notifications, newest first, and their number.
pub(super) async fn read_page(
    conn: &mut PgConnection,
    filter: NotificationFilter,
    page: Pagination,
) -> PgResult<Paginated<Notification>> {
    let mut query = PagedQuery::new("notifications", COLUMNS, "id DESC");
    query.add_number("customer = ?", filter.customer.map(|id| id.0));
    query.add_number("state = ?", filter.state.map(state_code));
    query.add_number("monitor_id = ?", filter.monitor.map(|id| id.0));
    query.add_number("episode_id = ?", filter.episode.map(|id| id.0));
    query.add_number("recipient_id = ?", filter.recipient.map(|id| id.0));
    query.add_number("id = ?", filter.id);
    query.fetch(conn, page, notification_from_row).await
}

pub(super) fn notification_from_row(row: &PgRow) -> PgResult<Notification> {
    let id = row.try_get(0)?;
    let locator = RowLocator { table: "notifications", key: &[("id", id)] };
    Ok(Notification {
        id,
        message: NewNotification {
            idempotency_key: row.try_get(1)?,
            recipient_id: RecipientId(row.try_get(2)?),
            group_id: row.try_get(3)?,
            content: locator.parse_json(row.try_get(12)?, "notice")?,
            created_at: Timestamp::from_micros(row.try_get(4)?),
            not_before: Timestamp::from_micros(row.try_get(5)?),
        },
        state: state_from_code(locator, row.try_get(6)?)?,
        attempts: narrow(locator, "attempts", row.try_get(7)?)?,
        next_attempt_at: Timestamp::from_micros(row.try_get(8)?),
        sent_at: row.try_get::<Option<i64>, _>(9)?.map(Timestamp::from_micros),
        error: row.try_get(10)?,
        digest_id: row.try_get(11)?,
    })
}
