//! The billing plans of monitors.

use super::settings_reader::SettingsReader;
use crate::domain::MonitorType;
use crate::schema::validation_context::BillingPlan;
use crate::syntax::node::Node;
use crate::syntax::{ValidationErrorKind, closest_match};

pub(super) fn read_plans(reader: &mut SettingsReader<'_>) -> Vec<BillingPlan> {
    let mut plans = Vec::new();
    for (index, entry) in reader.entries_reporting_duplicates("plans") {
        let int = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
        let mut types = Vec::new();
        for item in entry.get("types").map(Node::items).unwrap_or_default() {
            let Some(name) = item.as_text() else { continue };
            if let Some(kind) = MonitorType::from_name(name) {
                types.push(kind);
                continue;
            }
            let suggestion = closest_match(name, MonitorType::ALL.iter().map(|kind| kind.name()));
            let suggestion =
                suggestion.map(|suggestion| format!("; did you mean `{suggestion}`?")).unwrap_or_default();
            let path = format!("plans[{index}].types");
            reader.add_error(
                ValidationErrorKind::Choice,
                &path,
                item.position,
                format!("`{name}` is not a monitor type{suggestion}"),
            );
        }
        let limit = |name: &str| int(name).and_then(|limit| usize::try_from(limit).ok());
        plans.push(BillingPlan {
            code: entry.get("code").and_then(Node::as_text).unwrap_or_default().to_owned(),
            monitor_types: types,
            min_interval_minutes: int("least_interval").unwrap_or(0),
            max_monitors: limit("monitors"),
            monitor_count: 0,
            max_locations: limit("locations"),
        });
    }
    plans
}
