//! The roles of an object in requests and responses, and the schema name in each role.

use serde_json::{Value, json};

use crate::schema::field::FieldTable;

/// The role of an object; required fields depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaRole {
    /// Body of a create: required fields must be present.
    Create,
    /// Body of a change: every field is optional, null unsets a field.
    Patch,
    /// Response: fields that are always present are required, secrets are masked.
    Response,
}

/// Location of the components in an OpenAPI document.
pub(super) const COMPONENT_PREFIX: &str = "#/components/schemas/";

/// Returns the name of the schema of `table` in `role`: `website`, `website.create`, `website.patch`.
#[must_use]
pub fn schema_name(table: &FieldTable, role: SchemaRole) -> String {
    match role {
        SchemaRole::Create => format!("{}.create", table.name),
        SchemaRole::Patch => format!("{}.patch", table.name),
        SchemaRole::Response => table.name.to_owned(),
    }
}

/// Returns a reference to that schema.
#[must_use]
pub fn schema_ref(table: &FieldTable, role: SchemaRole) -> Value {
    json!({"$ref": format!("{COMPONENT_PREFIX}{}", schema_name(table, role))})
}

/// Returns the role of list entries in an object with `role`. Entries are always complete, even in a change.
pub(super) const fn item_role(role: SchemaRole) -> SchemaRole {
    match role {
        SchemaRole::Create | SchemaRole::Patch => SchemaRole::Create,
        SchemaRole::Response => SchemaRole::Response,
    }
}
