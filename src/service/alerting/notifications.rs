//! Listing notifications and retrying dead ones.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::alert_service::AlertService;
use crate::catalog::AccountSnapshot;
use crate::catalog::v3_time_format::format_utc_time;
use crate::domain::{Notification, NotificationState, Permission, Recipient, RecipientId};
use crate::service::caller::{Caller, ServiceError};
use crate::store::{NotificationFilter, Paginated, Pagination};
use crate::syntax::json_object::into_object;

impl AlertService {
    /// Returns the notifications of the caller's account, newest first.
    pub async fn notifications(
        &self,
        caller: &Caller,
        filter: NotificationFilter,
        page: Pagination,
    ) -> Result<Paginated<Map<String, Value>>, ServiceError> {
        caller.require_permission(Permission::View)?;
        let account = self.dependencies.account_cache.account(caller.customer).await?;
        let filter = NotificationFilter { customer: Some(caller.customer), ..filter };
        let found = self.dependencies.outbox.notifications(filter, page).await?;
        let recipients = recipients_by_id(&account);
        Ok(Paginated {
            total: found.total,
            items: found.items.iter().map(|row| notification_to_json(row, &recipients)).collect(),
        })
    }

    /// Returns one notification.
    pub async fn notification(&self, caller: &Caller, id: i64) -> Result<Map<String, Value>, ServiceError> {
        let filter = NotificationFilter { id: Some(id), ..NotificationFilter::default() };
        let found = self.notifications(caller, filter, Pagination { limit: 1, offset: 0 }).await?;
        found.items.into_iter().next().ok_or(ServiceError::NotFound)
    }

    /// Sends a dead notification again.
    pub async fn retry_notification(
        &self,
        caller: &Caller,
        id: i64,
    ) -> Result<Map<String, Value>, ServiceError> {
        caller.require_permission(Permission::Edit)?;
        // Checks that it belongs to the account before its state is revealed.
        self.notification(caller, id).await?;
        let now = self.dependencies.clock.now();
        if !self.dependencies.outbox.retry_dead(caller.customer, id, now).await? {
            let message = "Only a notification that was given up (state `dead`) can be sent again";
            return Err(ServiceError::Conflict(message.to_owned()));
        }
        self.dependencies.alert_pipeline_handle.wake_delivery();
        self.write_audit_entry(caller, "retry", "notification", id, "").await?;
        self.notification(caller, id).await
    }
}

fn recipients_by_id(account: &AccountSnapshot) -> HashMap<RecipientId, &Recipient> {
    account.contacts.recipients.iter().map(|recipient| (recipient.id, recipient)).collect()
}

/// Converts a notification to the version 3 object, without the recipient's address.
fn notification_to_json(
    notification: &Notification,
    recipients: &HashMap<RecipientId, &Recipient>,
) -> Map<String, Value> {
    let (message, content) = (&notification.message, &notification.message.content);
    let recipient = recipients.get(&message.recipient_id);
    let is_pending = notification.state == NotificationState::Pending;
    let non_empty = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
    into_object(json!({
        "id": notification.id,
        "kind": content.kind.name(),
        "state": notification.state.name(),
        "recipient_id": message.recipient_id.0,
        "recipient_name": recipient.map(|recipient| &recipient.name),
        "method_id": recipient.map(|recipient| recipient.method.id()),
        "group_id": message.group_id,
        "monitor_id": content.monitor_id.map(|id| id.0),
        "monitor_name": non_empty(&content.monitor_name),
        "episode_id": content.episode_id.map(|id| id.0),
        "check_id": content.check_id,
        "status": content.status.0,
        "status_text": content.status_text,
        "errcount": content.consecutive_failures,
        "created_at": format_utc_time(message.created_at),
        "attempts": notification.attempts,
        "next_at": is_pending.then(|| format_utc_time(notification.next_attempt_at)),
        "sent_at": notification.sent_at.map(format_utc_time),
        "error": non_empty(&notification.error),
        "digest_id": notification.digest_id,
    }))
}
