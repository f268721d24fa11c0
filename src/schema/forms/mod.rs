//! JSON Schema (2020-12, as OpenAPI 3.1 has it) of what goes in and what comes out, out of the field table.
//! What the schema of an input says is what the intake does: a test holds the two together.

use serde_json::{Map, Value, json};

use super::field::{Access, Field, Kind};
use super::table::{self, Table};
use crate::domain::MonitorType;

mod example;
mod page;
mod pattern;
mod value;

pub use example::{create_example, patch_example};
pub use page::{bounds, reference, reference_page};

/// Where an object stands: what has to be in it differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// In the body of a create: required fields have to be there.
    Create,
    /// In the body of a change: nothing has to be there, null unsets.
    Patch,
    /// In an answer: what is always there is required, secrets are masked.
    Answer,
}

/// Where components stand in an OpenAPI document.
const PREFIX: &str = "#/components/schemas/";

/// The name of the schema of `table` in `role`: `website`, `website.create`, `website.patch`.
#[must_use]
pub fn name(table: &Table, role: Role) -> String {
    match role {
        Role::Create => format!("{}.create", table.name),
        Role::Patch => format!("{}.patch", table.name),
        Role::Answer => table.name.to_owned(),
    }
}

/// A reference to that schema.
#[must_use]
pub fn reference_to(table: &Table, role: Role) -> Value {
    json!({"$ref": format!("{PREFIX}{}", name(table, role))})
}

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

/// Entries of lists are always given whole.
const fn whole(role: Role) -> Role {
    match role {
        Role::Create | Role::Patch => Role::Create,
        Role::Answer => Role::Answer,
    }
}

fn schema(table: &'static Table, role: Role, complete: bool) -> Value {
    let mut properties = Map::new();
    if let Some(kind) = MonitorType::from_name(table.name) {
        properties.insert("type".to_owned(), json!({"const": kind.name(), "description": "The type"}));
    }
    for field in table.fields() {
        properties.insert(field.name.to_owned(), value::field_schema(field, role));
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

/// The sub-objects that fields of `table` hold.
#[must_use]
pub fn parts(table: &'static Table) -> Vec<&'static Table> {
    let part = |field: &&'static Field| match field.kind {
        Kind::Object(part) => Some(part),
        Kind::List { of: Kind::Object(part), .. } => Some(*part),
        _ => None,
    };
    table.fields().iter().filter_map(part).collect()
}
