//! The schemas of tables, and which others they refer to.

use serde_json::{Map, Value, json};

use super::role::{PREFIX, Role, name, whole};
use super::value::field_schema;
use crate::domain::MonitorType;
use crate::schema::field::{Access, Field, Kind, Table};
use crate::schema::table;

/// A reference to the fields of `table` in answers of which the caller chose some (`select`).
#[must_use]
pub fn reference_to_some(table: &Table) -> Value {
    json!({"$ref": format!("{PREFIX}{}", some(table))})
}

fn some(table: &Table) -> String {
    format!("{}.some", table.name)
}

/// Every schema of the monitor types and the other inputs, by name.
#[must_use]
pub fn components() -> Map<String, Value> {
    let kinds = MonitorType::ALL.iter().map(|kind| table::of(*kind));
    let mut components = Map::new();
    for table in kinds.chain(table::account::INPUTS.iter().copied()) {
        for role in [Role::Create, Role::Patch, Role::Answer] {
            add(table, role, &mut components);
        }
    }
    components
}

/// Adds the schema of `table` in `role`, and those that it refers to.
pub fn add(table: &'static Table, role: Role, components: &mut Map<String, Value>) {
    let name = name(table, role);
    if components.contains_key(&name) {
        return;
    }
    if role == Role::Answer && MonitorType::from_name(table.name).is_some() {
        // Lists may be asked for some fields only, so what is always there stands apart from the fields.
        components.insert(some(table), schema(table, role, false));
        let whole = json!({
            "title": table.name,
            "allOf": [reference_to_some(table)],
            "required": required(table, role),
        });
        components.insert(name, whole);
    } else {
        components.insert(name, schema(table, role, true));
    }
    for field in table.fields() {
        match field.kind {
            Kind::Object(part) => add(part, role, components),
            Kind::List { of: Kind::Object(part), .. } => add(part, whole(role), components),
            _ => {}
        }
    }
}

fn schema(table: &'static Table, role: Role, complete: bool) -> Value {
    let mut properties = Map::new();
    if let Some(kind) = MonitorType::from_name(table.name) {
        properties.insert("type".to_owned(), json!({"const": kind.name(), "description": "The type"}));
    }
    for field in table.fields() {
        properties.insert(field.name.to_owned(), field_schema(field, role));
    }
    let mut schema = json!({
        "title": table.name,
        "description": table.about,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let required = required(table, role);
    if complete && !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// What has to be there in a create, and what is always there in an answer.
fn required(table: &'static Table, role: Role) -> Vec<&'static str> {
    let is_monitor = MonitorType::from_name(table.name).is_some();
    let there = |field: &&&'static Field| match role {
        Role::Create => field.required && field.access == Access::Open,
        Role::Patch => false,
        // Secrets of records are kept as hashes or sealed with the rest, and never shown at all.
        Role::Answer if field.secret && !is_monitor => false,
        Role::Answer => {
            field.required || field.default_value().is_some() || is_monitor && ALWAYS.contains(&field.name)
        }
    };
    let kind = (is_monitor && role == Role::Answer).then_some("type");
    kind.into_iter().chain(table.fields().iter().filter(there).map(|field| field.name)).collect()
}

/// What is there in every monitor that is answered, beside fields that are required or have a default
/// (interface.md 2.1; behaviour.md 1 "req").
const ALWAYS: &[&str] = &[
    "id",
    "home_location",
    "locations",
    "access_type",
    "blackout_ids",
    "customer_id",
    "has_active_performance_alerts",
    "has_performance_alerts",
    "has_sla",
    "monitor_uses_own_locations",
];
