//! The billing plans that monitors are counted under.

use super::settings_reader::SettingsReader;
use crate::domain::MonitorType;
use crate::schema::validation_context::BillingPlan;
use crate::syntax::node::Node;
use crate::syntax::{ValidationErrorKind, closest_match};

pub(super) fn read_plans(reader: &mut SettingsReader<'_>) -> Vec<BillingPlan> {
    let mut plans = Vec::new();
    for (at, entry) in reader.entries("plans") {
        let number = |name: &str| entry.get(name).and_then(|node| node.to_json().as_i64());
        let mut types = Vec::new();
        for item in entry.get("types").map(Node::items).unwrap_or_default() {
            let Some(word) = item.as_text() else { continue };
            if let Some(kind) = MonitorType::from_name(word) {
                types.push(kind);
                continue;
            }
            let near = closest_match(word, MonitorType::ALL.iter().map(|kind| kind.name()));
            let near = near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
            let path = format!("plans[{at}].types");
            reader.add_error(
                ValidationErrorKind::Choice,
                &path,
                item.position,
                format!("`{word}` is no monitor type{near}"),
            );
        }
        let most = |name: &str| number(name).and_then(|most| usize::try_from(most).ok());
        plans.push(BillingPlan {
            code: entry.get("code").and_then(Node::as_text).unwrap_or_default().to_owned(),
            types,
            min_interval_minutes: number("least_interval").unwrap_or(1),
            max_monitors: most("monitors"),
            monitor_count: 0,
            max_locations: most("locations"),
        });
    }
    plans
}
