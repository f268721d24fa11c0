//! The event about notifications that were given up.

use serde_json::{Map, Value, json};

use crate::domain::{Notification, Timestamp};
use crate::store::{ConfigChange, NewConfigRecord};

/// Type of the event, for filters.
const EVENT_TYPE: &str = "notification_given_up";

/// Builds the event that `notification` was given up because of `error`.
pub(super) fn dead_letter_event(
    notification: &Notification,
    recipient_name: &str,
    error: &str,
    now: Timestamp,
) -> ConfigChange {
    let content = &notification.message.content;
    let monitor_text = match content.monitor_name.as_str() {
        "" => String::new(),
        name => format!(" about `{name}`"),
    };
    let description = format!(
        "{}{monitor_text} could not be delivered to `{}`: {error}. Further ones within the next hour are listed under \
         /notifications?state=dead",
        content.kind.title(),
        recipient_name
    );
    let fields: Map<String, Value> =
        [("event", json!(EVENT_TYPE)), ("description", json!(description)), ("quantity", json!(1))]
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
    ConfigChange::CreateRecord(NewConfigRecord::own_event(content.customer, now, fields))
}
