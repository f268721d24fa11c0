//! Where an object stands, and the name of its schema there.

use serde_json::{Value, json};

use crate::schema::field::FieldTable;

/// Where an object stands: what has to be in it differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemaRole {
    /// In the body of a create: required fields have to be there.
    Create,
    /// In the body of a change: nothing has to be there, null unsets.
    Patch,
    /// In an answer: what is always there is required, secrets are masked.
    Response,
}

/// Where components stand in an OpenAPI document.
pub(super) const PREFIX: &str = "#/components/schemas/";

/// The name of the schema of `table` in `role`: `website`, `website.create`, `website.patch`.
#[must_use]
pub fn schema_name(table: &FieldTable, role: SchemaRole) -> String {
    match role {
        SchemaRole::Create => format!("{}.create", table.name),
        SchemaRole::Patch => format!("{}.patch", table.name),
        SchemaRole::Response => table.name.to_owned(),
    }
}

/// A reference to that schema.
#[must_use]
pub fn schema_ref(table: &FieldTable, role: SchemaRole) -> Value {
    json!({"$ref": format!("{PREFIX}{}", schema_name(table, role))})
}

/// Entries of lists are always given whole.
pub(super) const fn item_role(role: SchemaRole) -> SchemaRole {
    match role {
        SchemaRole::Create | SchemaRole::Patch => SchemaRole::Create,
        SchemaRole::Response => SchemaRole::Response,
    }
}
