//! The schemas of tables, and the schemas that they reference.

use serde_json::{Map, Value, json};

use super::field_schema::field_schema;
use super::schema_role::{COMPONENT_PREFIX, SchemaRole, item_role, schema_name};
use crate::domain::MonitorType;
use crate::schema::field::{Access, Field, FieldTable, FieldType};
use crate::schema::table;

/// Returns a reference to the schema of `table` for responses with a subset of the fields (`select`).
#[must_use]
pub fn selected_fields_schema_ref(table: &FieldTable) -> Value {
    json!({"$ref": format!("{COMPONENT_PREFIX}{}", partial_schema_name(table))})
}

fn partial_schema_name(table: &FieldTable) -> String {
    format!("{}.some", table.name)
}

/// Returns the schemas of the monitor types and the other inputs, by name.
#[must_use]
pub fn component_schemas() -> Map<String, Value> {
    let type_tables = MonitorType::ALL.iter().map(|monitor_type| table::for_type(*monitor_type));
    let mut components = Map::new();
    for table in type_tables.chain(table::requests::NON_MONITOR_TABLES.iter().copied()) {
        for role in [SchemaRole::Create, SchemaRole::Patch, SchemaRole::Response] {
            add_component_schema(table, role, &mut components);
        }
    }
    components
}

/// Adds the schema of `table` in `role`, and the schemas that it references.
pub fn add_component_schema(
    table: &'static FieldTable,
    role: SchemaRole,
    components: &mut Map<String, Value>,
) {
    let name = schema_name(table, role);
    if components.contains_key(&name) {
        return;
    }
    if role == SchemaRole::Response && MonitorType::from_name(table.name).is_some() {
        // Lists may return selected fields only, so the required fields are kept apart from the properties.
        components.insert(partial_schema_name(table), object_schema(table, role, false));
        let schema = json!({
            "title": table.name,
            "allOf": [selected_fields_schema_ref(table)],
            "required": required_fields(table, role),
        });
        components.insert(name, schema);
    } else {
        components.insert(name, object_schema(table, role, true));
    }
    for field in table.fields() {
        match field.field_type {
            FieldType::Object(sub_table) => add_component_schema(sub_table, role, components),
            FieldType::List { item_type: FieldType::Object(sub_table), .. } => {
                add_component_schema(sub_table, item_role(role), components);
            }
            _ => {}
        }
    }
}

fn object_schema(table: &'static FieldTable, role: SchemaRole, with_required: bool) -> Value {
    let mut properties = Map::new();
    if let Some(monitor_type) = MonitorType::from_name(table.name) {
        properties
            .insert("type".to_owned(), json!({"const": monitor_type.name(), "description": "The type"}));
    }
    for field in table.fields() {
        properties.insert(field.name.to_owned(), field_schema(field, role));
    }
    let mut schema = json!({
        "title": table.name,
        "description": table.description,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let required = required_fields(table, role);
    if with_required && !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

/// Returns the fields that a create must have, or that a response always has.
fn required_fields(table: &'static FieldTable, role: SchemaRole) -> Vec<&'static str> {
    let is_monitor = MonitorType::from_name(table.name).is_some();
    let is_required = |field: &&&'static Field| match role {
        SchemaRole::Create => field.is_required_in_v3() && field.access == Access::ReadWrite,
        SchemaRole::Patch => false,
        // Secrets of records are stored as hashes or sealed, and are never shown at all.
        SchemaRole::Response if field.secret && !is_monitor => false,
        SchemaRole::Response => {
            field.required
                || field.default_value().is_some()
                || is_monitor && ALWAYS_PRESENT_FIELDS.contains(&field.name)
        }
    };
    let type_field = (is_monitor && role == SchemaRole::Response).then_some("type");
    type_field.into_iter().chain(table.fields().iter().filter(is_required).map(|field| field.name)).collect()
}

/// Fields that every monitor in a response has, besides those that are required or have a default (interface.md 2.1;
/// behaviour.md 1 "req").
const ALWAYS_PRESENT_FIELDS: &[&str] = &[
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
