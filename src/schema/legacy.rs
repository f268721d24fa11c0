//! Conventions of the legacy API: type names, rotation without a field of its own, all values as text.

use serde_json::{Map, Value};

use super::field::{Field, FieldTable, FieldType, LegacyEncoding};
use super::monitor_document::MonitorDocument;
use super::secret_values::SecretMode;
use super::table::{self, mobile};
use crate::domain::MonitorType;
use crate::syntax::node::Node;

/// Returns the type that `site_type` names; `transaction` and `transaction-ssl` are aliases of the types with steps
/// (fields.md 1).
#[must_use]
pub fn parse_site_type(site_type: &str) -> Option<MonitorType> {
    match site_type {
        "apiproject" => Some(MonitorType::ApiProject),
        "transaction" => Some(MonitorType::WebsiteApi),
        "transaction-ssl" => Some(MonitorType::WebsiteSslApi),
        "api" | "collection-api" => None,
        name => MonitorType::from_name(name),
    }
}

/// Returns the `site_type` of `monitor_type`.
#[must_use]
pub fn site_type(monitor_type: MonitorType) -> &'static str {
    match monitor_type {
        MonitorType::ApiProject => "apiproject",
        monitor_type => monitor_type.name(),
    }
}

/// Whether the legacy API may create monitors of `monitor_type` (interface.md 4.1).
#[must_use]
pub fn can_create(monitor_type: MonitorType) -> bool {
    !matches!(monitor_type, MonitorType::MobileLab | MonitorType::Selenium | MonitorType::CollectionApi)
}

/// Returns the type that a body asks to create. Fails with a status and message (behaviour.md 2).
pub fn type_to_create(body: &Node) -> Result<MonitorType, (u16, String)> {
    let missing = || (64, "Missing site_type".to_owned());
    let type_node = body.get("site_type").filter(|node| !node.is_null()).ok_or_else(missing)?;
    let name = type_node.as_text().unwrap_or_default();
    if name.is_empty() && type_node.as_text().is_some() {
        return Err(missing());
    }
    let monitor_type = parse_site_type(name).ok_or_else(|| (66, "Invalid site_type".to_owned()))?;
    if can_create(monitor_type) { Ok(monitor_type) } else { Err((65, "Invalid device.".to_owned())) }
}

/// Returns the legacy record of `document`: every value a text. The caller adds the id and audit fields.
#[must_use]
pub fn record_from_document(document: &MonitorDocument, secret_mode: SecretMode) -> Map<String, Value> {
    let table = table::for_type(document.monitor_type());
    let values = document.to_json(secret_mode);
    let mut legacy_record = Map::new();
    legacy_record.insert("site_type".to_owned(), Value::from(site_type(document.monitor_type())));
    for field in table.fields().iter().filter(|field| field.is_settable()) {
        write_field(field, values.get(field.name), &mut legacy_record);
    }
    if document.flag("rotate_locations") && legacy_record.contains_key("monitor_location_count") {
        let count =
            rotation_location_count(document.int_or_zero("monitor_location_count"), document.text("mode"));
        legacy_record.insert("monitor_location_count".to_owned(), Value::from(count.to_string()));
    }
    legacy_record
}

/// Fields of other types that records of websites have nevertheless, always empty (interface.md 2.8).
const EMPTY_WEBSITE_FIELDS: [&str; 2] = ["smtp_hostname", "pop3_hostname"];

/// Converts the version 3 object of a monitor to a legacy record, including the fields that Vigie sets: every
/// value is a text, `""` where there is none (interface.md 2.8).
#[must_use]
pub fn device_from_v3(monitor_type: MonitorType, object: &Map<String, Value>) -> Map<String, Value> {
    let mut legacy_record = Map::new();
    legacy_record.insert(
        "id".to_owned(),
        object.get("id").map_or(Value::Null, |id| encode_value(&FieldType::Bool, id)),
    );
    legacy_record.insert("site_type".to_owned(), Value::from(site_type(monitor_type)));
    for field in table::for_type(monitor_type).fields().iter().filter(|field| field.name != "id") {
        write_field(field, object.get(field.name).filter(|value| !value.is_null()), &mut legacy_record);
    }
    let value_of = |name: &str| object.get(name).unwrap_or(&Value::Null);
    if value_of("rotate_locations") == &Value::Bool(true)
        && legacy_record.contains_key("monitor_location_count")
    {
        let count = value_of("monitor_location_count").as_i64().unwrap_or_default();
        let count = rotation_location_count(count, value_of("mode").as_str());
        legacy_record.insert("monitor_location_count".to_owned(), Value::from(count.to_string()));
    }
    for location in legacy_record.get_mut("locations").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Value::Object(location) = location {
            location.retain(|name, _| matches!(name.as_str(), "id" | "name"));
        }
    }
    if matches!(monitor_type, MonitorType::Website | MonitorType::WebsiteSsl) {
        for name in EMPTY_WEBSITE_FIELDS {
            legacy_record.insert(name.to_owned(), Value::from(""));
        }
    }
    legacy_record
}

/// Returns the fields that a body must have to create a monitor, in the order of interface.md 4.1, rules 3 to
/// 5; for other types the field table decides. `site_type` comes before all of them.
#[must_use]
pub fn required_fields(monitor_type: MonitorType) -> &'static [&'static str] {
    match monitor_type {
        MonitorType::Website | MonitorType::WebsiteSsl => {
            &["billing_plancode", "name", "url", "interval", "enabled"]
        }
        MonitorType::BrowserScript => {
            &["billing_plancode", "browser_type", "name", "script", "interval", "enabled"]
        }
        MonitorType::ApiProject => {
            &["billing_plancode", "name", "script", "test_suite", "test_case", "interval", "enabled"]
        }
        _ => &[],
    }
}

/// Returns the first field of [`required_fields`] that `body` lacks: absent, null or empty.
#[must_use]
pub fn first_missing_field(monitor_type: MonitorType, body: &Node) -> Option<&'static str> {
    let lacks = |name: &&&str| {
        body.get(name).is_none_or(|node| node.is_null() || node.as_text().is_some_and(str::is_empty))
    };
    required_fields(monitor_type).iter().find(lacks).copied()
}

/// Whether the legacy API shows monitors of `monitor_type` (fields.md 1).
#[must_use]
pub fn is_visible(monitor_type: MonitorType) -> bool {
    monitor_type != MonitorType::CollectionApi
}

/// Whether a monitor matches `site_type` in a filter: `transaction` and `transaction-ssl` match those with two or more
/// steps (fields.md 1). An unknown type matches none.
#[must_use]
pub fn matches_site_type(site_type: &str, document: &MonitorDocument) -> bool {
    let is_same_type = parse_site_type(site_type) == Some(document.monitor_type());
    let has_several_steps = || document.list("api_steps").len() > 1;
    is_same_type && (!matches!(site_type, "transaction" | "transaction-ssl") || has_several_steps())
}

/// Returns the number of locations of one run of a rotation (behaviour.md 1, `monitor_location_count`). Devices of a
/// provider are not counted: the value is always 0 (interface.md 2.2).
fn rotation_location_count(count: i64, mode: Option<&str>) -> i64 {
    match (count, mode) {
        (0, Some(mode)) if mobile::HANDSET_MODES.contains(&mode) => 0,
        (0, Some("Round Robin" | "SLA (MultiPOP)")) => 2,
        (0, _) => 1,
        (count, _) => count,
    }
}

/// Sets `rotate_locations`: a count from 1 to the pool size less one means rotation (fields.md 3).
pub(super) fn set_rotate_locations(
    new_values: &mut Map<String, Value>,
    old: &Map<String, Value>,
    default_locations: &[i64],
) {
    let Some(count) = new_values.get("monitor_location_count") else { return };
    let count = count.as_i64().unwrap_or_default();
    let own_locations =
        new_values.get("locations").or_else(|| old.get("locations")).and_then(Value::as_array);
    let pool_size =
        own_locations.map(Vec::len).filter(|length| *length > 0).unwrap_or(default_locations.len());
    let rotates = count >= 1 && usize::try_from(count).is_ok_and(|count| count < pool_size);
    new_values.insert("rotate_locations".to_owned(), Value::Bool(rotates));
}

fn write_field(field: &Field, value: Option<&Value>, legacy_record: &mut Map<String, Value>) {
    let encoded = value.map_or_else(|| Value::from(""), |value| encode_field(field, value));
    match (field.legacy, value) {
        (LegacyEncoding::Omitted, _) => {}
        (LegacyEncoding::Indexed { index_field: name, choice_field }, Some(value)) => {
            let index = choice_index(field, choice_field, value);
            legacy_record
                .insert(name.to_owned(), Value::from(index.map(|at| at.to_string()).unwrap_or_default()));
            legacy_record.insert(field.name.to_owned(), encoded);
        }
        _ => {
            legacy_record.insert(field.legacy_name().to_owned(), encoded);
        }
    }
}

fn choice_index(field: &Field, choice_field: &str, value: &Value) -> Option<usize> {
    let FieldType::Object(table) = field.field_type else { return None };
    let FieldType::TextEnum(choices) = table.field(choice_field)?.field_type else { return None };
    let chosen = value.get(choice_field)?.as_str()?;
    choices.iter().position(|choice| *choice == chosen)
}

fn encode_field(field: &Field, value: &Value) -> Value {
    match (field.legacy, value) {
        (LegacyEncoding::Coded(codes), Value::String(text)) => {
            let code = codes.iter().find(|(_, v3_value)| v3_value == text);
            Value::from(code.map_or(text.as_str(), |(code, _)| code))
        }
        (LegacyEncoding::EnabledDisabled, Value::Bool(flag)) => {
            Value::from(if *flag { "Enabled" } else { "Disabled" })
        }
        _ => encode_value(&field.field_type, value),
    }
}

fn encode_value(field_type: &FieldType, value: &Value) -> Value {
    match (field_type, value) {
        (_, Value::Null) => Value::from(""),
        (_, Value::Bool(flag)) => Value::from(if *flag { "y" } else { "n" }),
        (_, Value::Number(number)) => Value::from(number.to_string()),
        (FieldType::Object(table), Value::Object(entries)) => Value::Object(encode_object(table, entries)),
        (FieldType::List { item_type, .. }, Value::Array(items)) => {
            items.iter().map(|item| encode_value(item_type, item)).collect()
        }
        (_, value) => value.clone(),
    }
}

fn encode_object(table: &'static FieldTable, entries: &Map<String, Value>) -> Map<String, Value> {
    entries
        .iter()
        .map(|(name, value)| match table.field(name) {
            Some(field) => (field.legacy_name().to_owned(), encode_field(field, value)),
            None => (name.clone(), value.clone()),
        })
        .collect()
}
