//! Rules for the monitors that one depends on (behaviour.md 6, Dependencies).

use super::rule_context::RuleContext;
use crate::domain::MonitorId;
use crate::schema::dependency_circle::{describe_circle, find_circle};
use crate::schema::monitor_document::MonitorDocument;

pub(super) fn check(cx: &mut RuleContext<'_>) {
    if !cx.are_valid(&["depends_on"]) {
        return;
    }
    let parents = cx.document().parent_ids();
    // What was removed since does not keep the monitor from being changed.
    let previous_parents = cx.input.previous.map(MonitorDocument::parent_ids).unwrap_or_default();
    let own_id = cx.context().monitor_id;
    let error_count_before = cx.errors.len();
    for (index, parent) in parents.iter().enumerate() {
        let path = format!("depends_on[{index}]");
        let is_missing = cx.context().monitors.is_some_and(|monitors| monitors.parents_of(*parent).is_none());
        if parents[..index].contains(parent) {
            cx.add_conflict(&path, format!("`{path}`: monitor `{parent}` is in the list already"));
        } else if own_id == Some(*parent) {
            cx.add_conflict(&path, format!("`{path}`: a monitor cannot depend on itself"));
        } else if is_missing && !previous_parents.contains(parent) {
            cx.add_conflict(&path, format!("`{path}`: monitor `{parent}` does not exist"));
        }
    }
    let (Some(own_id), Some(monitors)) = (own_id, cx.context().monitors) else { return };
    if cx.errors.len() > error_count_before {
        return;
    }
    let parents_of = |id: &MonitorId| {
        if *id == own_id { parents.clone() } else { monitors.parents_of(*id).unwrap_or_default() }
    };
    if let Some(circle) = find_circle(&own_id, parents_of) {
        let message = format!("`depends_on` closes a circle: {}", describe_circle(&circle));
        cx.add_conflict_with_hint("depends_on", message, "remove one of these dependencies first".to_owned());
    }
}
