//! What a person can choose in the form of a record.

use super::record_scope::RecordScope;
use super::state::AccountState;
use crate::domain::{ConfigRecordFilter, ConfigRecordKind, MonitorId, NotificationMethod, Pagination};
use crate::schema::table::alerting::METHOD_IDS;
use crate::service::monitors::form_context;
use crate::service::{Caller, ServiceError};
use crate::texts::{Locale, Zone, key};
use crate::web::form::form_choices::{Choices, FormChoices};

/// Most monitors that are offered as a choice; of more, the id is typed.
const MAX_MONITORS: usize = 500;

/// Days of the week, of which the first is 1.
const WEEKDAYS: [&str; 7] = [
    key("Sunday"),
    key("Monday"),
    key("Tuesday"),
    key("Wednesday"),
    key("Thursday"),
    key("Friday"),
    key("Saturday"),
];

/// Fields that name a day of the week.
const WEEKDAY_FIELDS: [&str; 4] =
    ["start_day", "end_day", "operating_periods.from_day", "operating_periods.thru_day"];

/// Returns what can be chosen in forms of `scope`. The blackout of a recipient, which `is_about_recipient` says, is about
/// another kind of thing.
pub(super) async fn record_choices(
    state: &AccountState,
    scope: &RecordScope,
    is_about_recipient: bool,
    t: Locale,
) -> Result<FormChoices, ServiceError> {
    let (pages, caller) = (scope.pages, &scope.caller);
    let mut choices = FormChoices::default();
    let weekdays: Choices =
        WEEKDAYS.iter().zip(1..).map(|(name, day)| (day.to_string(), t.text(name).to_owned())).collect();
    for field in WEEKDAY_FIELDS {
        choices.add(field, weekdays.clone());
    }
    let methods = METHOD_IDS.iter().filter_map(|id| NotificationMethod::from_id(*id));
    choices.add(
        "method_id",
        methods.map(|method| (method.id().to_string(), method.name().to_owned())).collect(),
    );
    let account = form_context(&state.actions.monitor_service, caller).await?;
    let locations = account.locations.iter().map(|location| (location.id.to_string(), location.name.clone()));
    let locations: Choices = locations.collect();
    choices.add("default_locations.id", locations.clone());
    choices.add("exclusions.location_id", locations);
    let recipients = account.choices.recipients.iter();
    let recipients: Choices = recipients.map(|(id, name)| (id.0.to_string(), name.clone())).collect();
    let monitors = monitors(state, caller);
    if pages.kind == ConfigRecordKind::Blackout {
        choices.are_decided_by("type");
    }
    if is_about_recipient {
        choices.add("assoc_id", recipients.clone());
    }
    choices.add("recipients.id", recipients);
    if let Some(monitors) = monitors {
        if !is_about_recipient {
            choices.add("assoc_id", monitors.clone());
        }
        choices.add("monitor_id", monitors.clone());
        choices.add("monitors.id", monitors);
    }
    if pages.kind == ConfigRecordKind::Customer {
        choices.add("time_zone", Zone::choices().map(|name| (name.to_owned(), name.to_owned())).collect());
    }
    if pages.kind == ConfigRecordKind::NotifierGroup {
        choices.add("templates.id", templates(state, caller).await?);
    }
    Ok(choices)
}

/// Returns the monitors of the account, unless there are too many.
fn monitors(state: &AccountState, caller: &Caller) -> Option<Choices> {
    let is_own = |monitor: &crate::schema::Monitor| monitor.customer == caller.customer;
    let mut monitors = state.actions.monitor_service.list_from(MonitorId(0), MAX_MONITORS + 1, is_own);
    if monitors.len() > MAX_MONITORS {
        return None;
    }
    monitors.sort_by(|one, other| one.name().cmp(other.name()));
    Some(monitors.iter().map(|monitor| (monitor.id.to_string(), monitor.name().to_owned())).collect())
}

async fn templates(state: &AccountState, caller: &Caller) -> Result<Choices, ServiceError> {
    let filter = ConfigRecordFilter::new(ConfigRecordKind::Template);
    let page = Pagination { limit: 1000, offset: 0 };
    let templates = state.config_record_service.list(caller, filter, page).await?;
    let to_choice = |template: &serde_json::Map<String, serde_json::Value>| {
        let name = template.get("name")?.as_str()?.to_owned();
        Some((template.get("id")?.to_string(), name))
    };
    Ok(templates.items.iter().filter_map(to_choice).collect())
}
