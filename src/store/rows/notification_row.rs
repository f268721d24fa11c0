//! A notification as a row.

use crate::domain::{NewNotification, NotificationState};

use super::decode::{DecodeError, RowLocator};

/// A notification with its content as text.
pub(in crate::store) struct NotificationRow {
    pub(in crate::store) notification: NewNotification,
    pub(in crate::store) content_json: String,
}

impl NotificationRow {
    pub(in crate::store) fn from_notification(notification: NewNotification) -> Self {
        // Serialization cannot fail: all map keys are strings.
        let content_json = serde_json::to_string(&notification.content).unwrap_or_else(|_| "null".to_owned());
        Self { notification, content_json }
    }
}

/// Returns the stored code of a state: its index in [`NotificationState::ALL`].
pub(in crate::store) fn state_code(state: NotificationState) -> i64 {
    let position = NotificationState::ALL.iter().position(|(known, _)| *known == state);
    position.and_then(|position| i64::try_from(position).ok()).unwrap_or_default()
}

/// Decodes the stored code of a state.
pub(in crate::store) fn state_from_code(
    locator: RowLocator<'_>,
    code: i64,
) -> Result<NotificationState, DecodeError> {
    let decoded = usize::try_from(code).ok().and_then(|index| NotificationState::ALL.get(index));
    locator.require_decoded("state", code, decoded.map(|(state, _)| *state))
}
