//! Events (interface.md 2.6): recorded once, never changed.

use super::record_draft::{RecordDraft, fields_with_defaults};
use crate::schema::table::requests::EVENT;
use crate::service::caller::ServiceError;
use crate::syntax::node::Node;

pub(super) fn creation_draft(body: &Node) -> Result<RecordDraft, ServiceError> {
    Ok(RecordDraft::new(fields_with_defaults(&EVENT, body)?))
}

/// Returns the label of an event type: `deploy_done` becomes `Deploy done`.
#[must_use]
pub fn event_label(event_type: &str) -> String {
    let text = event_type.replace(['_', '-'], " ");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #[test]
    fn event_types_have_labels() {
        assert_eq!(super::event_label("deploy_done"), "Deploy done");
        assert_eq!(super::event_label("émission"), "Émission");
        assert_eq!(super::event_label(""), "");
    }
}
