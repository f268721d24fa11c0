//! Where an object stands, and the name of its schema there.

use serde_json::{Value, json};

use crate::schema::field::Table;

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
pub(super) const PREFIX: &str = "#/components/schemas/";

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

/// Entries of lists are always given whole.
pub(super) const fn whole(role: Role) -> Role {
    match role {
        Role::Create | Role::Patch => Role::Create,
        Role::Answer => Role::Answer,
    }
}
