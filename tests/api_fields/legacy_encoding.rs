//! The legacy encoding of behaviour.md 2, implemented independently: all values are texts, flags `y` and `n`, codes.

use serde_json::{Map, Value, json};
use vigie::domain::MonitorType as T;
use vigie::schema::field::{Field, LegacyEncoding};

use crate::api_fields::world::World;

/// The levels of interface.md 2.3; the index is the code.
const LEVELS: [&str; 6] =
    ["Disabled", "Error Only", "All Actions on Error", "All Actions", "All Events on Error", "All Events"];

impl World {
    /// Returns the legacy record of the object `shown` of version 3.
    pub fn legacy_record(&self, shown: &Map<String, Value>, scripts: bool) -> Map<String, Value> {
        let mut record = Map::new();
        record.insert("site_type".to_owned(), json!(self.site_type()));
        for field in self.fields() {
            let value = &shown[field.name];
            let text = match field.legacy {
                LegacyEncoding::Omitted => continue,
                LegacyEncoding::Coded(codes) => json!(code(codes, value)),
                LegacyEncoding::EnabledDisabled => json!(if value == true { "Enabled" } else { "Disabled" }),
                _ => as_text(value),
            };
            if let LegacyEncoding::Indexed { index_field: name, choice_field: field } = field.legacy {
                let level = LEVELS.iter().position(|level| value[field] == *level).unwrap();
                record.insert(name.to_owned(), json!(level.to_string()));
            }
            record.insert(name(field).to_owned(), text);
        }
        if let Some(steps) = record.get_mut("api_steps") {
            code_methods(steps);
        }
        for location in record["locations"].as_array_mut().unwrap() {
            location.as_object_mut().unwrap().shift_remove("region");
        }
        if shown["rotate_locations"] == true && !self.is_mobile() && record["monitor_location_count"] == "0" {
            let two = matches!(shown["mode"].as_str(), Some("Round Robin" | "SLA (MultiPOP)"));
            record.insert("monitor_location_count".to_owned(), json!(if two { "2" } else { "1" }));
        }
        if matches!(self.kind, T::Website | T::WebsiteSsl) {
            record.insert("smtp_hostname".to_owned(), json!(""));
            record.insert("pop3_hostname".to_owned(), json!(""));
        }
        if !scripts {
            record.shift_remove("script");
        }
        record
    }

    /// Returns a legacy body that sets the values of `sent`; `count` is its number of locations. With `texts`, numbers
    /// and flags are texts too.
    pub fn legacy_body(&self, sent: &Map<String, Value>, count: i64, texts: bool) -> Map<String, Value> {
        let mut body = Map::new();
        for field in self.settable() {
            let value = &sent[field.name];
            let written = match field.legacy {
                LegacyEncoding::Omitted => continue,
                // An empty text is a value of its own where the field has a default.
                _ if value.is_null() && texts && !is_text_with_default(field) => json!(""),
                _ if value.is_null() => Value::Null,
                LegacyEncoding::Coded(codes) => json!(code(codes, value)),
                LegacyEncoding::InputAliases(aliases) if texts => {
                    let alias = aliases.iter().find(|(_, name_of_value)| value == *name_of_value);
                    alias.map_or_else(|| value.clone(), |(alias, _)| json!(alias))
                }
                LegacyEncoding::EnabledDisabled => json!(if value == true { "Enabled" } else { "Disabled" }),
                _ if texts => as_text(value),
                _ => value.clone(),
            };
            if let (LegacyEncoding::Indexed { index_field: name, choice_field: field }, Value::Object(_)) =
                (field.legacy, value)
            {
                let level = LEVELS.iter().position(|level| value[field] == *level).unwrap_or(1);
                body.insert(name.to_owned(), if texts { json!(level.to_string()) } else { json!(level) });
            }
            body.insert(name(field).to_owned(), written);
        }
        if let Some(steps) = body.get_mut("api_steps").filter(|_| texts) {
            code_methods(steps);
        }
        if let Some(counted) = body.get_mut("monitor_location_count") {
            *counted = if texts { json!(count.to_string()) } else { json!(count) };
        }
        body
    }
}

pub fn name(field: &Field) -> &'static str {
    match field.legacy {
        LegacyEncoding::Renamed(name) => name,
        _ => field.name,
    }
}

/// Replaces the methods of API steps by their codes.
fn code_methods(steps: &mut Value) {
    for step in steps.as_array_mut().into_iter().flatten() {
        if let Some(method) = step.get_mut("http_method") {
            *method = json!(code(&[("g", "GET"), ("p", "POST"), ("h", "HEAD")], method));
        }
    }
}

fn is_text_with_default(field: &Field) -> bool {
    matches!(field.default_value(), Some(Value::String(_)))
}

fn code(codes: &[(&'static str, &'static str)], value: &Value) -> String {
    let text = value.as_str().unwrap_or_default();
    codes.iter().find(|(_, known)| *known == text).map_or(text, |(code, _)| code).to_owned()
}

pub fn as_text(value: &Value) -> Value {
    match value {
        Value::Null => json!(""),
        Value::Bool(flag) => json!(if *flag { "y" } else { "n" }),
        Value::Number(number) => json!(number.to_string()),
        Value::String(_) => value.clone(),
        Value::Array(items) => items.iter().map(as_text).collect(),
        Value::Object(entries) => {
            Value::Object(entries.iter().map(|(name, value)| (name.clone(), as_text(value))).collect())
        }
    }
}
