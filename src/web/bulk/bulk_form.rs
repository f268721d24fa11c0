//! The form below the list, and what it says.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use askama::Template;

use crate::domain::{MonitorId, Timestamp};
use crate::schema::table::shared::INTERVALS;
use crate::service::monitors::BulkAction;
use crate::service::{AccountChoices, PropertyChoice};
use crate::texts::{Locale, key};
use crate::web::csrf::FORM_TOKEN_FIELD;

/// Pauses that the form offers, in seconds.
const PAUSES: [(u64, &str); 4] = [
    (3_600, key("1 hour")),
    (4 * 3_600, key("4 hours")),
    (86_400, key("1 day")),
    (7 * 86_400, key("1 week")),
];
/// What the names of the boxes of monitors begin with.
const MONITOR_FIELD: &str = "monitor-";

/// The form, and the boxes in the list that belong to it.
#[derive(Template)]
#[template(path = "bulk_form.html", config = "src/web/askama.toml")]
struct BulkForm<'a> {
    form_token: &'a str,
    /// The query of the list, so that all of its monitors can be chosen.
    query: &'a str,
    /// Values of actions and what the person reads.
    choices: Vec<(String, String)>,
    t: Locale,
}

/// Renders the form of a list.
pub(in crate::web) fn render_bulk_form(
    form_token: &str,
    query: &str,
    account: &AccountChoices,
    t: Locale,
) -> String {
    let form = BulkForm { form_token, query, choices: choices(account, t), t };
    // Writing into a string cannot fail.
    form.render().unwrap_or_default()
}

fn choices(account: &AccountChoices, t: Locale) -> Vec<(String, String)> {
    let pause = |(seconds, name): (u64, &str)| {
        (format!("pause-{seconds}"), t.fill("Pause for {duration}", &[("duration", t.text(name))]))
    };
    let pauses = PAUSES.into_iter().map(pause);
    let fixed = [("resume", key("Resume")), ("enable", key("Enable")), ("disable", key("Disable"))];
    let fixed = fixed.into_iter().map(|(value, name)| (value.to_owned(), t.text(name).to_owned()));
    let interval = |minutes: &i64| {
        let count = minutes.unsigned_abs();
        let name = t.count("Check every {count} minute", "Check every {count} minutes", count);
        (format!("interval-{minutes}"), name)
    };
    let mut properties = Vec::new();
    for PropertyChoice { id, name, values } in &account.properties {
        for (value_id, value) in values {
            properties.push((
                format!("property-{id}-{value_id}"),
                t.fill("Set {name} to {value}", &[("name", name), ("value", value)]),
            ));
        }
        properties.push((format!("clear-{id}"), t.fill("Clear {name}", &[("name", name)])));
    }
    let last = [("clone", key("Copy")), ("remove", key("Remove"))];
    let last = last.into_iter().map(|(value, name)| (value.to_owned(), t.text(name).to_owned()));
    pauses.chain(fixed).chain(INTERVALS.iter().map(interval)).chain(properties).chain(last).collect()
}

/// Returns the action that a form names, and what the person read; `None` for none that is known.
pub(super) fn chosen_action(
    name: &str,
    account: &AccountChoices,
    now: Timestamp,
    t: Locale,
) -> Option<(BulkAction, String)> {
    let (_, text) = choices(account, t).into_iter().find(|(value, _)| value == name)?;
    let (kind, argument) = name.split_once('-').unwrap_or((name, ""));
    let action = match kind {
        "pause" => BulkAction::Pause(now + Duration::from_secs(argument.parse().ok()?)),
        "resume" => BulkAction::Resume,
        "enable" => BulkAction::SetEnabled(true),
        "disable" => BulkAction::SetEnabled(false),
        "interval" => BulkAction::SetInterval(argument.parse().ok()?),
        "property" => {
            let (property, value) = argument.split_once('-')?;
            BulkAction::SetProperty { property: property.parse().ok()?, value: value.parse().ok()? }
        }
        "clear" => BulkAction::ClearProperty(argument.parse().ok()?),
        "clone" => BulkAction::Clone,
        "remove" => BulkAction::Remove,
        _ => return None,
    };
    Some((action, text))
}

/// Returns the monitors whose boxes were ticked.
pub(super) fn chosen_monitors(fields: &HashMap<String, String>) -> BTreeSet<MonitorId> {
    let id = |name: &String| name.strip_prefix(MONITOR_FIELD)?.parse().ok().map(MonitorId);
    fields.keys().filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_offered_is_done() {
        let (now, t) = (Timestamp::from_seconds(1_795_176_000), Locale::default());
        let action = |name| chosen_action(name, &AccountChoices::default(), now, t).map(|(action, _)| action);
        assert_eq!(action("pause-3600"), Some(BulkAction::Pause(now + Duration::from_hours(1))));
        assert_eq!(action("interval-5"), Some(BulkAction::SetInterval(5)));
        for name in ["pause-1", "interval-7", "property-1-1", "clear-1", "", "remove-1"] {
            assert_eq!(action(name), None, "{name}");
        }
        let all = choices(&AccountChoices::default(), t);
        assert!(
            all.iter().all(|(value, _)| chosen_action(value, &AccountChoices::default(), now, t).is_some())
        );
        let fields =
            ["monitor-9", "monitor-2", "monitor-x", "all"].map(|name| (name.to_owned(), String::new()));
        assert_eq!(chosen_monitors(&fields.into()), [MonitorId(2), MonitorId(9)].into());
    }
}
